"""From raw cells to the canonical event frame, and the stream of a whole log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from usi.errors import InputError, InputErrors, quoted, told_columns, unknown_name
from usi.loading.labels import simulator_label
from usi.loading.notes import InputFile
from usi.loading.paths import expand
from usi.loading.source import Source
from usi.logs import ocel, tables, xes
from usi.logs.notes import LogNotes
from usi.logs.ocel_files import ocel_kind
from usi.logs.tables import (
    COMMON_NAMES,
    FIELD,
    FLAG_ROLES,
    REQUIRED_ROLES,
    ROLES,
    TIME_ROLES,
    Column,
    LogFormat,
    role_type,
)
from usi.logs.times import TRIED, Times, check_zone, parse_times
from usi.reading import each, reading

Paths = Sequence[str | Path] | str | Path
_TRUE = ("true", "1", "yes", "y", "t")
_FALSE = ("false", "0", "no", "n", "f")
_HEAD = 65_536
OCEL = "ocel2"
"""Beginning of the names of the three files of OCEL."""
EVENT, EVENT_TIME, ROW = "usi:event", "usi:time", "usi:row"
"""Columns that are made where a row is a case: what happened, when, and in which row."""


@dataclass(frozen=True)
class _Planned:
    """A file, its format, and which of its columns are read: role or field -> column names."""

    source: Source
    kind: str
    chosen: dict[str, tuple[str, ...]]
    events: dict[str, str] = field(default_factory=dict)
    """Of a table with a row a case: activity -> column of its time."""

    @property
    def wanted(self) -> tuple[str, ...]:
        names = [name for names in self.chosen.values() for name in names]
        own = (name for name in names if name not in (EVENT, EVENT_TIME))
        return tuple(dict.fromkeys((*own, *self.events.values())))


class EventStream:
    """Events of one log, read as they are iterated, in file order; memory stays constant.

    Iterate once. Each frame has ``row`` (order in the whole log, from 0), `roles` and the tracked
    fields (``field:NAME``). Bad rows are collected and raised together at the end.

    Attributes
    ----------
    layout
        How the files are read.
    roles
        Roles that a file has a column for, in the order of `ROLES`.
    fields
        Tracked and required columns that a file has.
    label
        Name of the log.
    notes
        Complete when the iteration has ended.
    """

    def __init__(
        self, files: Sequence[_Planned], layout: LogFormat, label: str, notes: LogNotes
    ) -> None:
        self._files, self.layout, self.label, self.notes = tuple(files), layout, label, notes
        have = {role for file in files for role in file.chosen}
        self.roles = tuple(role for role in ROLES if role in have)
        self.fields = tuple(name for name in layout.fields if FIELD + name in have)
        self._events = self._read()

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return self._events

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """Columns of every frame."""
        named = {role: role_type(role) for role in self.roles}
        tracked = {FIELD + name: pl.String() for name in self.fields}
        return {"row": pl.Int64(), **named, **tracked}

    def _read(self) -> Iterator[pl.DataFrame]:
        at = 0
        for planned in self._files:
            file = InputFile(planned.source.name, planned.kind)
            self.notes.files.append(file)
            cells = _Cells(planned, self.layout, self.notes)
            name = planned.source.name
            for raw, rows in each(_blocks(planned, self.layout, self.notes, file), name):
                with reading(name):
                    frame = cells.events(raw, rows)
                missing = [
                    pl.lit(None, dtype=kind).alias(name)
                    for name, kind in self.schema.items()
                    if name not in frame.columns and name != "row"
                ]
                frame = frame.with_columns(
                    *missing, pl.int_range(at, at + frame.height, dtype=pl.Int64).alias("row")
                )
                at += frame.height
                file.sessions += frame.height
                yield frame.select(list(self.schema))
        if not at and not self.notes.problems:
            names = ", ".join(planned.source.name for planned in self._files)
            raise InputError("holds no event", file=names)
        if len(self.notes.problems) == 1:
            raise self.notes.problems[0]
        if self.notes.problems:
            raise InputErrors(self.notes.problems)


def open_log(
    paths: Paths, layout: LogFormat | None = None, *, name: str | None = None
) -> EventStream:
    """Open the files of one log.

    Parameters
    ----------
    paths
        CSV, Parquet, XES or OCEL 2.0 (JSON, XML, SQLite) files, folders or archives, compressed
        or not; all of them together are one log.
    layout
        Columns and how cells are read; roles that it does not name are found by common names.
    name
        Label of the log in place of the first file's name.

    Raises
    ------
    InputError
        For a file that can't be opened, has no column for case, activity or time, or names a
        column twice.
    """
    layout = layout or LogFormat()
    if layout.timezone is not None:
        check_zone(layout.timezone)
    for role in layout.columns:
        if role not in ROLES:
            raise unknown_name("role of a column", role, ROLES)
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    sources = []
    for path in given:
        with reading(str(path)):
            sources += expand(path)
    if not sources:
        raise InputError("no file of a log was named")
    files = []
    for source in sources:
        with reading(source.name):
            files.append(_plan(source, layout))
    return EventStream(files, layout, name or simulator_label(sources[0].filename), LogNotes())


def header(source: Source, layout: LogFormat) -> tuple[str, list[str] | None]:
    """Format of a file and its column names; ``None`` where only reading it tells them."""
    with source.open() as stream:
        head = stream.read(_HEAD)
    if tables.is_parquet(head):
        with tables.parquet_file(source) as opened:
            return "parquet", list(opened.schema_arrow.names)
    kind = ocel_kind(head)
    if kind is not None:
        return kind, None
    if xes.is_xes(head):
        return "xes", None
    return "csv", tables.csv_header(source, layout)[0]


def _plan(source: Source, layout: LogFormat) -> _Planned:
    kind, names = header(source, layout)
    chosen: dict[str, tuple[str, ...]] = {}
    if kind.startswith(OCEL):
        chosen |= {role: (role,) for role in REQUIRED_ROLES}
    for role in ROLES:
        if role in chosen:
            continue
        declared = layout.columns.get(role)
        if names is None:
            any_of = declared.names if declared else COMMON_NAMES[role]
            chosen[role] = any_of
        else:
            found = _find(names, declared, COMMON_NAMES[role])
            if found is not None:
                chosen[role] = (found,)
    if set(chosen.get("lifecycle", ())) & set(chosen.get("activity", ())):
        del chosen["lifecycle"]  # here the transition is what happened
    events: dict[str, str] = {}
    if names is not None:
        events = _events_of(names, layout)
        if events:
            chosen |= {"activity": (EVENT,), "timestamp": (EVENT_TIME,)}
        missing = [role for role in REQUIRED_ROLES if role not in chosen]
        if missing:
            _refuse(source, missing, names, layout)
        lacking = [name for name in layout.fields if name not in names]
        chosen |= {FIELD + name: (name,) for name in layout.fields if name not in lacking}
    else:
        chosen |= {FIELD + name: (name,) for name in layout.fields}
    planned = _Planned(source, kind, chosen, events)
    if names is not None:
        tables.check_twins(names, planned.wanted, source)
    return planned


def _events_of(names: Sequence[str], layout: LogFormat) -> dict[str, str]:
    """Activities of a table with a row a case, where it has times of two or more."""
    found = {
        activity: next((name for name in columns if name in names), None)
        for activity, columns in layout.events.items()
    }
    present = {activity: name for activity, name in found.items() if name is not None}
    return present if len(present) > 1 else {}


def _exploded(block: tables.Block, events: Mapping[str, str]) -> tables.Block:
    """Rows of cases as rows of events, one for each time that a case has."""
    raw, rows = block
    numbered = raw.with_columns(rows.alias(ROW))
    kinds = {raw.schema[column] for column in events.values()}
    kind = kinds.pop() if len(kinds) == 1 else pl.String()
    parts = [
        numbered.filter(pl.col(column).is_not_null()).with_columns(
            pl.lit(activity).alias(EVENT), pl.col(column).cast(kind).alias(EVENT_TIME)
        )
        for activity, column in events.items()
    ]
    whole = pl.concat(parts).sort(ROW, maintain_order=True)
    return whole.drop(ROW), whole[ROW]


def _find(names: Sequence[str], declared: Column | None, common: Sequence[str]) -> str | None:
    if declared is not None:
        return next((name for name in declared.names if name in names), None)
    lower = {name.lower().strip(): name for name in reversed(names)}
    return next((lower[name] for name in common if name in lower), None)


def _refuse(source: Source, missing: list[str], names: Sequence[str], layout: LogFormat) -> None:
    words = {"case_id": "case id", "activity": "activity", "timestamp": "time"}
    tried = [name for role in missing for name in getattr(layout.columns.get(role), "names", ())]
    raise InputError(
        f"has no column for the {' and the '.join(words[role] for role in missing)}"
        + (f" (declared: {', '.join(tried)})" if tried else "")
        + f". Its columns: {told_columns(names, 40)}. Say which it is: "
        + " ".join(f"{_FLAG[role]} COLUMN" for role in missing)
        + " on the command line, or "
        + ", ".join(f'{role} = "COLUMN"' for role in missing)
        + " under [columns]",
        file=source.name,
    )


def _blocks(
    planned: _Planned, layout: LogFormat, notes: LogNotes, file: InputFile
) -> Iterator[tables.Block]:
    blocks = _read_blocks(planned, layout, notes, file)
    return (_exploded(block, planned.events) for block in blocks) if planned.events else blocks


def _read_blocks(
    planned: _Planned, layout: LogFormat, notes: LogNotes, file: InputFile
) -> Iterator[tables.Block]:
    source, wanted = planned.source, planned.wanted
    if planned.kind == "parquet":
        return tables.parquet_blocks(source, layout, wanted, file)
    if planned.kind == "xes":
        return xes.xes_blocks(source, layout, wanted, file)
    if planned.kind.startswith(OCEL):
        return ocel.ocel_blocks(source, layout, wanted, notes, file)
    return tables.csv_blocks(source, layout, wanted, notes, file)


class _Cells:
    """Turns raw blocks of one file into events, and notes what is wrong with which row."""

    def __init__(self, planned: _Planned, layout: LogFormat, notes: LogNotes) -> None:
        self._planned, self._notes, self._layout = planned, notes, layout
        self._zoned: bool | None = None
        self._first_row: int | None = None

    def events(self, raw: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
        columns: list[pl.Series] = []
        bad = pl.repeat(False, raw.height, eager=True)
        for role, names in self._planned.chosen.items():
            cells = self._cells(raw, role, names)
            if role in TIME_ROLES or role == "timestamp":
                times = parse_times(cells, self._layout)
                self._check_times(times, rows, names[0], cells)
                bad = bad | times.bad
                values = times.values
            elif role in FLAG_ROLES:
                values, wrong = _flags(cells)
                self._problems(wrong, rows, cells, names[0], "is neither true nor false")
            else:
                values = cells.cast(pl.String)
            if role in REQUIRED_ROLES:
                lacks = cells.is_null()
                self._problems(lacks, rows, None, names[0], "there is no " + _WHAT[role])
                bad = bad | lacks
            columns.append(values.alias(role))
        frame = pl.DataFrame(columns)
        return frame.filter(~bad) if bad.any() else frame

    def _cells(self, raw: pl.DataFrame, role: str, names: tuple[str, ...]) -> pl.Series:
        cells = raw[names[0]]
        for name in names[1:]:
            cells = pl.select(pl.coalesce(cells, raw[name])).to_series()
        column = self._layout.columns.get(role)
        if column is not None and column.pattern is not None:
            cells = cells.cast(pl.String).str.extract(column.pattern)
        if column is not None and column.default is not None:
            cells = cells.cast(pl.String).fill_null(column.default)
        return cells

    def _problems(
        self, wrong: pl.Series, rows: pl.Series, cells: pl.Series | None, name: str, text: str
    ) -> None:
        if not wrong.any():
            return
        where = rows.filter(wrong).to_list()
        shown = [None] * len(where) if cells is None else cells.filter(wrong).to_list()
        for row, value in zip(where, shown, strict=True):
            said = text if value is None else f"{quoted(str(value))} {text}"
            self._notes.add_problem(
                InputError(said, file=self._planned.source.name, row=row, field=name)
            )

    def _check_times(self, times: Times, rows: pl.Series, name: str, cells: pl.Series) -> None:
        file = self._planned.source.name
        if times.two_ways:
            raise InputError(
                "dates such as 3/4/2016 can be read in two ways: declare date_order "
                "(day-first or month-first) under [read]",
                file=file,
                field=name,
            )
        if cells.dtype.is_numeric() and self._layout.epoch is None:
            raise InputError(
                "times are numbers: declare epoch (s, ms or us) under [read]", file=file, field=name
            )
        self._mixed(times, rows, name)
        if times.undeclared:
            raise InputError(
                "times have no zone, and none is declared: say --timezone, or timezone under "
                "[read], such as Europe/Paris (UTC takes the clock as it stands)",
                file=file,
                field=name,
            )
        self._notes.clock_gaps += times.gaps
        self._notes.clock_repeats += times.repeats
        self._problems(times.bad, rows, cells, name, _NO_TIME.format(self._tried()))

    def _tried(self) -> str:
        return self._layout.timestamp_pattern or TRIED

    def _mixed(self, times: Times, rows: pl.Series, name: str) -> None:
        """Zones must be given by all times of a file or by none."""
        seen = []
        for value in (True, False):
            mask = ((times.zoned == value) & ~times.bad).fill_null(False)
            if mask.any():
                seen.append((int(rows.filter(mask)[0]), value))
        for row, value in sorted(seen):
            if self._zoned is None:
                self._zoned, self._first_row = value, row
            elif self._zoned != value:
                has, lacks = (row, self._first_row) if value else (self._first_row, row)
                raise InputError(
                    f"mixed zones: the time of row {has} has one, that of row {lacks} has none. "
                    "Write all times the same way",
                    file=self._planned.source.name,
                    row=row,
                    field=name,
                )


_NO_TIME = "is not a time (tried: {})"
_FLAG = {"case_id": "--case", "activity": "--activity", "timestamp": "--time"}
_WHAT = {"case_id": "case id", "activity": "activity", "timestamp": "time"}


def _flags(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    if cells.dtype == pl.Boolean:
        return cells, pl.repeat(False, len(cells), eager=True)
    text = cells.cast(pl.String)
    if not text.is_in(["true", "false"]).all():
        text = text.str.to_lowercase().str.strip_chars()
    values = pl.select(
        pl.when(text.is_in(_TRUE)).then(True).when(text.is_in(_FALSE)).then(False)
    ).to_series()
    return values, values.is_null() & cells.is_not_null()
