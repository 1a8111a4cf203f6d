"""A first draft of a log's configuration from the data, for a person to correct."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import polars as pl

from usi.errors import InputError, unknown_name
from usi.loading.notes import InputFile
from usi.loading.paths import expand
from usi.loading.source import Source
from usi.logs import ocel, tables, xes
from usi.logs.events import header
from usi.logs.notes import LogNotes
from usi.logs.tables import (
    COMMON_NAMES,
    REQUIRED_ROLES,
    ROLES,
    TIME_ROLES,
    DateOrder,
    Epoch,
    LogFormat,
)
from usi.reading import reading

_GUESSES: tuple[tuple[str, str], ...] = (
    ("cancelled", r"cancel|withdrawn|abort"),
    ("closed", r"\bclose[d]?\b|\bend\b|archiv"),
    ("resolved", r"resolv|complet(?!eness)|solved|fixed|done\b|in call"),
    (
        "wait_user",
        r"(wait|hold|pending|request|ask).*(user|caller|customer|client|applicant|info|requester)",
    ),
    ("wait_other", r"wait|pending|on hold|vendor|third|suspend"),
    ("queue", r"\bnew\b|queue|assign|open(ed)?\b|creat|regist|submitted|unmatched|logged"),
)
_MISSING = ("?", "NULL", "null", "None", "NaN", "nan", "N/A", "n/a", "-", "EMPTY")
_TEXT_FIELDS = ("priority", "impact", "category")


@dataclass(frozen=True)
class Draft:
    """What was guessed from a file.

    Attributes
    ----------
    text
        The configuration as TOML; every guess says so.
    unsure
        What a person must decide before it can be used.
    """

    text: str
    unsure: tuple[str, ...]


def guess_class(activity: str) -> str:
    """Class of an activity by its words; ``work`` where none fits.

    >>> [guess_class(name) for name in ("Awaiting User Info", "Wait - Vendor", "Closed", "Fix it")]
    ['wait_user', 'wait_other', 'closed', 'work']
    """
    low = activity.lower().replace("_", " ")
    return next((name for name, words in _GUESSES if re.search(words, low)), "work")


def suggest(
    paths: Sequence[str | Path] | str | Path,
    *,
    blocks: int | None = None,
    object_type: str | None = None,
    columns: Mapping[str, str | None] | None = None,
) -> Draft:
    """Draft a configuration: columns by name, date order and zone by the cells, classes by words.

    Parameters
    ----------
    paths
        Files of one log; columns are those of the first.
    blocks
        Read so many blocks of each file only; default: all, so that no activity is missed.
    object_type
        Of OCEL: the objects that are cases.
    columns
        Role -> column that is known already.

    Raises
    ------
    InputError
        For files that can't be read.
    UsageError
        A named column is not in the file.
    """
    sources = []
    for path in [paths] if isinstance(paths, str | Path) else list(paths):
        with reading(str(path)):
            sources += expand(path)
    with reading(sources[0].name):
        kind, names = header(sources[0], LogFormat())
    given = {role: name for role, name in (columns or {}).items() if name is not None}
    for name in given.values():
        if names is not None and name not in names:
            raise unknown_name("column", name, names)
    roles = _roles(kind, names, given)
    unsure: list[str] = []
    seen = _Seen(LogFormat(object_type=object_type))
    if "activity" in roles:
        for source in sources:
            with reading(source.name):
                seen.read(source, kind, roles, blocks)
    lines = ["# Draft by usi logs suggest: every line is a guess. Correct it, then use it with",
             "# usi logs validate FILES --config THIS.toml", "", "[read]"]  # fmt: skip
    lines += _read_lines(kind, roles, seen, unsure, object_type)
    lines += ["", "[columns]"]
    for role in ROLES:
        if role in roles:
            lines.append(f"{role} = {_quoted(roles[role])}")
        elif role in REQUIRED_ROLES and not kind.startswith("ocel2"):
            lines.append(f'# {role} = ""  # no column has a usual name for it')
            unsure.append(f"which column is the {role}")
    if names is not None:
        rest = [name for name in names if name not in roles.values()]
        lines += ["", f"# Not used: {', '.join(rest).replace(chr(10), ' ')}"] if rest else []
    tracked = [_quoted(roles[role]) for role in _TEXT_FIELDS if role in roles]
    lines += ["", "[fields]", f"tracked = [{', '.join(tracked)}]",
              "required = []  # columns that a complete ticket must have"]  # fmt: skip
    lines += ["", "[classes]", "# work, queue, wait_user, wait_other, resolved, closed, cancelled"]
    width = max((len(_quoted(name)) for name in seen.activities), default=0)
    for name, count in sorted(seen.activities.items(), key=lambda pair: (-pair[1], pair[0])):
        lines.append(f'{_quoted(name):<{width}} = "{guess_class(name)}"  # {count:,} events')
    if seen.activities:
        unsure.append("the class of every activity")
    lines += ["", "[features]", 'missing_group = "drop"  # or "value": blank is a group of its own']
    return Draft("\n".join(lines) + "\n", tuple(unsure))


def _roles(kind: str, names: list[str] | None, given: Mapping[str, str]) -> dict[str, str]:
    if kind.startswith("ocel2"):
        return {role: role for role in REQUIRED_ROLES}
    if names is None:  # the standard's own keys
        own = [next((n for n in COMMON_NAMES[r] if ":" in n), None) for r in ROLES]
        return {role: name for role, name in zip(ROLES, own, strict=True) if name is not None}
    lower = {name.lower().strip(): name for name in reversed(names)}
    found: dict[str, str] = dict(given)
    for role in ROLES:
        if role in found:
            continue
        name = next((lower[n] for n in COMMON_NAMES[role] if n in lower), None)
        if name is not None and name not in found.values():
            found[role] = name
    return found


class _Seen:
    """What the cells say."""

    def __init__(self, layout: LogFormat) -> None:
        self.layout = layout
        self.activities: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        self.times: list[str] = []
        self.native = self.number = False

    def read(self, source: Source, kind: str, roles: dict[str, str], limit: int | None) -> None:
        wanted = list(roles.values())
        layout, notes, file = self.layout, LogNotes(), InputFile(source.name, kind)
        if kind == "parquet":
            found = tables.parquet_blocks(source, layout, wanted, file)
        elif kind == "xes":
            found = xes.xes_blocks(source, layout, wanted, file)
        elif kind.startswith("ocel2"):
            found = ocel.ocel_blocks(source, layout, wanted, notes, file)
        else:
            found = tables.csv_blocks(source, layout, wanted, notes, file)
        for frame, _ in islice(found, limit):
            for name, count in (
                frame[roles["activity"]].drop_nulls().cast(pl.String).value_counts().iter_rows()
            ):
                self.activities[name] += count
            for name in frame.columns:
                if frame[name].dtype == pl.String:
                    marks = frame[name].filter(frame[name].is_in(_MISSING)).value_counts()
                    self.missing.update(dict(marks.iter_rows()))
            self._see_times(frame, roles)
        if not self.activities:
            raise InputError("holds no event", file=source.name)

    def _see_times(self, frame: pl.DataFrame, roles: dict[str, str]) -> None:
        for role in ("timestamp", *TIME_ROLES):
            if role not in roles:
                continue
            cells = frame[roles[role]].drop_nulls()
            if cells.dtype != pl.String:
                self.native = True
                self.number = self.number or cells.dtype.is_numeric()
                if self.number:
                    self.times += cells.head(50).cast(pl.String).to_list()
                continue
            split = cells.filter(cells.str.contains(r"^\d{1,2}[/.-]\d{1,2}[/.-]\d{4}"))
            parts = split.str.extract_groups(r"^(?<a>\d+)[/.-](?<b>\d+)").struct.unnest()
            telling = (
                parts.with_columns(split.alias("cell")).filter(
                    (pl.col("a").cast(pl.Int64) > 12) | (pl.col("b").cast(pl.Int64) > 12)
                )
                if len(split)
                else parts.with_columns(split.alias("cell"))
            )
            self.times += [*cells.head(50).to_list(), *telling["cell"].head(50).to_list()]


def _read_lines(
    kind: str, roles: dict[str, str], seen: _Seen, unsure: list[str], object_type: str | None
) -> list[str]:
    lines = ['rows = "event"  # "update": a row is the whole ticket after an update']
    marks = sorted(set(seen.missing) & {*_MISSING})
    if marks:
        lines.append(f"missing = [{', '.join(map(_quoted, marks))}]")
    clock = [cell for cell in seen.times if re.search(r":\d{2}", cell)]
    if any(re.match(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{4}", cell) for cell in seen.times):
        order = _order(seen.times)
        if order is None:
            unsure.append("whether dates are day-first or month-first")
        lines.append(
            f'date_order = "{order}"'
            if order
            else '# date_order = "day-first"  # or "month-first"?'
        )
    if seen.number or (
        seen.times and all(re.fullmatch(r"\d+(\.\d+)?", cell) for cell in seen.times)
    ):
        lines.append(f'epoch = "{_epoch(seen.times)}"')
    elif not any(
        re.search(r":\d{2}([.,]\d+)? ?(Z|z|UTC|[+-]\d{2})", cell) for cell in clock
    ) and not (seen.native and not seen.times):
        lines.append('# timezone = "Europe/Paris"  # times name no zone: which clock is it?')
        unsure.append("the time zone")
    if kind.startswith("ocel2"):
        lines.append(
            f"object_type = {_quoted(object_type)}"
            if object_type
            else '# object_type = ""  # the objects that are cases'
        )
    return lines


def _order(times: Sequence[str]) -> DateOrder | None:
    pairs = [re.match(r"(\d{1,2})[/.-](\d{1,2})[/.-]\d{4}", cell) for cell in times]
    days = {("day-first" if int(m[1]) > 12 else "month-first") for m in pairs
            if m and (int(m[1]) > 12 or int(m[2]) > 12)}  # fmt: skip
    if days == {"day-first"}:
        return "day-first"
    return "month-first" if days == {"month-first"} else None


def _epoch(times: Sequence[str]) -> Epoch:
    size = max((float(cell) for cell in times if re.fullmatch(r"\d+(\.\d+)?", cell)), default=0.0)
    return "us" if size > 1e14 else "ms" if size > 1e11 else "s"


def _quoted(text: str) -> str:
    """A TOML basic string."""
    short = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return (
        '"'
        + "".join(short.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in text)
        + '"'
    )
