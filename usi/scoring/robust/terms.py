"""Terms: every component is 100 (1 - Σ c_j |x_j|) of a few of them.

For a dimension x_j is a feature's distance 1 - D / 100, which is 0 or more, and c_j one over their
number; for the outcome x_j is a difficulty bin's weight times its signed success gap and c_j is 1.
Scores, bounds, noise correction, and the distance between two versions of a simulator are
functions of the terms.

Two sides beside each other: means of every feature, cell and bin, their errors and replicates.
Columns of the matrices: the features first, then the cells of their distributions, then the
difficulty bins (success), then label by bin (five labels for each bin).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.scoring.robust.bootstrap import Replicates, Sums, replicate
from usi.scoring.robust.distribution import feature_of, is_cell
from usi.scoring.robust.scorable import Selection
from usi.scoring.robust.sums import SideSums

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
    bottoms.append(valid[:, : plain_features(human)].astype(float))
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
    counted = _counted(human, bottom.shape[1])
    s, h = (Sums(np.hstack(t), bottom, human.cluster, counted) for t in tops)
    return s, h


def unpaired_matrix(side: SideSums) -> Sums:
    """Sums over sessions and their counts, by unit: means are over the side's sessions."""
    flat = (len(side.units), -1)
    labels = side.per_unit_bin(side.labels)
    labelled = side.per_unit_bin(side.labelled)[..., None]
    top = [side.per_unit(side.sums), side.per_unit_bin(side.success), labels.reshape(flat)]
    bottom = np.hstack(
        [
            side.per_unit(side.counts)[:, : plain_features(side)],
            side.per_unit_bin(side.outcomes),
            np.broadcast_to(labelled, labels.shape).reshape(flat),
        ]
    )
    return Sums(np.hstack(top), bottom, side.cluster, _counted(side, bottom.shape[1]))


def plain_features(side: SideSums) -> int:
    """How many columns of features stand before those of cells."""
    return sum(not is_cell(name) for name in side.features)


def _counted(side: SideSums, counts: int) -> NDArray[np.int64]:
    """Count of each column: a cell has that of its feature."""
    plain = plain_features(side)
    place = {name: k for k, name in enumerate(side.features[:plain])}
    own = [place[feature_of(name)] for name in side.features]
    return np.array([*own, *range(plain, counts)], dtype=np.int64)


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
    human_share
        Part of each unit in the human means, shape (units, columns).
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
    human_share: Array

    @cached_property
    def place(self) -> dict[str, int]:
        """Column of every feature and cell."""
        return {name: k for k, name in enumerate(self.features)}

    @cached_property
    def cells(self) -> dict[str, slice]:
        """Columns of the cells of every feature that has some."""
        found: dict[str, slice] = {}
        for k, name in enumerate(self.features):
            if is_cell(name):
                feature = feature_of(name)
                found[feature] = slice(found[feature].start if feature in found else k, k + 1)
        return found

    @property
    def bin_columns(self) -> slice:
        """Columns of success by bin."""
        return slice(len(self.features), len(self.features) + len(self.bins))

    def label_block(self, matrix: Array) -> Array:
        """Label shares by bin out of a row (or rows) of columns, shape (..., bins, 5)."""
        block = matrix[..., len(self.features) + len(self.bins) :]
        return block.reshape(*matrix.shape[:-1], len(self.bins), -1)


def _spread(influence: Array, contributing: Array) -> Array:
    """Standard error out of first-order effects; NaN where fewer than 2 clusters contribute."""
    factor = np.divide(
        contributing,
        contributing - 1,
        out=np.full(len(contributing), np.nan),
        where=contributing > 1,
    )
    return np.asarray(np.sqrt(factor * np.square(influence).sum(axis=0)))


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
        se = _spread(s_influence - h_influence, h.contributing())
    else:
        errors = (
            _spread(i, side.contributing()) for i, side in ((s_influence, s), (h_influence, h))
        )
        se = np.hypot(*errors)
    first = plain_features(human)
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
        human_se=_spread(h_influence, h.contributing()),
        clusters=(s.clusters, h.clusters),
        replicates=draws,
        human_share=h.by_column(_divide(h.bottom, h.bottom.sum(axis=0))),
    )


PARTS: tuple[str, ...] = (*DIMENSIONS, "outcome")
"""Components of USI-R."""
ROOT = float(np.sqrt(2 / np.pi))
"""E|Z| of a standard normal variable."""


@dataclass(frozen=True)
class Terms:
    """The terms of one component.

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
    noise
        Noise of each term: it pushes |x_j| up by at most sqrt(2/π) times this.
    shrunk
        |x_j| with the expected square of its noise taken off.
    folded, held
        |x_j| in each replicate, and the same with the signs held at those of the point (of every
        cell, or of the bin's gap), shape (replicates, terms), NaN where it has no value there;
        ``None`` without replicates.
    slope
        First derivative of the score in the human column means, in points, shape (columns,).
    gaps, moved
        Signed gaps of which the absolute values add up to |x_j| (on a ratio scale to no less),
        for each term: cells of a distribution, or the gap of a bin; shape (cells,), and in each
        replicate (replicates, cells).
    """

    component: str
    names: tuple[str, ...]
    weight: Array
    point: Array
    noise: Array
    shrunk: Array
    folded: Array | None
    held: Array | None
    slope: Array
    gaps: tuple[Array, ...]
    moved: tuple[Array, ...] | None

    @property
    def raw(self) -> float:
        """The score in points."""
        return 100.0 * (1.0 - float(self.weight @ np.abs(self.point)))

    @property
    def corrected(self) -> float:
        """Score of the shrunk terms; for display only."""
        return 100.0 * (1.0 - float(self.weight @ self.shrunk))

    @property
    def maxbias(self) -> float:
        """Largest downward bias of the score in points: 100 sqrt(2/π) Σ c_j noise_j."""
        return 100.0 * ROOT * float(self.weight @ self.noise)

    @property
    def signed(self) -> Array | None:
        """x_j in every replicate, with its sign (gaps of bins)."""
        return None if self.held is None else self.held * _sign(self.point)

    def replicated(self) -> Array:
        """The score in every replicate, shape (replicates,); NaN where no term exists."""
        return self._scores(self.folded)

    def held_scores(self) -> Array:
        """The same with signs held.

        An absolute value folds the replicates of what lies within its noise of 0, which takes up
        to 40 % off their spread; held signs keep it.
        """
        return self._scores(self.held)

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


def _sign(values: Array) -> Array:
    return np.where(values < 0, -1.0, 1.0)


def relative(simulator: Array, human: Array, ratio: NDArray[np.bool_]) -> Array:
    """Signed relative gaps: (a - b) / (a + b), or tanh((a - b) / 2) of mean logarithms.

    NaN where both are 0. Any shape that ends with the columns. Dice of the means is 1 - |gap|.
    """
    total = simulator + human
    plain = np.divide(
        simulator - human, total, out=np.full(np.shape(total), np.nan), where=total > 0
    )
    return np.asarray(np.where(ratio, np.tanh((simulator - human) / 2), plain))


@dataclass(frozen=True)
class Distance:
    """How far the distributions of one feature lie apart, x = 1 - D / 100.

    Attributes
    ----------
    point
        x; NaN where neither side shows the feature.
    noise, shrunk, folded, held
        See `Terms`; the replicates of one feature, empty without.
    slope
        First derivative of x in the human column means, shape (columns,).
    gaps, moved
        See `Terms`.
    """

    point: float
    noise: float
    shrunk: float
    folded: Array
    held: Array
    slope: Array
    gaps: Array
    moved: Array


def _nothing_shown(data: Contrast, gap: Array) -> Distance:
    """The largest distance: people show the feature and the simulator never does."""
    count = 0 if data.replicates is None else len(data.replicates.human)
    first = np.zeros(len(gap))
    first[0] = 1.0
    all_ = np.ones(count)
    return Distance(
        1.0, 0.0, 1.0, all_, all_, np.zeros(len(data.human)), first, np.tile(first, (count, 1))
    )


def distance(data: Contrast, spec: FeatureSpec, most: float = 1.0) -> Distance | None:
    """Distance of two distributions by the scale that the feature is measured on.

    With δ_k the difference of the sides' means of cell k and W1 = Σ |δ_k|:

    - amounts: x = W1 / (a + b), a and b the means of simulator and people;
    - a ratio scale (durations): x = tanh(W1 / 2) of the logarithms;
    - an interval scale: x = min(most, W1), in standard deviations of the people.

    It equals the relative gap of the means where one side is stochastically larger everywhere,
    and is never below it.

    Returns
    -------
    Distance or None
        ``None`` where the feature has no cells or a side has no value; 1 where only the simulator
        has none and the feature is one that it must show.
    """
    columns = data.cells.get(spec.name)
    if columns is None:
        return None
    gap = data.simulator[columns] - data.human[columns]
    if not np.isfinite(gap).all():
        lacks = not np.isfinite(data.simulator[columns]).any()
        known = bool(np.isfinite(data.human[columns]).all())
        return _nothing_shown(data, gap) if spec.must_show and lacks and known else None
    sign, se = _sign(gap), data.se[columns]
    area, noise = float(np.abs(gap).sum()), float(se.sum())
    shrunk = float(np.sqrt(np.maximum(0.0, gap**2 - np.nan_to_num(se) ** 2)).sum())
    held, folded, moved = np.empty(0), np.empty(0), np.empty((0, len(gap)))
    if data.replicates is not None:
        moved = data.replicates.simulator[:, columns] - data.replicates.human[:, columns]
        held, folded = moved @ sign, np.abs(moved).sum(axis=1)
    slope = np.zeros(len(data.human))
    if spec.scale == "ratio":
        slope[columns] = -sign * (1 - np.tanh(area / 2) ** 2) / 2
        return Distance(
            float(np.tanh(area / 2)), noise / 2, float(np.tanh(shrunk / 2)),
            np.tanh(folded / 2), np.tanh(held / 2), slope, gap / 2, moved / 2,
        )  # fmt: skip
    if spec.scale == "interval":
        slope[columns] = -sign if area < most else 0.0
        return Distance(
            min(most, area), noise, min(most, shrunk),
            np.minimum(folded, most), np.clip(held, -most, most), slope, gap, moved,
        )  # fmt: skip
    own = data.place[spec.name]
    total = float(data.simulator[own] + data.human[own])
    if total <= 0:
        none = np.nan
        return Distance(none, none, none, folded * none, held * none, slope, gap, moved)
    if data.replicates is not None:
        r = data.replicates
        amount = r.simulator[:, own] + r.human[:, own]
        amount = np.where(amount > 0, amount, np.nan)
        held, folded, moved = held / amount, folded / amount, moved / amount[:, None]
    slope[columns] = -sign / total
    slope[own] -= area / total**2
    x, shrunk, noise = area / total, shrunk / total, noise / total
    return Distance(x, noise, shrunk, folded, held, slope, gap / total, moved)


def feature_terms(
    data: Contrast, specs: Sequence[FeatureSpec], selections: Mapping[str, Selection]
) -> dict[str, Terms]:
    """Terms of the four dimensions; a dimension that can't be assessed is left out.

    A feature that neither side shows in the tasks compared has no distance and leaves its
    dimension, of which half, and at least two features, must stay.
    """
    by_name = {spec.name: spec for spec in specs}
    result = {}
    for dimension, selection in selections.items():
        if selection.reason is not None:
            continue
        found = {
            name: own
            for name in selection.scored
            if (own := distance(data, by_name[name])) is not None and np.isfinite(own.point)
        }
        behind = selection.features(tuple(found))
        if behind < 2 or 2 * behind < selection.declared:
            continue
        parts = tuple(found.values())
        weight = np.full(len(parts), 1 / len(parts))
        drawn = data.replicates is not None
        result[dimension] = Terms(
            component=dimension,
            names=tuple(found),
            weight=weight,
            point=np.array([own.point for own in parts]),
            noise=np.array([own.noise for own in parts]),
            shrunk=np.array([own.shrunk for own in parts]),
            folded=np.stack([own.folded for own in parts], axis=1) if drawn else None,
            held=np.stack([own.held for own in parts], axis=1) if drawn else None,
            slope=-100.0 * (weight @ np.stack([own.slope for own in parts])),
            gaps=tuple(own.gaps for own in parts),
            moved=tuple(own.moved for own in parts) if drawn else None,
        )
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
    point, noise = weight * gap[keep], weight * data.se[columns][keep]
    draws = None
    if data.replicates is not None:
        r = data.replicates
        s, h = r.simulator[:, columns][:, keep], r.human[:, columns][:, keep]
        there = ~np.isnan(s) & ~np.isnan(h)
        mass = np.where(there, r.human_count(columns)[:, keep], 0.0)
        total = mass.sum(axis=1, keepdims=True)
        share = np.divide(mass, total, out=np.zeros_like(mass), where=total > 0)
        draws = np.where(there, share * np.where(there, s - h, 0.0), np.nan)
    slope = np.zeros(len(data.human))
    slope[np.arange(columns.start, columns.stop)[keep]] = 100.0 * weight * _sign(point)
    names = tuple(label for label, k in zip(data.bins, keep, strict=True) if k)
    return signed_terms("outcome", names, np.ones(len(names)), point, noise, draws, slope)


def signed_terms(
    component: str,
    names: tuple[str, ...],
    weight: Array,
    point: Array,
    noise: Array,
    draws: Array | None,
    slope: Array,
) -> Terms:
    """Terms that are one signed number each, such as gaps.

    Parameters
    ----------
    point, noise
        The numbers and their standard errors, shape (terms,).
    draws
        The numbers in each replicate, shape (replicates, terms).
    """
    return Terms(
        component=component,
        names=names,
        weight=weight,
        point=point,
        noise=noise,
        shrunk=np.sqrt(np.maximum(0.0, point**2 - np.nan_to_num(noise) ** 2)),
        folded=None if draws is None else np.abs(draws),
        held=None if draws is None else draws * _sign(point),
        slope=slope,
        gaps=tuple(point[:, None]),
        moved=None if draws is None else tuple(draws.T[:, :, None]),
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
