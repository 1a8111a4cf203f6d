"""Whole cases from a stream in any order, in memory that does not grow with the log.

A small log stays in memory. A larger one is spread over files by a hash of the case id and
read back one file at a time; what is computed of a case never depends on which file it was in.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, cast

import polars as pl

from usi.logs.events import EventStream
from usi.logs.notes import LogNotes
from usi.logs.tables import FIELD

IN_MEMORY = 500_000
"""Events of a log, or of a part of one, that are held in memory."""
MAX_DEPTH = 4
"""So often a part is spread again; after that it is a case of its own."""
PARTS = 64
"""Files that a larger one is spread over."""


class CaseStore:
    """A log that was read once: its events by whole cases.

    Use it as a context; files are removed at its end.

    Attributes
    ----------
    notes, label
        Of the stream. Reading has ended: activities, first and last time are known.
    roles, fields
        Those of the stream that hold at least one value; of fields a blank column of a table
        counts as well (nobody ever filled it in).
    """

    def __init__(
        self,
        stream: EventStream,
        *,
        in_memory: int = IN_MEMORY,
        parts: int = PARTS,
        check: Callable[[LogNotes], None] | None = None,
    ) -> None:
        self.notes, self.label, self.layout = stream.notes, stream.label, stream.layout
        self._schema = stream.schema
        self._folder: Path | None = None
        self._spread = _Spread(parts, seed=0)
        self._held: list[pl.DataFrame] = []
        self._held_rows = 0
        survey = _Survey(stream.schema, stream.notes)
        try:
            for frame in stream:
                survey.see(frame)
                self._held.append(frame)
                self._held_rows += frame.height
                if self._folder is not None or self._held_rows > in_memory:
                    self._spill()
            survey.finish()
            if check is not None:
                check(self.notes)
        except BaseException:
            self.close()
            raise
        self._spread.close()
        self.roles = tuple(role for role in stream.roles if survey.has(role))
        known = {file.layout for file in self.notes.files} <= {"csv", "parquet"}
        self.fields = tuple(name for name in stream.fields if known or survey.has(FIELD + name))

    def __enter__(self) -> CaseStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def spilled(self) -> bool:
        """Whether the log was too large for memory."""
        return self._folder is not None

    def _spill(self) -> None:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="usi-log-"))
        self._spread.add(pl.concat(self._held), self._folder)
        self._held, self._held_rows = [], 0

    def close(self) -> None:
        """Remove the files."""
        self._spread.close()
        self._held = []
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def frames(self) -> Iterator[pl.DataFrame]:
        """Read frames of whole cases (once): by case, then time, then file order.

        Adds ``case`` (Int64: the row in the log of the case's first event as it stands in the
        files), unique by case and rising with the order of first appearance within a frame.
        """
        if self._folder is None:
            if self._held:
                yield _sorted(pl.concat(self._held))
            return
        for path in sorted(self._folder.glob("*.arrow")):
            yield from map(_sorted, _parts_of(path, seed=1))


class _Spread:
    """Files of rows by a hash of the case id."""

    def __init__(self, parts: int, seed: int) -> None:
        self._parts, self._seed = parts, seed
        self._writers: dict[int, Any] = {}

    def add(self, frame: pl.DataFrame, folder: Path) -> None:
        import pyarrow as pa

        part = (pl.col("case_id").hash(seed=self._seed) % self._parts).alias("part")
        keyed = frame.with_columns(part)
        for (key,), rows in keyed.partition_by("part", as_dict=True, include_key=False).items():
            table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
            number = int(key)
            if number not in self._writers:
                path = folder / f"{number:04d}.arrow"
                self._writers[number] = pa.ipc.new_stream(str(path), table.schema)
            self._writers[number].write_table(table)

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()
        self._writers = {}


def _parts_of(path: Path, seed: int) -> Iterator[pl.DataFrame]:
    """A file's rows, spread again where they are too many for memory (unless it is one case)."""
    import pyarrow as pa

    held, rows = [], 0
    with pa.ipc.open_stream(str(path)) as reader:
        for batch in reader:
            held.append(batch)
            rows += batch.num_rows
            if rows > IN_MEMORY and seed < MAX_DEPTH:
                break
        else:
            if held:
                yield cast(pl.DataFrame, pl.from_arrow(pa.Table.from_batches(held)))
            return
        folder = path.with_suffix(".d")
        folder.mkdir()
        spread = _Spread(PARTS, seed)
        for batch in chain(held, reader):
            frame = cast(pl.DataFrame, pl.from_arrow(pa.Table.from_batches([batch])))
            spread.add(frame, folder)
        spread.close()
    path.unlink()
    for below in sorted(folder.glob("*.arrow")):
        yield from _parts_of(below, seed + 1)


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    """Stable order: cases by first appearance, then time, then file order."""
    first = frame.group_by("case_id").agg(pl.col("row").min().alias("case"))
    return frame.join(first, on="case_id", how="left").sort("case", "timestamp", "row")


class _Survey:
    """Counts that only the whole log tells: activities, blanks, constant columns, its window."""

    def __init__(self, schema: dict[str, pl.DataType], notes: LogNotes) -> None:
        self._notes = notes
        self._names = [name for name in schema if name != "row"]
        self._only: dict[str, set[Any]] = {name: set() for name in self._names}

    def see(self, frame: pl.DataFrame) -> None:
        notes = self._notes
        if not frame.height:
            return
        notes.events += frame.height
        for name, blank in frame.null_count().row(0, named=True).items():
            if name != "row" and blank:
                notes.missing[name] += blank
        counts = frame["activity"].value_counts()
        for activity, count in counts.iter_rows():
            notes.activities[activity] += count
        if "lifecycle" in frame.columns:
            moments = frame["lifecycle"].str.to_lowercase().drop_nulls().value_counts()
            for moment, count in moments.iter_rows():
                notes.transitions[moment] += count
        low, high = frame["timestamp"].min(), frame["timestamp"].max()
        notes.first = low if notes.first is None else min(notes.first, low)  # type: ignore[type-var, assignment]
        notes.last = high if notes.last is None else max(notes.last, high)  # type: ignore[type-var, assignment]
        if "synthetic" in frame.columns and frame["synthetic"].any():
            notes.synthetic = True
        for name, seen in self._only.items():
            if len(seen) < 2:
                column = frame[name].drop_nulls()
                if len(column):
                    other = column.filter(column != column[0])
                    seen.update({column[0]}, other.head(1).to_list())

    def finish(self) -> None:
        named = [name for name, seen in self._only.items()
                 if len(seen) == 1 and not self._notes.missing.get(name)]  # fmt: skip
        self._notes.constant = tuple(sorted(set(named) - {"synthetic"}))

    def has(self, name: str) -> bool:
        return bool(self._only[name])
