"""Features without a true zero: compared by how far their distributions lie apart.

Similarity is 1 - min(1, W1 / sd of the people). W1 is the area between the two distribution
functions; its pieces over 64 cells are differences of means, so that the bootstrap, standard
errors and the sums beside a scorecard treat them like any other column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.features.spec import FeatureSpec
from usi.score.robust.contrast import Contrast
from usi.score.robust.scorable import Scorable

Array = NDArray[np.float64]
CELLS = 64


def cell_names(feature: str) -> tuple[str, ...]:
    """Names of the columns of a feature's cells."""
    return tuple(f"{feature}#{cell:02d}" for cell in range(CELLS))


def spanned(
    specs: Sequence[FeatureSpec], verdicts: Mapping[str, Scorable]
) -> tuple[FeatureSpec, ...]:
    """Features that need cells: on an interval scale with a span, and scorable."""
    return tuple(
        spec
        for spec in specs
        if spec.scale == "interval" and spec.span and verdicts[spec.name].reason is None
    )


def cells(values: Array, span: tuple[float, float], sd: float) -> Array:
    """Area under the distribution function of each value in each cell, in units of `sd`.

    Parameters
    ----------
    values
        Shape (sessions,), NaN = undefined; what lies outside the span counts as its end.
    span, sd
        Range of the cells, and the people's standard deviation.

    Returns
    -------
    array of shape (sessions, CELLS)
        The absolute differences of column means of two sides add up to W1 / sd (to less where
        the distribution functions cross within a cell).
    """
    low, high = span
    width = (high - low) / CELLS
    ends = low + width * np.arange(1, CELLS + 1)
    share = np.clip((ends[None, :] - np.clip(values, low, high)[:, None]) / width, 0.0, 1.0)
    return np.asarray(share * width / sd)


def with_cells(
    scored: Array, natural: Array, own: Array, specs: Sequence[FeatureSpec],
    verdicts: Mapping[str, Scorable],
) -> tuple[Array, tuple[str, ...]]:  # fmt: skip
    """Columns to average with those of the cells behind them, and the names of the latter.

    Parameters
    ----------
    scored, natural
        Values of one side, shape (sessions, features).
    own
        Natural values of the people, which give the standard deviations.
    """
    place = {spec.name: k for k, spec in enumerate(specs)}
    blocks = [scored]
    names: list[str] = []
    for spec in spanned(specs, verdicts):
        at = place[spec.name]
        if spec.span is not None:
            blocks.append(cells(natural[:, at], spec.span, float(np.nanstd(own[:, at]))))
            names += cell_names(spec.name)
    return np.hstack(blocks), tuple(names)


@dataclass(frozen=True)
class Apart:
    """How far two distributions lie apart, as a share of the people's standard deviation.

    Attributes
    ----------
    point
        min(1, W1 / sd).
    se
        Sum of the standard errors of the cells: its noise biases `point` by no more than
        sqrt(2/π) times this.
    replicates
        The same in every replicate with the sign of each cell held; empty without replicates.
    """

    point: float
    se: float
    replicates: Array


def apart(data: Contrast, feature: str, most: float = 1.0) -> Apart | None:
    """Distance in one feature, at most `most`.

    ``None`` where it has no cells or a side has no value.
    """
    first = cell_names(feature)[0]
    if first not in data.features:
        return None
    at = data.features.index(first)
    own = slice(at, at + CELLS)
    gap = data.simulator[own] - data.human[own]
    if not np.isfinite(gap).all():
        return None
    draws = np.empty(0)
    if data.replicates is not None:
        moved = data.replicates.simulator[:, own] - data.replicates.human[:, own]
        draws = np.clip(moved @ np.where(gap < 0, -1.0, 1.0), -most, most)
    return Apart(min(most, float(np.abs(gap).sum())), float(data.se[own].sum()), draws)
