"""How two logs differ as processes: time in its state, calendar, load, who does what, copies.

Every statistic compares two samples of equally many cases and is 0 where they agree. None needs
the names of people or cases to agree; activities and groups keep theirs. What a statistic comes
to between two halves of the real log is taken off (`usi.logs.diagnostics`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.logs.distances import COPY_GAPS, Traces

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
HOUR = 3_600_000_000
WEEK_HOURS = 168
QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99)
"""Quantiles of the gaps whose ratio is looked at."""
LEAST_GAPS = 20
"""Gaps after an activity, among real cases, below which it is counted with other rare ones."""
LEAST_INFORMATION = 0.1
"""Share of the entropy of the activities below which the mutual information is no yardstick."""
NEAR_SECONDS, NEAR_SHARE = 600.0, 0.05
"""How far the gaps of a near twin may lie apart: seconds, and a share of the gap."""


@dataclass(frozen=True)
class Cases:
    """Some cases of a log as arrays; events stand by case, then in order.

    Attributes
    ----------
    first
        Position of each case's first event, and behind them the number of events, shape (n + 1,).
    activity, resource, group
        Codes of the events (-1: not known); the same on both sides. `resource` and `group` are
        empty where a log has none.
    gap
        Seconds to the next event of the case, -1 for its last one.
    hour
        Hour of the week of each event's end, 0 (Monday, midnight) to 167.
    start, end
        Of each case, hours since 1970.
    """

    first: Ints
    activity: Ints
    resource: Ints
    group: Ints
    gap: Floats
    hour: Ints
    start: Floats
    end: Floats

    @property
    def count(self) -> int:
        """How many cases there are."""
        return len(self.start)

    def take(self, cases: Ints) -> Cases:
        """These cases, in this order."""
        sizes = self.first[cases + 1] - self.first[cases]
        first = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.first[cases] - first[:-1], sizes) + np.arange(first[-1])
        return Cases(
            first=first,
            activity=self.activity[at],
            resource=self.resource[at] if len(self.resource) else self.resource,
            group=self.group[at] if len(self.group) else self.group,
            gap=self.gap[at],
            hour=self.hour[at],
            start=self.start[cases],
            end=self.end[cases],
        )


def as_cases(real: Traces, other: Traces) -> tuple[Cases, Cases]:
    """Both logs as arrays with the same codes."""
    codes: dict[str, dict[str, int]] = {}
    for name in ("activity", "resource", "group"):
        if all(name in side.frame.columns for side in (real, other)):
            values = pl.concat([side.frame[name] for side in (real, other)]).drop_nulls()
            codes[name] = {value: k for k, value in enumerate(values.unique().sort())}
    return _cases(real, codes), _cases(other, codes)


def _cases(traces: Traces, codes: Mapping[str, Mapping[str, int]]) -> Cases:
    frame = traces.frame
    ids = frame["case_id"].rank("dense").to_numpy().astype(np.int64)
    first = np.concatenate([[0], np.flatnonzero(np.diff(ids)) + 1, [len(ids)]]).astype(np.int64)
    ends = frame["timestamp"].to_physical().to_numpy().astype(np.float64)
    starts = frame["start"].to_physical().to_numpy().astype(np.float64)
    gap = np.append(np.diff(ends), -1e6) / 1e6
    gap[first[1:] - 1] = -1.0
    local = frame["timestamp"].dt.convert_time_zone(traces.zone or "UTC")
    hour = 24 * (local.dt.weekday().cast(pl.Int64) - 1) + local.dt.hour().cast(pl.Int64)

    def coded(name: str) -> Ints:
        own = codes.get(name)
        if not own:
            return np.empty(0, dtype=np.int64)
        column = frame[name].replace_strict(own, default=-1, return_dtype=pl.Int64)
        return column.fill_null(-1).to_numpy().astype(np.int64)

    return Cases(
        first=first,
        activity=coded("activity"),
        resource=coded("resource"),
        group=coded("group"),
        gap=np.maximum(gap, -1.0),
        hour=hour.to_numpy().astype(np.int64),
        start=np.minimum.reduceat(starts, first[:-1]) / HOUR,
        end=np.maximum.reduceat(ends, first[:-1]) / HOUR,
    )


def _ks(one: Floats, other: Floats) -> float:
    """Largest difference of two distribution functions, in [0, 1]."""
    if not len(one) or not len(other):
        return float(len(one) != len(other))
    points = np.concatenate([one, other])
    a, b = (np.searchsorted(np.sort(side), points, side="right") / len(side)
            for side in (one, other))  # fmt: skip
    return float(np.abs(a - b).max())


def _variation(one: Ints, other: Ints) -> float:
    """Total variation of two samples of codes, in [0, 1]."""
    values, code = np.unique(np.concatenate([one, other]), return_inverse=True)
    a, b = (np.bincount(part, minlength=len(values)) / max(1, len(part))
            for part in (code[: len(one)], code[len(one) :]))  # fmt: skip
    return float(np.abs(a - b).sum() / 2)


def _by_state(one: Cases, other: Cases, state_of: Callable[[Cases], Ints]) -> float:
    known = [side.gap >= 0 for side in (one, other)]
    gaps = [side.gap[at] for side, at in zip((one, other), known, strict=True)]
    states = [state_of(side)[at] for side, at in zip((one, other), known, strict=True)]
    values, counts = np.unique(states[0], return_counts=True)
    rare = values[counts < LEAST_GAPS]
    states = [np.where(np.isin(side, rare), -2, side) for side in states]
    values, counts = np.unique(states[0], return_counts=True)
    parts = [
        count * _ks(gaps[0][states[0] == value], gaps[1][states[1] == value])
        for value, count in zip(values, counts, strict=True)
    ]
    return float(sum(parts) / max(1, counts.sum()))


def time_in_state(real: Cases, other: Cases) -> float:
    """Sum over activities of p(activity) KS(gap | activity), p among the real gaps; in [0, 1].

    The gap is the time from the event to the next one of its case. KS looks at ranks alone, so
    gaps and their logarithms give the same, and waits of zero length count. An activity that the
    other log never leaves counts as 1. Activities with under `LEAST_GAPS` gaps count together.
    """
    return _by_state(real, other, lambda side: side.activity)


def time_in_group(real: Cases, other: Cases) -> float:
    """The same by group in place of activity; in [0, 1]."""
    return _by_state(real, other, lambda side: side.group)


def tails(real: Cases, other: Cases) -> float:
    """Largest |log ratio| of the `QUANTILES` of the gaps above 0; at least 0."""
    a, b = (np.quantile(side.gap[side.gap > 0], QUANTILES) if (side.gap > 0).any() else None
            for side in (real, other))  # fmt: skip
    if a is None or b is None:
        return 0.0 if a is b else float(np.log(1e6))
    return float(np.abs(np.log(np.maximum(a, 1.0) / np.maximum(b, 1.0))).max())


def calendar(real: Cases, other: Cases) -> float:
    """Total variation of the hours of the week in which events end; in [0, 1]."""
    return _variation(real.hour, other.hour)


def cycle_times(real: Cases, other: Cases) -> float:
    """KS of the times from first to last event of a case; in [0, 1]."""
    return _ks(real.end - real.start, other.end - other.start)


def case_mix(real: Cases, other: Cases) -> float:
    """Total variation of the sets of activities that a case goes through; in [0, 1]."""
    return _variation(*(_sets(side) for side in (real, other)))


def _sets(cases: Cases) -> Ints:
    """A number for the set of activities of each case (the 60 first codes are told apart)."""
    bits = np.left_shift(np.int64(1), np.clip(cases.activity, 0, 60))
    return np.asarray(np.bitwise_or.reduceat(bits, cases.first[:-1]), dtype=np.int64)


def _span(cases: Cases) -> float:
    low, high = np.quantile(cases.start, (0.01, 0.99))
    return max(float(high - low), 1.0)


def _open(cases: Cases) -> float:
    """Mean number of open cases in the window of the starts (1 % to 99 %)."""
    low, high = np.quantile(cases.start, (0.01, 0.99))
    inside = np.minimum(cases.end, high) - np.maximum(cases.start, low)
    return max(float(np.maximum(inside, 0).sum()), 1.0) / max(float(high - low), 1.0)


def who_does_what(real: Cases, other: Cases) -> float:
    """|I_other - I_real| / I_real, I the mutual information of activity and resource; at least 0.

    Entropies with the correction of Miller and Madow (1955): + (cells - 1) / (2 events). Where who
    works says next to nothing of what is done, the difference is relative to `LEAST_INFORMATION`
    of the entropy of the activities.
    """
    a, b = _information(real), _information(other)
    return abs(b - a) / max(a, LEAST_INFORMATION * _entropy(real.activity), 1e-9)


def _information(cases: Cases) -> float:
    known = cases.resource >= 0
    act, who = cases.activity[known], cases.resource[known]
    pair = act * (who.max() + 1 if len(who) else 1) + who
    return _entropy(act) + _entropy(who) - _entropy(pair)


def _entropy(codes: Ints) -> float:
    if not len(codes):
        return 0.0
    counts = np.unique(codes, return_counts=True)[1].astype(np.float64)
    p = counts / counts.sum()
    return float(-(p * np.log(p)).sum() + (len(counts) - 1) / (2 * counts.sum()))


def crew(real: Cases, other: Cases) -> float:
    """|log ratio| of how many resources share the work: 1 / sum of squared shares of events."""
    a, b = (_effective(side.resource) for side in (real, other))
    return float(abs(np.log(a / b)))


def _effective(codes: Ints) -> float:
    counts = np.unique(codes[codes >= 0], return_counts=True)[1].astype(np.float64)
    return float(counts.sum() ** 2 / np.square(counts).sum()) if len(counts) else 1.0


def handovers(real: Cases, other: Cases) -> float:
    """Total variation of the pairs of groups that follow each other in a case; in [0, 1]."""
    most = int(max(real.group.max(), other.group.max())) + 2
    return _variation(*(_pairs(side, most) for side in (real, other)))


def _pairs(cases: Cases, most: int) -> Ints:
    inside = np.ones(len(cases.group), dtype=bool)
    inside[cases.first[1:] - 1] = False
    here = np.flatnonzero(inside)
    return (cases.group[here] + 1) * most + cases.group[here + 1] + 1


Statistic = Callable[[Cases, Cases], float]
STATISTICS: dict[str, tuple[Statistic, str]] = {
    "time_in_state": (time_in_state, "activity"),
    "time_in_group": (time_in_group, "group"),
    "tails": (tails, "activity"),
    "calendar": (calendar, "activity"),
    "cycle_times": (cycle_times, "activity"),
    "case_mix": (case_mix, "activity"),
    "who_does_what": (who_does_what, "resource"),
    "crew": (crew, "resource"),
    "handovers": (handovers, "group"),
}
"""Name -> statistic of equal samples, and the role that a log needs for it."""


def has_role(cases: Cases, role: str) -> bool:
    """Whether some event names the role, and there are two values of it."""
    codes = getattr(cases, role)
    return bool(len(codes)) and len(np.unique(codes[codes >= 0])) > 1


def arrivals(real: Cases, other: Cases) -> float:
    """min(|log ratio of cases an hour|, |log ratio of the time they begin in|); at least 0.

    Whole logs, not equal samples: a simulated log may cover a shorter time at the same pace, or be
    a sample of the same time. One that has neither the pace nor the window is another arrival
    process. The window reaches from the 1 % to the 99 % quantile of the starts.
    """
    spans = [_span(side) for side in (real, other)]
    paces = [side.count / span for side, span in zip((real, other), spans, strict=True)]
    return float(min(abs(np.log(paces[1] / paces[0])), abs(np.log(spans[1] / spans[0]))))


def open_cases(real: Cases, other: Cases) -> float:
    """min(|log ratio of the mean number of open cases|, that of it per case); at least 0."""
    each = [_open(side) for side in (real, other)]
    shares = [own / side.count for own, side in zip(each, (real, other), strict=True)]
    return float(min(abs(np.log(each[1] / each[0])), abs(np.log(shares[1] / shares[0]))))


def nearest(real: Cases, other: Cases) -> Floats:
    """Distance of each other case to the nearest real one of the same path, shape (cases,).

    Largest difference of the gaps in units of what a copy may be off by: `NEAR_SECONDS` and
    `NEAR_SHARE` of the gap; up to 1 is a near twin, infinite where no real case has the path.
    Cases with fewer than `COPY_GAPS` gaps are left out.
    """
    from scipy.spatial import cKDTree

    ours, theirs = _by_path(real), _by_path(other)
    found = [
        cKDTree(ours[path]).query(vectors, p=np.inf)[0]
        if path in ours
        else np.full(len(vectors), np.inf)
        for path, vectors in theirs.items()
    ]
    return np.concatenate(found) if found else np.empty(0)


def _by_path(cases: Cases) -> dict[bytes, Floats]:
    kept: dict[bytes, list[Floats]] = {}
    scaled = np.log1p(np.maximum(cases.gap, 0.0) * NEAR_SHARE / NEAR_SECONDS) / NEAR_SHARE
    for low, high in zip(cases.first[:-1], cases.first[1:], strict=True):
        if high - low > COPY_GAPS:
            kept.setdefault(cases.activity[low:high].tobytes(), []).append(scaled[low : high - 1])
    return {path: np.array(own) for path, own in kept.items()}
