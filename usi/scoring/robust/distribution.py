"""Distributions as columns of means: what the score D of a feature is added up from.

The Wasserstein-1 distance of two samples is the area between their distribution functions.
Cut at g_1 < ... < g_K, the area splits into cells, and the share of a cell that a value v fills,

    c_0(v) = min(v, g_1),  c_k(v) = min(max(v - g_k, 0), g_{k+1} - g_k),  c_K(v) = max(v - g_K, 0),

adds up to v. The difference of two sides' mean of c_k is the signed area between their
distribution functions in cell k, so

    W1 = Σ_k | mean c_k of the simulator - mean c_k of the people |

up to what cancels where the functions cross within a cell. Each c_k is averaged like any other
number of a session: over tasks, weighted, in every bootstrap replicate.

The cells are the people's: their cut points lie such that each cell holds the same share of
∫ sqrt(F (1 - F)) dx, the noise of an empirical distribution function F, so that no cell is wasted
where hardly anybody is, and the long tail of a rare mark has its own. The first and the last cell
are open: people have nobody there, so nothing can cross.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.extraction.spec import FeatureSpec
from usi.scoring.robust.scorable import Scorable

Array = NDArray[np.float64]
Index = NDArray[np.int64]

CELLS = 48
"""Cells between the people's smallest and largest value; with the open ones there are 50."""


@dataclass(frozen=True)
class Grid:
    """Cells of one feature.

    Attributes
    ----------
    cuts
        Cut points, ascending, in `unit`; shape (K,). There are K + 1 cells; without a cut point
        the one cell holds the value itself, and the distance is that of the means.
    unit
        Values are divided by it first: the people's standard deviation on an interval scale,
        else 1.
    """

    cuts: Array
    unit: float = 1.0

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.cuts) + 1


def cut_points(values: Array, cells: int = CELLS) -> Array:
    """Cut points of equal noise between the smallest and the largest value.

    Parameters
    ----------
    values
        One value a session, NaN = undefined; at least one is defined.
    cells
        How many cells lie between the cut points.

    Returns
    -------
    array of shape (up to cells + 1,)
        The first is the smallest value and the last the largest; one cut point where all values
        are equal.

    Examples
    --------
    >>> cut_points(np.array([0.0, 0.0, 0.0, 4.0]), cells=4)
    array([0., 1., 2., 3., 4.])
    """
    at, count = np.unique(values[~np.isnan(values)], return_counts=True)
    if len(at) < 2:
        return at
    below = np.cumsum(count)[:-1] / count.sum()
    noise = np.concatenate([[0.0], np.cumsum(np.diff(at) * np.sqrt(below * (1 - below)))])
    return np.unique(np.interp(np.linspace(0.0, noise[-1], cells + 1), noise, at))


def grids(
    values: Array,
    specs: Sequence[FeatureSpec],
    verdicts: Mapping[str, Scorable],
    *,
    by_means: bool = False,
) -> dict[str, Grid]:
    """Cells of every feature that can be scored, from the people's values alone.

    Parameters
    ----------
    values
        The people's values on the scale that is averaged, shape (sessions, features).
    specs, verdicts
        Features in the order of the columns, and whether each can be scored.
    by_means
        Compare means, but for interval scales, which have no relative gap.
    """
    found = {}
    for column, spec in enumerate(specs):
        own = values[:, column]
        if verdicts[spec.name].reason is not None or np.isnan(own).all():
            continue
        interval = spec.scale == "interval"
        unit = float(np.nanstd(own)) if interval else 1.0
        if by_means and not interval:
            found[spec.name] = Grid(np.empty(0))
        elif unit > 0:
            found[spec.name] = Grid(cut_points(own / unit, 64 if interval else CELLS), unit)
    return found


def cell_values(values: Array, grid: Grid) -> Array:
    """What each value fills of each cell, shape (sessions, cells); rows add up to value / unit.

    Parameters
    ----------
    values
        Shape (sessions,), NaN = undefined (then the whole row is).
    """
    v, cuts = values / grid.unit, grid.cuts
    if not len(cuts):
        return np.asarray(v[:, None])
    inner = np.clip(v[:, None] - cuts[None, :-1], 0.0, np.diff(cuts)[None, :])
    # clip keeps NaN, as minimum and maximum do
    first, last = np.minimum(v, cuts[0]), np.maximum(v - cuts[-1], 0.0)
    return np.hstack([first[:, None], inner, last[:, None]])


def cell_sums(
    values: Array, grid: Grid, row: Index, rows: int, weight: Array
) -> tuple[Array, Array]:
    """Sums and sums of squares of `cell_values` over groups of sessions, without that matrix.

    A value fills the cells below its own whole, so counts by cell are enough for these.

    Parameters
    ----------
    values
        Shape (sessions,), NaN = undefined (adds nothing).
    row, rows
        Group of each session, and how many groups there are.
    weight
        What each session counts for, shape (sessions,).

    Returns
    -------
    (sums, squares)
        Shape (rows, cells) each.
    """
    known = ~np.isnan(values)
    v, group, w = values[known] / grid.unit, row[known], weight[known]
    cuts, k = grid.cuts, grid.cells
    cell = np.searchsorted(cuts, v, side="right")
    start = np.concatenate([[0.0], cuts])[cell]
    rest = np.where(cell == 0, v, v - start)
    place = group * k + cell

    def added(amount: Array) -> Array:
        found = np.bincount(place, weights=amount, minlength=rows * k).reshape(rows, k)
        return np.asarray(found, dtype=np.float64)

    count = added(w)
    above = count.sum(axis=1, keepdims=True) - np.cumsum(count, axis=1)
    width = np.concatenate([cuts[:1], np.diff(cuts), [0.0]])
    return added(w * rest) + above * width, added(w * rest * rest) + above * width * width


def cell_names(feature: str, cells: int) -> tuple[str, ...]:
    """Names of the columns of a feature's cells."""
    return tuple(f"{feature}#{cell:02d}" for cell in range(cells))


def is_cell(column: str) -> bool:
    """Whether a column is a cell of a feature."""
    return "#" in column


def feature_of(column: str) -> str:
    """Feature of a column: itself, or the one that a cell belongs to."""
    return column.partition("#")[0]
