"""Out-of-fold scores of a classifier of the two sides, and the area under their ROC curve.

Source: Lopez-Paz & Oquab 2017 (arXiv 1610.06545); folds are grouped by task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from usi.diagnose.sample import FloatArray

FOLDS = 5

Classifier = Literal["logistic", "forest"]
Mode = Literal["fast", "full"]
TREES: dict[Mode, int] = {"fast": 100, "full": 300}
"""A third of the trees gives nearly the same AUC in a third of the time."""

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


def make_model(kind: Classifier, mode: Mode, seed: int) -> Any:
    """A fresh classifier.

    One thread: these trees are so small that threads wait for each other all the time. Whole
    permutations are spread over processes instead (`usi.diagnose.permutation`).
    """
    if kind == "logistic":
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=TREES[mode], min_samples_leaf=5, random_state=seed)


def make_folds(sides: Sides, seed: int) -> list[Fold] | str:
    """Five folds with groups kept whole, each with both sides; or the reason why there are none."""
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    folds = list(splitter.split(sides.x, sides.y, sides.groups))
    for _, test in folds:
        if len(set(sides.y[test].tolist())) < 2:
            return "a fold holds one side only: tasks of the two sides do not mix"
    return folds


def out_of_fold(
    sides: Sides, y: Labels, kind: Classifier, mode: Mode, seed: int, folds: list[Fold]
) -> FloatArray:
    """(2n,) probability of side 1 under `y`, each session scored by a model that never saw it."""
    scores = np.empty(len(y))
    for train, test in folds:
        model = make_model(kind, mode, seed)
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
