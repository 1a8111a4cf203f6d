"""Cluster bootstrap as matrix products: weights (replicates x units) times per-unit sums.

Whole clusters (tasks, or participants) are drawn with replacement, so all batches and runs of a
drawn task come along (Davison and Hinkley 1997).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CHUNK_BYTES = 64 * 2**20
"""Most memory that a chunk of weights may take."""
_WIDE = 2048
_ROWS = 64


def weight_chunks(
    clusters: int, replicates: int, *, seed: int, stream: int = 0
) -> Iterator[tuple[int, Array]]:
    """Multinomial bootstrap weights in chunks, by a counter-based generator (Philox).

    The draws depend on the seed, the stream and the number of clusters alone: not on the chunk
    size, nor on what is resampled, so two scorecards over the same tasks share their replicates.

    Parameters
    ----------
    clusters
        How many clusters there are; as many are drawn in each replicate.
    replicates
        How many replicates to draw.
    seed, stream
        Key of the generator; the two sides of an unpaired design use two streams.

    Yields
    ------
    (first, weights)
        Index of the chunk's first replicate, and how often each cluster was drawn, shape
        (rows, clusters); every row sums to `clusters`.
    """
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, stream], np.uint64)))
    rows = max(1, min(replicates, CHUNK_BYTES // (8 * max(1, clusters))))
    for first in range(0, replicates, rows):
        n = min(rows, replicates - first)
        # int64 draws take whole 64-bit words for any n, so chunks can't shift the sequence
        drawn = generator.integers(0, clusters, size=(n, clusters), dtype=np.int64)
        weights = np.empty((n, clusters))
        if clusters > _WIDE:  # row by row, so that the counts of a row stay in the cache
            for row, indices in zip(weights, drawn, strict=True):
                row[:] = np.bincount(indices, minlength=clusters)
        else:
            drawn += np.arange(n, dtype=np.int64)[:, None] * clusters
            counts = np.bincount(drawn.ravel(), minlength=n * clusters)
            weights[:] = counts.reshape(n, clusters)
        yield first, weights


def added_up(rows: Array, group: NDArray[np.int64], groups: int) -> Array:
    """Sum of the rows of each group, shape (groups, ...); 0 for a group without rows."""
    found = np.zeros((groups, *rows.shape[1:]))
    if not len(rows):
        return found
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    found[ordered[first]] = np.add.reduceat(rows[order], first, axis=0)
    return found


@dataclass(frozen=True)
class Sums:
    """Sums and counts of one side: column means are ratios of their weighted sums.

    Attributes
    ----------
    top
        Shape (units, columns). Unpaired: sum of a column over the sessions of a unit. Paired:
        mean over the sessions of a task, 0 where a side has none.
    bottom
        Unpaired: how many sessions of a unit have a value; paired: 1, or 0 where a side has none.
        Shape (units, counts): columns can share their count.
    cluster
        Index of each unit's cluster, 0 to n - 1.
    counted
        Which count each column has, shape (columns,); ``None``: each its own.
    """

    top: Array
    bottom: Array
    cluster: NDArray[np.int64]
    counted: NDArray[np.int64] | None = None

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0

    def by_column(self, counts: Array) -> Array:
        """Counts spread over the columns, shape (..., columns)."""
        return counts if self.counted is None else counts[..., self.counted]

    def by_cluster(self) -> Sums:
        """The same with one row a cluster."""
        n = self.clusters
        if n == len(self.cluster) and np.array_equal(self.cluster, np.arange(n)):
            return self
        top, bottom = (added_up(part, self.cluster, n) for part in (self.top, self.bottom))
        return Sums(top, bottom, np.arange(n), self.counted)

    def mean(self) -> Array:
        """Column means, shape (columns,); NaN where a column has no count."""
        return _ratio(self.top.sum(axis=0), self.by_column(self.bottom.sum(axis=0)))

    def influence(self) -> Array:
        """First-order effect of each cluster on each mean, shape (clusters, columns)."""
        one = self.by_cluster()
        bottom = one.by_column(one.bottom)
        moved: Array = np.nan_to_num(one.mean()) * bottom
        return _ratio(one.top - moved, bottom.sum(axis=0))

    def contributing(self) -> Array:
        """How many clusters each mean rests on, shape (columns,)."""
        one = self.by_cluster()
        return one.by_column((one.bottom > 0).sum(axis=0).astype(np.float64))


def _ratio(top: Array, bottom: Array) -> Array:
    result: Array = np.full(np.shape(top), np.nan)
    np.divide(top, bottom, out=result, where=bottom > 0)
    return result


@dataclass(frozen=True)
class Replicates:
    """Column means of both sides in every replicate.

    Attributes
    ----------
    simulator, human
        Shape (replicates, columns); NaN where no count was drawn.
    counts
        Weighted counts of the human side, shape (replicates, counts).
    counted
        Which of them each column has; see `Sums`.
    """

    simulator: Array
    human: Array
    counts: Array
    counted: NDArray[np.int64] | None = None

    def human_count(self, columns: slice) -> Array:
        """Counts of the human side of some columns, shape (replicates, columns)."""
        return self.counts[:, columns if self.counted is None else self.counted[columns]]


def replicate(
    simulator: Sums, human: Sums, *, paired: bool, replicates: int, seed: int
) -> Replicates:
    """Draw replicates of the column means of both sides.

    Parameters
    ----------
    simulator, human
        Sums with the same columns; in a paired design also the same units and clusters, which
        are drawn together.
    paired
        Whether both sides share their draws.
    replicates, seed
        See `weight_chunks`.
    """
    s, h = simulator.by_cluster(), human.by_cluster()
    columns = s.top.shape[1]
    out_s, out_h = np.empty((replicates, columns)), np.empty((replicates, columns))
    out_n = np.empty((replicates, h.bottom.shape[1]))
    if paired:
        shared = s.bottom is h.bottom  # as in every paired design: one product less
        blocks = [h.bottom, h.top, s.top] if shared else [h.bottom, h.top, s.top, s.bottom]
        stacked, ends = np.hstack(blocks), np.cumsum([b.shape[1] for b in blocks])[:-1]
        for rows, weights in _few_rows(s.clusters, replicates, seed, 0):
            out_n[rows], h_top, s_top, *rest = np.split(weights @ stacked, ends, axis=1)
            count = h.by_column(out_n[rows])
            _divided(h_top, count, out_h[rows])
            _divided(s_top, s.by_column(rest[0]) if rest else count, out_s[rows])
        return Replicates(out_s, out_h, out_n, h.counted)
    for side, stream, out in ((s, 1, out_s), (h, 2, out_h)):
        stacked = np.hstack([side.top, side.bottom])
        for rows, weights in _few_rows(side.clusters, replicates, seed, stream):
            top, own = np.split(weights @ stacked, [columns], axis=1)
            _divided(top, side.by_column(own), out[rows])
            if stream == 2:
                out_n[rows] = own
    return Replicates(out_s, out_h, out_n, h.counted)


def _few_rows(
    clusters: int, replicates: int, seed: int, stream: int
) -> Iterator[tuple[slice, Array]]:
    """Weights of a few replicates at a time: what is computed from them stays in the cache."""
    for first, weights in weight_chunks(clusters, replicates, seed=seed, stream=stream):
        for start in range(0, len(weights), _ROWS):
            part = weights[start : start + _ROWS]
            yield slice(first + start, first + start + len(part)), part


def _divided(top: Array, bottom: Array, out: Array) -> None:
    """NaN where nothing was drawn: a sum over nothing is 0, too."""
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(top, bottom, out=out)
