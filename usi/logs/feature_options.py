"""Choices that the features of a log rest on; all of them stand in the signature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from usi.errors import InputError, UsageError, unknown_name
from usi.logs.calendar import Calendar, read_calendar
from usi.logs.config import LogConfig
from usi.logs.notes import LogNotes
from usi.reading import naming

Class = Literal["work", "queue", "wait_user", "wait_other", "resolved", "closed", "cancelled"]
CLASSES: tuple[str, ...] = get_args(Class)
"""What an activity can be."""
REQUESTERS: tuple[str, ...] = ("requester", "caller", "customer")
"""Kinds of actors that are the requester wherever a log names kinds."""
MissingGroup = Literal["drop", "value"]
Pattern = Literal["aba", "abab", "revisit"]
PingPongField = Literal["group", "resource", "site", "level", "activity"]
Clock = Literal["elapsed", "business"]
_CHOICES: dict[str, tuple[str, ...]] = {
    "missing_group": get_args(MissingGroup),
    "ping_pong_pattern": get_args(Pattern),
    "ping_pong_field": get_args(PingPongField),
    "clock": get_args(Clock),
    "duplicates": ("keep", "drop"),
}


@dataclass(frozen=True)
class ClassMap:
    """Activity -> class; mandatory for L3, L4 and the outcome.

    Attributes
    ----------
    classes
        ``(activity, class)`` sorted by activity.
    """

    classes: tuple[tuple[str, str], ...]

    @staticmethod
    def of(table: Mapping[str, str]) -> ClassMap:
        """A class map from a table.

        Raises
        ------
        UsageError
            For an unknown class, with near matches.
        """
        for value in table.values():
            if value not in CLASSES:
                raise unknown_name("class of an activity", value, CLASSES)
        return ClassMap(tuple(sorted(table.items())))

    def has(self, *names: str) -> bool:
        """Whether some activity is of one of these classes (used in the log or not)."""
        return any(value in names for _, value in self.classes)

    def check(self, notes: LogNotes) -> None:
        """Refuse a log with an activity that has no class.

        Raises
        ------
        InputError
            Names every unmapped activity with its number of events.
        """
        known = {name for name, _ in self.classes}
        missing = sorted(set(notes.activities) - known)
        if missing:
            listed = ", ".join(f"{name!r} ({notes.activities[name]:,})" for name in missing[:50])
            more = f" and {len(missing) - 50} more" if len(missing) > 50 else ""
            raise InputError(
                f"activities without a class: {listed}{more}. Add each under [classes] as one of "
                f"{', '.join(CLASSES)}; usi logs suggest writes a draft",
                file=", ".join(file.name for file in notes.files) or None,
            )


@dataclass(frozen=True)
class TraceOptions:
    """How features of a log are computed.

    Attributes
    ----------
    missing_group
        A blank group is left out of the sequence of groups (``drop``) or is a group of its own.
    ping_pong_field, ping_pong_pattern
        ``aba``: some value returns after exactly one other, on the sequence without immediate
        repeats; ``abab``: the pair returns as well; ``revisit``: a value returns at all.
    clock
        Durations in elapsed or in working time.
    calendar
        Working hours, on the clock of the declared zone.
    horizon
        Hours: events later than this after the case's first are cut, and cases that began less
        than this before the end of the log are left out, so that both sides see equally much.
    duplicates
        Events that repeat another one of their case in every column: ``keep`` or ``drop``.
    level_order, priority_order
        Values from lowest to highest; without them the first number in the value counts (a
        higher level is a larger number, a higher priority a smaller one).
    reclassified
        Tracked columns whose change is a reclassification.
    requester_actors
        Values of the role ``actor`` that mean the requester, beside `REQUESTERS` and the
        requester's own name; upper and lower case alike.
    """

    missing_group: MissingGroup = "drop"
    ping_pong_field: PingPongField = "group"
    ping_pong_pattern: Pattern = "aba"
    clock: Clock = "elapsed"
    calendar: Calendar = field(default_factory=Calendar)
    horizon: float | None = None
    duplicates: Literal["keep", "drop"] = "keep"
    level_order: tuple[str, ...] = ()
    priority_order: tuple[str, ...] = ()
    reclassified: tuple[str, ...] = ()
    requester_actors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise unknown_name(name, str(getattr(self, name)), known)
        if self.horizon is not None and not (
            isinstance(self.horizon, int | float) and 0 < self.horizon < 1e7
        ):
            raise UsageError(f"horizon is a number of hours above 0, not {self.horizon!r}")

    def signature(self) -> dict[str, str]:
        """Fields for the signature, in a fixed order."""
        shown = {
            "pingpong": f"{self.ping_pong_pattern}@{self.ping_pong_field}",
            "blank": self.missing_group,
            "clock": self.clock,
            "calendar": self.calendar.tag,
            "horizon": "none" if self.horizon is None else f"{self.horizon:g}h",
            "duplicates": self.duplicates,
        }
        if self.level_order:
            shown["levels"] = "<".join(self.level_order).replace("|", "/").replace(":", ".")
        if self.priority_order:
            shown["priorities"] = "<".join(self.priority_order).replace("|", "/").replace(":", ".")
        if self.reclassified:
            shown["reclassified"] = "+".join(self.reclassified).replace("|", "/").replace(":", ".")
        if self.requester_actors:
            names = "+".join(self.requester_actors)
            shown["requesters"] = names.replace("|", "/").replace(":", ".")
        return shown


def options_of(config: LogConfig, **changes: Any) -> TraceOptions:
    """Choices of a configuration's ``[features]`` and ``[calendar]``, with some replaced.

    Raises
    ------
    UsageError
        For an unknown key or value, with near matches.
    """
    known = {item.name: item.default for item in fields(TraceOptions) if item.name != "calendar"}
    values: dict[str, Any] = {}
    with naming(config.file):
        for name, value in {**config.features, **changes}.items():
            if name not in known:
                raise unknown_name("key under [features]", name, sorted(known))
            values[name] = _value(name, value, many=isinstance(known[name], tuple))
        chosen = TraceOptions(**values)
        if config.calendar is not None:
            chosen = replace(chosen, calendar=read_calendar(config.calendar))
    return chosen


def _value(name: str, value: Any, *, many: bool) -> Any:
    """A value under [features], lists as tuples."""
    if not many:
        return value
    if not isinstance(value, list | tuple) or not all(isinstance(v, str | int) for v in value):
        raise UsageError(f"features.{name} must be a list of texts")
    return tuple(map(str, value))


def classes_of(config: LogConfig) -> ClassMap | None:
    """The class map of a configuration, if it has one."""
    with naming(config.file):
        return None if config.classes is None else ClassMap.of(config.classes)
