"""Agreement of two raters on a scale: weighted kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Metric = Literal["nominal", "ordinal", "interval"]


def distances(levels: int, *, nominal: bool = False) -> Array:
    """Distance of every two levels on the scale 0 to 1, shape (levels, levels)."""
    if nominal:
        return 1.0 - np.eye(levels)
    rank = np.arange(levels) / max(1, levels - 1)
    return np.asarray(np.abs(rank[:, None] - rank[None, :]))


def weighted_kappa(table: Array, distance: Array) -> Array:
    """Cohen's kappa with squared distances as weights (quadratic kappa on an ordinal scale).

    kappa = 1 - Σ w O / Σ w E, E from the marginals of the table.

    Parameters
    ----------
    table
        Joint counts or shares, shape (..., levels, levels).
    distance
        From `distances`.

    Returns
    -------
    array of shape (...)
        In [-1, 1]; NaN where no disagreement is possible (both raters use one and the same
        level, or there is no rating).
    """
    weight = distance**2
    total = table.sum(axis=(-1, -2), keepdims=True)
    share = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    expected = share.sum(axis=-1)[..., :, None] * share.sum(axis=-2)[..., None, :]
    top, bottom = (share * weight).sum(axis=(-1, -2)), (expected * weight).sum(axis=(-1, -2))
    ratio = np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom > 1e-12)
    return np.asarray(1.0 - ratio)


def krippendorff_alpha(
    units: Sequence[Sequence[int]], levels: int, *, metric: Metric = "ordinal"
) -> float:
    """Krippendorff's alpha for any number of raters a unit, missing ones allowed.

    alpha = 1 - D_o / D_e from the coincidence matrix; the ordinal metric is
    (Σ n_g over g = c..k - (n_c + n_k) / 2)² (Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability).

    Parameters
    ----------
    units
        For each unit the ratings it got, each 0 to levels - 1; units with one are not pairable.
    levels
        How many levels the scale has.
    metric
        How levels are compared.

    Returns
    -------
    float
        At most 1; NaN where nothing is pairable or all ratings are one level.
    """
    coincidence = np.zeros((levels, levels))
    for ratings in units:
        m = len(ratings)
        if m < 2:
            continue
        counts = np.bincount(np.asarray(ratings), minlength=levels).astype(float)
        coincidence += (np.outer(counts, counts) - np.diag(counts)) / (m - 1)
    return alpha_of(coincidence, metric=metric)


def alpha_of(coincidence: Array, *, metric: Metric = "ordinal") -> float:
    """Krippendorff's alpha of a symmetric coincidence matrix."""
    n_c = coincidence.sum(axis=1)
    n = n_c.sum()
    if n <= 1:
        return float("nan")
    position = np.arange(len(n_c), dtype=float)
    if metric == "ordinal":
        position = np.cumsum(n_c) - n_c / 2
    delta = (position[:, None] - position[None, :]) ** 2
    if metric == "nominal":
        delta = 1.0 - np.eye(len(n_c))
    expected = float((np.outer(n_c, n_c) * delta).sum())
    if expected <= 0:
        return float("nan")
    return float(1.0 - (n - 1) * float((coincidence * delta).sum()) / expected)


def median_without_one(counts: NDArray[np.int64]) -> Array:
    """Median level of all ratings but one, for the one at each level, shape (levels,).

    The constant answer that a rating is held against (leave one out); the mean of the two middle
    levels for an even number. NaN where the level does not occur or is the only rating.
    """
    result = np.full(len(counts), np.nan)
    for level in np.flatnonzero(counts):
        rest = counts.copy()
        rest[level] -= 1
        n = int(rest.sum())
        if n:
            upto = np.cumsum(rest)
            low, high = (
                int(np.searchsorted(upto, k, side="right")) for k in ((n - 1) // 2, n // 2)
            )
            result[level] = (low + high) / 2
    return result
