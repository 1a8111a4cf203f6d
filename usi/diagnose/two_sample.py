"""Two-sample classifier test: can a classifier tell the simulator's sessions from people's?

Source: Lopez-Paz & Oquab 2017 (arXiv 1610.06545), with folds grouped by task, a fixed number of
sessions a side (an AUC grows with n, so a cut-off at a free n would get easier with less data)
and an interval that also makes up for the training variance (factor 1.4, robust profile).

p-value of a two-sample test by permuting the labels of the sides within each task.

A permutation fits every fold anew, so that two hundred of them take a minute. Two things keep that
short without touching the null: permutations run in parallel processes, and counting ends once it
is plain that the p-value is not small.

Source: the sequential Monte-Carlo p-value of Besag & Clifford 1991 (Biometrika 78, 301-304).

Out-of-fold scores of a classifier of the two sides, and the area under their ROC curve.

Source: Lopez-Paz & Oquab 2017 (arXiv 1610.06545); folds are grouped by task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from usi.diagnose.sample import MIN_CLUSTERS, FloatArray, Sample, filled, usable_features
from usi.estimate import Estimate, not_assessed
from usi.reasons import FEW_FOR_CLASSIFIER, FOLD_ONE_SIDED, NO_FEATURE_VARIES, Reason
from usi.rounding import FITTED, rounded
from usi.scoring.robust.thresholds import Z
from usi.scoring.scorecard import TwoSample

FOLDS = 5

Classifier = Literal["logistic", "trees"]
Mode = Literal["fast", "full"]
TREES = {"max_iter": 40, "learning_rate": 0.15, "max_leaf_nodes": 6, "min_samples_leaf": 10}
"""Boosted trees: the power of a forest of 300 trees at a tenth of its cost (docs/statistics.md)."""
BINS = 32

Labels = npt.NDArray[np.int64]
Fold = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]


@dataclass(frozen=True)
class Sides:
    """Sessions of both sides, of equal number, ready for a classifier.

    Attributes
    ----------
    x
        (2n, features) values without gaps.
    y
        (2n,) 0 = people, 1 = simulator.
    groups
        (2n,) what must stay together in one fold: the task, else the session.
    names
        Feature names, by column.
    per_side
        n.
    grouped_by
        ``"task"`` or ``"session"``.
    """

    x: FloatArray
    y: Labels
    groups: npt.NDArray[np.str_]
    names: tuple[str, ...]
    per_side: int
    grouped_by: str


def make_model(kind: Classifier, seed: int) -> Any:
    """A fresh classifier.

    One thread: these trees are so small that threads wait for each other all the time. Whole
    permutations are spread over processes instead (`usi.diagnose.two_sample`).
    """
    if kind == "logistic":
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        **TREES, max_bins=BINS, early_stopping=False, random_state=seed
    )


def make_folds(sides: Sides, seed: int) -> list[Fold] | Reason:
    """Five folds with groups kept whole, each with both sides; or the reason why there are none."""
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    folds = list(splitter.split(sides.x, sides.y, sides.groups))
    for _, test in folds:
        if len(set(sides.y[test].tolist())) < 2:
            return FOLD_ONE_SIDED()
    return folds


def out_of_fold(
    sides: Sides, y: Labels, kind: Classifier, seed: int, folds: list[Fold]
) -> FloatArray:
    """(2n,) probability of side 1 under `y`, each session scored by a model that never saw it."""
    from threadpoolctl import threadpool_limits

    scores = np.empty(len(y))
    with threadpool_limits(1):  # a few hundred rows: more threads wait longer than they work
        for train, test in folds:
            model = make_model(kind, seed)
            model.fit(sides.x[train], y[train])
            scores[test] = model.predict_proba(sides.x[test])[:, 1]
    return scores


def weighted_auc(scores: FloatArray, y: npt.NDArray[np.int64], weights: FloatArray) -> FloatArray:
    """Area under the ROC curve for several weightings of the same scores.

    Parameters
    ----------
    scores
        (n,) scores; higher = more like class 1.
    y
        (n,) classes 0 or 1.
    weights
        (replicates, n) non-negative weights.

    Returns
    -------
    (replicates,) areas in [0, 1]: P(score of a 1 > score of a 0), ties counted half; NaN where
    a class has no weight.
    """
    order = np.argsort(scores, kind="stable")
    scores, y, weights = scores[order], y[order], weights[:, order]
    starts = np.flatnonzero(np.r_[True, scores[1:] != scores[:-1]])
    ones = np.add.reduceat(weights * (y == 1), starts, axis=1)
    zeros = np.add.reduceat(weights * (y == 0), starts, axis=1)
    below = np.cumsum(zeros, axis=1) - zeros
    won = (ones * (below + zeros / 2)).sum(axis=1)
    total = ones.sum(axis=1) * zeros.sum(axis=1)
    return np.asarray(
        np.divide(won, total, out=np.full(len(won), np.nan), where=total > 0), dtype=np.float64
    )


def mean_auc(
    scores: FloatArray, y: npt.NDArray[np.int64], folds: list[Fold], weights: FloatArray
) -> FloatArray:
    """Mean over folds of the AUC within the fold, for each weighting."""
    parts = np.stack([weighted_auc(scores[t], y[t], weights[:, t]) for _, t in folds])
    known = np.isfinite(parts)
    count = known.sum(axis=0)
    total = np.where(known, parts, 0.0).sum(axis=0)
    return np.asarray(
        np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0), dtype=np.float64
    )


ENOUGH = 20
"""Permutations that reach the observed AUC before counting ends: p is known within a fifth then."""

_WORTH_PROCESSES = 40
"""Fewer permutations end before processes would have started."""


def permuted_labels(sides: Sides, seed: int, permutations: int) -> Iterator[Labels]:
    """Labels with the sides exchanged at random within each task (all sessions without tasks)."""
    rng = np.random.default_rng([seed, 0x9E7])
    members = [np.flatnonzero(sides.groups == name) for name in np.unique(sides.groups)]
    if sides.grouped_by != "task":
        members = [np.arange(len(sides.y))]
    for _ in range(permutations):
        y = sides.y.copy()
        for rows in members:
            y[rows] = rng.permutation(y[rows])
        yield y


def _null_auc(sides: Sides, y: Labels, kind: Classifier, seed: int, folds: list[Fold]) -> float:
    scores = out_of_fold(sides, y, kind, seed, folds)
    return float(mean_auc(scores, y, folds, np.ones((1, len(y))))[0])


def permuted_p(
    auc: float,
    sides: Sides,
    kind: Classifier,
    seed: int,
    folds: list[Fold],
    permutations: int,
    progress: Callable[[int, int], None] | None = None,
    *,
    workers: int | None = None,
) -> tuple[float, int]:
    """Share of permutations of the side labels within each task that reach `auc`.

    Parameters
    ----------
    auc
        Observed mean out-of-fold AUC, 0 to 1.
    permutations
        How many at most.
    progress
        Called with (done, total) after each.
    workers
        Processes; by default all cores for trees and many permutations, else this one.

    Returns
    -------
    p-value in (0, 1] and the number of permutations counted: ``h / l`` where the h-th (`ENOUGH`)
    that reaches `auc` was the l-th permutation, else ``(reached + 1) / (permutations + 1)``.
    The same for any number of processes.
    """
    from joblib import Parallel, cpu_count, delayed

    if workers is None:
        # Trees alone are worth a process: logistic fits take milliseconds.
        apart = kind == "trees" and permutations >= _WORTH_PROCESSES
        workers = cpu_count() if apart else 1
    labels = permuted_labels(sides, seed, permutations)
    done = reached = 0
    with ExitStack() as stack:
        pool = stack.enter_context(Parallel(n_jobs=workers)) if workers > 1 else None
        while done < permutations:
            batch = [y for _, y in zip(range(2 * workers), labels, strict=False)]
            if pool is None:
                found = [_null_auc(sides, y, kind, seed, folds) for y in batch]
            else:
                found = pool(delayed(_null_auc)(sides, y, kind, seed, folds) for y in batch)
            for null in found:
                done += 1
                reached += bool(np.isfinite(null) and null >= auc)
                if progress:
                    progress(done, permutations)
                if reached == ENOUGH:
                    return reached / done, done
    return (reached + 1) / (permutations + 1), done


SESSIONS_PER_SIDE = 300
TRAINING_FACTOR = 1.4
REPLICATES = 500
PERMUTATIONS = 200


def _prepare(human: Sample, simulated: Sample, seed: int, per_side: int) -> Sides | Reason:
    """Equal numbers a side, filled values, groups; or the reason why there is no test."""
    size = min(per_side, len(human), len(simulated))
    if size < 2 * FOLDS:
        return FEW_FOR_CLASSIFIER(least=2 * FOLDS, have=size)
    human, simulated = human.subsample(size, seed), simulated.subsample(size, seed + 1)
    names = usable_features(human, simulated)
    if not names:
        return NO_FEATURE_VARIES()
    human, simulated = human.columns(names), simulated.columns(names)
    h, s = filled(human, simulated)
    y = np.repeat(np.array([0, 1], dtype=np.int64), size)
    enough = min(len(set(human.clusters)), len(set(simulated.clusters))) >= MIN_CLUSTERS
    if enough:
        groups = np.concatenate([human.clusters, simulated.clusters])
    else:
        groups = np.array(
            [
                f"{side}:{key}"
                for side, part in (("h", human), ("s", simulated))
                for key in part.keys
            ]
        )
    return Sides(np.concatenate([h, s]), y, groups, names, size, "task" if enough else "session")


def _cluster_weights(groups: npt.NDArray[np.str_], seed: int, replicates: int) -> FloatArray:
    names, at = np.unique(groups, return_inverse=True)
    rng = np.random.default_rng([seed, 0xA0C])
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=replicates)
    return drawn.astype(np.float64)[:, at]


def _telling(data: Sides, kind: Classifier, seed: int) -> tuple[tuple[str, float], ...]:
    """Features that give the simulator away, most telling first.

    Of the logistic model its coefficients; of the trees the largest distance between the two
    distribution functions of a feature (Kolmogorov and Smirnov), which sees spread, too; above 0
    where the simulator's mean is higher.
    """
    if kind == "logistic":
        weights = make_model(kind, seed).fit(data.x, data.y)[-1].coef_[0]
    else:
        weights = np.array([_distance(column, data.y) for column in data.x.T])
    known = [rounded(float(weight), FITTED) for weight in weights]
    ranked = sorted(zip(data.names, known, strict=True), key=lambda p: (-abs(p[1]), p[0]))
    return tuple(ranked[:10])


def _distance(values: FloatArray, y: Labels) -> float:
    people, candidate = np.sort(values[y == 0]), np.sort(values[y == 1])
    below = [
        np.searchsorted(side, values, side="right") / len(side) for side in (people, candidate)
    ]
    sign = -1.0 if candidate.mean() < people.mean() else 1.0
    return sign * float(np.abs(below[0] - below[1]).max())


def two_sample_test(
    human: Sample,
    simulated: Sample,
    *,
    classifier: Classifier = "logistic",
    mode: Mode = "fast",
    seed: int = 7,
    per_side: int = SESSIONS_PER_SIDE,
    replicates: int = REPLICATES,
    permutations: int = PERMUTATIONS,
    progress: Callable[[int, int], None] | None = None,
) -> TwoSample:
    """Out-of-fold AUC of a classifier of the two sides, with bounds.

    Parameters
    ----------
    human, simulated
        Sessions of the two sides over the same features.
    classifier
        ``"logistic"`` sees shifts of means, ``"trees"`` (40 boosted trees of six leaves) also
        spread and dependence.
    mode
        ``"full"`` finds the p-value by `permutations` of the side labels within each task, fewer
        where twenty of them have reached the AUC (see `usi.diagnose.two_sample`);
        ``"fast"`` by the null standard deviation ``1.25 sqrt((2N + 1) / (12 N^2))``.
    per_side
        Sessions a side (a seeded subsample of the larger sides).

    Returns
    -------
    TwoSample
        AUC is the mean over five folds (0.5 = can't be told apart, 1 = always); its bounds are
        ``AUC -/+ 1.4 x 1.645 x SE`` with the SE from a task bootstrap of the out-of-fold scores.
        An AUC far below .5 says that sessions of the two sides come in pairs, as copies do: what
        is learned on the others points away from the pair.
    """
    seen: dict[str, Any] = {"classifier": classifier, "mode": mode}

    def none(reason: Reason) -> TwoSample:
        return TwoSample(auc=not_assessed(reason, unit="AUC"), **seen)

    data = _prepare(human, simulated, seed, per_side)
    if isinstance(data, Reason):
        return none(data)
    folds = make_folds(data, seed)
    if isinstance(folds, Reason):
        return none(folds)
    scores = out_of_fold(data, data.y, classifier, seed, folds)
    auc = float(mean_auc(scores, data.y, folds, np.ones((1, len(data.y))))[0])
    drawn = mean_auc(scores, data.y, folds, _cluster_weights(data.groups, seed, replicates))
    drawn = drawn[np.isfinite(drawn)]
    half = TRAINING_FACTOR * Z * float(drawn.std(ddof=1))
    n = data.per_side
    counted: int | None = None
    if mode == "full":
        p_value, counted = permuted_p(auc, data, classifier, seed, folds, permutations, progress)
    else:
        from scipy.special import ndtr

        p_value = float(ndtr((0.5 - auc) / (1.25 * np.sqrt((2 * n + 1) / (12 * n * n)))))
    return TwoSample(
        auc=Estimate(
            value=rounded(auc),
            low=rounded(max(0.0, auc - half)),
            high=rounded(min(1.0, auc + half)),
            n=n,
            unit="AUC",
        ),
        p_value=p_value,
        permutations=counted,
        sessions_per_side=n,
        folds=len(folds),
        grouped_by=data.grouped_by,
        features=_telling(data, classifier, seed),
        **seen,
    )
