"""Per-task sums: the sufficient statistics of one side, and the sidecar that holds them.

Everything the profile `robust` says about a pair of sides follows from these: components, bounds,
paired differences of two scorecards. No text stands in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.scoring.robust.bootstrap import added_up
from usi.scoring.robust.distribution import Grid, cell_names, cell_sums, feature_of, is_cell

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class SideSums:
    """Sums of one side, one row for each unit, batch or run, and difficulty bin.

    Attributes
    ----------
    units, splits, bins
        Names of the units (tasks, or clusters), batches or runs, and difficulty bins, sorted.
    features
        Names of the features, and behind them those of the cells of their distributions
        (`usi.scoring.robust.distribution`): columns of `sums`, `counts`, `squares`, `hits`.
    unit, split, bin
        Index of each row's unit, split and bin (-1 = none), shape (rows,).
    cluster
        Index of each unit's cluster, shape (units,).
    sessions
        Sessions of each row.
    sums, squares, counts
        Sum and sum of squares of the values that are averaged, and how many are defined, shape
        (rows, features).
    hits
        Sessions whose natural value is above 0.
    success, outcomes
        Sum of successes, and sessions with an outcome, shape (rows,).
    labels, labelled
        Sessions with each outcome label, shape (rows, 5), and with any, shape (rows,).
    """

    units: tuple[str, ...]
    splits: tuple[str, ...]
    bins: tuple[str, ...]
    features: tuple[str, ...]
    unit: Index
    split: Index
    bin: Index
    cluster: Index
    sessions: Array
    sums: Array
    squares: Array
    counts: Array
    hits: Array
    success: Array
    outcomes: Array
    labels: Array
    labelled: Array

    def take(self, rows: NDArray[np.bool_]) -> SideSums:
        """The same with some of the rows (units and their order stay)."""
        names = ("unit", "split", "bin", "sessions", "sums", "squares", "counts", "hits")
        more = ("success", "outcomes", "labels", "labelled")
        return replace(self, **{name: getattr(self, name)[rows] for name in (*names, *more)})

    def per_unit(self, column: Array) -> Array:
        """Sum of a row column over each unit, shape (units, ...)."""
        return added_up(column, self.unit, len(self.units))

    def per_unit_bin(self, column: Array) -> Array:
        """Sum of a row column over each unit and bin, shape (units, bins, ...)."""
        known, bins = self.bin >= 0, len(self.bins)
        place = self.unit[known] * bins + self.bin[known]
        found = added_up(column[known], place, len(self.units) * bins)
        return found.reshape((len(self.units), bins, *column.shape[1:]))


def _codes(values: Sequence[str | None], names: Sequence[str]) -> Index:
    place = {name: k for k, name in enumerate(names)}
    return np.array([place.get(v, -1) if v is not None else -1 for v in values], dtype=np.int64)


def side_sums(
    *,
    unit: Index,
    units: Sequence[str],
    split: Sequence[str],
    bin_index: NDArray[np.int64],
    bins: Sequence[str],
    features: Sequence[str],
    values: Array,
    hits: Array,
    success: Array,
    labels: Array,
    cluster: Index | None = None,
    weight: Array | None = None,
    grids: Mapping[str, Grid] | None = None,
) -> SideSums:
    """Add sessions up. The order of the sessions must already be canonical.

    Parameters
    ----------
    unit
        Index into `units` for every session; -1 leaves the session out.
    split
        Batch or run label of every session.
    bin_index
        Index into `bins`, -1 = none.
    values
        What is averaged, shape (sessions, features), NaN = undefined.
    hits
        1 where the natural value is above 0, shape (sessions, features).
    success
        1, 0 or NaN, shape (sessions,).
    labels
        Indicators of the five labels, NaN rows without one.
    cluster
        Cluster of each unit; every unit by itself where ``None``.
    weight
        What each session counts for in means, shape (sessions,); 1 where ``None``. Sessions and
        hits are counted as they are.
    grids
        Feature -> cells to add up, too.
    """
    keep = unit >= 0
    splits = tuple(sorted({s for s, k in zip(split, keep, strict=True) if k}, key=_natural))
    split_index = _codes(list(split), splits)
    keys = np.stack([unit[keep], split_index[keep], bin_index[keep].astype(np.int64)], axis=1)
    rows, row = np.unique(keys, axis=0, return_inverse=True)
    row = row.ravel()
    n = len(rows)

    def add(column: Array) -> Array:
        if column.ndim == 1:
            return np.bincount(row, weights=column, minlength=n).astype(np.float64)
        parts = [np.bincount(row, weights=c, minlength=n) for c in column.T]
        return np.stack(parts, axis=1) if parts else np.zeros((n, 0))

    v, y, lab = values[keep], success[keep], labels[keep]
    known, known_y, known_l = ~np.isnan(v), ~np.isnan(y), ~np.isnan(lab[:, 0])
    filled, filled_y = np.where(known, v, 0.0), np.where(known_y, y, 0.0)
    w = np.ones(len(row)) if weight is None else weight[keep]
    w_ = w[:, None]
    sums, squares, counts = [add(filled * w_)], [add(filled * filled * w_)], [add(known * w_)]
    hit = [add(np.where(known, hits[keep], 0.0))]
    names = list(features)
    for k, feature in enumerate(features):
        if grids is None or feature not in grids:
            continue
        grid = grids[feature]
        own = cell_sums(v[:, k], grid, row, n, w)
        sums.append(own[0])
        squares.append(own[1])
        counts.append(np.repeat(counts[0][:, k : k + 1], grid.cells, axis=1))
        hit.append(np.zeros((n, grid.cells)))
        names += cell_names(feature, grid.cells)
    return SideSums(
        units=tuple(units),
        splits=splits,
        bins=tuple(bins),
        features=tuple(names),
        unit=rows[:, 0],
        split=rows[:, 1],
        bin=rows[:, 2],
        cluster=np.arange(len(units)) if cluster is None else cluster,
        sessions=add(np.ones(len(row))),
        sums=np.hstack(sums),
        squares=np.hstack(squares),
        counts=np.hstack(counts),
        hits=np.hstack(hit),
        success=add(filled_y * w),
        outcomes=add(known_y * w),
        labels=add(np.where(known_l[:, None], lab, 0.0) * w_),
        labelled=add(known_l * w),
    )


def _natural(label: str) -> tuple[int, int, str]:
    return (0, int(label), label) if label.isdecimal() else (1, 0, label)


_MATRICES = ("sums", "squares", "counts", "hits")
_COLUMNS = ("sessions", "success", "outcomes", "labelled")


def to_frame(side: SideSums, *, name: str, simulator: str) -> pl.DataFrame:
    """The rows of one side as a table (`from_frame` reads them back).

    Parameters
    ----------
    name
        ``"human"`` or ``"simulated"``.
    simulator
        The comparison that the rows belong to: the human rows of two simulators can differ,
        since the tasks in common do.
    """
    from usi.scoring.robust.outcome import LABELS

    units = np.array(side.units, dtype=object)
    data: dict[str, object] = {
        "side": [name] * len(side.unit),
        "simulator": [simulator] * len(side.unit),
        "unit": units[side.unit].tolist() if len(side.unit) else [],
        "cluster": side.cluster[side.unit],
        "split": [side.splits[k] for k in side.split],
        "bin": [side.bins[k] if k >= 0 else None for k in side.bin],
        "bin_index": side.bin,
    }
    data |= {column: getattr(side, column) for column in _COLUMNS}
    data |= {f"label.{label}": side.labels[:, k] for k, label in enumerate(LABELS)}
    for matrix in _MATRICES:
        values = getattr(side, matrix)
        data |= {
            f"{matrix}.{f}": values[:, k]
            for k, f in enumerate(side.features)
            if matrix == "sums" or not is_cell(f)
        }
    return pl.DataFrame(data, schema_overrides={"bin": pl.String, "unit": pl.String})


def from_frame(frame: pl.DataFrame, *, units: Sequence[str], bins: Sequence[str]) -> SideSums:
    """Rows of one side back from a table.

    Parameters
    ----------
    frame
        Rows of one side and simulator, as `to_frame` wrote them.
    units, bins
        Names in their order; in a paired design both sides need the same.
    """
    from usi.scoring.robust.outcome import LABELS

    features = [c.removeprefix("sums.") for c in frame.columns if c.startswith("sums.")]
    splits = tuple(sorted(set(frame["split"]), key=_natural))
    unit = _codes(frame["unit"].to_list(), units)
    cluster = np.arange(len(units), dtype=np.int64)
    cluster[unit] = frame["cluster"].to_numpy()

    def block(names: list[str]) -> Array:
        return frame.select(names).to_numpy().astype(np.float64).reshape(frame.height, len(names))

    plain = [f for f in features if not is_cell(f)]
    place = {f: k for k, f in enumerate(plain)}
    matrices = {"sums": block([f"sums.{f}" for f in features])}
    # cells are counted like their feature; their squares and hits are not kept
    matrices["counts"] = block([f"counts.{f}" for f in plain])[
        :, [place[feature_of(f)] for f in features]
    ]
    for matrix in ("squares", "hits"):
        matrices[matrix] = np.full(matrices["sums"].shape, np.nan)
        columns_of = [k for k, f in enumerate(features) if not is_cell(f)]
        matrices[matrix][:, columns_of] = block([f"{matrix}.{f}" for f in plain])
    columns = {c: frame[c].to_numpy().astype(np.float64) for c in _COLUMNS}
    return SideSums(
        units=tuple(units),
        splits=splits,
        bins=tuple(bins),
        features=tuple(features),
        unit=unit,
        split=_codes(frame["split"].to_list(), splits),
        bin=frame["bin_index"].to_numpy().astype(np.int64),
        cluster=cluster,
        labels=block([f"label.{label}" for label in LABELS]),
        **matrices,
        **columns,
    )
