"""Two sides beside each other: means of every feature and bin, their errors and replicates.

Columns of the matrices: the features first, then the difficulty bins (success), then label by
bin (five labels for each bin).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.score.robust.bootstrap import Replicates, Sums, replicate
from usi.score.robust.sums import SideSums

Array = NDArray[np.float64]


def _divide(top: Array, bottom: Array) -> Array:
    shape = np.broadcast_shapes(np.shape(top), np.shape(bottom))
    return np.divide(top, bottom, out=np.zeros(shape), where=bottom > 0)


def _binned(side: SideSums, per_bin: Array, total: Array) -> tuple[Array, Array]:
    """Sum and count of a row column by unit and bin; `total` counts those with a value."""
    return side.per_unit_bin(per_bin), side.per_unit_bin(total)


def paired_matrices(
    simulator: SideSums, human: SideSums, *, on_simulator: bool
) -> tuple[Sums, Sums]:
    """Per-task means of both sides; a task counts where both sides have a value.

    Parameters
    ----------
    simulator, human
        Sums over the same units.
    on_simulator
        Whether the simulator's rows have bins of their own; else its mean on the task counts in
        each bin as much as the human sessions of the task do.
    """
    tops: list[list[Array]] = [[], []]
    bottoms: list[Array] = []
    s_n, h_n = simulator.per_unit(simulator.counts), human.per_unit(human.counts)
    valid = (s_n > 0) & (h_n > 0)
    tops[0].append(_divide(simulator.per_unit(simulator.sums), s_n) * valid)
    tops[1].append(_divide(human.per_unit(human.sums), h_n) * valid)
    bottoms.append(valid.astype(float))
    for name, total in (("success", "outcomes"), ("labels", "labelled")):
        h_top, h_count = _binned(human, getattr(human, name), getattr(human, total))
        s_column, s_total = getattr(simulator, name), getattr(simulator, total)
        if on_simulator:
            s_top, s_count = _binned(simulator, s_column, s_total)
        else:
            bins = len(human.bins)
            s_top = np.repeat(simulator.per_unit(s_column)[:, None], bins, axis=1)
            s_count = np.repeat(simulator.per_unit(s_total)[:, None], bins, axis=1)
        both = (h_count > 0) & (s_count > 0)
        share = _divide(h_count, h_count.sum(axis=1, keepdims=True)) * both
        if name == "labels":
            h_count, s_count, share = h_count[..., None], s_count[..., None], share[..., None]
        flat = (len(human.units), -1)
        wide = np.broadcast_to(share, h_top.shape)
        tops[0].append((_divide(s_top, s_count) * share).reshape(flat))
        tops[1].append((_divide(h_top, h_count) * share).reshape(flat))
        bottoms.append(wide.reshape(flat))
    bottom = np.hstack(bottoms)
    return tuple(Sums(np.hstack(t), bottom, human.cluster) for t in tops)  # type: ignore[return-value]


def unpaired_matrix(side: SideSums) -> Sums:
    """Sums over sessions and their counts, by unit: means are over the side's sessions."""
    flat = (len(side.units), -1)
    labels = side.per_unit_bin(side.labels)
    labelled = side.per_unit_bin(side.labelled)[..., None]
    top = [side.per_unit(side.sums), side.per_unit_bin(side.success), labels.reshape(flat)]
    bottom = [
        side.per_unit(side.counts),
        side.per_unit_bin(side.outcomes),
        np.broadcast_to(labelled, labels.shape).reshape(flat),
    ]
    return Sums(np.hstack(top), np.hstack(bottom), side.cluster)


@dataclass(frozen=True)
class Contrast:
    """Means of both sides and what is known about their difference.

    Attributes
    ----------
    paired
        Design.
    features, bins
        Names of the columns (see the module).
    simulator, human
        Means, shape (columns,); NaN where there is no value.
    weight
        Share of each bin in the outcomes compared, shape (bins,).
    se
        Standard error of simulator - human by first-order influence of clusters, shape
        (columns,); NaN with fewer than 2 clusters.
    clusters
        Clusters of the simulator's and of the human side.
    replicates
        Means in every bootstrap replicate; ``None`` where only the point was asked for.
    human_se
        Standard error of the human mean alone.
    """

    paired: bool
    features: tuple[str, ...]
    bins: tuple[str, ...]
    simulator: Array
    human: Array
    weight: Array
    se: Array
    human_se: Array
    clusters: tuple[int, int]
    replicates: Replicates | None

    @property
    def bin_columns(self) -> slice:
        """Columns of success by bin."""
        return slice(len(self.features), len(self.features) + len(self.bins))

    def label_block(self, matrix: Array) -> Array:
        """Label shares by bin out of a row (or rows) of columns, shape (..., bins, 5)."""
        block = matrix[..., len(self.features) + len(self.bins) :]
        return block.reshape(*matrix.shape[:-1], len(self.bins), -1)


def _spread(influence: Array) -> Array:
    n = len(influence)
    if n < 2:
        return np.full(influence.shape[1], np.nan)
    return np.asarray(np.sqrt(n / (n - 1) * np.square(influence).sum(axis=0)))


def contrast(
    simulator: SideSums,
    human: SideSums,
    *,
    paired: bool,
    on_simulator: bool = True,
    replicates: int = 0,
    seed: int = 7,
) -> Contrast:
    """Compare two sides in every feature and bin.

    Parameters
    ----------
    simulator, human
        Sums of both sides; in a paired design over the same units.
    paired, on_simulator
        See `paired_matrices`.
    replicates
        Bootstrap replicates; 0 for the point values alone.
    seed
        Seed of the draws.
    """
    if paired:
        s, h = paired_matrices(simulator, human, on_simulator=on_simulator)
    else:
        s, h = unpaired_matrix(simulator), unpaired_matrix(human)
    s_influence, h_influence = s.influence(), h.influence()
    if paired:
        se = _spread(s_influence - h_influence)
    else:
        se = np.hypot(_spread(s_influence), _spread(h_influence))
    first = len(human.features)
    mass = h.bottom.sum(axis=0)[first : first + len(human.bins)]
    draws = None
    if replicates and min(s.clusters, h.clusters) >= 2:
        draws = replicate(s, h, paired=paired, replicates=replicates, seed=seed)
    return Contrast(
        paired=paired,
        features=human.features,
        bins=human.bins,
        simulator=s.mean(),
        human=h.mean(),
        weight=_divide(mass, mass.sum()),
        se=se,
        human_se=_spread(h_influence),
        clusters=(s.clusters, h.clusters),
        replicates=draws,
    )
