"""Two-sample classifier test: can a classifier tell the simulator's sessions from people's?

Source: Lopez-Paz & Oquab 2017 (arXiv 1610.06545), with folds grouped by task, a fixed number of
sessions a side (an AUC grows with n, so a cut-off at a free n would get easier with less data)
and an interval that also makes up for the training variance (factor 1.4, robust profile).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from usi.diagnose.out_of_fold import (
    FOLDS,
    Classifier,
    Mode,
    Sides,
    make_folds,
    make_model,
    mean_auc,
    out_of_fold,
)
from usi.diagnose.permutation import permuted_p
from usi.diagnose.sample import MIN_CLUSTERS, FloatArray, Sample, filled, usable_features
from usi.estimate import Estimate, not_assessed
from usi.score.scorecard import TwoSample

SESSIONS_PER_SIDE = 300
FOLD_FAILURE_BELOW = 0.40
TRAINING_FACTOR = 1.4
Z = 1.6448536269514722
REPLICATES = 500
PERMUTATIONS = 200


def _prepare(human: Sample, simulated: Sample, seed: int, per_side: int) -> Sides | str:
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
    return Sides(np.concatenate([h, s]), y, groups, names, size, "task" if enough else "session")


def _cluster_weights(groups: npt.NDArray[np.str_], seed: int, replicates: int) -> FloatArray:
    names, at = np.unique(groups, return_inverse=True)
    rng = np.random.default_rng([seed, 0xA0C])
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=replicates)
    return drawn.astype(np.float64)[:, at]


def _telling(data: Sides, kind: Classifier, mode: Mode, seed: int) -> tuple[tuple[str, float], ...]:
    """Features by how much the classifier leans on them (fit on all sessions)."""
    model = make_model(kind, mode, seed).fit(data.x, data.y)
    weights = model[-1].coef_[0] if kind == "logistic" else model.feature_importances_
    ranked = sorted(
        zip(data.names, weights.tolist(), strict=True), key=lambda p: (-abs(p[1]), p[0])
    )
    return tuple((name, float(weight)) for name, weight in ranked[:10])


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
        ``"full"`` finds the p-value by `permutations` of the side labels within each task, fewer
        where twenty of them have reached the AUC (see `usi.diagnose.permutation`);
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
    folds = make_folds(data, seed)
    if isinstance(folds, str):
        return none(folds)
    scores = out_of_fold(data, data.y, classifier, mode, seed, folds)
    auc = float(mean_auc(scores, data.y, folds, np.ones((1, len(data.y))))[0])
    if auc < FOLD_FAILURE_BELOW:
        return none(f"fold failure: AUC {auc:.2f} is below {FOLD_FAILURE_BELOW:.2f}")
    drawn = mean_auc(scores, data.y, folds, _cluster_weights(data.groups, seed, replicates))
    drawn = drawn[np.isfinite(drawn)]
    half = TRAINING_FACTOR * Z * float(drawn.std(ddof=1))
    n = data.per_side
    counted: int | None = None
    if mode == "full":
        p_value, counted = permuted_p(auc, data, classifier, seed, folds, permutations, progress)
    else:
        from scipy.stats import norm

        p_value = float(norm.sf((auc - 0.5) / (1.25 * np.sqrt((2 * n + 1) / (12 * n * n)))))
    return TwoSample(
        auc=Estimate(
            value=auc, low=max(0.0, auc - half), high=min(1.0, auc + half), n=n, unit="AUC"
        ),
        p_value=p_value,
        permutations=counted,
        sessions_per_side=n,
        folds=len(folds),
        grouped_by=data.grouped_by,
        features=_telling(data, classifier, mode, seed),
        **seen,
    )
