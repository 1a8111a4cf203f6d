"""Drawing the events of a synthetic log, in chunks of cases; same seed, same events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.phantom.log_spec import (
    ACTIVITIES,
    DURATIONS,
    GROUPS,
    PRIORITIES,
    RESOURCES,
    LogPhantom,
    plans,
)

CHUNK = 20_000
"""Cases of a chunk; part of what a seed means."""
WINDOW_DAYS = 364
MAX_STEPS = 60
"""A memoryless case ends here at the latest."""
_NAMES = tuple(ACTIVITIES)
_CODE = {name: code for code, name in enumerate(_NAMES)}
_DURATION = np.array(
    [DURATIONS.index(kind) if kind in DURATIONS else 0 for kind in ACTIVITIES.values()]
)
_CATEGORIES = ("Access", "Hardware", "Mail", "Network", "Software")
_START = 1_420_416_000_000_000  # Monday 2015-01-05 00:00 UTC, in microseconds
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class _Courses:
    """Events of a chunk, flat: activity, change of group before the event, case lengths."""

    activity: Ints
    place: Ints
    length: Ints
    escalated: NDArray[np.bool_]
    waits: Ints
    own: Ints | None = None


def log_frames(spec: LogPhantom, cases: int, *, seed: int = 7) -> Iterator[pl.DataFrame]:
    """Events of a synthetic log as its CSV has them, one frame a chunk of cases.

    Parameters
    ----------
    spec
        The desk.
    cases
        How many.
    seed
        Same seed, same events, whatever the number of cases that follow.

    Yields
    ------
    pl.DataFrame
        ``case_id`` (``phantom-NAME-0000001``), ``activity``, ``timestamp`` (UTC), ``resource``,
        ``group``, ``priority``, ``category``, ``sla_met``, ``synthetic`` (always true); before
        the last, ``actor`` (requester or agent) where requesters follow up.
    """
    for number, first in enumerate(range(0, cases, CHUNK)):
        rng = np.random.default_rng((seed, number))
        yield _frame(spec, first, min(CHUNK, cases - first), rng, _weeks(spec, seed))


def _weeks(spec: LogPhantom, seed: int) -> NDArray[np.float64]:
    """Factor on durations by week of the window, the same for every chunk."""
    drawn = np.random.default_rng((seed, 0x3EE7)).standard_normal(WINDOW_DAYS // 7)
    return np.exp(spec.weekly * drawn)


def _frame(
    spec: LogPhantom,
    first: int,
    cases: int,
    rng: np.random.Generator,
    weeks: NDArray[np.float64],
) -> pl.DataFrame:
    course = _play_out(spec, cases, rng) if spec.memoryless else _planned(spec, cases, rng)
    length = course.length
    starts = np.concatenate([[0], np.cumsum(length)[:-1]])
    case = np.repeat(np.arange(cases), length)
    at = np.arange(len(case)) - starts[case]
    kind = _DURATION[course.activity]
    hours, spread = np.array(spec.hours), np.array(spec.spread)
    took = hours[kind] * np.exp(spread[kind] * rng.standard_normal(len(case)))
    if not spec.memoryless:  # the waits of a case share one total
        total = spec.hours[2] * np.exp(spec.spread[2] * rng.standard_normal(cases))
        share = total / np.maximum(course.waits, 1)
        took = np.where(course.activity == _CODE["Awaiting User Info"], share[case], took)
    since = rng.integers(0, WINDOW_DAYS * 86_400_000_000, cases)
    took = took * weeks[since // (7 * 86_400_000_000)][case]
    micros = np.maximum(np.rint(took * 3.6e9), 1).astype(np.int64)
    before = np.cumsum(micros) - micros
    opened = _START + since
    time = opened[case] + before - before[starts][case]
    group, resource = _people(spec, course, case, at, rng)
    priority = rng.choice(3, cases, p=spec.priorities)
    met = rng.random(cases) < np.array(spec.sla_met)[priority]
    # A higher priority than the first of the list is "1 - Critical".
    rank = priority[case] + 2 - (course.escalated[case] & (at >= 2))
    labels = ("", "1 - Critical", *PRIORITIES)
    return pl.DataFrame(
        {
            "case_id": pl.Series(case + first + 1).cast(pl.String).str.zfill(7),
            "activity": _named(_NAMES, course.activity),
            "timestamp": pl.Series(time).cast(pl.Datetime("us")).dt.replace_time_zone("UTC"),
            "resource": pl.Series(resource),
            "group": pl.Series(group),
            "priority": _named(labels, rank),
            "category": _category(spec, case, at, cases, rng),
            "sla_met": met[case],
            **_actor(spec, course),
            "synthetic": np.ones(len(case), dtype=np.bool_),
        }
    ).with_columns(
        pl.format("phantom-{}-{}", pl.lit(spec.name), "case_id").alias("case_id"),
        pl.format("Person {}-{}", "group", "resource").alias("resource"),
        pl.format("Group {}", "group").alias("group"),
    )


@cache
def _templates(
    spec: LogPhantom,
) -> tuple[NDArray[np.float64], Ints, Ints, Ints, Ints, Ints, Ints, Ints]:
    courses = plans(spec)
    lengths = np.array([len(plan.activities) for plan in courses])
    return (
        np.array([plan.share for plan in courses]),
        np.array([_CODE[name] for plan in courses for name in plan.activities]),
        np.array([place for plan in courses for place in plan.places]),
        lengths,
        np.concatenate([[0], np.cumsum(lengths)[:-1]]),
        np.array([plan.escalated for plan in courses], dtype=np.int64),
        np.array([plan.waits for plan in courses]),
        np.array([mine for plan in courses for mine in plan.own], dtype=np.int64),
    )


def _planned(spec: LogPhantom, cases: int, rng: np.random.Generator) -> _Courses:
    share, activity, place, lengths, offsets, rises, waits, own = _templates(spec)
    plan = rng.choice(len(share), cases, p=share / share.sum())
    length = lengths[plan]
    begin = np.cumsum(length) - length
    where = np.arange(length.sum()) + np.repeat(offsets[plan] - begin, length)
    return _Courses(
        activity[where], place[where], length, rises[plan] == 1, waits[plan], own[where]
    )


@cache
def _chain(spec: LogPhantom) -> NDArray[np.float64]:
    """P(next activity, group changes | activity), shape (activities, 2 * activities)."""
    counts: defaultdict[tuple[int, int], float] = defaultdict(float)
    for plan in plans(spec):
        steps = zip(pairwise(plan.activities), pairwise(plan.places), strict=True)
        for (a, b), (g, h) in steps:
            counts[_CODE[a], 2 * _CODE[b] + (g != h)] += plan.share
    table = np.zeros((len(_NAMES), 2 * len(_NAMES)))
    for (row, column), value in counts.items():
        table[row, column] = value
    total = table.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(table, total, out=np.zeros_like(table), where=total > 0))


def _play_out(spec: LogPhantom, cases: int, rng: np.random.Generator) -> _Courses:
    """Step by step from the state alone; a change of group leads to any other group."""
    cumulative = np.cumsum(_chain(spec), axis=1)
    state = np.full(cases, _CODE["New"])
    place = np.zeros(cases, dtype=np.int64)
    alive = np.arange(cases)
    rows = [(alive, state.copy(), place.copy())]
    for _ in range(MAX_STEPS):
        alive = alive[state[alive] != _CODE["Closed"]]
        if not len(alive):
            break
        drawn = rng.random(len(alive))[:, None]
        choice = (drawn > cumulative[state[alive]]).sum(axis=1)
        choice = np.minimum(choice, 2 * len(_NAMES) - 1)
        state[alive] = choice // 2
        moves = rng.integers(1, GROUPS, len(alive))
        place[alive] = np.where(choice % 2 == 1, (place[alive] + moves) % GROUPS, place[alive])
        rows.append((alive, state[alive].copy(), place[alive].copy()))
    case = np.concatenate([part[0] for part in rows])
    order = np.argsort(case, kind="stable")
    activity, places = (np.concatenate([part[k] for part in rows])[order] for k in (1, 2))
    length = np.bincount(case, minlength=cases)
    rises = rng.random(cases) < spec.escalate
    return _Courses(activity, places, length, rises, np.ones(cases, np.int64))


def _people(
    spec: LogPhantom, course: _Courses, case: Ints, at: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Group and person of every event; a changed person is always another one."""
    cases = len(course.length)
    first = rng.integers(0, GROUPS, cases)
    step = np.ones(cases, np.int64) if spec.memoryless else rng.integers(1, GROUPS, cases)
    group = (first[case] + course.place * step[case]) % GROUPS
    if spec.memoryless:
        return group, rng.integers(0, RESOURCES, len(case))
    turn = (rng.random(len(case)) >= spec.keep_resource) & (at > 0)
    turns = np.cumsum(turn)
    begin = np.flatnonzero(at == 0)
    own: Ints = turns - turns[begin][case]
    return group, (rng.integers(0, RESOURCES, cases)[case] + own) % RESOURCES


def _category(
    spec: LogPhantom, case: Ints, at: Ints, cases: int, rng: np.random.Generator
) -> pl.Series:
    """Category by event: at once, from the second event, or never; it may change at the third."""
    drawn = rng.random(cases)
    never = drawn < spec.no_category
    late = ~never & (drawn < spec.no_category + spec.late_category)
    other = ~never & (rng.random(cases) < spec.reclassify)
    which = rng.integers(0, len(_CATEGORIES), cases)[case] + (other[case] & (at >= 2))
    blank = pl.Series(never[case] | (late[case] & (at == 0)))
    named = _named(_CATEGORIES, which % len(_CATEGORIES))
    return pl.select(pl.when(~blank).then(named)).to_series()


def _actor(spec: LogPhantom, course: _Courses) -> dict[str, pl.Series]:
    if not spec.follow_up or course.own is None:
        return {}
    return {"actor": _named(("agent", "requester"), course.own)}


def _named(names: Sequence[str], codes: Ints) -> pl.Series:
    return pl.Series(list(names)).gather(codes)
