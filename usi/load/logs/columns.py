"""How an event log is laid out: which column plays which role, and how its cells are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

REQUIRED_ROLES = ("case_id", "activity", "timestamp")
TEXT_ROLES = (
    "resource",
    "group",
    "level",
    "site",
    "priority",
    "impact",
    "category",
    "requester",
    "actor",
    "csat",
)
TIME_ROLES = ("start", "due_at", "resolved_at")
FLAG_ROLES = ("reopen_flag", "sla_met", "synthetic")
ROLES: tuple[str, ...] = (*REQUIRED_ROLES, *TEXT_ROLES, *TIME_ROLES, *FLAG_ROLES)
"""Everything that a column can be. ``site`` is the organisation, ``requester`` who reported it,
``actor`` who made the event: a person, or a kind (requester, agent, system)."""
FIELD = "field:"
"""Prefix of tracked fields in an event frame, such as ``field:category``."""
UTC_TIME = pl.Datetime("us", "UTC")

Rows = Literal["event", "update"]
DateOrder = Literal["day-first", "month-first"]
Epoch = Literal["s", "ms", "us"]


@dataclass(frozen=True)
class Column:
    """Where a role's values come from.

    Attributes
    ----------
    names
        Column names, the first that the file has is taken.
    pattern
        Regular expression (linear subset) whose first group is the value.
    default
        Value where the cell is missing or the pattern does not match.
    """

    names: tuple[str, ...]
    pattern: str | None = None
    default: str | None = None


@dataclass(frozen=True)
class LogFormat:
    """How the files of a log are read.

    Attributes
    ----------
    columns
        Role (`ROLES`) -> column.
    name
        Name of the preset or configuration.
    delimiter, quote, encoding
        Of CSV; ``None``: the delimiter is found in the header, the encoding is UTF-8 (a byte
        order mark of UTF-8 or UTF-16 is honoured).
    timezone
        Zone of times that carry none, and the clock of the calendar, such as ``Europe/Paris``.
    date_order
        For dates such as 3/4/2016; ISO dates need none.
    epoch
        Unit of times that are numbers.
    timestamp_pattern
        A strptime pattern, where nothing else fits.
    missing
        Cells that mean "no value", beside the empty one.
    rows
        ``"update"``: a row is the whole ticket after an update, a blank cell means no value.
        ``"event"``: a row speaks of its event alone, a blank field was not mentioned and keeps
        the value that it had.
    tracked, required
        Columns whose changes are followed; those a complete ticket must have.
    object_type
        Of OCEL: the objects that become cases.
    """

    columns: Mapping[str, Column] = field(default_factory=dict)
    name: str = "columns"
    delimiter: str | None = None
    quote: str = '"'
    encoding: str | None = None
    timezone: str | None = None
    date_order: DateOrder | None = None
    epoch: Epoch | None = None
    timestamp_pattern: str | None = None
    missing: tuple[str, ...] = ()
    rows: Rows = "event"
    tracked: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    object_type: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """Tracked and required columns, each once."""
        return tuple(dict.fromkeys((*self.tracked, *self.required)))


COMMON_NAMES: dict[str, tuple[str, ...]] = {
    "case_id": (
        "case_id", "case:concept:name", "caseid", "case id", "case", "number", "ticket",
        "ticket_id", "incident id", "sr number", "trace_id",
    ),
    "activity": (
        "activity", "concept:name", "activity_name", "incident_state", "state", "status",
        "event", "incidentactivity_type",
    ),
    "timestamp": (
        "timestamp", "time:timestamp", "end_timestamp", "end_time", "complete timestamp",
        "sys_updated_at", "sys_updated_on", "datestamp", "change date+time", "time", "date",
    ),
    "start": ("start_timestamp", "start_time"),
    "resource": ("resource", "org:resource", "assigned_to", "owner first name"),
    "group": ("group", "org:group", "assignment_group", "assignment group", "involved st", "team"),
    "level": ("level", "support_line", "org:role"),
    "site": ("site", "org", "location", "involved org line 3"),
    "priority": ("priority",),
    "impact": ("impact", "sr latest impact"),
    "category": ("category", "product"),
    "requester": ("requester", "caller_id", "caller", "opened_by"),
    "actor": ("actor", "actor_type", "author_type"),
    "sla_met": ("sla_met", "made_sla"),
    "due_at": ("due_at", "sla_due", "due_date"),
    "resolved_at": ("resolved_at",),
    "csat": ("csat", "satisfaction"),
    "reopen_flag": ("reopen_flag",),
    "synthetic": ("synthetic",),
}  # fmt: skip
"""Names by which a role is found where nothing is declared (upper and lower case alike)."""


def role_type(role: str) -> pl.DataType:
    """Type of a role's column in an event frame."""
    if role in TIME_ROLES or role == "timestamp":
        return UTC_TIME
    return pl.Boolean() if role in FLAG_ROLES else pl.String()
