"""Distances between the control flow and the times of two logs, by the field's definitions.

N-grams, relative events, cycle times, case arrivals and circadian events as in the package
log-distance-measures 2.2 (Apache-2.0), reimplemented; the tests hold its values. Counts depend on
the size of a log, so both sides need equally many cases (`equal_cases`).

Sequences of a log for its distances: a sample of whole cases, in bounded memory.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

MOST_CASES = 5_000
"""Cases whose events are kept; which they are depends on their ids alone."""
WHO = ("resource", "group")
"""Roles that are kept with the events, where a log has them."""
COPY_GAPS = 3
"""Gaps that a case needs before its times can give it away as a copy."""


@dataclass(frozen=True)
class Traces:
    """Events of some cases.

    Attributes
    ----------
    frame
        ``case_id``, ``activity``, ``start``, ``timestamp`` (UTC) and those of `WHO` that the log
        has; whole cases, each in order.
    zone
        Wall clock of the log.
    prints
        Of every case of the log with `COPY_GAPS` gaps and more, sampled or not: a number for its
        activities and the seconds between them. Equal numbers mean twins.
    """

    frame: pl.DataFrame
    zone: str | None = None
    prints: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))


@dataclass
class TraceSample:
    """Keeps the cases with the smallest checksums of their ids, as frames of whole cases go by."""

    most: int = MOST_CASES
    zone: str | None = None
    _held: list[pl.DataFrame] = field(default_factory=list)
    _prints: list[NDArray[np.uint64]] = field(default_factory=list)
    _cases: int = 0
    _limit: int = 2**32

    def see(self, frame: pl.DataFrame) -> None:
        """Take what belongs to the sample out of a frame of whole, sorted cases."""
        ids = frame["case_id"].unique(maintain_order=True)
        sums = [zlib.crc32(str(name).encode("utf-8", "surrogatepass")) for name in ids]
        marks = pl.DataFrame({"case_id": ids, "mark": pl.Series(sums, dtype=pl.Int64)})
        marks = marks.filter(pl.col("mark") < self._limit)
        start = pl.col("start") if "start" in frame.columns else pl.col("timestamp")
        own = frame.select(
            "case_id",
            "activity",
            start.fill_null(pl.col("timestamp")).alias("start"),
            "timestamp",
            *(name for name in WHO if name in frame.columns),
        ).join(marks, on="case_id", how="inner", maintain_order="left")
        self._held.append(own)
        self._prints.append(case_prints(frame))
        self._cases += marks.height
        if self._cases > 2 * self.most:
            self._shrink()

    def _shrink(self) -> None:
        whole = pl.concat(self._held)
        marks = whole.select("mark", "case_id").unique().sort("mark", "case_id")
        kept = marks.head(self.most)
        self._limit = int(kept["mark"].max() or 0) + 1  # type: ignore[arg-type]
        self._held = [whole.join(kept, on=["mark", "case_id"], how="semi", maintain_order="left")]
        self._cases = kept.height

    def traces(self) -> Traces:
        """The sample, by case id, then by start, end and place in the file."""
        if self._cases > self.most:
            self._shrink()
        whole = pl.concat(self._held)
        ordered = whole.sort("case_id", "start", "timestamp", maintain_order=True)
        return Traces(ordered.drop("mark"), self.zone, np.concatenate(self._prints))


def case_prints(frame: pl.DataFrame) -> NDArray[np.uint64]:
    """A number for the activities of each case and the seconds between them.

    Parameters
    ----------
    frame
        Whole cases, each in order: ``case_id``, ``activity``, ``timestamp``.

    Returns
    -------
    array
        One number a case with `COPY_GAPS` gaps and more; the ids do not count.
    """
    second = pl.col("timestamp").dt.epoch("s")
    gap = (second - second.shift(1)).over("case_id").fill_null(0)
    keyed = frame.select("case_id", pl.struct("activity", gap.alias("gap")).hash(seed=7).alias("h"))
    each = keyed.group_by("case_id", maintain_order=True).agg(pl.col("h"))
    long = each.filter(pl.col("h").list.len() > COPY_GAPS)
    joined = long["h"].list.eval(pl.element().cast(pl.String)).list.join(" ")
    return joined.hash(seed=7).to_numpy()


Array = NDArray[np.float64]
HOUR = 3_600_000_000
MOST_HOURS_APART = 23.0
"""Distance of a weekday on which one log has events and the other none."""


def _padded(traces: Traces, n: int, codes_of: dict[str, int]) -> pl.Series:
    """Every n-gram of every case as a list of codes, with n - 1 blanks (0) before and behind."""
    order = traces.frame.with_row_index("at").select("case_id", "activity", "at")
    ends = order.group_by("case_id", maintain_order=True).agg(
        pl.col("at").first().alias("first"), pl.col("at").last().alias("last")
    )
    blank = pl.lit(None, dtype=pl.String).alias("activity")
    blanks = [
        ends.select("case_id", blank, (pl.col(end).cast(pl.Float64) + step).alias("at"))
        for end, sign in (("first", -1), ("last", 1))
        for step in (sign * k / n / 2 for k in range(1, n))
    ]
    whole = pl.concat([order.with_columns(pl.col("at").cast(pl.Float64)), *blanks])
    place = ends.select("case_id", pl.col("first").alias("case"))
    whole = whole.join(place, on="case_id", how="left").sort("case", "at")
    # numbers, so that no spelling of an activity can look like two of them
    codes = pl.col("activity").replace_strict(codes_of, default=0, return_dtype=pl.Int64)
    whole = whole.select("case_id", codes.alias("code"))
    parts = [pl.col("code").shift(-k).over("case_id") for k in range(n)]
    grams = whole.select(pl.concat_list(parts).alias("gram"), parts[-1].alias("last"))
    return grams.filter(pl.col("last").is_not_null())["gram"]


def ngram_distance(one: Traces, other: Traces, n: int) -> float:
    """Sum of absolute differences of n-gram counts over their sum, in [0, 1].

    Parameters
    ----------
    one, other
        Logs with (about) equally many cases.
    n
        Order; cases are padded with n - 1 blanks at both ends.

    Notes
    -----
    Activities in order of time; events that share their time keep the order of the file.
    """
    names = sorted({*one.frame["activity"].unique(), *other.frame["activity"].unique()})
    codes = {name: code for code, name in enumerate(names, 1)}
    counts = [_counted(_padded(side, n, codes)) for side in (one, other)]
    joined = counts[0].join(counts[1], on="gram", how="full", coalesce=True, suffix="_other")
    a, b = (joined[name].fill_null(0).to_numpy().astype(float) for name in ("n", "n_other"))
    return float(np.abs(a - b).sum() / (a.sum() + b.sum()))


def _counted(grams: pl.Series) -> pl.DataFrame:
    return grams.alias("gram").to_frame().group_by("gram").agg(pl.len().alias("n"))


def _times(traces: Traces) -> pl.DataFrame:
    return traces.frame.with_columns(
        pl.col("start").to_physical().alias("s"), pl.col("timestamp").to_physical().alias("e")
    )


def _wasserstein(one: Array, other: Array) -> float:
    from scipy.stats import wasserstein_distance

    return float(wasserstein_distance(one, other))


def relative_event_distance(one: Traces, other: Traces) -> float:
    """Wasserstein distance, in hours, of the starts and ends of events since their case began."""
    sides = []
    for side in (one, other):
        frame = _times(side).with_columns(pl.col("s").min().over("case_id").alias("first"))
        hours = [((frame[name] - frame["first"]) // HOUR).to_numpy() for name in ("s", "e")]
        sides.append(np.concatenate(hours).astype(np.float64))
    return _wasserstein(*sides)


def cycle_time_distance(one: Traces, other: Traces, bin_hours: float = 1.0) -> float:
    """Wasserstein distance of cycle times, in bins of `bin_hours` from the shortest on."""
    sides = [_cycles(side) for side in (one, other)]
    least = min(side.min() for side in sides)
    return _wasserstein(*(np.floor((side - least) / (bin_hours * HOUR)) for side in sides))


def _cycles(traces: Traces) -> Array:
    spans = (
        _times(traces).group_by("case_id").agg((pl.col("e").max() - pl.col("s").min()).alias("c"))
    )
    return spans["c"].to_numpy().astype(np.float64)


def _arrivals(traces: Traces) -> NDArray[np.int64]:
    found = _times(traces).group_by("case_id").agg(pl.col("s").min())["s"].to_numpy()
    return np.asarray(found, dtype=np.int64)


def arrival_distance(one: Traces, other: Traces) -> float:
    """Wasserstein distance, in hours, of case arrivals since the full hour of the first of all.

    Two logs of different dates are as far apart as their dates.
    """
    sides = [_arrivals(side) for side in (one, other)]
    first = min(int(side.min()) for side in sides) // HOUR * HOUR
    hours = [((side - first) // HOUR).astype(np.float64) for side in sides]
    return _wasserstein(*hours)


def circadian_distance(one: Traces, other: Traces) -> float:
    """Mean over weekdays of the Wasserstein distance of the hours of starts and ends, in hours."""
    clocks = [_clock(side) for side in (one, other)]
    found = []
    for day in range(1, 8):
        a, b = (clock.filter(pl.col("day") == day)["hour"].to_numpy() for clock in clocks)
        if len(a) and len(b):
            found.append(_wasserstein(a, b))
        else:
            found.append(MOST_HOURS_APART if len(a) or len(b) else 0.0)
    return float(np.mean(found))


def _clock(traces: Traces) -> pl.DataFrame:
    both = pl.concat([traces.frame["start"].alias("t"), traces.frame["timestamp"].alias("t")])
    local = pl.col("t").dt.convert_time_zone(traces.zone or "UTC")
    return both.to_frame().select(
        local.dt.weekday().alias("day"), local.dt.hour().cast(pl.Int64).alias("hour")
    )


def case_ids(traces: Traces) -> pl.Series:
    """Ids of the cases, sorted."""
    return traces.frame["case_id"].unique().sort()


def only(traces: Traces, ids: pl.Series) -> Traces:
    """Some of the cases."""
    kept = traces.frame.filter(pl.col("case_id").is_in(ids.implode()))
    return Traces(kept, traces.zone, traces.prints)


def split_cases(traces: Traces, size: int, seed: int) -> tuple[Traces, Traces]:
    """Two disjoint random samples of `size` cases each."""
    ids = case_ids(traces)
    order = np.random.default_rng([seed, 0x10D]).permutation(len(ids))
    return only(traces, ids[order[:size]]), only(traces, ids[order[size : 2 * size]])


def equal_cases(traces: Traces, size: int, seed: int) -> Traces:
    """A random sample of `size` cases (all of them where there are no more)."""
    ids = case_ids(traces)
    if len(ids) <= size:
        return traces
    order = np.random.default_rng([seed, 0x10E]).permutation(len(ids))
    return only(traces, ids[order[:size]])
