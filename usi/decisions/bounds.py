"""Bounds of a score at any level, its p-value against a minimum, and Holm's procedure.

Lower bound raw - q SE, upper bound min(100, raw + maxbias + q SE): noise in an absolute
difference pushes the raw score down, by at most `maxbias` (bias-aware intervals, Armstrong and
Kolesár 2018). q is a normal quantile, or Student's where the scorecard gives degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from usi.estimate import Estimate
from usi.scoring.scorecard import Component

ALPHA = 0.05
"""One-sided level of every bound."""
EPS = 1e-9
"""A score equal to its minimum passes, also after rounding in the last place."""

_NORMAL = NormalDist()


def quantile(alpha: float, df: float | None = None) -> float:
    """Upper `alpha` quantile of the normal or (with `df`) Student's t distribution."""
    if df is None:
        return _NORMAL.inv_cdf(1 - alpha)
    from scipy.special import stdtrit

    return float(stdtrit(df, 1 - alpha))


def survival(x: float, df: float | None = None) -> float:
    """P(X > x) for the normal or Student's t distribution."""
    if df is None:
        return 1 - _NORMAL.cdf(x)
    from scipy.special import stdtr

    return float(stdtr(df, -x))


@dataclass(frozen=True)
class Bounded:
    """A score in points with what its bounds are made of."""

    value: float
    low: float
    high: float
    se: float
    maxbias: float
    df: float | None = None

    def lower(self, alpha: float = ALPHA) -> float:
        """Lower bound at level `alpha`; at 0.05 the one printed on the scorecard."""
        if alpha == ALPHA:
            return self.low
        return self.value - quantile(alpha, self.df) * self.se

    def p_below(self, minimum: float) -> float:
        """Smallest level at which the upper bound lies below `minimum`.

        Returns
        -------
        float
            In [0, 1]; at most 0.05 exactly where the printed upper bound is below the minimum.
        """
        distance = minimum - self.value - self.maxbias
        if self.high >= minimum - EPS:
            # the printed bound reaches the minimum, so no level up to 0.05 rejects
            if self.se <= 0:
                return 1.0
            return max(survival(distance / self.se, self.df), ALPHA * (1 + EPS))
        if self.se <= 0:
            return 0.0
        return min(survival(distance / self.se, self.df), ALPHA)


def bounded(part: Estimate, df: float | None = None) -> Bounded | None:
    """Read the bounds of a scorecard's estimate; ``None`` where it has no value or no bounds.

    The standard error is recovered from the printed lower bound, so that a design's own
    correction of it (few clusters) is kept; where that bound is cut off at 0, `se` is taken.
    """
    if not part.ok or part.value is None or part.low is None:
        return None
    high = 100.0 if part.high is None else part.high
    df = part.df if isinstance(part, Component) and part.df is not None else df
    q = quantile(ALPHA, df)
    se = (part.value - part.low) / q
    given = part.se if isinstance(part, Component) else None
    if part.low <= 0 and given is not None:
        se = max(se, given)
    bias = part.maxbias if isinstance(part, Component) else None
    if bias is None:
        bias = max(0.0, high - part.value - q * se)
    return Bounded(part.value, part.low, high, se, bias, df)


def holm(p_values: Sequence[float], alpha: float = ALPHA) -> list[bool]:
    """Holm's step-down procedure: which hypotheses are rejected at familywise level `alpha`.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [True, False, False]
    """
    order = sorted(range(len(p_values)), key=lambda i: (p_values[i], i))
    rejected = [False] * len(p_values)
    for rank, index in enumerate(order):
        if p_values[index] > alpha / (len(p_values) - rank):
            break
        rejected[index] = True
    return rejected
