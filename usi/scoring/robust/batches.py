"""Human batches among themselves: ranges with one left out, and people against people.

How much of a feature belongs to the task: intraclass correlation over human batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed
from usi.reasons import (
    AGGREGATE,
    BATCH_TOO_SMALL,
    BATCHES_UNPAIRED,
    CONSTANT,
    ICC_SIZES,
    PEOPLE_ALONE,
    TWO_BATCHES,
)
from usi.rounding import rounded
from usi.scoring.robust.bounds import maybe, spread, tidy
from usi.scoring.robust.difficulty import LEAVE_ONE_OUT
from usi.scoring.robust.study import Study
from usi.scoring.robust.sums import SideSums
from usi.scoring.robust.terms import PARTS, Terms, all_terms, contrast

Array = NDArray[np.float64]


def icc1(sums: Array, squares: Array, counts: Array) -> Estimate:
    """ICC(1) = (MSB - MSW) / (MSB + (m0 - 1) MSW), one-way random effects (Shrout, Fleiss 1979).

    Parameters
    ----------
    sums, squares, counts
        Sum, sum of squares and number of the values of each task, shape (tasks,). m0 is the
        usual mean group size for unequal numbers.

    Returns
    -------
    Estimate
        In [-1, 1], unit ``"correlation"``, n = tasks with a value; below 0 where tasks differ
        less than chance alone would make them.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0, 1.0], [3.0, 3.0, 3.0]])
    >>> icc1(x.sum(axis=1), (x * x).sum(axis=1), np.array([3.0, 3.0])).value
    1.0
    """
    keep = counts > 0
    s, q, m = sums[keep], squares[keep], counts[keep]
    k, total = len(m), float(m.sum())
    if k < 2 or total <= k:
        return not_assessed(ICC_SIZES, unit="correlation", n=k)
    within = max(0.0, float((q - s * s / m).sum()))
    between = max(0.0, float((s * s / m).sum() - s.sum() ** 2 / total))
    msb, msw = between / (k - 1), within / (total - k)
    m0 = (total - float((m * m).sum()) / total) / (k - 1)
    bottom = msb + (m0 - 1) * msw
    if bottom <= 1e-12 * float(q.sum()) / total:  # rounding alone
        return not_assessed(CONSTANT, unit="correlation", n=k)
    value = min(1.0, max(-1.0, (msb - msw) / bottom))
    return Estimate(value=rounded(value), n=k, unit="correlation")


MOST_SPLITS = 5
"""Batches and runs that people are compared with people over: the largest, ties by their order."""
CONTEXT_REPLICATES = 200


def _one_bin(side: SideSums) -> SideSums:
    """All sessions in one bin: bins made of people's outcomes can't compare people with people."""
    return replace(side, bins=("all tasks",), bin=np.zeros_like(side.bin))


def _largest(side: SideSums) -> list[int]:
    """The splits with the most sessions, in their own order."""
    sizes = np.bincount(side.split, weights=side.sessions, minlength=len(side.splits))
    order = sorted(range(len(sizes)), key=lambda k: (-sizes[k], k))
    return sorted(order[:MOST_SPLITS])


def _split(side: SideSums, index: int) -> SideSums:
    return side.take(side.split == index)


def _terms(
    result: Study, simulator: SideSums, human: SideSums, *, replicates: int, on_simulator: bool
) -> dict[str, Terms]:
    data = contrast(
        simulator,
        human,
        paired=result.design.paired,
        on_simulator=on_simulator,
        replicates=replicates,
        seed=result.seed,
    )
    found = all_terms(data, result.reference.specs, result.selections)
    return {name: terms for name, terms in found.items() if name in result.scores}


def batch_ranges(result: Study) -> dict[str, tuple[float, float]]:
    """Lowest and highest raw score of every component with one human batch left out.

    Empty with fewer than two batches. Three batches are too few to estimate how batches vary;
    the range says what leaving one out would do.
    """
    human = result.human
    if len(human.splits) < 2 or result.reference.aggregated:
        return {}
    values: dict[str, list[float]] = {}
    for index in range(len(human.splits)):
        rest = human.take(human.split != index)
        found = _terms(
            result, result.simulator, rest, replicates=0, on_simulator=result.on_simulator
        )
        for name, terms in found.items():
            values.setdefault(name, []).append(terms.raw)
        if found.keys() >= set(PARTS):
            mean = float(np.mean([found[name].raw for name in PARTS]))
            values.setdefault("index", []).append(mean)
    return {name: (min(v), max(v)) for name, v in values.items()}


@dataclass(frozen=True)
class Context:
    """People against people, and people against the simulator, at the same size.

    Attributes
    ----------
    components
        Component -> mean score of one batch against another, over all pairs.
    index
        Mean of the components, where all are there.
    difference
        Human-human minus human-simulator score (one run against one batch).
    """

    components: dict[str, float]
    index: float | None
    difference: Estimate


def _mean_over(
    pairs: Sequence[tuple[SideSums, SideSums]],
    result: Study,
    *,
    on_simulator: bool,
    replicates: int = CONTEXT_REPLICATES,
) -> dict[str, tuple[float, Array]]:
    """Component -> mean raw score and mean replicates over pairs (those that all pairs have)."""
    found = [
        _terms(result, a, b, replicates=replicates, on_simulator=on_simulator) for a, b in pairs
    ]
    names = [name for name in PARTS if found and all(name in terms for terms in found)]
    return {
        name: (
            float(np.mean([terms[name].raw for terms in found])),
            np.mean([terms[name].replicated() for terms in found], axis=0),
        )
        for name in names
    }


def versus_humans(result: Study, *, bounds: bool = True) -> Context:
    """How much better people agree with each other than the simulator with them.

    One run against one batch on both sides, so that the noise of |a - b| is the same in both;
    normal bounds from the bootstrap. Context only: the deficit shrinks with n, so it is no gate.
    Without `bounds` only people are compared, and the difference is left out.
    """
    human, simulator = result.human, result.simulator
    if result.reference.aggregated:
        return Context({}, None, not_assessed(AGGREGATE))
    if not result.design.paired or len(human.splits) < 2:
        reason = TWO_BATCHES if result.design.paired else BATCHES_UNPAIRED
        return Context({}, None, not_assessed(reason))
    if result.bins.source == LEAVE_ONE_OUT:
        human, simulator = _one_bin(human), _one_bin(simulator)
    batches = [_split(human, j) for j in _largest(human)]
    runs = [_split(simulator, r) for r in _largest(simulator)]
    people = _mean_over(
        list(combinations(batches, 2)),
        result,
        on_simulator=False,
        replicates=CONTEXT_REPLICATES if bounds else 0,
    )
    components = {name: tidy(value) for name, (value, _) in people.items()}
    index = None
    if people.keys() >= set(PARTS):
        index = tidy(float(np.mean([people[name][0] for name in PARTS])))
    if not bounds:
        return Context(components, index, not_assessed(PEOPLE_ALONE))
    model = _mean_over(
        [(run, batch) for run in runs for batch in batches],
        result,
        on_simulator=result.on_simulator,
    )
    common = [name for name in PARTS if name in people and name in model]
    if len(common) < len(PARTS):
        return Context(components, index, not_assessed(BATCH_TOO_SMALL))
    point = float(np.mean([people[n][0] - model[n][0] for n in common]))
    draws = np.mean([people[n][1] - model[n][1] for n in common], axis=0)
    reach = result.rule.quantile * spread(draws)
    return Context(
        components,
        index,
        Estimate(
            value=tidy(point),
            low=maybe(point - reach),
            high=maybe(point + reach),
            n=len(human.units),
        ),
    )
