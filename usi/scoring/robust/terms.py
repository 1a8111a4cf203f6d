"""Signed terms: every component is 100 (1 - Σ c_j |x_j|) of a few of them.

For a dimension x_j is a feature's signed relative gap (simulator - human) / (simulator + human)
and c_j one over their number; for the outcome x_j is a difficulty bin's weight times its signed
success gap and c_j is 1. Scores, bounds, noise correction, and the distance between two versions
of a simulator are functions of the terms.

Two sides beside each other: means of every feature and bin, their errors and replicates.

Columns of the matrices: the features first, then the difficulty bins (success), then label by
bin (five labels for each bin).

Features without a true zero: compared by how far their distributions lie apart.

Similarity is 1 - min(1, W1 / sd of the people). W1 is the area between the two distribution
functions; its pieces over 64 cells are differences of means, so that the bootstrap, standard
errors and the sums beside a scorecard treat them like any other column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.scoring.robust.bootstrap import Replicates, Sums, replicate
from usi.scoring.robust.scorable import Scorable, Selection
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
