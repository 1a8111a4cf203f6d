"""Time stamps of messages: what is read as a moment, and what is counted and set aside.

A stamp is beside the point of a transcript, so one that can't be read never refuses a file: it is
counted in the notes and the message has no time. Our own format is stricter
(`usi.loading.formats.usi_jsonl`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from usi.errors import quoted
from usi.loading.context import Context
from usi.loading.fields import STAMPS, BadField, kind, turns_of
from usi.records import Turn

UNREADABLE = "field: a time stamp that can't be read"
MIXED = "field: time stamps of a session, some with a time zone and some without"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FROM, _UNTIL = 100_000_000, 4_102_444_800
"""Seconds since 1970 that are taken for a moment: March 1973 to 2099. Smaller numbers are counters
or offsets. In milli-, micro- and nanoseconds the ranges do not meet, so the unit is known."""
_UNITS = (1_000_000, 1_000, 1)
_NUMBER = re.compile(r"[0-9]{9,19}(?:\.[0-9]{1,9})?")
_TIME = attrgetter("time")


def moment(value: Any) -> datetime | None:
    """A stamp as a moment in UTC, or without a zone where it names none; ``None``: no moment.

    Parameters
    ----------
    value
        ISO 8601 with a time of day (``2026-08-01T10:00:00Z``, a blank for the T, a final
        ``UTC``), seconds, milli-, micro- or nanoseconds since 1970 as a number or its text, or a
        datetime.

    Examples
    --------
    >>> moment("2026-08-01T12:00:00+02:00")
    datetime.datetime(2026, 8, 1, 10, 0, tzinfo=datetime.timezone.utc)
    >>> moment(1_785_578_400_000) == moment("2026-08-01T10:00:00Z")
    True
    >>> moment("2026-08-01"), moment(17), moment(True), moment(float("nan"))
    (None, None, None, None)
    """
    if isinstance(value, str):
        return _of_text(value.strip())
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _of_number(value)


def _of_text(text: str) -> datetime | None:
    if len(text) > 64:
        return None
    if _NUMBER.fullmatch(text):
        return _of_number(float(text) if "." in text else int(text))
    if ":" not in text:
        return None  # a day alone, or another thing
    if text.endswith(" UTC"):
        text = f"{text[:-4]}+00:00"
    try:
        return _in_utc(datetime.fromisoformat(text))
    except ValueError:
        return None


def _of_number(value: float) -> datetime | None:
    if not 0 < value < 1e20:  # nor is NaN
        return None
    for scale in _UNITS:
        if _FROM <= value * scale / 1_000_000 < _UNTIL:
            return EPOCH + timedelta(microseconds=round(value * scale))
    if _FROM <= value / 1_000_000_000 < _UNTIL:
        return EPOCH + timedelta(microseconds=int(value) // 1_000)
    return None


def _in_utc(value: datetime) -> datetime | None:
    """A plain datetime (data frames bring classes of their own, and moments that are none)."""
    try:
        plain = datetime(
            value.year, value.month, value.day, value.hour, value.minute, value.second,
            value.microsecond, value.tzinfo, fold=value.fold,
        )  # fmt: skip
        return plain if plain.tzinfo is None else plain.astimezone(UTC)
    except (OverflowError, ValueError, TypeError, AttributeError):
        return None


def is_blank(value: Any) -> bool:
    """Whether there is no stamp: null, an empty text, or what tables have for it."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    if isinstance(value, float) and math.isnan(value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")


def stamp_of(value: Any, context: Context) -> datetime | None:
    """A stamp as a moment; one that can't be read is counted."""
    if is_blank(value):
        return None
    found = moment(value)
    if found is None:
        context.leave_out(UNREADABLE)
    return found


def time_of(message: Mapping[str, Any], _field: str, context: Context) -> datetime | None:
    """Time of a message under one of its usual names (`STAMPS`)."""
    if STAMPS.isdisjoint(message):
        return None
    name = next(name for name in ("timestamp", "created_at", "time") if name in message)
    return stamp_of(message[name], context)


def own_time(message: Mapping[str, Any], field: str, context: Context) -> datetime | None:
    """Time of a message of usi JSONL: `time` must be ISO 8601; other names are read leniently.

    Raises
    ------
    BadField
        `time` is no text, or no moment in ISO 8601.
    """
    value = message.get("time")
    if value is None:
        others = {name: found for name, found in message.items() if name != "time"}
        return time_of(others, field, context)
    if isinstance(value, datetime):  # read already, by the reader of another format
        return value
    if not isinstance(value, str):
        raise BadField(f"{field}.time", f"must be text in ISO 8601, not {kind(value)}")
    found = _of_text(value) if not _NUMBER.fullmatch(value) else None
    if found is None:
        raise BadField(
            f"{field}.time", f"must be a time such as 2026-08-01T10:00:00Z, not {quoted(value)}"
        )
    return found


def timed_turns(value: Any, field: str, context: Context) -> tuple[Turn, ...]:
    """All messages of a list, with their times where they have stamps."""
    return one_clock(turns_of(value, field, partial(time_of, context=context)), context)


def own_turns(value: Any, field: str, context: Context) -> tuple[Turn, ...]:
    """All messages of a list of usi JSONL (see `own_time`).

    Raises
    ------
    BadField
        A `time` is no moment, or some name a time zone and some do not.
    """
    turns = turns_of(value, field, partial(own_time, context=context))
    if mixed(turns) and any(isinstance(message.get("time"), str) for message in value):
        raise BadField(f"{field}.time", "some name a time zone and some do not, in one session")
    return one_clock(turns, context)


def one_clock(turns: tuple[Turn, ...], context: Context) -> tuple[Turn, ...]:
    """Turns whose stamps can be compared: where some name a zone and some do not, without any."""
    if mixed(turns):
        context.leave_out(MIXED)
        return tuple(replace(turn, time=None) for turn in turns)
    return turns


def mixed(turns: tuple[Turn, ...]) -> bool:
    """Whether some stamps name a time zone and some do not."""
    stamps = list(map(_TIME, turns))
    if stamps.count(None) == len(stamps):
        return False
    return len({stamp.tzinfo is None for stamp in stamps if stamp is not None}) > 1
