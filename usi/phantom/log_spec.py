"""What a synthetic log is: rates of cases, and durations by class of activity.

A case is a plan (how many work events, waits, where it goes, whether it is reopened), drawn from
independent choices; durations do not depend on the plan. So true values follow by summing over
all plans (``benchmarks/phantom_truth/log_values.py``).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

from usi.errors import UsageError, unknown_name

ROUTES: tuple[str, ...] = ("stay", "transfer", "bounce", "chain")
DURATIONS: tuple[str, ...] = ("queue", "work", "wait_user", "wait_other", "resolved")
ACTIVITIES: dict[str, str] = {
    "New": "queue",
    "Active": "work",
    "Awaiting User Info": "wait_user",
    "Awaiting Vendor": "wait_other",
    "Resolved": "resolved",
    "Closed": "closed",
}
"""Activities of the phantom and their classes."""
PRIORITIES: tuple[str, ...] = ("2 - High", "3 - Moderate", "4 - Low")
GROUPS = 11
"""Groups, a prime number: any step leads through all of them."""
RESOURCES = 5
"""People of a group."""
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class LogPhantom:
    """A synthetic service desk.

    Attributes
    ----------
    name
        Name of the preset.
    work, waits
        Shares of cases with 1, 2, 3 first work events, and 0, 1, 2 waits for the user.
    wait_other, reopen, escalate
        Shares of cases that wait for a vendor, are reopened, rise in priority.
    routing
        Shares of `ROUTES`: one group, A-B, A-B-A, A-B-C.
    keep_resource
        Share of steps within a group that stay with the same person.
    late_category, no_category, reclassify
        Shares of cases whose category comes with the second event, or never; of those with a
        category, how many change it.
    priorities, sla_met
        Shares of `PRIORITIES` at the opening, and of cases in time by them.
    hours, spread
        Median hours and sd of the logarithm by `DURATIONS`. All waits of a case for the user
        together have the median; they are equally long.
    memoryless
        Play the process out step by step without memory.
    weekly
        Sd of the logarithm of a factor on all durations that cases opened in one week share: good
        and bad weeks. Geometric means of durations stay what they are.
    follow_up
        Share of cases whose requester comes back unasked after the first work, once. Where it is
        above 0 the log has a column ``actor``.
    """

    name: str
    work: Numbers
    waits: Numbers
    wait_other: float
    reopen: float
    escalate: float
    routing: Numbers
    keep_resource: float
    late_category: float
    no_category: float
    reclassify: float
    priorities: Numbers
    sla_met: Numbers
    hours: Numbers
    spread: Numbers
    memoryless: bool = False
    weekly: float = 0.0
    follow_up: float = 0.0

    def __post_init__(self) -> None:
        for name in ("work", "waits", "routing", "priorities"):
            shares = getattr(self, name)
            if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
                raise UsageError(f"{name} of a phantom log must be shares that sum to 1")
        rates = (self.wait_other, self.reopen, self.escalate, self.keep_resource,
                 self.late_category, self.no_category, self.reclassify, self.follow_up,
                 *self.sla_met)  # fmt: skip
        if any(not 0 <= rate <= 1 for rate in rates) or self.late_category + self.no_category > 1:
            raise UsageError("rates of a phantom log lie in 0 to 1")
        if min(self.hours) <= 0 or min(self.spread) < 0 or self.weekly < 0:
            raise UsageError("durations of a phantom log are above 0, spreads at least 0")

    def changed(self, **changes: Any) -> LogPhantom:
        """The same desk with other rates."""
        known = [item.name for item in fields(self)]
        for name in changes:
            if name not in known:
                raise unknown_name("setting of a phantom log", name, known)
        return replace(self, **changes)


@dataclass(frozen=True)
class LogPlan:
    """One course of a case.

    Attributes
    ----------
    share
        Share of cases.
    activities, places
        Activity of every event, and its group: 0 the first, 1 and 2 others.
    waits
        How often it waits for the user.
    escalated
        Whether the priority rises, at the third event.
    own
        Whether the requester made the event, by event: opening, follow-up, answers, reopening.
    """

    share: float
    activities: tuple[str, ...]
    places: tuple[int, ...]
    waits: int
    escalated: bool
    own: tuple[bool, ...]


@cache
def plans(spec: LogPhantom) -> tuple[LogPlan, ...]:
    """Every course of a case with its share; shares sum to 1."""
    found = []
    binary = ((False, True),) * 4
    for (w, route, k), (follows, other, reopen, rises) in product(
        product(range(3), range(4), range(3)), product(*binary)
    ):
        share = spec.work[w] * spec.routing[route] * spec.waits[k]
        flags = (follows, other, reopen, rises)
        rates = (spec.follow_up, spec.wait_other, spec.reopen, spec.escalate)
        for flag, rate in zip(flags, rates, strict=True):
            share *= rate if flag else 1 - rate
        if share == 0:
            continue
        path = {"stay": (), "transfer": (1,), "bounce": (1, 0), "chain": (1, 2)}[ROUTES[route]]
        here = path[-1] if path else 0
        tail = [("Active", True)] * follows
        tail += [("Awaiting User Info", False), ("Active", True)] * k
        tail += [("Awaiting Vendor", False), ("Active", False)] * other
        tail += [("Resolved", False), *[("Active", True), ("Resolved", False)] * reopen]
        tail += [("Closed", False)]
        work = w + 1 + len(path)
        activities = ("New", *["Active"] * work, *[name for name, _ in tail])
        places = (*[0] * (w + 2), *path, *[here] * len(tail))
        own = (True, *[False] * work, *[mine for _, mine in tail])
        found.append(LogPlan(share, activities, places, k, rises, own))
    return tuple(found)


def _vector(table: Mapping[str, float], names: tuple[str, ...], what: str) -> Numbers:
    for name in table:
        if name not in names:
            raise unknown_name(what, name, names)
    return tuple(float(table[name]) for name in names)


@cache
def _presets() -> dict[str, dict[str, Any]]:
    path = files("usi.phantom").joinpath("log_presets.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def log_preset_names() -> tuple[str, ...]:
    """Names of the shipped desks: ``human``, its copy, and the defects."""
    return tuple(_presets())


@cache
def load_log_phantom(name: str) -> LogPhantom:
    """A shipped desk.

    Raises
    ------
    UsageError
        Where there is no such preset, with near matches.
    """
    presets = _presets()
    if name not in presets:
        raise unknown_name("phantom log", name, tuple(presets))
    values = {**presets["human"], **presets[name]}
    values["routing"] = _vector(values["routing"], ROUTES, "route")
    for key in ("hours", "spread"):
        values[key] = _vector(values[key], DURATIONS, "class with a duration")
    for key in ("work", "waits", "priorities", "sla_met"):
        values[key] = tuple(map(float, values[key]))
    return LogPhantom(name=name, **values)
