"""True values of a synthetic log: exact sums over all courses of a case."""

from __future__ import annotations

import math
from itertools import pairwise

from usi.errors import UsageError
from usi.phantom.log_spec import ACTIVITIES, DURATIONS, LogPhantom, LogPlan, plans

NOT_KNOWN = (
    "burstiness",
    "offhours_share",
    "front_load",
    "wait_user_time_share",
    "cycle_time",
    "deescalate",
    "ping_pong_resource",
    "ping_pong_count",
)
"""Features without an exact value here (or that the phantom does not have)."""


def true_log_values(spec: LogPhantom) -> dict[str, float]:
    """Expectation of every feature over the cases where it is defined.

    Of durations (ratio scale) it is the geometric mean. Also ``within_sla``.

    Raises
    ------
    UsageError
        For a memoryless desk, whose courses are not listed.
    """
    if spec.memoryless:
        raise UsageError("the true values of a memoryless phantom log are not known")
    hours = dict(zip(DURATIONS, spec.hours, strict=True))
    courses = plans(spec)

    def mean(value: object) -> float:
        assert callable(value)  # always a function of a plan
        return math.fsum(plan.share * float(value(plan)) for plan in courses)

    known = 1 - spec.no_category
    waits = 1 - spec.waits[0]
    values = {
        "events_per_case": mean(lambda p: len(p.activities)),
        "self_loop_rate": mean(_self_loops),
        "repetition_rate": mean(lambda p: 1 - len(set(p.activities)) / len(p.activities)),
        "gap": math.exp(mean(lambda p: _log_gap(p, hours))),
        "gap_zero_rate": 0.0,
        # priority is always known, so completeness is that of the category
        "opening_completeness": 0.5 + 0.5 * (known - spec.late_category),
        "field_updates": spec.late_category + known * spec.reclassify + spec.escalate,
        "time_to_full_info": hours["queue"],
        "full_at_once_rate": known - spec.late_category,
        "never_complete": spec.no_category,
        # the priority rises, or the category changes
        "reclassified": 1 - (1 - spec.escalate) * (1 - known * spec.reclassify),
        "wait_user_case": waits,
        "wait_user_event_share": mean(lambda p: p.waits / len(p.activities)),
        "wait_user_time": hours["wait_user"],
        "wait_user_zero_rate": 0.0,
        "wait_user_trips": spec.waits[1] + 2 * spec.waits[2],
        "wait_other_case": spec.wait_other,
        "reopen": spec.reopen,
        "handover_rate": mean(lambda p: _handovers(p, spec.keep_resource)),
        "group_changes": mean(lambda p: sum(a != b for a, b in pairwise(p.places))),
        "ping_pong": spec.routing[2],
        "escalate": spec.escalate,
        "within_sla": math.fsum(p * s for p, s in zip(spec.priorities, spec.sla_met, strict=True)),
    }
    if waits == 0:
        for name in ("wait_user_time", "wait_user_zero_rate"):
            del values[name]
    if spec.late_category == 0:
        del values["time_to_full_info"]
    return values


def _self_loops(plan: LogPlan) -> float:
    steps = list(pairwise(plan.activities))
    return sum(a == b for a, b in steps) / len(steps)


def _handovers(plan: LogPlan, keep: float) -> float:
    steps = list(pairwise(plan.places))
    return sum(1.0 if a != b else 1 - keep for a, b in steps) / len(steps)


def _log_gap(plan: LogPlan, hours: dict[str, float]) -> float:
    logs = []
    for activity in plan.activities[:-1]:
        kind = ACTIVITIES[activity]
        logs.append(math.log(hours[kind] / (plan.waits if kind == "wait_user" else 1)))
    return math.fsum(logs) / len(logs)
