"""Cells of CSV that no spreadsheet runs, in every CSV that usi writes, and their text back."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from usi.csv_cells import read_cell, safe_cell
from usi.extraction import extract_table
from usi.extraction.table import write_values
from usi.loading import LoadOptions, open_sessions
from usi.loading.formats import table
from usi.loading.notes import LoadNotes
from usi.records import Session, Turn
from usi.report.tables import Column, Table, csv_text, to_csv

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXT = st.text(LETTERS, max_size=12) | st.tuples(
    st.sampled_from(["", "'", "''"]), st.sampled_from(STARTS), st.text("1+='-@e.x \t", max_size=6)
).map("".join)


@given(TEXT)
def test_a_cell_is_read_back_and_runs_nowhere(text: str) -> None:
    cell = safe_cell(text)
    assert read_cell(cell) == text
    if cell.startswith(STARTS):
        float(cell)  # only numbers begin so


@given(st.integers() | st.floats(allow_nan=False) | st.none() | st.booleans())
def test_numbers_stay_numbers(value: object) -> None:
    assert safe_cell(value) is value


def cells_of(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]


@pytest.mark.parametrize("start", STARTS)
def test_reports_hold_no_formula(start: str) -> None:
    text = f'{start}HYPERLINK("http://x","y")'
    shown = Table(text, (Column(text, "s"), Column("n")), ((text, -2.5),), notes=(text,))
    cells = cells_of(to_csv([shown])) + cells_of(csv_text([text], [[text, -1], ["-7", "+1 555"]]))
    assert {"-2.5", "-1", "-7", "'+1 555"} <= set(cells)
    assert f"'{text}" in cells
    assert not [cell for cell in cells if cell.startswith(STARTS) and cell not in
                ("-2.5", "-1", "-7")]  # fmt: skip


@given(st.lists(TEXT.filter(str.strip), min_size=1, max_size=4), TEXT.filter(str.strip))
def test_transcripts_come_back_from_csv(texts: list[str], task: str) -> None:
    turns = tuple(Turn(role="user", content=text) for text in texts)
    session = Session(session_id="=1", task_id=task, participant="@me", turns=turns)
    written = "".join(table._lines([session], LoadNotes()))
    for cell in cells_of(written):
        if cell.startswith(STARTS):
            float(cell)
    (back,) = read_back(written)
    assert [turn.content for turn in back.turns] == texts
    assert (back.session_id, back.participant) == ("=1", "@me")


def read_back(written: str) -> list[Session]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "talks.csv")
        path.write_bytes(written.encode("utf-8"))
        return list(open_sessions([path], options=LoadOptions(format="table")))


def test_cells_of_other_programs_are_left_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "chats.csv"
    path.write_text("session,role,text\na,user,'=1+1\na,user,=1+1\n")
    (session,) = open_sessions([path], options=LoadOptions(format="table"))
    assert [turn.content for turn in session.turns] == ["'=1+1", "=1+1"]


def test_feature_values_hold_no_formula(tmp_path: Path) -> None:
    sessions = [
        Session(session_id=name, task_id="-5", turns=(Turn(role="user", content="hello"),))
        for name in ("=1+1", "@x", "-3", "'=y")
    ]
    whole = extract_table(sessions, profile="robust", side="human")
    write_values(whole, tmp_path / "values.csv")
    frame = pl.read_csv(tmp_path / "values.csv", infer_schema=False)
    assert sorted(frame["session_id"]) == sorted(["'=1+1", "'@x", "-3", "''=y"])
