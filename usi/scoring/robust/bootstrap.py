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


@dataclass(frozen=True)
class Sums:
    """Sums and counts of one side: column means are ratios of their weighted sums.

    Attributes
    ----------
    top, bottom
        Shape (units, columns). Unpaired: sum of a column over the sessions of a unit, and how
        many. Paired: mean over the sessions of a task, and 1, both 0 where a side has none.
    cluster
        Index of each unit's cluster, 0 to n - 1.
    """

    top: Array
    bottom: Array
    cluster: NDArray[np.int64]

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0

    def by_cluster(self) -> Sums:
        """The same with one row a cluster."""
        n = self.clusters
        if n == len(self.cluster) and np.array_equal(self.cluster, np.arange(n)):
            return self
        top, bottom = np.zeros((n, self.top.shape[1])), np.zeros((n, self.top.shape[1]))
        np.add.at(top, self.cluster, self.top)
        np.add.at(bottom, self.cluster, self.bottom)
        return Sums(top, bottom, np.arange(n))

    def mean(self) -> Array:
        """Column means, shape (columns,); NaN where a column has no count."""
        return _ratio(self.top.sum(axis=0), self.bottom.sum(axis=0))

    def influence(self) -> Array:
        """First-order effect of each cluster on each mean, shape (clusters, columns)."""
        one = self.by_cluster()
        total = one.bottom.sum(axis=0)
        moved: Array = np.nan_to_num(one.mean()) * one.bottom
        return _ratio(one.top - moved, total)


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
    human_count
        Shape (replicates, columns): weighted counts of the human side (for bin weights).
    """

    simulator: Array
    human: Array
    human_count: Array


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
    shape = (replicates, columns)
    out_s, out_h, out_n = np.empty(shape), np.empty(shape), np.empty(shape)
    if paired:
        shared = s.bottom is h.bottom  # as in every paired design: one product less
        blocks = [s.top, h.top, h.bottom] if shared else [s.top, h.top, h.bottom, s.bottom]
        stacked = np.hstack(blocks)
        for first, weights in weight_chunks(s.clusters, replicates, seed=seed):
            rows = slice(first, first + len(weights))
            s_top, h_top, h_n, *rest = np.split(weights @ stacked, len(blocks), axis=1)
            s_n = rest[0] if rest else h_n
            out_s[rows], out_h[rows], out_n[rows] = _ratio(s_top, s_n), _ratio(h_top, h_n), h_n
        return Replicates(out_s, out_h, out_n)
    for side, stream, out in ((s, 1, out_s), (h, 2, out_h)):
        stacked = np.hstack([side.top, side.bottom])
        for first, weights in weight_chunks(side.clusters, replicates, seed=seed, stream=stream):
            top, count = np.split(weights @ stacked, 2, axis=1)
            out[first : first + len(weights)] = _ratio(top, count)
            if stream == 2:
                out_n[first : first + len(weights)] = count
    return Replicates(out_s, out_h, out_n)
