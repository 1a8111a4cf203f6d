"""Which simulators can be told apart: rank intervals, tie groups, and the winner's curse.

All pairwise differences with one critical value, the bootstrap quantile of the largest |t|
(Mogstad, Romano, Shaikh and Wilhelm 2024): with probability 1 - alpha every true rank lies in
its interval at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.scoring.robust.bounds import tidy

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ranked:
    """One simulator's place.

    Attributes
    ----------
    name, value
        Simulator and its score.
    best, worst
        Rank interval, 1 = nearest to people.
    group
        Number of its tie group, 1 = best; members can't be told from the best of the group.
    """

    name: str
    value: float
    best: int
    worst: int
    group: int


@dataclass(frozen=True)
class Ranking:
    """Simulators by falling score.

    Attributes
    ----------
    rows
        Best first; ties by name.
    critical
        Critical value of the largest |t| (0 with one simulator).
    level
        1 - alpha.
    excess
        By how much the best observed score exceeds its own expectation, in points (bootstrap).
    """

    rows: tuple[Ranked, ...]
    critical: float
    level: float
    excess: float


def rank_scores(
    names: Sequence[str], values: Array, replicates: Array, *, alpha: float = 0.05
) -> Ranking:
    """Rank simulators with simultaneous intervals.

    Parameters
    ----------
    names
        Simulators, length K.
    values
        Scores, shape (K,).
    replicates
        Scores in bootstrap replicates that share their draws, shape (replicates, K).
    alpha
        Probability that some rank lies outside its interval.
    """
    k = len(names)
    # Deviations from their own mean: replicates of |a - b| carry the noise twice and slide down.
    deviation = replicates - np.nanmean(replicates, axis=0)
    difference = values[:, None] - values[None, :]
    critical, significant = 0.0, np.zeros((k, k), dtype=bool)
    if k > 1:
        first, second = np.triu_indices(k, 1)
        moved = deviation[:, first] - deviation[:, second]
        se = np.nanstd(moved, axis=0, ddof=1)
        t = np.divide(np.abs(moved), se, out=np.zeros_like(moved), where=se > 0)
        critical = float(np.nanquantile(t.max(axis=1), 1 - alpha))
        errors = np.zeros((k, k))
        errors[first, second] = errors[second, first] = se
        # Without any noise a difference of rounding size is none.
        significant = difference > np.maximum(critical * errors, 1e-9)
    better, worse = significant.sum(axis=0), significant.sum(axis=1)
    order = sorted(range(k), key=lambda i: (-values[i], names[i]))
    rows: list[Ranked] = []
    group, leader = 1, order[0] if order else 0
    for i in order:
        if significant[leader, i]:
            group, leader = group + 1, i
        rows.append(
            Ranked(names[i], tidy(float(values[i])), 1 + int(better[i]), k - int(worse[i]), group)
        )
    return Ranking(tuple(rows), tidy(critical), 1 - alpha, tidy(_excess(values, deviation)))


def _excess(values: Array, deviation: Array) -> float:
    """Mean over replicates of how far the winner's score lies above its own value."""
    if len(values) < 2:
        return 0.0
    filled = np.nan_to_num(deviation)
    winner = (values + filled).argmax(axis=1)
    # Choosing the best can only add: what is below 0 is the Monte-Carlo error of a clear winner.
    return max(0.0, float(filled[np.arange(len(filled)), winner].mean()))
