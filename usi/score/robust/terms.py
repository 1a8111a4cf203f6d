"""Signed terms: every component is 100 (1 - Σ c_j |x_j|) of a few of them.

For a dimension x_j is a feature's signed relative gap (simulator - human) / (simulator + human)
and c_j one over their number; for the outcome x_j is a difficulty bin's weight times its signed
success gap and c_j is 1. Scores, bounds, noise correction, and the distance between two versions
of a simulator are functions of the terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.features.spec import DIMENSIONS, FeatureSpec
from usi.score.robust.contrast import Contrast
from usi.score.robust.interval import apart
from usi.score.robust.scorable import Selection

Array = NDArray[np.float64]

PARTS: tuple[str, ...] = (*DIMENSIONS, "outcome")
"""Components of USI-R."""
ROOT = float(np.sqrt(2 / np.pi))
"""E|Z| of a standard normal variable."""


@dataclass(frozen=True)
class Terms:
    """The signed terms of one component.

    Attributes
    ----------
    component
        Name of the component.
    names
        Features or difficulty bins.
    weight
        c_j, shape (terms,); in replicates the weights are spread over the terms that exist.
    point
        x_j, shape (terms,).
    se
        First-order standard error of each x_j.
    replicates
        x_j in each replicate, shape (replicates, terms), NaN where it has no value there;
        ``None`` without replicates.
    """

    component: str
    names: tuple[str, ...]
    weight: Array
    point: Array
    se: Array
    replicates: Array | None

    @property
    def raw(self) -> float:
        """The score in points."""
        return 100.0 * (1.0 - float(self.weight @ np.abs(self.point)))

    @property
    def corrected(self) -> float:
        """Score with each |x_j| replaced by sqrt(max(0, x_j² - se_j²)); for display only."""
        clipped = np.sqrt(np.maximum(0.0, self.point**2 - np.nan_to_num(self.se) ** 2))
        return 100.0 * (1.0 - float(self.weight @ clipped))

    @property
    def maxbias(self) -> float:
        """Largest downward bias of the score in points: 100 sqrt(2/π) Σ c_j se_j."""
        return 100.0 * ROOT * float(self.weight @ self.se)

    def replicated(self) -> Array:
        """The score in every replicate, shape (replicates,); NaN where no term exists."""
        return self._scores(None if self.replicates is None else np.abs(self.replicates))

    def held(self) -> Array:
        """The same with the sign of every term held at that of its point value.

        An absolute value folds the replicates of a term that lies within its noise of 0, which
        takes up to 40 % off their spread; held signs keep it.
        """
        sign = np.where(self.point < 0, -1.0, 1.0)
        return self._scores(None if self.replicates is None else self.replicates * sign)

    def _scores(self, x: Array | None) -> Array:
        """Score of every row of terms, shape (rows,); NaN where no term exists."""
        if x is None:
            return np.empty(0)
        if self.component == "outcome":
            loss = np.where(np.isnan(x).all(axis=1), np.nan, np.nansum(x * self.weight, axis=1))
            return np.asarray(100.0 * (1.0 - loss))
        there = ~np.isnan(x)
        total = there @ self.weight
        loss = np.divide(
            np.where(there, x, 0.0) @ self.weight,
            total,
            out=np.full(len(x), np.nan),
            where=total > 0,
        )
        return np.asarray(100.0 * (1.0 - loss))


def relative(simulator: Array, human: Array, ratio: NDArray[np.bool_]) -> Array:
    """Signed relative gaps: (a - b) / (a + b), or tanh((a - b) / 2) of mean logarithms.

    NaN where both are 0. Any shape that ends with the columns.
    """
    total = simulator + human
    plain = np.divide(
        simulator - human, total, out=np.full(np.shape(total), np.nan), where=total > 0
    )
    return np.asarray(np.where(ratio, np.tanh((simulator - human) / 2), plain))


def feature_terms(
    data: Contrast, specs: Sequence[FeatureSpec], selections: Mapping[str, Selection]
) -> dict[str, Terms]:
    """Terms of the four dimensions; a dimension that can't be assessed is left out.

    A feature that neither side shows in the tasks compared has no relative gap and leaves its
    dimension, which then needs at least two others.
    """
    place = {name: k for k, name in enumerate(data.features)}
    by_name = {spec.name: spec for spec in specs}
    result = {}
    for dimension, selection in selections.items():
        if selection.reason is not None:
            continue
        columns = np.array([place[name] for name in selection.scored])
        ratio = np.array([by_name[name].scale == "ratio" for name in selection.scored])
        a, b = data.simulator[columns], data.human[columns]
        x = relative(a, b, ratio)
        others = {
            k: found
            for k, name in enumerate(selection.scored)
            if by_name[name].scale == "interval" and (found := apart(data, name)) is not None
        }
        for k, name in enumerate(selection.scored):
            if by_name[name].scale == "interval":
                x[k] = others[k].point if k in others else np.nan
        keep = ~np.isnan(x)
        if keep.sum() < 2 or 2 * keep.sum() < selection.declared:
            continue
        index = np.flatnonzero(keep)
        columns, ratio, a, b, x = columns[keep], ratio[keep], a[keep], b[keep], x[keep]
        amount = ~ratio & ~np.isin(index, list(others))
        se = data.se[columns] * np.where(amount, 1 / np.where(amount, a + b, 1.0), 0.5)
        draws = None
        if data.replicates is not None:
            r = data.replicates
            draws = relative(r.simulator[:, columns], r.human[:, columns], ratio)
        for k, found in others.items():
            at = int(np.flatnonzero(index == k)[0])
            se[at] = found.se
            if draws is not None:
                draws[:, at] = found.replicates
        names = tuple(name for name, k in zip(selection.scored, keep, strict=True) if k)
        weight = np.full(len(x), 1 / len(x))
        result[dimension] = Terms(dimension, names, weight, x, se, draws)
    return result


def outcome_terms(data: Contrast) -> Terms | None:
    """Terms of the outcome gap: weight times signed success gap of each bin that has both sides.

    ``None`` where no bin has.
    """
    columns = data.bin_columns
    gap = data.simulator[columns] - data.human[columns]
    keep = ~np.isnan(gap)
    if not keep.any():
        return None
    weight = data.weight[keep] / data.weight[keep].sum()
    draws = None
    if data.replicates is not None:
        r = data.replicates
        s, h = r.simulator[:, columns][:, keep], r.human[:, columns][:, keep]
        there = ~np.isnan(s) & ~np.isnan(h)
        mass = np.where(there, r.human_count[:, columns][:, keep], 0.0)
        total = mass.sum(axis=1, keepdims=True)
        share = np.divide(mass, total, out=np.zeros_like(mass), where=total > 0)
        draws = np.where(there, share * np.where(there, s - h, 0.0), np.nan)
    return Terms(
        "outcome",
        tuple(label for label, k in zip(data.bins, keep, strict=True) if k),
        np.ones(int(keep.sum())),
        weight * gap[keep],
        weight * data.se[columns][keep],
        draws,
    )


def all_terms(
    data: Contrast, specs: Sequence[FeatureSpec], selections: Mapping[str, Selection]
) -> dict[str, Terms]:
    """Terms of every component of USI-R that can be assessed."""
    result = feature_terms(data, specs, selections)
    outcome = outcome_terms(data)
    if outcome is not None:
        result["outcome"] = outcome
    return result
