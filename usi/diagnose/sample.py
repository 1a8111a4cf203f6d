"""The session-by-feature matrix that the diagnostics look at, and its seeded subsample.

A sample is sorted by (cluster, key) before anything random happens, so that the order of files
and sessions changes no number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

MIN_CLUSTERS = 10
"""Clusters a side below which folds and the bootstrap go by session (robust profile, section 5)."""


@dataclass(frozen=True)
class Sample:
    """Sessions of one side.

    Attributes
    ----------
    values
        (sessions, features) array; NaN where a feature is undefined for a session.
    clusters
        (sessions,) names of the resampled unit (task by default).
    keys
        (sessions,) unique names; with `clusters` they fix the order.
    names
        Names of the columns of `values`.
    """

    values: FloatArray
    clusters: npt.NDArray[np.str_]
    keys: npt.NDArray[np.str_]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        rows = len(self.keys)
        if self.values.shape != (rows, len(self.names)) or self.clusters.shape != (rows,):
            raise ValueError("values, clusters, keys and names of a sample must agree in shape")

    def __len__(self) -> int:
        return len(self.keys)

    def sorted(self) -> Sample:
        """The same sessions in the order of cluster and key."""
        return self.take(np.lexsort((self.keys, self.clusters)))

    def take(self, rows: npt.NDArray[np.intp]) -> Sample:
        """The sessions at `rows`, in that order."""
        return Sample(self.values[rows], self.clusters[rows], self.keys[rows], self.names)

    def columns(self, names: tuple[str, ...]) -> Sample:
        """The same sessions with the named features only."""
        at = [self.names.index(name) for name in names]
        return Sample(self.values[:, at], self.clusters, self.keys, names)

    def beside(self, values: FloatArray, names: tuple[str, ...]) -> Sample:
        """The same sessions with further columns, rows in the same order."""
        return Sample(
            np.hstack([self.values, values]), self.clusters, self.keys, (*self.names, *names)
        )

    def subsample(self, size: int, seed: int) -> Sample:
        """`size` sessions drawn without replacement (all of them where there are fewer).

        The draw depends on the sessions' names and on `seed`, not on their order.
        """
        ordered = self.sorted()
        if len(ordered) <= size:
            return ordered
        chosen = np.random.default_rng([seed, 0x5A]).permutation(len(ordered))[:size]
        return ordered.take(np.sort(chosen))


def usable_features(human: Sample, simulated: Sample) -> tuple[str, ...]:
    """Features with at least one value on each side and some variation over both."""
    names = []
    for at, name in enumerate(human.names):
        h, s = human.values[:, at], simulated.values[:, at]
        h, s = h[np.isfinite(h)], s[np.isfinite(s)]
        if len(h) and len(s) and np.ptp(np.concatenate([h, s])) > 0:
            names.append(name)
    return tuple(names)


def filled(human: Sample, simulated: Sample) -> tuple[FloatArray, FloatArray]:
    """Both value matrices with undefined entries set to the median of the pooled sides.

    The pooled median, so that the filling itself tells nothing about the side; a classifier can
    then not feed on which side has more undefined values.
    """
    pooled = np.concatenate([human.values, simulated.values])
    middle = np.array([np.median(column[np.isfinite(column)]) for column in pooled.T])
    return (
        np.where(np.isfinite(human.values), human.values, middle),
        np.where(np.isfinite(simulated.values), simulated.values, middle),
    )
