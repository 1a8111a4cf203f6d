"""Differences from people that are more than chance, whether the feature is scored or not.

A feature that too few people show has no score of its own, and a simulator that shows it all the
time differs all the same. So every feature with a mean on both sides is tested, and the family of
tests is controlled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from usi.estimate import Estimate
from usi.extraction.spec import FeatureSpec
from usi.rounding import rounded
from usi.scoring.robust.study import Study
from usi.scoring.robust.sums import SideSums
from usi.scoring.scorecard import CertainGap

Array = NDArray[np.float64]

FALSE_DISCOVERIES = 0.05
"""Expected share of chance among the gaps that are named, at most."""
FEW_HITS = 10
"""Sessions that show a feature below which the normal approximation of its mean is not trusted."""


def certain_gaps(
    result: Study, gaps: dict[str, Estimate | None]
) -> tuple[tuple[CertainGap, ...], int]:
    """Features whose difference from people is more than chance, largest first, and how many
    were tested.

    With the difference of means g (of logarithms on a ratio scale) and its standard error SE as
    in the bounds, p is the two-sided tail of g / SE, normal or t with the degrees of the bounds.
    Where fewer than 10 sessions of a side show the feature, p is not below that of Fisher's exact
    test on the sessions that show it: a side that never shows it has no variance to estimate.
    What is a property of the harness is not tested. Named are those that Benjamini and Hochberg
    (1995) reject at a false discovery rate of 5 % and whose bounds leave out 0. They are ordered by
    |g| over the root of the mean of the two sides' variances between sessions (Cohen's d).

    Parameters
    ----------
    result
        The simulator against the people.
    gaps
        Feature -> signed gap with its bounds, as the card has it; ``None`` where it has none.
    """
    data = result.data
    sides = result.human, result.simulator
    spreads = [_variances(side) for side in sides]
    shown = [(side.hits.sum(axis=0), side.counts.sum(axis=0)) for side in sides]
    tested: list[tuple[FeatureSpec, CertainGap]] = []
    for k, spec in enumerate(result.reference.specs):
        own = gaps.get(spec.name)
        gap, se = float(data.simulator[k] - data.human[k]), float(data.se[k])
        if spec.harness or own is None or own.value is None:
            continue
        if not (np.isfinite(gap) and np.isfinite(se)):
            continue
        p = two_sided(gap, se, result.rule.df)
        counts = [(int(hits[k]), int(n[k])) for hits, n in shown]
        if spec.scale == "amount" and min(hits for hits, _ in counts) < FEW_HITS:
            p = max(p, _fisher(*counts))
        sd = float(np.sqrt((spreads[0][k] + spreads[1][k]) / 2))
        found = CertainGap(
            feature=spec.name,
            effect=rounded(abs(gap) / sd) if sd > 0 else None,
            p_value=p,
            more=own.value > 0,
        )
        tested.append((spec, found))
    kept = benjamini_hochberg([gap.p_value for _, gap in tested], FALSE_DISCOVERIES)
    named = [
        gap
        for (spec, gap), keep in zip(tested, kept, strict=True)
        if keep and _leaves_out_zero(gaps[spec.name])
    ]
    named.sort(key=lambda gap: (-(np.inf if gap.effect is None else gap.effect), gap.feature))
    return tuple(named), len(tested)


def benjamini_hochberg(p_values: Sequence[float], rate: float) -> list[bool]:
    """Which hypotheses are rejected at a false discovery rate (Benjamini and Hochberg 1995).

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.30, 0.03, 0.02], 0.05)
    [True, False, True, True]
    """
    order = sorted(p_values)
    n = len(order)
    reached = [p for rank, p in enumerate(order, start=1) if p <= rate * rank / n]
    limit = max(reached, default=-1.0)
    return [p <= limit for p in p_values]


def two_sided(gap: float, se: float, df: float | None) -> float:
    """P(a difference at least this large), normal or t with `df` degrees; 1 for no difference."""
    from scipy.special import ndtr, stdtr

    if gap == 0:
        return 1.0
    if se <= 0:
        return 0.0
    z = -abs(gap) / se
    return float(2 * (ndtr(z) if df is None else stdtr(df, z)))


def _fisher(*sides: tuple[int, int]) -> float:
    """Fisher's exact test (two-sided) on (sessions that show it, sessions) of two sides."""
    from scipy.stats import fisher_exact

    return float(fisher_exact([[hits, max(0, n - hits)] for hits, n in sides])[1])


def _variances(side: SideSums) -> Array:
    """Variance of each feature between the sessions of a side, shape (features,); 0 without any."""
    n, total, squares = (column.sum(axis=0) for column in (side.counts, side.sums, side.squares))
    mean = np.divide(total, n, out=np.zeros_like(total), where=n > 0)
    square = np.divide(squares, n, out=np.zeros_like(total), where=n > 0)
    return np.asarray(np.maximum(0.0, square - mean**2))


def _leaves_out_zero(gap: Estimate | None) -> bool:
    if gap is None or gap.low is None or gap.high is None:
        return False
    return gap.low > 0 or gap.high < 0
