"""What a difference of means can't see, one feature at a time: distances and spread.

Distributions of features by session, in bins that both sides share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from usi.diagnose.evidence_files import Distribution, Histogram
from usi.diagnose.sample import FloatArray, Sample
from usi.estimate import Estimate, not_assessed, unscorable
from usi.extraction.spec import FeatureSpec
from usi.reasons import (
    FEW_FOR_CORRELATION,
    FEW_FOR_DISTANCE,
    FEW_VARYING,
    HUMAN_CONSTANT,
    NO_PAIR_DEFINED,
    TWO_VARYING,
)
from usi.rounding import rounded
from usi.scoring.robust.bounds import tidy

MOST_BINS = 12
_STEPS = (0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000)


def bounded(spec: FeatureSpec) -> bool:
    """Whether values lie between 0 and 1."""
    return spec.kind in ("rate", "share", "flag")


def bin_labels(spec: FeatureSpec, step: float, bins: int) -> tuple[str, ...]:
    """What each bin holds: exactly zero and tenths of a share, else steps with an open end."""
    if bounded(spec):
        tenths = (f"{10 * k}–{10 * k + 10} %" for k in range(10))
        return ("none", *tenths)
    digits = 0 if step >= 1 and float(step).is_integer() else 2
    edges = [f"{k * step:.{digits}f}" for k in range(bins + 1)]
    closed = [f"{a}–{b}" for a, b in pairwise(edges[:-1])]
    return (*closed, f"{edges[-2]} or more")


def step_of(values: FloatArray) -> tuple[float, int]:
    """A round step and how many bins of it hold nearly all values (99 %), at most `MOST_BINS`."""
    top = float(np.quantile(values, 0.99)) if len(values) else 1.0
    fitting = [step for step in _STEPS if top / step <= MOST_BINS - 1]
    step = fitting[0] if fitting else 10.0 ** math.ceil(math.log10(top))
    return step, max(2, min(MOST_BINS, math.floor(top / step) + 1))


def histogram(values: FloatArray, spec: FeatureSpec, step: float, bins: int) -> Histogram:
    """Counts by bin of the sessions that have a value; a bin holds its lower end.

    Shares between 0 and 1 have a bin of their own for exactly 0, and tenths that hold their
    upper end.
    """
    known = values[np.isfinite(values)]
    if bounded(spec):
        # 0.3 is no tenth in binary; what rounds to a tenth belongs below it.
        at = np.ceil(np.round(known * 10, 9)).astype(np.int64).clip(0, 10)
        size = 11
    else:
        at = np.floor(np.round(known / step, 9)).astype(np.int64).clip(0, bins - 1)
        size = bins
    counts = np.bincount(at, minlength=size)
    n = len(known)
    low, median, high = (
        (tidy(float(q)) for q in np.quantile(known, [0.1, 0.5, 0.9])) if n else (None, None, None)
    )
    return Histogram(
        n=n,
        counts=tuple(counts.tolist()),
        shares=tuple(tidy(c / n) if n else 0.0 for c in counts.tolist()),
        mean=tidy(float(known.mean())) if n else None,
        low=low,
        median=median,
        high=high,
    )


def distribution(
    spec: FeatureSpec, human: FloatArray, simulators: Mapping[str, FloatArray]
) -> Distribution:
    """Bin one feature of people and of every simulator alike.

    Parameters
    ----------
    spec
        The feature.
    human, simulators
        Values by session; NaN (undefined there) is left out.
    """
    pooled = np.concatenate([human, *simulators.values()])
    step, bins = step_of(pooled[np.isfinite(pooled)])
    return Distribution(
        unit=spec.unit,
        labels=bin_labels(spec, step, bins),
        human=histogram(human, spec, step, bins),
        simulators={k: histogram(v, spec, step, bins) for k, v in simulators.items()},
    )


MAX_BINS = 10
SPREAD_BAND = (0.7, 1.4)
"""Median sd ratio outside which a card warns (a judgement, statistics of the robust profile)."""
MIN_SESSIONS = 20


@dataclass(frozen=True)
class Distances:
    """Distances of one feature between people and simulator (see `feature_distances`)."""

    wasserstein: Estimate
    jensen_shannon: Estimate
    sd_ratio: Estimate
    zeros_human: Estimate
    zeros_simulator: Estimate

    def as_dict(self) -> dict[str, Estimate]:
        """The estimates by name, as a scorecard keeps them."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def jensen_shannon(human: FloatArray, simulated: FloatArray) -> float:
    """Jensen-Shannon divergence in bits over at most ten pooled quantile bins.

    Each bin's count is raised by 0.5 (so that an empty bin does not decide), then
    ``JSD = H((p + q) / 2) - (H(p) + H(q)) / 2`` with H in bits; 0 is equal, 1 is disjoint.
    Source: Lin 1991; the binning is this project's choice.
    """
    pooled = np.concatenate([human, simulated])
    edges = np.unique(np.quantile(pooled, np.linspace(0, 1, MAX_BINS + 1)))
    inner = edges[1:-1] if len(edges) > 2 else edges[:1]

    def shares(values: FloatArray) -> FloatArray:
        at = np.searchsorted(inner, values, side="right")
        counts = np.bincount(at, minlength=len(inner) + 1) + 0.5
        return np.asarray(counts / counts.sum(), dtype=np.float64)

    def entropy(p: FloatArray) -> float:
        return float(-(p * np.log2(p)).sum())

    p, q = shares(human), shares(simulated)
    return max(0.0, entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2)


def wasserstein_distance(human: FloatArray, simulated: FloatArray) -> float:
    """First Wasserstein distance: the area between the two distribution functions.

    Parameters
    ----------
    human, simulated
        (n,) and (m,) finite values.

    Returns
    -------
    float
        >= 0, in the unit of the values: the integral over x of abs(F(x) - G(x)). It is written
        out here because `scipy.stats` takes a second to import, in every command that scores.

    Examples
    --------
    >>> wasserstein_distance(np.array([0.0, 1.0]), np.array([1.0, 3.0]))
    1.5
    """
    both = np.sort(np.concatenate([human, simulated]))
    widths = np.diff(both)
    below = np.searchsorted(np.sort(human), both[:-1], side="right") / len(human)
    other = np.searchsorted(np.sort(simulated), both[:-1], side="right") / len(simulated)
    return float(np.abs(below - other) @ widths)


def feature_distances(human: FloatArray, simulated: FloatArray) -> Distances:
    """Distances between the per-session values of one feature.

    Parameters
    ----------
    human, simulated
        (n,) and (m,) values; NaN (undefined for that session) is left out.

    Returns
    -------
    Distances
        `wasserstein`: first Wasserstein distance divided by the human standard deviation
        (>= 0, unit "human sd"); `jensen_shannon` in bits (0 to 1); `sd_ratio` simulator over
        human (>= 0); shares of sessions at exactly zero (0 to 1).
    """
    human, simulated = human[np.isfinite(human)], simulated[np.isfinite(simulated)]
    n = min(len(human), len(simulated))
    if n < MIN_SESSIONS:
        lacking = not_assessed(FEW_FOR_DISTANCE, least=MIN_SESSIONS, have=n, n=n, unit="")
        return Distances(lacking, lacking, lacking, lacking, lacking)
    sd = float(human.std(ddof=1))
    if sd > 0:
        distance = wasserstein_distance(human, simulated) / sd
        wasserstein = Estimate(value=rounded(distance), n=n, unit="human sd")
        ratio = Estimate(value=rounded(float(simulated.std(ddof=1)) / sd), n=n, unit="ratio")
    else:
        constant = unscorable(HUMAN_CONSTANT, n=n, unit="human sd")
        wasserstein, ratio = constant, constant.model_copy(update={"unit": "ratio"})
    return Distances(
        wasserstein,
        Estimate(value=rounded(jensen_shannon(human, simulated)), n=n, unit="bits"),
        ratio,
        Estimate(value=rounded(float((human == 0).mean())), n=len(human), unit="share"),
        Estimate(value=rounded(float((simulated == 0).mean())), n=len(simulated), unit="share"),
    )


def spread_index(distances: dict[str, Distances]) -> Estimate:
    """Median over features of simulator sd / human sd; 1 is the spread of people.

    Features that people never vary in are left out; fewer than three say nothing.
    """
    ratios = [d.sd_ratio.value for d in distances.values() if d.sd_ratio.value is not None]
    if len(ratios) < 3:
        return not_assessed(FEW_VARYING, least=3, have=len(ratios), unit="ratio")
    return Estimate(value=rounded(float(np.median(ratios))), n=len(ratios), unit="ratio")


def correlation_difference(human: Sample, simulated: Sample) -> Estimate:
    """Largest difference of a Pearson correlation between two features, simulator against people.

    0 to 2. Over the features that vary on both sides, with undefined entries left out pair by
    pair. Sampling noise alone gives about 0.13 at 495 sessions a side and more with fewer.
    """
    import pandas as pd

    n = min(len(human), len(simulated))
    if n < MIN_SESSIONS:
        return not_assessed(
            FEW_FOR_CORRELATION, least=MIN_SESSIONS, have=n, n=n, unit="correlation"
        )
    tables = [pd.DataFrame(side.values, columns=list(side.names)) for side in (human, simulated)]
    moving = [
        name
        for name in human.names
        if all(
            table[name].count() >= MIN_SESSIONS and table[name].nunique() > 1 for table in tables
        )
    ]
    if len(moving) < 2:
        return not_assessed(TWO_VARYING, n=n, unit="correlation")
    first, second = (
        table[moving].corr(min_periods=MIN_SESSIONS).to_numpy(dtype=np.float64) for table in tables
    )
    gaps = np.abs(first - second)[np.triu_indices(len(moving), 1)]
    gaps = gaps[np.isfinite(gaps)]
    if not len(gaps):
        return not_assessed(NO_PAIR_DEFINED, n=n, unit="correlation")
    return Estimate(value=rounded(float(gaps.max())), n=n, unit="correlation")
