"""Times of any spelling to UTC; what can't be read is told by row, zones are never guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from zoneinfo import ZoneInfo

import polars as pl

from usi.errors import UsageError
from usi.logs.tables import UTC_TIME, LogFormat

_ZONED = r":\d{2}(?:[.,]\d+)? ?(?:[Zz]|UTC|[+-]\d{2}(?::?\d{2})?)$"
_ISO = r"^\d{4}-\d{1,2}-\d{1,2}"
_SHORT_YEAR = r"^\d{1,2}[/.-]\d{1,2}[/.-]\d{2}\b"
_SPLIT = r"^\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}"
_NAMED = r"^(?:\d{1,2}[ /.-][A-Za-z]{3,9}\.?[ /.-]|[A-Za-z]{3,9} \d{1,2},? )\d{2,4}"
_NAMED_DAYS = (
    *(
        f"%d{mark}{month}{mark}{year}"
        for mark in ("/", "-", " ", ".")
        for month, year in (("%b", "%y"), ("%b", "%Y"), ("%B", "%Y"))
    ),
    "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y",
)  # fmt: skip
"""Dates with the name of the month, in English: 22/Jun/26, 22 June 2026, Jun 22, 2026."""
TRIED = (
    "2026-06-22 08:42, 22/06/2026 08:42, 22/Jun/26 8:42 AM, 22 Jun 2026 08:42, Jun 22, 2026 08:42; "
    "another spelling needs timestamp_pattern under [read]"
)
"""Spellings that are tried where no pattern is declared, for messages."""
_CLOCKS = ("%H:%M:%S%.f", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
_NUMBER = {"s": 1_000_000, "ms": 1_000, "us": 1}
FIRST_YEAR, LAST_YEAR = 1900, 2200
"""Years outside are taken for misread dates."""


@dataclass(frozen=True)
class Times:
    """Times of a block.

    Attributes
    ----------
    values
        In UTC, null where a cell is missing or bad.
    bad
        Which cells hold something that is no time.
    zoned
        Which cells carry a zone of their own; null where there is no cell.
    undeclared
        Whether a cell without a zone was found and no zone is declared.
    two_ways
        Whether a date such as 3/4/2016 was found and its order is not declared.
    gaps, repeats
        Cells that the declared zone's clock skipped, or showed twice.
    """

    values: pl.Series
    bad: pl.Series
    zoned: pl.Series
    undeclared: bool = False
    two_ways: bool = False
    gaps: int = 0
    repeats: int = 0


@cache
def check_zone(name: str) -> str:
    """The zone's name, if the zone exists.

    Raises
    ------
    UsageError
        For a name that is no zone.
    """
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UsageError(
            f"unknown time zone {name!r}; write it as in Europe/Paris, America/New_York or UTC"
        ) from None
    return name


def parse_times(cells: pl.Series, layout: LogFormat) -> Times:
    """Read times.

    Parameters
    ----------
    cells
        Text, numbers (with ``epoch``), dates or datetimes; null is missing.
    layout
        Its ``timezone``, ``date_order``, ``epoch`` and ``timestamp_pattern`` are used.
    """
    kind = cells.dtype
    if isinstance(kind, pl.Datetime) and kind.time_zone is not None:
        values = cells.cast(pl.Datetime("us", kind.time_zone)).dt.convert_time_zone("UTC")
        return _checked(cells, values.cast(UTC_TIME), _same(cells, True))
    if isinstance(kind, pl.Datetime) or kind == pl.Date:
        return _local(cells, cells.cast(pl.Datetime("us")), layout)
    if layout.epoch is not None or kind.is_numeric():
        return _numbers(cells, layout)
    text = cells.cast(pl.String)
    if layout.timestamp_pattern is not None:
        found = text.str.to_datetime(layout.timestamp_pattern, strict=False, time_unit="us")
        if found.dtype == UTC_TIME:
            return _checked(cells, found, _same(cells, True))
        return _local(cells, found, layout)
    quick = _alike(text, layout)
    if quick is not None:
        return quick
    zoned = text.str.contains(_ZONED)
    if not zoned.any():
        return _text(text, layout)
    with_zone = _offsets(text.filter(zoned.fill_null(False)))
    if zoned.all():
        return _checked(cells, with_zone, zoned)
    rest = _text(text.filter(~zoned.fill_null(True)), layout)
    values = _merge(zoned, with_zone, rest.values)
    return _checked(cells, values, zoned, rest.undeclared, rest.two_ways, rest.gaps, rest.repeats)


def _alike(text: pl.Series, layout: LogFormat) -> Times | None:
    """The usual column: every cell is ISO and spelt like the first. ``None`` where it is not."""
    at = text.is_not_null().arg_max()
    first = None if at is None else text[at]
    if first is None or re.match(_ISO, first) is None:
        return None
    mark = "T" if "T" in first else " "
    zoned = re.search(_ZONED, first) is not None
    zone = "" if not zoned else "Z" if first.endswith("Z") else "%:z"
    pattern = f"%Y-%m-%d{mark}%H:%M:%S%.f{zone}"
    found = text.str.to_datetime(pattern, strict=False, time_unit="us")
    if found.null_count() > text.null_count():
        return None
    if not zoned:
        return _local(text, found, layout)
    if zone == "Z":
        found = found.dt.replace_time_zone("UTC")
    return _checked(text, found.cast(UTC_TIME), _same(text, True))


def _same(cells: pl.Series, value: bool) -> pl.Series:
    return pl.select(pl.when(cells.is_not_null()).then(pl.lit(value)).alias("zoned")).to_series()


def _merge(zoned: pl.Series, yes: pl.Series, no: pl.Series) -> pl.Series:
    """Values of both kinds in the places of their cells."""
    places = pl.int_range(len(zoned), eager=True)
    parts = [
        pl.DataFrame({"at": places.filter(zoned.fill_null(False)), "value": yes}),
        pl.DataFrame({"at": places.filter(~zoned.fill_null(True)), "value": no}),
        pl.DataFrame(
            {
                "at": places.filter(zoned.is_null()),
                "value": pl.Series([None] * zoned.null_count(), dtype=UTC_TIME),
            }
        ),
    ]
    return pl.concat(parts).sort("at")["value"]


def _checked(
    cells: pl.Series,
    values: pl.Series,
    zoned: pl.Series,
    undeclared: bool = False,
    two_ways: bool = False,
    gaps: int = 0,
    repeats: int = 0,
) -> Times:
    year = values.dt.year()
    odd = ((year < FIRST_YEAR) | (year > LAST_YEAR)).fill_null(False)
    if odd.any():
        values = pl.select(pl.when(~odd).then(values)).to_series()
    bad = values.is_null() & cells.is_not_null()
    return Times(values.alias("time"), bad, zoned, undeclared, two_ways, gaps, repeats)


def _numbers(cells: pl.Series, layout: LogFormat) -> Times:
    if layout.epoch is None:
        none = pl.Series([None] * len(cells), dtype=UTC_TIME)
        return _checked(cells, none, _same(cells, True))
    factor = _NUMBER[layout.epoch]
    whole = cells.cast(pl.Int64, strict=False) if cells.dtype == pl.String else None
    if whole is not None and whole.null_count() == cells.null_count():
        micros = whole * factor
    else:
        micros = (
            (cells.cast(pl.Float64, strict=False) * factor).round().cast(pl.Int64, strict=False)
        )
    values = micros.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    return _checked(cells, values, _same(cells, True))


def _offsets(text: pl.Series) -> pl.Series:
    """Times with an offset of their own."""
    plain = text.str.replace(r" ?(?:[Zz]|UTC)$", "+00:00").str.replace(",", ".", literal=True)
    plain = plain.str.replace(r"([+-]\d{2})$", "${1}:00")
    plain = plain.str.replace(r" ([+-]\d{2}:?\d{2})$", "${1}")
    formats = [f"%Y-%m-%d{mark}%H:%M{sec}%:z" for mark in (" ", "T") for sec in (":%S%.f", "")]
    return _first(plain, formats).cast(UTC_TIME)


def _first(text: pl.Series, formats: list[str]) -> pl.Series:
    """The value by the first format that reads a cell."""
    wanted = text.null_count()
    found: pl.Series | None = None
    for pattern in formats:
        here = text.str.to_datetime(pattern, strict=False, time_unit="us")
        if found is None:
            found = here
        elif here.null_count() < len(here):
            found = pl.select(pl.coalesce(found, here)).to_series()
        if found.null_count() == wanted:
            break
    assert found is not None  # there is always a format
    return found


def _text(text: pl.Series, layout: LogFormat) -> Times:
    """Times without a zone of their own."""
    known = text.drop_nulls()
    split = bool(known.str.contains(_SPLIT).any()) if len(known) else False
    if split and layout.date_order is None:
        none = pl.Series([None] * len(text), dtype=UTC_TIME)
        return _checked(text, none, _same(text, False), two_ways=True)
    days = []
    if split:
        order = "%d{0}%m{0}" if layout.date_order == "day-first" else "%m{0}%d{0}"
        mark = str(known.str.extract(r"^\d{1,2}([/.-])").drop_nulls()[0])
        marks = [mark, *(m for m in "/.-" if m != mark)]
        short = bool(known.str.contains(_SHORT_YEAR).any())
        days += [order.format(m) + "%y" for m in marks] if short else []
        days += [order.format(m) + "%Y" for m in marks]
    if len(known) and known.str.contains(_NAMED).any():
        days += _named_days(known)
    if not days or known.str.contains(_ISO).any():
        days += ["%Y-%m-%d"]
    formats = [f"{d}{m}{c}" for d in days for c in _CLOCKS for m in (" ", "T")]
    dots = text.str.replace(r",(\d+)$", ".${1}")
    found = _first(dots, formats) if formats else dots.cast(pl.Datetime("us"))
    if found.null_count() > text.null_count():
        dates = [text.str.to_date(day, strict=False).cast(pl.Datetime("us")) for day in days]
        found = pl.select(pl.coalesce(found, *dates)).to_series()
    return _local(text, found, layout)


def _named_days(known: pl.Series) -> list[str]:
    """Patterns of dates with named months that read the first such cell."""
    first = known.filter(known.str.contains(_NAMED))[0]
    day = str(pl.Series([first]).str.extract(f"({_NAMED})")[0])
    shown = pl.Series([day])
    fits = [
        pattern for pattern in _NAMED_DAYS
        if shown.str.to_date(pattern, strict=False).null_count() == 0
    ]  # fmt: skip
    return [*fits, *(pattern for pattern in _NAMED_DAYS if pattern not in fits)]


def _local(cells: pl.Series, local: pl.Series, layout: LogFormat) -> Times:
    zoned = _same(cells, False)
    if layout.timezone is None:
        undeclared = local.null_count() < len(local)
        return _checked(cells, local.dt.replace_time_zone("UTC"), zoned, undeclared)
    zone = check_zone(layout.timezone)
    if zone == "UTC":
        return _checked(cells, local.dt.replace_time_zone("UTC"), zoned)
    first, later = (
        local.dt.replace_time_zone(zone, ambiguous=which, non_existent="null")
        for which in ("earliest", "latest")
    )
    repeats = int((first != later).sum())
    gap = first.is_null() & local.is_not_null()
    if gap.any():
        moved = local.dt.offset_by("1h")
        moved = moved.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
        first = pl.select(pl.coalesce(first, moved)).to_series()
    values = first.dt.convert_time_zone("UTC")
    return _checked(cells, values, zoned, gaps=int(gap.sum()), repeats=repeats)
