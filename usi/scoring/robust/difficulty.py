"""Difficulty bins for the outcome gap: where they come from, and which are merged.

Order of preference: a frozen pool of other simulators' outcomes, a column known beforehand,
human outcomes of the other batches (leave one batch out), one bin. Binning on the outcomes that
are scored is regression to the mean, and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import polars as pl

from usi.errors import UsageError
from usi.reasons import (
    POOL_KNOWS_FEW,
    Reason,
)
from usi.scoring.robust.thresholds import MIN_BIN_TASKS, MIN_COVERAGE

CUTOFFS = (0.2, 0.4, 0.6, 0.8)
"""Fixed cut-offs between five bins; a value at a cut-off belongs to the upper bin."""
FEW_TASKS = 100
"""Tasks below which a pool is cut into 3 bins of equal mass."""
LEAVE_ONE_OUT = "leave-one-batch-out"
MIN_POOL = 10
"""Outcomes a task that a pool needs."""


@dataclass(frozen=True)
class Pool:
    """Difficulty (share of success) of tasks, from outcomes that are not being scored.

    Attributes
    ----------
    name
        As it stands in signatures, such as ``"frozen31"``.
    difficulty
        Task -> share of success in [0, 1].
    outcomes
        Task -> how many outcomes it rests on; empty = at least 10 for every task.
    """

    name: str
    difficulty: Mapping[str, float]
    outcomes: Mapping[str, int] = field(default_factory=dict)

    def usable(self) -> dict[str, float]:
        """Tasks that rest on at least 10 outcomes."""
        return {
            task: float(value)
            for task, value in sorted(self.difficulty.items())
            if self.outcomes.get(task, MIN_POOL) >= MIN_POOL
        }


@dataclass(frozen=True)
class Bins:
    """A bin for every session.

    Attributes
    ----------
    source
        ``"pool:NAME"``, ``"strata:COLUMN"``, ``"leave-one-batch-out"``, ``"one-bin"``,
        ``"none"`` (an unpaired design without strata: outcome is not assessed).
    labels
        Labels of the bins, easiest to read first; merged ones joined by ``" + "``.
    human, simulator
        Bin index of each session, -1 = in no bin. Where `on_simulator` is false the simulator's
        sessions count in every bin that the human sessions of their task fall into.
    on_simulator
        Whether the simulator's sessions have bins of their own.
    note
        Why a preferred source was not taken; ``None`` where it was.
    """

    source: str
    labels: tuple[str, ...]
    human: np.ndarray
    simulator: np.ndarray
    on_simulator: bool
    note: Reason | None = None


def pool_cutoffs(values: Sequence[float], tasks: int) -> tuple[float, ...]:
    """Cut-offs for a pool: five fixed bins, or thirds of the pool under 100 scored tasks."""
    if tasks >= FEW_TASKS:
        return CUTOFFS
    cuts = np.quantile(np.asarray(values), [1 / 3, 2 / 3])
    return tuple(sorted({float(cut) for cut in cuts}))


def merge_plan(sizes: Sequence[float], minimum: float = MIN_BIN_TASKS) -> list[list[int]]:
    """Merge neighbours until every bin has `minimum` tasks (or one bin is left).

    The smallest bin joins its smaller neighbour, the left one on a tie.

    Examples
    --------
    >>> merge_plan([4, 17, 37, 66, 41])
    [[0, 1], [2], [3], [4]]
    >>> merge_plan([3, 2])
    [[0, 1]]
    """
    groups = [[index] for index in range(len(sizes))]
    mass = [float(size) for size in sizes]
    while len(groups) > 1 and min(mass) < minimum:
        small = mass.index(min(mass))
        near = [i for i in (small - 1, small + 1) if 0 <= i < len(groups)]
        other = min(near, key=lambda i: (mass[i], i))
        left, right = sorted((small, other))
        groups[left] += groups.pop(right)
        mass[left] += mass.pop(right)
    return groups


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """Labels of the bins between cut-offs, such as ``"0.20-0.40"``."""
    return tuple(f"{low:.2f}-{high:.2f}" for low, high in pairwise((0.0, *cuts, 1.0)))


def _unit_sizes(units: pl.Series, index: np.ndarray, n: int) -> list[float]:
    """Tasks per bin; a task whose sessions lie in several bins counts in parts."""
    frame = pl.DataFrame({"unit": units, "bin": index}).filter(
        (pl.col("bin") >= 0) & pl.col("unit").is_not_null()
    )
    parts = frame.with_columns(share=1 / pl.len().over("unit")).group_by("bin")
    sums = dict(parts.agg(pl.col("share").sum()).iter_rows())
    return [float(sums.get(k, 0.0)) for k in range(n)]


def _merged(bins: Bins, human_units: pl.Series, simulator_units: pl.Series, paired: bool) -> Bins:
    n = len(bins.labels)
    sizes = _unit_sizes(human_units, bins.human, n)
    if not paired:
        theirs = _unit_sizes(simulator_units, bins.simulator, n)
        sizes = [min(pair) for pair in zip(sizes, theirs, strict=True)]
    plan = merge_plan(sizes)
    place = np.full(n + 1, -1)
    for new, group in enumerate(plan):
        place[group] = new
    return Bins(
        bins.source,
        tuple(" + ".join(bins.labels[k] for k in group) for group in plan),
        place[bins.human],
        place[bins.simulator],
        bins.on_simulator,
        bins.note,
    )


def assign_bins(
    human: pl.DataFrame,
    simulator: pl.DataFrame,
    *,
    success: np.ndarray,
    unit: str,
    paired: bool,
    pool: Pool | None = None,
    strata: str | None = None,
) -> Bins:
    """Put every session into a difficulty bin, by the best source that there is.

    Parameters
    ----------
    human, simulator
        Sessions that are scored (paired: of the units in common).
    success
        Success of the human sessions, NaN where there is none (leave-one-batch-out only).
    unit
        Column that is paired on.
    paired
        Unpaired designs have declared strata or nothing.
    pool
        Outcomes of other simulators.
    strata
        Column with a difficulty known beforehand.

    Raises
    ------
    UsageError
        Where the strata column is an outcome of the sessions themselves.
    """
    if strata in ("reward", "outcome_label", "termination"):
        raise UsageError(
            f"--strata {strata} would bin on the outcomes that are being scored (regression to "
            "the mean); name a column that was known beforehand"
        )
    note: Reason | None = None
    if paired and pool is not None:
        usable = pool.usable()
        tasks = [task for task in human["task"].unique().sort() if task is not None]
        known = [task for task in tasks if task in usable]
        if tasks and len(known) >= MIN_COVERAGE * len(tasks):
            cuts = pool_cutoffs(list(usable.values()), len(tasks))
            values = [
                np.array([usable.get(task, np.nan) for task in side["task"]], dtype=float)
                for side in (human, simulator)
            ]
            index = [
                np.where(np.isnan(v), -1, np.searchsorted(cuts, v, side="right")) for v in values
            ]
            bins = Bins(f"pool:{pool.name}", interval_labels(cuts), index[0], index[1], True)
            return _merged(bins, human[unit], simulator[unit], paired)
        note = POOL_KNOWS_FEW(pool=pool.name, known=len(known), tasks=len(tasks))
    if strata is not None:
        columns = [side[strata].cast(pl.String) for side in (human, simulator)]
        labels = sorted({v for column in columns for v in column.drop_nulls().unique()})
        place = {label: k for k, label in enumerate(labels)}
        index = [np.array([place.get(v, -1) for v in column], dtype=int) for column in columns]
        if labels:
            bins = Bins(f"strata:{strata}", tuple(labels), index[0], index[1], True, note)
            return _merged(bins, human[unit], simulator[unit], paired)
    nothing = np.full(simulator.height, -1)
    if not paired:
        return Bins("none", (), np.full(human.height, -1), nothing, False, note)
    others = _other_batches(human, success, unit)
    if others is not None:
        index_h = np.where(np.isnan(others), -1, np.searchsorted(CUTOFFS, others, side="right"))
        bins = Bins(LEAVE_ONE_OUT, interval_labels(CUTOFFS), index_h, nothing, False, note)
        return _merged(bins, human[unit], simulator[unit], paired)
    return Bins("one-bin", ("all tasks",), np.zeros(human.height, int), nothing, False, note)


def _other_batches(human: pl.DataFrame, success: np.ndarray, unit: str) -> np.ndarray | None:
    """Success of a session's task in the other batches; ``None`` with fewer than 3 batches."""
    frame = human.select(unit=unit, batch="batch").with_columns(y=pl.Series(success).fill_nan(None))
    if frame.filter(pl.col("y").is_not_null())["batch"].drop_nulls().n_unique() < 3:
        return None
    total, here = pl.col("y").sum(), pl.col("y").count()
    rest = (total.over("unit") - total.over("unit", "batch")) / (
        here.over("unit") - here.over("unit", "batch")
    )
    values = frame.select(rest.cast(pl.Float64).alias("rest"))["rest"]
    return values.fill_null(float("nan")).to_numpy()
