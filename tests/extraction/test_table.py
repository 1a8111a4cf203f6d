"""Session tables and feature values: in memory, as pandas, on disk."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path

import oracle
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from usi.csv_cells import read_cell
from usi.errors import InputError, UsageError
from usi.extraction import (
    SessionTable,
    extract,
    extract_table,
    get_feature_profile,
    read_blocks,
    write_stream,
    write_values,
)
from usi.extraction.table import ROWS_PER_GROUP, derive, verbosity_cv
from usi.records import Session, Turn

COLUMNS = [
    *("session_id", "side", "simulator", "domain", "task", "run", "batch", "status", "n_turns"),
    *oracle.FEATURES,
]


def said(name: str, *texts: str) -> Session:
    return Session(session_id=name, turns=tuple(Turn(role="user", content=t) for t in texts))


SESSIONS = [
    said("first", "one two three four", "five", "thanks \u2014 bye now"),
    said("silent"),
    said('comma, "quote"\nline', "ok"),
    said("=1+1", ""),
]


@pytest.fixture
def table() -> SessionTable:
    return extract_table(SESSIONS, profile="tau-usi", side="simulated")


def test_values_by_hand(table: SessionTable) -> None:
    first, silent, one, empty = table.to_dict()
    assert list(first) == COLUMNS
    # Words 4, 1 and 4: sum 9, squares 33, population variance 11 - 9 = 2.
    assert math.isclose(first["verbosity_cv"], math.sqrt(2) / 3, rel_tol=1e-15)
    assert first["info_frontload"] == 5 / 9
    assert first["short_msg_rate"] == first["politeness_rate"] == first["formality_rate"] == 1 / 3
    assert (first["user_words_per_turn"], first["opening_words"], first["n_turns"]) == (3, 4, 3)
    assert silent["status"] == "no_user_turn"
    assert [silent[name] for name in ("n_turns", *oracle.FEATURES)] == [None] * 20
    assert (one["verbosity_cv"], one["info_frontload"], one["ack_only_rate"]) == (0, 1, 1)
    assert (empty["info_frontload"], empty["verbosity_cv"], empty["short_msg_rate"]) == (0, 0, 1)


def test_pandas_and_dict_say_the_same(table: SessionTable) -> None:
    frame = table.to_pandas()
    assert list(frame.columns) == COLUMNS
    assert frame["status"].tolist() == ["ok", "no_user_turn", "ok", "ok"]
    assert frame["info_frontload"].isna().tolist() == [False, True, False, False]
    assert frame["info_frontload"].iloc[0] == 5 / 9


def test_a_denominator_of_zero_is_the_profiles_to_decide(table: SessionTable) -> None:
    specs = [spec for spec in get_feature_profile("tau-usi").specs if spec.name == "info_frontload"]
    undefined = derive(table.frame, specs, without_denominator=None)["info_frontload"]
    assert undefined.to_list() == [5 / 9, None, 1.0, None]


def test_cv_beyond_64_bits() -> None:
    # Ten million turns, half of 100,000 words and half of 300,000: mean 2e5, deviation 1e5.
    n = 10**7
    frame = pl.DataFrame(
        {"user_turns": [n], "words": [n * 2 * 10**5], "words_sq": [n * 5 * 10**10]}
    )
    assert math.isclose(verbosity_cv(frame)[0], 0.5, rel_tol=1e-15)


def test_parquet_round_trip(table: SessionTable, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    table.write(path)
    again = SessionTable.read(path)
    assert again.frame.equals(table.frame)
    assert again.frame.schema == table.frame.schema
    assert (again.profile, again.lexicon) == ("tau-usi", "tau19@1")
    metadata = pq.read_schema(path).metadata
    assert metadata[b"usi_session_table"] == b"4"
    assert metadata[b"profile"] == b"tau-usi"
    assert metadata[b"lexicon"] == b"tau19@1"
    first = path.read_bytes()
    table.write(path)
    assert path.read_bytes() == first
    assert [file.name for file in tmp_path.iterdir()] == ["table.parquet"]


def test_empty_round_trip(tmp_path: Path) -> None:
    empty = extract_table([], profile="tau-usi", side="human")
    empty.write(tmp_path / "t.parquet")
    assert SessionTable.read(tmp_path / "t.parquet").frame.equals(empty.frame)
    for name in ("v.csv", "v.jsonl", "v.parquet"):
        write_values(empty, tmp_path / name)
        write_values(tmp_path / "t.parquet", tmp_path / f"from_disk_{name}")
        assert (tmp_path / name).read_bytes() == (tmp_path / f"from_disk_{name}").read_bytes()
    assert (tmp_path / "v.csv").read_text().strip() == ",".join(COLUMNS)
    assert (tmp_path / "v.jsonl").read_text() == ""
    assert pq.read_schema(tmp_path / "v.parquet").names == COLUMNS


def test_streaming_collects_blocks(tmp_path: Path) -> None:
    count = ROWS_PER_GROUP + 10
    session = said("a", "hi there")
    path = tmp_path / "t.parquet"
    blocks = extract((session for _ in range(count)), profile="tau-usi", side="human", block=4096)
    assert write_stream(blocks, path, profile="tau-usi") == count
    file = pq.ParquetFile(path)
    assert file.metadata.num_rows == count
    assert file.metadata.num_row_groups == 2
    parts = list(read_blocks(path, rows=5000))
    assert sum(part.height for part in parts) == count
    assert pl.concat(parts)["seq"].to_list() == list(range(count))
    assert SessionTable.read(path).frame.equals(pl.concat(parts))


def test_a_stream_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    def blocks() -> Iterator[pl.DataFrame]:
        yield from extract(SESSIONS, profile="tau-usi", side="human")
        raise InputError("row 5 is bad")

    with pytest.raises(InputError, match="row 5"):
        write_stream(blocks(), tmp_path / "t.parquet", profile="tau-usi")
    assert list(tmp_path.iterdir()) == []


def test_write_values_in_three_formats(table: SessionTable, tmp_path: Path) -> None:
    stored = tmp_path / "t.parquet"
    table.write(stored)
    for source in (table, stored):
        for suffix in ("csv", "jsonl", "parquet"):
            write_values(source, tmp_path / f"v.{suffix}")
        with (tmp_path / "v.jsonl").open() as lines:
            assert [json.loads(line) for line in lines] == table.to_dict()
        assert pl.read_parquet(tmp_path / "v.parquet").equals(table.values())
        with (tmp_path / "v.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert list(rows[0]) == COLUMNS
        ids = [read_cell(row["session_id"]) for row in rows]  # what begins like a formula is marked
        assert ids == [s.session_id for s in SESSIONS]
        assert float(rows[0]["info_frontload"]) == 5 / 9
        assert rows[1]["info_frontload"] == ""
    with pytest.raises(UsageError, match=r"not '\.xlsx'"):
        write_values(table, tmp_path / "v.xlsx")


def test_concat_counts_on_and_refuses_to_mix(table: SessionTable) -> None:
    both = SessionTable.concat([table, table])
    assert both.frame["seq"].to_list() == list(range(8))
    assert len(both) == 8
    with pytest.raises(UsageError, match="do not join"):
        SessionTable.concat([table, SessionTable(table.frame, "tau-usi", "tau19@0")])
    with pytest.raises(UsageError, match="no session table"):
        SessionTable.concat([])


def rewritten(table: SessionTable, path: Path, **metadata: str) -> Path:
    """The table on disk with other metadata."""
    table.write(path)
    found = pq.read_table(path)
    changed = {key.encode(): value.encode() for key, value in metadata.items()}
    pq.write_table(found.replace_schema_metadata({**found.schema.metadata, **changed}), path)
    return path


def test_foreign_files_are_refused_with_the_reason(table: SessionTable, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    with pytest.raises(InputError, match="no such file"):
        SessionTable.read(path)
    path.write_bytes(b"not parquet at all")
    with pytest.raises(InputError, match="can't be read as Parquet") as caught:
        SessionTable.read(path)
    assert caught.value.file == str(path)
    with pytest.raises(InputError, match="can't be read"):
        SessionTable.read(tmp_path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(InputError, match="metadata lacks 'usi_session_table'"):
        SessionTable.read(path)
    with pytest.raises(InputError, match="version 0, this usi reads version 4"):
        SessionTable.read(rewritten(table, path, usi_session_table="0"))
    with pytest.raises(InputError, match="unknown profile 'other'"):
        SessionTable.read(rewritten(table, path, profile="other"))
    with pytest.raises(InputError, match="word lists tau19@0"):
        SessionTable.read(rewritten(table, path, lexicon="tau19@0"))
    with pytest.raises(InputError):
        write_values(tmp_path / "absent.parquet", tmp_path / "v.csv")


def test_missing_and_mistyped_columns_are_named(table: SessionTable, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table.write(path)
    whole = pq.read_table(path)
    pq.write_table(whole.drop_columns(["pivot"]), path)
    with pytest.raises(InputError, match=r"columns differ \(pivot\)"):
        SessionTable.read(path)
    at = whole.schema.get_field_index("pivot")
    pq.write_table(whole.set_column(at, "pivot", whole["pivot"].cast(pa.float64())), path)
    with pytest.raises(InputError, match=r"field pivot.*double, not int64"):
        SessionTable.read(path)


def test_bytes_do_not_depend_on_the_blocks(tmp_path: Path) -> None:
    sessions = [said(str(i), "hi there") for i in range(ROWS_PER_GROUP + 10)]
    written = set()
    for block in (1000, 4096, 10**6):
        blocks = extract(sessions, profile="tau-usi", side="human", block=block)
        write_stream(blocks, tmp_path / "t.parquet", profile="tau-usi")
        write_values(tmp_path / "t.parquet", tmp_path / "v.parquet")
        written.add(((tmp_path / "t.parquet").read_bytes(), (tmp_path / "v.parquet").read_bytes()))
    assert len(written) == 1


def test_a_place_that_can_not_be_written_is_named(table: SessionTable, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"can't write .*absent.*: No such file"):
        table.write(tmp_path / "absent" / "t.parquet")


def test_a_frame_of_another_shape_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no rows of a session table"):
        write_stream([pl.DataFrame({"a": [1]})], tmp_path / "t.parquet", profile="tau-usi")
    assert list(tmp_path.iterdir()) == []
