"""Agent success that a human would have seen: the simulator's, corrected by the tasks with people.

Where the tasks that people did are a random sample of all, ``H_h + lambda (S_all - S_h)`` is
unbiased whatever the simulator's bias, since the simulator only enters by the difference between
all tasks and the tasks with people. lambda is the slope of human on simulated success over those
tasks (a control variate; prediction-powered inference, Angelopoulos et al. 2023), clipped to
[0, 1], so that an unrelated simulator gains and costs nothing.

People's tasks are seldom a random sample. So the tasks are parted into strata of simulated success
(at most five, with eight tasks of people each on average), and the estimate is the mean over
strata, each by its share W_s of all tasks (post-stratification)::

    Σ_s W_s (H_s + lambda (S_all,s - S_h,s)),   lambda of the deviations from the means of strata

It holds where people's tasks are a random sample within each stratum. A stratum with fewer than two
tasks of people tells nothing of people: its success may be anything from 0 to 1, and the bounds
say so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from usi.decisions.bounds import ALPHA, quantile
from usi.decisions.outcomes import FloatArray, Outcomes, percentile_bounds, task_weights
from usi.errors import NotScorable
from usi.estimate import Estimate

REPLICATES = 2000
MIN_TASKS = 10


@dataclass(frozen=True)
class CorrectedSuccess:
    """Corrected agent success and what it is made of; shares, bounds at 90 %.

    Attributes
    ----------
    corrected, humans_alone
        The two estimates of success over all tasks, with percentile bounds.
    sd_corrected, sd_humans_alone
        Bootstrap standard deviations: whether the simulator helped.
    weight
        lambda, 0 (the simulator tells nothing about the task) to 1.
    strata, empty
        Strata of simulated success, and the share of all tasks in those with fewer than two tasks
        of people; by so much the bounds of `corrected` are wider.
    selection
        S_h - S_all with bounds (point ± 1.645 SE): below 0 people did harder tasks, by the
        simulator.
    simulator_on_human_tasks, simulator_on_all_tasks
        S_h and S_all.
    """

    label: str
    corrected: Estimate
    humans_alone: Estimate
    sd_corrected: float
    sd_humans_alone: float
    weight: float
    simulator_on_human_tasks: float
    simulator_on_all_tasks: float
    human_tasks: int
    all_tasks: int
    strata: int
    empty: float
    selection: Estimate


MOST_STRATA, PER_STRATUM, LEAST = 5, 8, 2
"""Strata at most, tasks of people a stratum on average, and fewest of them that tell of people."""


def strata_of(sim: FloatArray, human_tasks: int) -> np.ndarray:
    """Stratum of each task by simulated success: equal parts of all tasks, ties together.

    >>> strata_of(np.array([0.0, 0.0, 0.5, 1.0]), 16).tolist()
    [0, 0, 1, 1]
    """
    number = max(1, min(MOST_STRATA, human_tasks // PER_STRATUM))
    cuts = np.unique(np.quantile(sim, np.arange(1, number) / number))
    place = np.searchsorted(cuts, sim, side="right")
    return np.unique(place, return_inverse=True)[1].ravel()


def _estimate(
    weights: FloatArray, human: FloatArray, sim: FloatArray, has: FloatArray, strata: np.ndarray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Corrected success over the strata with people, humans alone and lambda for each row.

    Parameters
    ----------
    weights
        Weight of each task, shape (rows, tasks).
    human, sim, has
        Success by task, and 1 where people did it.
    strata
        Stratum of each task; -1: no people there.
    """
    own = weights * has
    member = (strata[:, None] == np.arange(strata.max() + 1)).astype(np.float64)

    def ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
        found: FloatArray = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)
        return found

    n_h = own @ member
    h, s = ratio((own * human) @ member, n_h), ratio((own * sim) @ member, n_h)
    inner = _moments(own, human, sim, member)
    outer = _moments(own, human, sim, np.ones((len(sim), 1)))
    # where simulated success is the same within every stratum, lambda changes nothing
    cross, square = (np.where(inner[1] > 1e-9, i, o) for i, o in zip(inner, outer, strict=True))
    slope = np.where(square > 1e-9, cross / np.maximum(square, 1e-9), 0.0)
    weight = np.clip(slope, 0.0, 1.0)
    all_n = weights @ member
    s_all = ratio((weights * sim) @ member, all_n)
    parts = h + weight[:, None] * (s_all - s)
    known = np.isfinite(parts)
    share = np.where(known, all_n, 0.0)
    corrected = ratio((np.where(known, parts, 0.0) * share).sum(axis=1), share.sum(axis=1))
    alone = ratio((own * human).sum(axis=1), own.sum(axis=1))
    return corrected, alone, weight


def _moments(
    own: FloatArray, human: FloatArray, sim: FloatArray, member: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sums of (human - mean)(sim - mean) and (sim - mean)² within the groups of `member`."""
    n = np.maximum(own @ member, 1e-12)
    h, s = (own * human) @ member, (own * sim) @ member
    cross = ((own * human * sim) @ member - h * s / n).sum(axis=1)
    return cross, ((own * sim * sim) @ member - s * s / n).sum(axis=1)


def corrected_success(
    simulator: Outcomes, human: Outcomes, *, replicates: int = REPLICATES, seed: int = 7
) -> CorrectedSuccess:
    """Success over all of the simulator's tasks as people would have seen it.

    Parameters
    ----------
    simulator
        Outcomes of the agent with the simulated user on all tasks.
    human
        Outcomes of the same agent with people on some of these tasks.

    Raises
    ------
    NotScorable
        Fewer than ten tasks with people, or tasks with people that the simulator never ran.
    """
    sim_means, human_means = simulator.means(), human.means()
    missing = sorted(set(human_means) - set(sim_means))
    if missing:
        raise NotScorable(
            f"{len(missing)} tasks with people were not run by {simulator.label} "
            f"({', '.join(missing[:3])} ...): run the simulator on every task that people did"
        )
    if len(human_means) < MIN_TASKS:
        raise NotScorable(
            f"{len(human_means)} tasks with people; at least {MIN_TASKS} are needed to correct"
        )
    tasks = sorted(sim_means)
    sim = np.array([sim_means[task] for task in tasks])
    has = np.array([float(task in human_means) for task in tasks])
    people = np.array([human_means.get(task, 0.0) for task in tasks])
    strata = strata_of(sim, len(human_means))
    counts = np.bincount(strata, weights=has)
    told = counts[strata] >= LEAST
    empty = float((~told).mean())
    known = np.unique(strata[told], return_inverse=True)[1].ravel()
    number = len(counts)
    strata = np.full(len(tasks), -1)
    strata[told] = known
    point, alone, weight = _estimate(np.ones((1, len(tasks))), people, sim, has, strata)
    weights = task_weights(len(tasks), replicates, seed)
    drawn, drawn_alone, _ = _estimate(weights, people, sim, has, strata)
    drawn, drawn_alone = drawn[np.isfinite(drawn)], drawn_alone[np.isfinite(drawn_alone)]

    def estimate(value: float, values: FloatArray, n: int) -> Estimate:
        low, high = percentile_bounds(values)
        return Estimate(value=value, low=low, high=high, n=n, unit="share")

    corrected = estimate(float(point[0]), drawn, len(tasks))
    if empty:  # there success may be anything from 0 to 1
        low, high = corrected.low or 0.0, corrected.high or 0.0
        corrected = corrected.model_copy(
            update={
                "value": (1 - empty) * float(point[0]) + empty * float(sim[~told].mean()),
                "low": (1 - empty) * low,
                "high": (1 - empty) * high + empty,
            }
        )
    return CorrectedSuccess(
        label=simulator.label,
        corrected=corrected,
        humans_alone=estimate(float(alone[0]), drawn_alone, len(human_means)),
        sd_corrected=float(drawn.std(ddof=1)),
        sd_humans_alone=float(drawn_alone.std(ddof=1)),
        weight=float(weight[0]),
        simulator_on_human_tasks=float((sim * has).sum() / has.sum()),
        simulator_on_all_tasks=float(sim.mean()),
        human_tasks=len(human_means),
        all_tasks=len(tasks),
        strata=number,
        empty=empty,
        selection=_selection(sim, has),
    )


def _selection(sim: FloatArray, has: FloatArray) -> Estimate:
    """Simulated success on people's tasks minus that on all; 0 +- noise for a random sample."""
    n, total = int(has.sum()), len(sim)
    value = float(sim[has > 0].mean() - sim.mean())
    # a random sample of n of N without replacement
    se = float(sim.std(ddof=1)) * math.sqrt((1 / n) * (1 - n / total)) if n < total else 0.0
    reach = quantile(ALPHA) * se
    return Estimate(value=value, low=value - reach, high=value + reach, n=n, unit="share")
