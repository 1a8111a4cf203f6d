"""Session tables and aggregates that no sessions give are refused where they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from usi.corpora.resolve import resolve
from usi.errors import InputError
from usi.extraction import extract_table
from usi.extraction.table import SessionTable, read_blocks
from usi.loading import open_sessions
from usi.phantom import build_phantom
from usi.scoring.aggregate import build_aggregate, read_aggregate, write_aggregate


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_phantom(tmp_path_factory.mktemp("phantom"), seed=7).human


@pytest.fixture(scope="module", params=["robust", "tau-usi"])
def table(request: pytest.FixtureRequest, people: Path) -> SessionTable:
    return extract_table(open_sessions([people]), profile=request.param, side="human")


def rate(table: SessionTable) -> tuple[str, str]:
    from usi.extraction.profile import get_feature_profile

    specs = get_feature_profile(table.profile).specs
    return next((s.numerator, s.denominator) for s in specs if s.kind == "rate" and s.denominator)


def second(name: str, value: object) -> pl.Expr:
    return pl.when(pl.int_range(pl.len()) == 1).then(pl.lit(value)).otherwise(name).alias(name)


WRONG: dict[str, Callable[[SessionTable], tuple[str, object]]] = {
    "negative words": lambda t: ("words", -1),
    "more user turns than turns": lambda t: ("user_turns", 10**6),
    "first words": lambda t: ("words_first", 10**9),
    "a side that is none": lambda t: ("side", "robots"),
    "a status that is none": lambda t: ("status", "fine"),
    "an endless reward": lambda t: ("reward", float("inf")),
    "no number": lambda t: ("reward", float("nan")),
    "a rate above 1": lambda t: (rate(t)[0], 10**6),
    "a rate below 0": lambda t: (rate(t)[0], -1),
}


@pytest.mark.parametrize("name", WRONG)
def test_rows_that_cannot_be_are_refused(name: str, table: SessionTable, tmp_path: Path) -> None:
    field, value = WRONG[name](table)
    changed = table.frame.with_columns(second(field, value).cast(table.frame.schema[field]))
    path = tmp_path / "x.sessions.parquet"
    replace(table, frame=changed).write(path)
    with pytest.raises(InputError) as caught:
        SessionTable.read(path)
    assert (caught.value.file, caught.value.row, caught.value.field) == (str(path), 2, field)
    with pytest.raises(InputError, match="row 2"):
        list(read_blocks(path, rows=1))


def test_what_sessions_give_is_read(table: SessionTable, tmp_path: Path) -> None:
    table.write(tmp_path / "x.sessions.parquet")
    assert SessionTable.read(tmp_path / "x.sessions.parquet").frame.equals(table.frame)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("sessions", pl.lit(0)), ("user_turns", pl.lit(-1)), ("user_turns", pl.lit(1)),
        ("task", pl.lit("same")),
    ],
)  # fmt: skip
def test_sums_that_cannot_be_are_refused(
    field: str, change: pl.Expr, people: Path, tmp_path: Path
) -> None:
    found = build_aggregate(resolve(people), min_cell=3, drop_small=True)
    path = tmp_path / "sums.parquet"
    write_aggregate(found, path)
    assert read_aggregate(path).rows.equals(found.rows)
    wrong = found.rows.with_columns(change.cast(found.rows.schema[field]).alias(field))
    write_aggregate(replace(found, rows=wrong), path)
    with pytest.raises(InputError) as caught:
        read_aggregate(path)
    assert caught.value.field == field
