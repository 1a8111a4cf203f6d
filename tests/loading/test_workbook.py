"""Excel workbooks are read like the CSV files that their sheets could be."""

from __future__ import annotations

import sys
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from usi.errors import InputError, UsageError
from usi.loading import open_sessions
from usi.logs import LogFormat, open_log

openpyxl = pytest.importorskip("openpyxl")

TALK = [
    ["session", "role", "text", "task", "reward", "timestamp"],
    ["s1", "user", "my pass won't renew", 7, 1.0, datetime(2026, 9, 1, 10, 0)],
    ["s1", "agent", "It is renewed.", 7, 1.0, datetime(2026, 9, 1, 10, 1)],
    ["s2", "user", "charged twice", 8, 0, datetime(2026, 9, 1, 11, 0)],
    ["s2", "agent", "Refunded.", 8, 0, datetime(2026, 9, 1, 11, 2)],
]


def book(path: Path, **sheets: list[list[Any]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets.items():
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def test_a_sheet_of_messages_is_read(tmp_path: Path) -> None:
    stream = open_sessions(book(tmp_path / "talks.xlsx", Talks=TALK, Empty=[]))
    found = list(stream)
    assert [(s.session_id, s.task_id, s.outcome.reward) for s in found] == [
        ("s1", "7", 1.0), ("s2", "8", 0.0),
    ]  # fmt: skip
    assert [turn.content for turn in found[0].turns] == ["my pass won't renew", "It is renewed."]
    assert found[0].turns[0].time == datetime(2026, 9, 1, 10, 0)
    assert stream.label == "talks"


def test_sheets_count_like_files(tmp_path: Path) -> None:
    other = [TALK[0], *[["x" + str(row[0]), *row[1:]] for row in TALK[1:]]]
    stream = open_sessions(book(tmp_path / "talks.xlsx", May=TALK, June=other))
    assert len(list(stream)) == 4
    assert {file.name.rpartition("/")[2] for file in stream.notes.files} == {"May.csv", "June.csv"}


def test_a_log_is_read(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["case_id", "activity", "timestamp"]]
    rows += [["c1", "Open", datetime(2026, 1, 1, 9)], ["c1", "Closed", datetime(2026, 1, 1, 12)]]
    stream = open_log(book(tmp_path / "log.xlsx", Log=rows), LogFormat(timezone="UTC"))
    assert sum(frame.height for frame in stream) == 2


def test_empty_and_damaged_workbooks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="every sheet of the workbook is empty"):
        open_sessions(book(tmp_path / "empty.xlsx", One=[]))
    path = book(tmp_path / "talks.xlsx", Talks=TALK)
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "cut.xlsx", "w") as cut:
        for name in whole.namelist():
            data = whole.read(name)
            cut.writestr(name, data[: len(data) // 2] if name.endswith(".xml") else data)
    with pytest.raises(InputError, match=r"cut\.xlsx") as error:
        open_sessions(tmp_path / "cut.xlsx")
    assert str(error.value.file).endswith("cut.xlsx")


def test_without_the_extra_the_message_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = book(tmp_path / "talks.xlsx", Talks=TALK)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UsageError, match=r"usi\[excel\]"):
        open_sessions(path)
