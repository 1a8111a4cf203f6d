"""Two-sample classifier test: can a classifier tell the simulator's sessions from people's?

Source: Lopez-Paz & Oquab 2017 (arXiv 1610.06545), with folds grouped by task, a fixed number of
sessions a side (an AUC grows with n, so a cut-off at a free n would get easier with less data)
and an interval that also makes up for the training variance (factor 1.4, robust profile).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from usi.diagnose.sample import MIN_CLUSTERS, FloatArray, Sample, filled, usable_features
from usi.estimate import Estimate, not_assessed
from usi.score.scorecard import TwoSample

SESSIONS_PER_SIDE = 300
FOLDS = 5
FOLD_FAILURE_BELOW = 0.40
TRAINING_FACTOR = 1.4
Z = 1.6448536269514722
REPLICATES = 500
PERMUTATIONS = 200

Classifier = Literal["logistic", "forest"]
Mode = Literal["fast", "full"]
TREES: dict[Mode, int] = {"fast": 100, "full": 300}
"""A third of the trees gives nearly the same AUC in a third of the time."""


@dataclass(frozen=True)
class _Data:
    x: FloatArray
    y: npt.NDArray[np.int64]  # 1 = simulator
    groups: npt.NDArray[np.str_]
    names: tuple[str, ...]
    per_side: int
    grouped_by: str


def _model(kind: Classifier, mode: Mode, seed: int) -> Any:
    if kind == "logistic":
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        n_estimators=TREES[mode], min_samples_leaf=5, random_state=seed, n_jobs=-1
    )


def _prepare(human: Sample, simulated: Sample, seed: int, per_side: int) -> _Data | str:
    """Equal numbers a side, filled values, groups; or the reason why there is no test."""
    size = min(per_side, len(human), len(simulated))
    if size < 2 * FOLDS:
        return f"needs at least {2 * FOLDS} sessions a side, there are {size}"
    human, simulated = human.subsample(size, seed), simulated.subsample(size, seed + 1)
    names = usable_features(human, simulated)
    if not names:
        return "no feature varies"
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
    return _Data(np.concatenate([h, s]), y, groups, names, size, "task" if enough else "session")


def _folds(data: _Data, seed: int) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]] | str:
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    folds = list(splitter.split(data.x, data.y, data.groups))
    for _, test in folds:
        if len(set(data.y[test].tolist())) < 2:
            return "a fold holds one side only: tasks of the two sides do not mix"
    return folds


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


def _out_of_fold(
    data: _Data, y: npt.NDArray[np.int64], kind: Classifier, mode: Mode, seed: int, folds: list[Any]
) -> FloatArray:
    scores = np.empty(len(y))
    for train, test in folds:
        model = _model(kind, mode, seed)
        model.fit(data.x[train], y[train])
        # Trees are grown on all cores, each from its own seed; their votes are added on one, since
        # the order of the sum decides its last bits.
        model.set_params(**({"n_jobs": 1} if kind == "forest" else {}))
        scores[test] = model.predict_proba(data.x[test])[:, 1]
    return scores


def _mean_auc(
    scores: FloatArray, y: npt.NDArray[np.int64], folds: list[Any], weights: FloatArray
) -> FloatArray:
    """Mean over folds of the AUC within the fold, for each weighting."""
    parts = np.stack([weighted_auc(scores[t], y[t], weights[:, t]) for _, t in folds])
    known = np.isfinite(parts)
    count = known.sum(axis=0)
    total = np.where(known, parts, 0.0).sum(axis=0)
    return np.asarray(
        np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0), dtype=np.float64
    )


def _cluster_weights(groups: npt.NDArray[np.str_], seed: int, replicates: int) -> FloatArray:
    names, at = np.unique(groups, return_inverse=True)
    rng = np.random.default_rng([seed, 0xA0C])
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=replicates)
    return drawn.astype(np.float64)[:, at]


def _telling(data: _Data, kind: Classifier, mode: Mode, seed: int) -> tuple[tuple[str, float], ...]:
    """Features by how much the classifier leans on them (fit on all sessions)."""
    model = _model(kind, mode, seed).fit(data.x, data.y)
    weights = model[-1].coef_[0] if kind == "logistic" else model.feature_importances_
    ranked = sorted(
        zip(data.names, weights.tolist(), strict=True), key=lambda p: (-abs(p[1]), p[0])
    )
    return tuple((name, float(weight)) for name, weight in ranked[:10])


def _permuted_p(
    auc: float,
    data: _Data,
    kind: Classifier,
    seed: int,
    folds: list[Any],
    permutations: int,
    progress: Callable[[int, int], None] | None,
) -> float:
    """Share of permutations of the side labels within each group that reach `auc`."""
    rng = np.random.default_rng([seed, 0x9E7])
    members = [np.flatnonzero(data.groups == name) for name in np.unique(data.groups)]
    if data.grouped_by != "task":
        members = [np.arange(len(data.y))]
    whole = np.ones((1, len(data.y)))
    reached = 0
    for done in range(permutations):
        y = data.y.copy()
        for rows in members:
            y[rows] = rng.permutation(y[rows])
        scores = _out_of_fold(data, y, kind, "full", seed, folds)
        null = _mean_auc(scores, y, folds, whole)[0]
        reached += bool(np.isfinite(null) and null >= auc)
        if progress:
            progress(done + 1, permutations)
    return (reached + 1) / (permutations + 1)


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
        ``"logistic"`` sees shifts of means, ``"forest"`` (300 trees, in the fast mode 100, at
        least 5 sessions a leaf) also spread and dependence.
    mode
        ``"full"`` finds the p-value by `permutations` of the side labels within each task;
        ``"fast"`` by the null standard deviation ``1.25 sqrt((2N + 1) / (12 N^2))``.
    per_side
        Sessions a side (a seeded subsample of the larger sides).

    Returns
    -------
    TwoSample
        AUC is the mean over five folds (0.5 = can't be told apart, 1 = always); its bounds are
        ``AUC -/+ 1.4 x 1.645 x SE`` with the SE from a task bootstrap of the out-of-fold scores.
        An AUC below .40 is a failure of the folds: not_assessed.
    """
    seen: dict[str, Any] = {"classifier": classifier, "mode": mode}

    def none(reason: str) -> TwoSample:
        return TwoSample(auc=not_assessed(reason, unit="AUC"), **seen)

    data = _prepare(human, simulated, seed, per_side)
    if isinstance(data, str):
        return none(data)
    folds = _folds(data, seed)
    if isinstance(folds, str):
        return none(folds)
    scores = _out_of_fold(data, data.y, classifier, mode, seed, folds)
    auc = float(_mean_auc(scores, data.y, folds, np.ones((1, len(data.y))))[0])
    if auc < FOLD_FAILURE_BELOW:
        return none(f"fold failure: AUC {auc:.2f} is below {FOLD_FAILURE_BELOW:.2f}")
    drawn = _mean_auc(scores, data.y, folds, _cluster_weights(data.groups, seed, replicates))
    drawn = drawn[np.isfinite(drawn)]
    half = TRAINING_FACTOR * Z * float(drawn.std(ddof=1))
    n = data.per_side
    if mode == "full":
        p_value = _permuted_p(auc, data, classifier, seed, folds, permutations, progress)
    else:
        from scipy.stats import norm

        p_value = float(norm.sf((auc - 0.5) / (1.25 * np.sqrt((2 * n + 1) / (12 * n * n)))))
    return TwoSample(
        auc=Estimate(
            value=auc, low=max(0.0, auc - half), high=min(1.0, auc + half), n=n, unit="AUC"
        ),
        p_value=p_value,
        sessions_per_side=n,
        folds=len(folds),
        grouped_by=data.grouped_by,
        features=_telling(data, classifier, mode, seed),
        **seen,
    )
