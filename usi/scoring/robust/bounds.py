"""From terms to components: raw score, standard error, bounds, correction, ceiling.

Scores that contain an absolute difference get point ± quantile x bootstrap SE, never percentiles
(bootstrap replicates carry the noise twice); signed gaps get percentiles. The upper bound adds
the largest downward bias (bias-aware interval, Armstrong and Kolesár 2018).

The SE of a component is the larger of two: of its score in the replicates, and of the same with
the sign of every term held. The first alone is too small where terms lie within their noise of 0
(the absolute value folds them), and smallest just where chance has made the score too high: a
lower bound then lay above the truth in about 10 % of studies (docs/validation.md). In USI-R, a
mean of some twenty terms, this averages out, and the first is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed
from usi.reasons import NO_VALUE_ON_BOTH, Reason
from usi.rounding import rounded
from usi.scoring.robust.crossed import Effects, People, mean_effects
from usi.scoring.robust.terms import Terms
from usi.scoring.robust.thresholds import Z

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """How a standard error becomes bounds.

    Attributes
    ----------
    quantile
        One-sided 5 % quantile: normal, or t where `df` is given.
    inflate
        Factor on the bootstrap SE, sqrt(n / (n - 1)) for small numbers of clusters, else 1.
    df
        Degrees of freedom; ``None`` = normal.
    signed_percentile
        Whether signed gaps get percentiles (paired) or point ± quantile x SE.
    """

    quantile: float
    inflate: float
    df: float | None
    signed_percentile: bool


def interval_rule(
    clusters: tuple[int, int], *, paired: bool, participants: int | None = None, few: int = 30
) -> Interval:
    """Normal quantile in paired designs; t with (clusters of the smaller side - 1) in unpaired.

    A paired design with fewer than `few` clusters gets the t quantile as well, and one with fewer
    participants that of (participants - 1) degrees.

    Parameters
    ----------
    clusters
        Clusters of the two sides.
    participants
        How many people stand behind the human sessions, where some did several; else ``None``.
        Signed gaps then get point and standard error, since replicates hold no participant.
    """
    n = min(clusters)
    degrees = [n - 1] if n < few or not paired else []
    if participants is not None and participants < few:
        degrees.append(participants - 1)
    inflate = float(np.sqrt(n / max(1, n - 1))) if n < few or not paired else 1.0
    percentile = paired and participants is None
    if not degrees:
        return Interval(Z, inflate, None, percentile)
    from scipy.special import stdtrit

    df = float(max(1, min(degrees)))
    return Interval(float(stdtrit(df, 0.95)), inflate, df, percentile)


@dataclass(frozen=True)
class Score:
    """One component before it becomes a part of the scorecard; points, bounds not clipped.

    Attributes
    ----------
    raw, corrected, maxbias
        See `Terms`.
    se
        Standard error: inflated bootstrap variance, and what few participants add to it.
    replicates
        Score in every replicate.
    effects
        Effects of people's sessions on the score; ``None`` where no participant did several.
    """

    raw: float
    corrected: float
    se: float
    maxbias: float
    replicates: Array
    effects: Effects | None = None


def spread(replicates: Array) -> float:
    """Standard deviation over the replicates that have a value; NaN with fewer than 2."""
    known = replicates[~np.isnan(replicates)]
    return float(known.std(ddof=1)) if len(known) > 1 else float("nan")


def folded_spread(replicates: Array, held: Array) -> float:
    """Larger spread of the replicates of a score and of those with signs held."""
    return float(np.fmax(spread(replicates), spread(held)))


def standard_error(bootstrap: float, rule: Interval, effects: Effects | None) -> float:
    """Standard error of one number: two-way where participants did several sessions."""
    added = 0.0 if effects is None else float(effects.added_variance()[0])
    return float(np.sqrt((bootstrap * rule.inflate) ** 2 + added))


def score_terms(terms: Terms, rule: Interval, people: People | None = None) -> Score:
    """Score one component."""
    draws = terms.replicated()
    effects = None if people is None else people.effects(terms.slope[:, None])
    spread_ = folded_spread(draws, terms.held_scores())
    return Score(
        raw=terms.raw,
        corrected=terms.corrected,
        se=standard_error(spread_, rule, effects),
        maxbias=terms.maxbias,
        replicates=draws,
        effects=effects,
    )


def mean_score(scores: Mapping[str, Score], parts: tuple[str, ...], rule: Interval) -> Score:
    """Mean of several components, replicate by replicate (so their dependence counts)."""
    own = [scores[name] for name in parts]
    draws = np.mean([score.replicates for score in own], axis=0)
    effects = mean_effects([score.effects for score in own])
    return Score(
        raw=float(np.mean([score.raw for score in own])),
        corrected=float(np.mean([score.corrected for score in own])),
        se=standard_error(spread(draws), rule, effects),
        maxbias=float(np.mean([score.maxbias for score in own])),
        replicates=draws,
        effects=effects,
    )


def lower_upper(score: Score, rule: Interval) -> tuple[float, float] | None:
    """Bounds [raw - q SE, raw + maxbias + q SE], within 0 to 100; ``None`` without an SE."""
    if not (np.isfinite(score.se) and np.isfinite(score.maxbias)):
        return None
    reach = rule.quantile * score.se
    low, high = score.raw - reach, score.raw + score.maxbias + reach
    return max(0.0, low), min(100.0, high)


def tidy(value: float) -> float:
    """Rounded as everything that is written (`usi.rounding`)."""
    return rounded(value)


def maybe(value: float | None) -> float | None:
    """`tidy`, and ``None`` for what is not finite."""
    return tidy(value) if value is not None and np.isfinite(value) else None


def signed_estimate(
    point: float,
    draws: Array,
    se: float,
    rule: Interval,
    *,
    unit: str,
    n: int | None = None,
    reason: Reason | None = None,
) -> Estimate:
    """A signed difference with two-sided 90 % bounds (each side 5 %)."""
    if not np.isfinite(point):
        return not_assessed(reason or NO_VALUE_ON_BOTH(), unit=unit, n=n)
    known = draws[~np.isnan(draws)]
    low = high = None
    if rule.signed_percentile and len(known) > 1:
        low, high = (tidy(float(v)) for v in np.quantile(known, [0.05, 0.95]))
    elif np.isfinite(se):
        reach = rule.quantile * se
        low, high = tidy(point - reach), tidy(point + reach)
    return Estimate(value=tidy(point), low=low, high=high, n=n, unit=unit)
