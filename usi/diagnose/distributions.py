"""Distributions of features by session, in bins that both sides share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from usi.diagnose.evidence_records import Distribution, Histogram
from usi.features.spec import FeatureSpec
from usi.score.robust.bounds import tidy

FloatArray = npt.NDArray[np.float64]
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
