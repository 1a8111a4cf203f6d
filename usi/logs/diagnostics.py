"""What means of logs can't see: classifier test, n-grams of order 3, and distances of times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from usi.diagnose.diagnosis import diagnose, scored_sessions
from usi.estimate import Estimate, not_assessed
from usi.extraction.table import SessionTable
from usi.logs.distances import (
    Traces,
    arrival_distance,
    case_ids,
    circadian_distance,
    cycle_time_distance,
    equal_cases,
    ngram_distance,
    only,
    relative_event_distance,
    split_cases,
)
from usi.logs.periods import paired_gap, period_differences
from usi.logs.process_keys import process_differences
from usi.logs.scoring import log_options
from usi.options import RobustOptions, ScoreOptions
from usi.reasons import FEW_CASES, NO_EVENTS
from usi.scoring.parts import Diagnosis
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.reference import chosen

DRAWS = 10
MIN_CASES = 50
"""Cases of a half of the real log below which its own distance says too little."""
Distance = Callable[[Traces, Traces], float]
DISTANCES: dict[str, tuple[Distance, str]] = {
    "ngram2": (partial(ngram_distance, n=2), "share"),
    "ngram3": (partial(ngram_distance, n=3), "share"),
    "relative_event": (relative_event_distance, "hours"),
    "cycle_time": (cycle_time_distance, "hours"),
    "case_arrival": (arrival_distance, "hours"),
    "circadian": (circadian_distance, "hours"),
}
"""Name -> distance and its unit."""


def diagnose_logs(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    traces: Mapping[str, Traces],
    options: ScoreOptions,
) -> dict[str, Diagnosis]:
    """What means can't see of every simulated log, by label.

    Parameters
    ----------
    human, simulators
        Session tables with keys.
    traces
        Label (the real log: ``""``) -> events of a sample of its cases; may lack any.
    """
    own, _ = log_options(options, [human.frame, *(t.frame for t in simulators.values())])
    tables = {label: _chosen(t, own, human=False) for label, t in simulators.items()}
    people = _chosen(human, own, human=True)
    moves = period_differences(people, mode=own.c2st, seed=own.seed)
    sample = _among(traces.get(""), people)
    if sample is not None:
        moves |= ngram_periods(sample, seed=own.seed)
    clusters = dict(people.frame.select("session_id", "task").drop_nulls().iter_rows())
    found = {}
    for label, table in tables.items():
        plain = diagnose(
            scored_sessions(people.frame),
            scored_sessions(table.frame),
            profile=human.profile,
            design="unpaired",
            mode=own.c2st,
            seed=own.seed,
        )
        tests = tuple(
            t.model_copy(update={"grouped_by": own.cluster if t.grouped_by == "task" else "case"})
            for t in plain.two_sample
        )
        other = _among(traces.get(label), table)
        gap = paired_gap(people, table)
        found[label] = replace(
            plain,
            two_sample=tests,
            log_distances={
                **distances(sample, other, seed=own.seed),
                **process_differences(sample, other, clusters, seed=own.seed),
                **moves,
                **({} if gap is None else {"success_gap_paired": gap}),
            },
        )
    return found


def _chosen(table: SessionTable, own: RobustOptions, *, human: bool) -> SessionTable:
    """The cases that were scored; the cluster stands where conversations have their task."""
    frame = chosen(table.frame, own, human=human)
    return replace(
        table, frame=frame.with_columns(pl.col(own.cluster).cast(pl.String).alias("task"))
    )


def _among(traces: Traces | None, table: SessionTable) -> Traces | None:
    """Of the sampled cases, those that were scored."""
    if traces is None:
        return None
    return only(traces, table.frame["session_id"])


def ngram_periods(human: Traces, *, seed: int) -> dict[str, Estimate]:
    """``ngram3_periods``: twice what the 3-gram distance of the earlier and the later half of the
    real cases exceeds that of random halves by, at least 0."""
    starts = human.frame.group_by("case_id").agg(pl.col("start").min()).sort("start", "case_id")
    half = starts.height // 2
    if half < MIN_CASES:
        return {}
    ids = starts["case_id"]
    moved = ngram_distance(only(human, ids.head(half)), only(human, ids.tail(half)), 3)
    own = [ngram_distance(*split_cases(human, half, seed + k), 3) for k in range(3)]
    excess = 2 * max(0.0, moved - float(np.mean(own)))
    return {"ngram3_periods": Estimate(value=tidy(excess), n=half, unit="share")}


def distances(human: Traces | None, simulated: Traces | None, *, seed: int) -> dict[str, Estimate]:
    """Every distance at equal numbers of cases, and that of the real log from itself.

    The real log is halved `DRAWS` times; the simulator's cases meet one half, the other half meets
    it as well (``NAME_real``). ``ngram3_excess`` is the difference of the two.

    Returns
    -------
    dict
        Means over the draws; bounds are mean -/+ 1.645 sd of the draws.
    """
    names = [*DISTANCES, *(f"{name}_real" for name in DISTANCES), "ngram3_excess"]
    if human is None or simulated is None:
        return {name: not_assessed(NO_EVENTS) for name in names}
    size = min(len(case_ids(human)) // 2, len(case_ids(simulated)))
    if size < MIN_CASES:
        few = FEW_CASES(real=2 * MIN_CASES, simulated=MIN_CASES)
        return {name: not_assessed(few) for name in names}
    found: dict[str, list[float]] = {name: [] for name in names}
    for draw in range(DRAWS):
        first, second = split_cases(human, size, seed + draw)
        sample = equal_cases(simulated, size, seed + draw)
        for name, (distance, _) in DISTANCES.items():
            found[name].append(distance(first, sample))
            found[f"{name}_real"].append(distance(first, second))
        found["ngram3_excess"].append(found["ngram3"][-1] - found["ngram3_real"][-1])
    units = {f"{name}{tail}": unit for name, (_, unit) in DISTANCES.items()
             for tail in ("", "_real")}  # fmt: skip
    return {
        name: _summary(values, units.get(name, "share"), size) for name, values in found.items()
    }


def _summary(values: list[float], unit: str, size: int) -> Estimate:
    mean, reach = float(np.mean(values)), 1.645 * float(np.std(values, ddof=1))
    return Estimate(
        value=tidy(mean), low=tidy(mean - reach), high=tidy(mean + reach), n=size, unit=unit
    )
