"""Working hours: what is off hours, and how much working time lies between two times."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usi.errors import UsageError, unknown_name
from usi.reading import whole_number

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = 86_400_000_000
_THURSDAY = 3  # 1970-01-01
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Calendar:
    """Working days and hours on the wall clock of one zone; shifts over midnight are not known.

    Attributes
    ----------
    days
        Working days of a week, Monday is 0.
    start, end
        Microseconds since midnight; ``start`` is inside, ``end`` outside.
    holidays
        Days since 1970-01-01 that are free, sorted.
    """

    days: tuple[int, ...] = (0, 1, 2, 3, 4)
    start: int = 8 * 3_600_000_000
    end: int = 18 * 3_600_000_000
    holidays: tuple[int, ...] = ()

    @property
    def tag(self) -> str:
        """For signatures, such as ``mon-tue-wed-thu-fri@08:00-18:00``; holidays by number."""
        hours = "-".join(
            f"{value // 3_600_000_000:02d}:{value // 60_000_000 % 60:02d}"
            for value in (self.start, self.end)
        )
        free = f"+{len(self.holidays)}free" if self.holidays else ""
        return f"{'-'.join(DAYS[day] for day in self.days)}@{hours}{free}".replace(":", ".")

    def _works(self, day: Ints) -> NDArray[np.bool_]:
        open_ = np.isin((day + _THURSDAY) % 7, self.days)
        return open_ & ~np.isin(day, self.holidays)

    def is_open(self, wall: Ints) -> NDArray[np.bool_]:
        """Whether times lie in working hours; ``wall``: microseconds of the wall clock."""
        day, time = wall // _DAY, wall % _DAY
        return np.asarray(self._works(day) & (time >= self.start) & (time < self.end))

    def worked(self, wall: Ints) -> Ints:
        """Working microseconds from a fixed origin to each time; differences are what counts.

        Sums whole weeks, the days of the begun one and the part of the day; holidays between are
        taken off.
        """
        day, time = wall // _DAY, wall % _DAY
        shifted = day + _THURSDAY
        week, weekday = shifted // 7, shifted % 7
        before = np.array([sum(d < k for d in self.days) for k in range(7)], dtype=np.int64)
        full = week * len(self.days) + before[weekday]
        free = np.array(
            [h for h in self.holidays if (h + _THURSDAY) % 7 in self.days], dtype=np.int64
        )
        full = full - np.searchsorted(free, day, side="left")
        part = np.clip(time - self.start, 0, self.end - self.start)
        return np.asarray(full * (self.end - self.start) + np.where(self._works(day), part, 0))


def read_calendar(table: Mapping[str, Any]) -> Calendar:
    """A calendar from TOML: ``days = ["mon", ...]``, ``start = "08:00"``, ``end``, ``holidays``.

    Raises
    ------
    UsageError
        For an unknown key or day, or hours that make no sense.
    """
    known = ("days", "start", "end", "holidays")
    for key in table:
        if key not in known:
            raise unknown_name("key under [calendar]", key, known)
    days = [str(day).lower()[:3] for day in _list(table, "days", DAYS[:5])]
    for day in days:
        if day not in DAYS:
            raise unknown_name("day", day, DAYS)
    start, end = _clock(table.get("start", "08:00")), _clock(table.get("end", "18:00"))
    if not days or start >= end:
        raise UsageError("a calendar needs a day, and a start before its end")
    free = tuple(sorted({_date(value) for value in _list(table, "holidays", ())}))
    return Calendar(tuple(sorted({DAYS.index(day) for day in days})), start, end, free)


def _list(table: Mapping[str, Any], key: str, default: Sequence[Any]) -> Sequence[Any]:
    found = table.get(key, default)
    if not isinstance(found, list | tuple):
        raise UsageError(f"calendar.{key} must be a list, not {found!r:.40}")
    return found


def _clock(value: Any) -> int:
    if isinstance(value, dt.time):
        value = value.isoformat("minutes")
    hours, minutes = (whole_number(part) for part in str(value).partition(":")[::2])
    if hours is None or minutes is None or not (0 <= hours <= 24 and 0 <= minutes < 60):
        raise UsageError(f"{value!r:.40} is not a time of day; write it as 08:00")
    return (hours * 60 + minutes) * 60_000_000


def _date(value: Any) -> int:
    try:
        if isinstance(value, dt.datetime):
            value = value.date()
        day = value if isinstance(value, dt.date) else dt.date.fromisoformat(str(value))
    except ValueError:
        raise UsageError(f"{value!r} is no date; write it as 2016-12-25") from None
    return (day - dt.date(1970, 1, 1)).days
