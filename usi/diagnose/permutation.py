"""p-value of a two-sample test by permuting the labels of the sides within each task.

A permutation fits every fold anew, about two seconds for a forest of 300 trees, so that two hundred
of them take minutes. Two things keep that short without touching the null: permutations run in
parallel processes, and counting ends once it is plain that the p-value is not small.

Source: the sequential Monte-Carlo p-value of Besag & Clifford 1991 (Biometrika 78, 301-304).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np

from usi.diagnose.out_of_fold import Classifier, Fold, Labels, Sides, mean_auc, out_of_fold

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
    scores = out_of_fold(sides, y, kind, "full", seed, folds)
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
        Processes; by default all cores for a forest of many permutations, else this one.

    Returns
    -------
    p-value in (0, 1] and the number of permutations counted: ``h / l`` where the h-th (`ENOUGH`)
    that reaches `auc` was the l-th permutation, else ``(reached + 1) / (permutations + 1)``.
    The same for any number of processes.
    """
    from joblib import Parallel, cpu_count, delayed

    if workers is None:
        # Forests alone are worth a process: logistic fits take milliseconds.
        apart = kind == "forest" and permutations >= _WORTH_PROCESSES
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
