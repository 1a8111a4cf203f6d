"""The profile `log@1`: what is measured of a case of an operational log.

Dimensions carry the keys of chat, so that whatever works on components works on logs; `TITLES`
are their names: L1 interaction, L2 information, L3 clarification (waiting), L4 rework and routing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NoReturn

import polars as pl

from usi.errors import UsageError
from usi.extraction.kernel import Flat, Gathered, Ints
from usi.extraction.profile import FeatureProfile
from usi.extraction.spec import Dimension, FeatureSpec, Kind
from usi.records import Side, Turn

TITLES: dict[str, str] = {
    "conversation": "L1 interaction",
    "information": "L2 information",
    "clarification": "L3 clarification (waiting)",
    "reaction": "L4 rework and routing",
}
TEXT_COLUMNS: tuple[str, ...] = (
    "day",
    "week",
    "month",
    "team",
    "site",
    "requester",
    "priority",
    "impact",
    "category",
    "stratum",
    "bin",
    "last_class",
)
"""Texts of a case. ``day``, ``week`` (ISO; the default cluster) and ``month`` of the start,
``team`` (first known group), ``site``, opening ``priority``, ``impact``, ``category``;
``stratum`` = priority and category, ``bin`` = priority and impact, ``last_class`` of the last
event."""
FLOAT_COLUMNS: tuple[str, ...] = ("gap_log", "burst")
COUNT_COLUMNS: tuple[str, ...] = (
    "events",
    "pairs",
    "self_loops",
    "repeats",
    "gaps",
    "zero_gaps",
    "off_hours",
    "required_filled",
    "required_asked",
    "updates",
    "full_info_us",
    "full_at_once",
    "incomplete",
    "reclassified",
    "front_events",
    "front_of",
    "cycle_us",
    "waits_user",
    "wait_user_events",
    "wait_user_us",
    "wait_user_own_us",
    "wait_user_zero",
    "wait_user_runs",
    "waits_other",
    "reopened",
    "handovers",
    "known_pairs",
    "changes",
    "bounced",
    "bounces",
    "bounced_resource",
    "escalated",
    "deescalated",
    "requester_events",
    "followed_up",
    "start_us",
    "end_us",
)
"""Integers of a case; durations in microseconds, in the chosen clock. ``requester_events`` and
``followed_up`` (`usi.logs.behaviour`) are in no feature: scripted requesters draw on
them."""
COLUMNS: tuple[str, ...] = (*TEXT_COLUMNS, *COUNT_COLUMNS, *FLOAT_COLUMNS)
_CASE = "share of cases"


def _of(
    dimension: Dimension,
    name: str,
    kind: Kind,
    numerator: str,
    denominator: str = "",
    *,
    unit: str,
    description: str,
    scored: bool = True,
    scale: Literal["amount", "ratio", "interval"] = "amount",
    span: tuple[float, float] | None = None,
    source: str = "own definition",
) -> FeatureSpec:
    return FeatureSpec(
        name=name,
        dimension=dimension,
        kind=kind,
        numerator=numerator,
        denominator=denominator,
        unit=unit,
        scored=scored,
        scale=scale,
        span=span,
        must_show=scale == "ratio",
        description=description,
        source=source,
    )


_L1 = (
    _of("conversation", "events_per_case", "count", "events", unit="events",
        description="events of the case"),
    _of("conversation", "self_loop_rate", "share", "self_loops", "pairs",
        unit="share of steps", source="bupaR edeaR, self-loop",
        description="steps to the same activity; undefined with one event"),
    _of("conversation", "repetition_rate", "share", "repeats", "events",
        unit="share of events", description="1 - distinct activities / events (rework)"),
    _of("conversation", "gap", "geometric", "gap_log", "gaps", unit="hours", scale="ratio",
        description="geometric mean of the time between events, of those above 0"),
    _of("conversation", "gap_zero_rate", "share", "zero_gaps", "pairs", scored=False,
        unit="share of steps", description="steps that take no time"),
    _of("conversation", "burstiness", "value", "burst", unit="-1 to 1", scale="interval",
        span=(-1.0, 1.0),
        source="Goh and Barabasi 2008",
        description="(sd - mean) / (sd + mean) of the time between events; undefined below 4"),
    _of("conversation", "offhours_share", "share", "off_hours", "events",
        unit="share of events", description="events outside working hours; needs a declared zone"),
)  # fmt: skip
_L2 = (
    _of("information", "opening_completeness", "share", "required_filled", "required_asked",
        unit="share of fields", description="required fields that the first event has"),
    _of("information", "field_updates", "count", "updates", unit="changes",
        description="changes of tracked fields after the first event"),
    _of("information", "time_to_full_info", "duration", "full_info_us", unit="hours",
        scale="ratio", description="time to the first event with all required fields"),
    _of("information", "full_at_once_rate", "flag", "full_at_once", unit=_CASE, scored=False,
        description="the first event has all required fields"),
    _of("information", "never_complete", "flag", "incomplete", unit=_CASE,
        description="no event has all required fields"),
    _of("information", "reclassified", "flag", "reclassified", unit=_CASE,
        description="category, priority or the like changes from one value to another"),
    _of("information", "front_load", "share", "front_events", "front_of", unit="share of events",
        description="events in the first quarter of the cycle; undefined below 3 or with none"),
)  # fmt: skip
_L3 = (
    _of("clarification", "wait_user_case", "flag", "waits_user", unit=_CASE,
        description="the case waits for the user at all"),
    _of("clarification", "wait_user_event_share", "share", "wait_user_events", "events",
        unit="share of events", description="events that wait for the user"),
    _of("clarification", "wait_user_time_share", "share", "wait_user_us", "cycle_us",
        unit="share of the cycle", description="time that waits for the user"),
    _of("clarification", "wait_user_time", "duration", "wait_user_own_us", unit="hours",
        scale="ratio", description="time that waits for the user, of cases that wait"),
    _of("clarification", "wait_user_zero_rate", "flag", "wait_user_zero", unit="share of waits",
        scored=False, description="cases that wait for the user for no time, of those that wait"),
    _of("clarification", "wait_user_trips", "count", "wait_user_runs", unit="trips",
        description="runs of events that wait for the user"),
    _of("clarification", "wait_other_case", "flag", "waits_other", unit=_CASE,
        description="the case waits for a vendor, a change or another third party"),
)  # fmt: skip
_L4 = (
    _of("reaction", "reopen", "flag", "reopened", unit=_CASE,
        description="something else than resolved or closed after the first of these"),
    _of("reaction", "handover_rate", "share", "handovers", "known_pairs",
        unit="share of steps", source="handover of work, van der Aalst, Reijers and Song 2005",
        description="steps to another resource, of those where both are known"),
    _of("reaction", "group_changes", "count", "changes", unit="changes",
        description="changes of the group (reassignments)"),
    _of("reaction", "ping_pong", "flag", "bounced", unit=_CASE,
        source="subcontracting, van der Aalst, Reijers and Song 2005",
        description="a group gets the case back after exactly one other (default)"),
    _of("reaction", "ping_pong_count", "count", "bounces", unit="returns", scored=False,
        description="how often"),
    _of("reaction", "ping_pong_resource", "flag", "bounced_resource", unit=_CASE,
        description="the same of resources, only where the log has no group"),
    _of("reaction", "escalate", "flag", "escalated", unit=_CASE,
        description="the support line (or else the priority) ever rises"),
    _of("reaction", "deescalate", "flag", "deescalated", unit=_CASE,
        description="the support line ever falls (push-back)"),
)  # fmt: skip
_BESIDE = (
    _of("none", "cycle_time", "duration", "cycle_us", unit="hours", scale="ratio", scored=False,
        description="first to last event"),
)  # fmt: skip

SPECS: tuple[FeatureSpec, ...] = (*_L1, *_L2, *_L3, *_L4, *_BESIDE)
HISTORY_FEATURES: tuple[str, ...] = ("ping_pong", "ping_pong_resource", "wait_user_trips", "reopen")
"""Features that a memoryless simulator can't get right: second keys beside the means."""


def _no_conversation(*_: object) -> NoReturn:
    raise UsageError("the profile log measures event logs, not conversations: usi logs features")


def _gather(_conversations: Sequence[Sequence[Turn]], _source: Side) -> Gathered:
    _no_conversation()


def _count(_flat: Flat, _gathered: Gathered) -> Mapping[str, Ints]:
    _no_conversation()


PROFILE = FeatureProfile(
    name="log",
    version="1",
    lexicon="none",
    specs=SPECS,
    columns=COLUMNS,
    gather=_gather,
    count=_count,
    types={
        **dict.fromkeys(TEXT_COLUMNS, pl.String()),
        **dict.fromkeys(FLOAT_COLUMNS, pl.Float64()),
    },
    titles=TITLES,
)
