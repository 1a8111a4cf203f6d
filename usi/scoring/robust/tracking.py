"""Task tracking T and content tracking K: does behaviour, does talk, follow the task?

Both are ratios to what people reach among themselves: 1 = like people, 0 = unrelated to the task.
A comparison of means can't see either, since means do not know which session belongs to which task.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from usi.scoring.robust.bootstrap import added_up, weight_chunks
from usi.scoring.robust.sums import SideSums
from usi.scoring.robust.thresholds import Z
from usi.scoring.robust.wording import (
    Wording,
    content_words,
    inverse_frequency,
    unit_length,
    weighted,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]
Index = NDArray[np.int64]

WORD_BITS = 14
"""Words are folded to so many bits for content tracking."""
CERTAIN = 0.01
"""Share of replicates in which people among themselves may show nothing, for a ratio to be made."""


@dataclass(frozen=True)
class Ratio:
    """A ratio to people with its bootstrap distribution.

    Attributes
    ----------
    value
        Simulator over people.
    low, high
        5th and 95th percentile over replicates.
    people
        The denominator: what people reach among themselves.
    units
        Tasks that it rests on.
    """

    value: float
    low: float
    high: float
    people: float
    units: int

    def widened(self, variance: float) -> Ratio:
        """The same with a further, independent source of error in both bounds.

        Each bound keeps its direction: its distance d from the value becomes
        ``sqrt(d^2 + z^2 variance)`` with z = 1.645.
        """
        below = math.hypot(max(0.0, self.value - self.low), Z * math.sqrt(variance))
        above = math.hypot(max(0.0, self.high - self.value), Z * math.sqrt(variance))
        return replace(self, low=self.value - below, high=self.value + above)


def ratio(value: Array, people: Array, units: int) -> Ratio | None:
    """Ratio of two statistics, the first entry of each on the data, the others on replicates.

    ``None`` where people among themselves show none: their statistic is not above 0 in at least
    99 % of the replicates.
    """
    if not (np.isfinite(people[0]) and people[0] > 0) or np.quantile(people[1:], CERTAIN) <= 0:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = value[1:] / people[1:]
    known = drawn[np.isfinite(drawn)]
    low, high = np.quantile(known, [0.05, 0.95])
    return Ratio(value[0] / people[0], float(low), float(high), float(people[0]), units)


def all_and_replicates(
    columns: Array, cluster: Index, replicates: int, seed: int, *, stream: int = 0
) -> Array:
    """Weighted sums of columns: over all units in the first row, over each replicate below.

    Parameters
    ----------
    columns
        One row a unit, shape (units, columns).
    cluster
        Cluster of each unit; whole clusters are drawn.
    seed, stream
        See `usi.scoring.robust.bootstrap.weight_chunks`.
    """
    n = int(cluster.max()) + 1
    by_cluster = added_up(columns, cluster, n)
    rows = [by_cluster.sum(axis=0, keepdims=True)]
    for _, weights in weight_chunks(n, replicates, seed=seed, stream=stream):
        rows.append(weights @ by_cluster)
    return np.concatenate(rows)


# ---------------------------------------------------------------- task tracking


def standardised_means(
    side: SideSums, features: Sequence[str], mean: Array, sd: Array
) -> tuple[Array, Array]:
    """Means of each batch or run on each task, in human standard deviations from the human mean.

    Returns
    -------
    means, present
        Shape (splits, units, features), a mean that is not defined being 0 (the human mean); and
        whether the split has the task, shape (splits, units).
    """
    at = [side.features.index(name) for name in features]
    shape = (len(side.splits), len(side.units))
    cell, cells = side.split * shape[1] + side.unit, shape[0] * shape[1]
    top, bottom = (
        added_up(part[:, at], cell, cells).reshape((*shape, len(at)))
        for part in (side.sums, side.counts)
    )
    sessions = added_up(side.sessions, cell, cells).reshape(shape)
    known = bottom > 0
    means = np.where(known, top / np.where(known, bottom, 1.0), mean)
    return (means - mean) / sd, (sessions > 0).astype(np.float64)


def human_scale(side: SideSums, features: Sequence[str]) -> tuple[list[str], Array, Array]:
    """Features that vary between sessions of people, with their mean and standard deviation."""
    at = [side.features.index(name) for name in features]
    count = side.counts[:, at].sum(axis=0)
    safe = np.where(count > 0, count, 1.0)
    mean = side.sums[:, at].sum(axis=0) / safe
    variance = side.squares[:, at].sum(axis=0) / safe - mean**2
    varies = (count > 1) & (variance > 1e-12 * (1 + mean**2))
    names = [name for name, ok in zip(features, varies.tolist(), strict=True) if ok]
    return names, mean[varies], np.sqrt(variance[varies])


def task_tracking(
    human: SideSums,
    simulator: SideSums,
    features: Sequence[str],
    *,
    replicates: int,
    seed: int,
) -> Ratio | None:
    """T: covariance over tasks of the simulator's task means with people's, over people's own.

    With x_f the mean of feature f of one run or batch on a task, in human standard deviations
    (between sessions), and cov the covariance over tasks:
    ``T = mean over run r, batch j of sum_f cov(x_rf, x_jf) / mean over i < j of sum_f cov(x_if,
    x_jf)``. Sessions of one side never stand on both sides of a covariance, so noise adds nothing.

    Parameters
    ----------
    human, simulator
        Sums of a paired design over the same units; at least two human batches.
    features
        Names of the features.

    Returns
    -------
    Ratio or None
        ``None`` where people among themselves show no task in their behaviour.
    """
    names, mean, sd = human_scale(human, features)
    if not names:
        return None
    x_h, here_h = standardised_means(human, names, mean, sd)
    x_s, here_s = standardised_means(simulator, names, mean, sd)
    batches, runs, k = len(x_h), len(x_s), len(names)
    units = x_h.shape[1]
    h, s = here_h.sum(axis=0), here_s.sum(axis=0)
    sum_h = (x_h * here_h[:, :, None]).sum(axis=0)
    sum_s = (x_s * here_s[:, :, None]).sum(axis=0)
    own = ((x_h * here_h[:, :, None]) ** 2).sum(axis=(0, 2))
    # Sums over all pairs: of the products over features, and of the pairs themselves.
    cross, crossed = (sum_s * sum_h).sum(axis=1), s * h
    among, pairs = (sum_h**2).sum(axis=1) - own, h * (h - 1)
    split_tops = np.concatenate([x_h * here_h[:, :, None], x_s * here_s[:, :, None]])
    columns = np.column_stack(
        [
            cross,
            crossed,
            among,
            pairs,
            here_h.T,
            here_s.T,
            split_tops.transpose(1, 0, 2).reshape(units, -1),
        ]
    )
    drawn = all_and_replicates(columns, human.cluster, replicates, seed)
    cross, crossed, among, pairs = drawn[:, :4].T
    counts = drawn[:, 4 : 4 + batches + runs, None]
    tops = drawn[:, 4 + batches + runs :].reshape(len(drawn), batches + runs, k)
    means = tops / np.where(counts > 0, counts, 1.0)
    of_h, of_s = means[:, :batches], means[:, batches:]
    expected = (of_s.mean(axis=1) * of_h.mean(axis=1)).sum(axis=1)
    total = of_h.sum(axis=1)
    expected_h = (total**2 - (of_h**2).sum(axis=1)).sum(axis=1) / max(1, batches * (batches - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        value, people = cross / crossed - expected, among / pairs - expected_h
    return ratio(value, people, int(((s > 0) & (h > 1)).sum()))


# ---------------------------------------------------------------- content tracking


@dataclass(frozen=True)
class ContentModel:
    """What people say on each task, batch by batch.

    Attributes
    ----------
    idf
        Weight of each folded word, learned on people.
    means
        One mean vector a task of unit length for each batch, rows without a session 0.
    present
        Whether the batch has the task, shape (batches, units).
    among
        Lift among people: sum over pairs of batches and number of pairs, by task, shape (units, 2).
    """

    idf: Array
    means: tuple[csr_array, ...]
    present: Array
    among: Array

    @classmethod
    def fit(cls, human: Wording, units: int) -> ContentModel:
        """Learn weights and means on the people's sessions."""
        counts = _word_counts(human)
        idf = inverse_frequency(counts[np.flatnonzero(human.unit >= 0)])
        means, present = _task_means(weighted(counts, idf), human, units)
        among = np.zeros((units, 2))
        for i, mine in enumerate(means):
            for j, other in enumerate(means):
                if i != j:
                    among += lift(mine, other, present[i], present[j])
        return cls(idf, tuple(means), present, among)

    def task_lift(self, simulator: Wording, units: int) -> Array:
        """Lift of the simulator's runs with people's batches: sum and number of pairs by task."""
        means, present = _task_means(weighted(_word_counts(simulator), self.idf), simulator, units)
        found = np.zeros((units, 2))
        for mine, here in zip(means, present, strict=True):
            for other, there in zip(self.means, self.present, strict=True):
                found += lift(mine, other, here, there)
        return found

    def session_lift(self, side: Wording) -> Array:
        """Lift of each session with people of all batches but one, shape (sessions,).

        People are compared without their own batch; so that both sides are treated alike, a run
        leaves out one batch, too. NaN where the session is not compared.
        """
        rows = weighted(_word_counts(side), self.idf)
        found = np.full(side.sessions, np.nan)
        batches = len(self.means)
        if batches < 2:
            return found
        for left_out in range(batches):
            others = [k for k in range(batches) if k != left_out]
            people = unit_length(sum((self.means[k] for k in others[1:]), self.means[others[0]]))
            there = self.present[others].max(axis=0)
            at = np.flatnonzero((side.split % batches == left_out) & (side.unit >= 0))
            if not len(at):
                continue
            unit = side.unit[at]
            same = np.asarray(rows[at].multiply(people[unit]).sum(axis=1)).ravel()
            total = np.asarray(rows[at] @ np.asarray(people.sum(axis=0)).ravel()).ravel()
            rest = there.sum() - there[unit]
            known = (there[unit] > 0) & (rest > 0)
            value = same - (total - same) / np.where(rest > 0, rest, 1.0)
            found[at] = np.where(known, value, np.nan)
        return found


def lift(mine: csr_array, other: csr_array, here: Array, there: Array) -> Array:
    """Cosine with the same task minus mean cosine with other tasks, by task.

    Parameters
    ----------
    mine, other
        Vectors of unit length, one row a task.
    here, there
        1 where there is such a task on each side, shape (units,).

    Returns
    -------
    array of shape (units, 2)
        The lift, and 1 where both sides have the task and other tasks are there to compare with;
        both 0 elsewhere.
    """
    same = np.asarray(mine.multiply(other).sum(axis=1)).ravel()
    total = np.asarray(mine @ np.asarray(other.sum(axis=0)).ravel()).ravel()
    rest = there.sum() - there
    known = (here > 0) & (there > 0) & (rest > 0)
    value = same - (total - same) / np.where(rest > 0, rest, 1.0)
    return np.column_stack([np.where(known, value, 0.0), known.astype(np.float64)])


def _word_counts(side: Wording) -> csr_array:
    return side.said.counts(side.session, side.sessions, WORD_BITS, keep=content_words(side.said))


def _task_means(rows: csr_array, side: Wording, units: int) -> tuple[list[csr_array], Array]:
    """Mean of the sessions' vectors on each task for each split, of unit length."""
    from scipy.sparse import csr_array

    splits = int(side.split.max()) + 1 if side.sessions else 0
    means, present = [], np.zeros((splits, units))
    for split in range(splits):
        at = np.flatnonzero((side.split == split) & (side.unit >= 0))
        unit = side.unit[at]
        adder = csr_array((np.ones(len(at)), (unit, np.arange(len(at)))), shape=(units, len(at)))
        means.append(unit_length(csr_array(adder @ rows[at])))
        present[split] = np.bincount(unit, minlength=units) > 0
    return means, present


def content_tracking(
    human: ContentModel,
    simulator: Wording,
    cluster: Index,
    *,
    replicates: int,
    seed: int,
) -> Ratio | None:
    """K: lift of the simulator's words with people's on the same task, over people's own lift.

    The lift of two samples is the mean over tasks of the cosine of their mean word vectors on the
    task minus the mean cosine with the other tasks (`lift`). ``K = mean over run r, batch j of
    lift(r, j) / mean over i != j of lift(i, j)``. Word vectors are ``(1 + log n) idf`` of the
    words of a session (n turns with the word, English stop words left out), of unit length.

    Parameters
    ----------
    human
        The people's model; at least two batches.
    simulator
        Wording of the simulator's sessions over the same units.
    cluster
        Cluster of each unit, for the bootstrap.

    Returns
    -------
    Ratio or None
        ``None`` where people among themselves show no task in their words.
    """
    units = len(cluster)
    own = human.task_lift(simulator, units)
    drawn = all_and_replicates(np.hstack([own, human.among]), cluster, replicates, seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        value, people = drawn[:, 0] / drawn[:, 1], drawn[:, 2] / drawn[:, 3]
    return ratio(value, people, int((own[:, 1] > 0).sum()))
