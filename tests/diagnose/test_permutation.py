"""The permutation p-value of the two-sample test: processes and early ends change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from usi.diagnose.two_sample import Sides, make_folds, permuted_labels, permuted_p


def sides(shift: float = 0.0, tasks: int = 20) -> Sides:
    rng = np.random.default_rng(3)
    y = np.tile([0, 0, 1, 1], tasks)
    x = rng.normal(size=(len(y), 2)) + shift * y[:, None]
    groups = np.repeat([f"t{at:02}" for at in range(tasks)], 4)
    return Sides(x, y, groups, ("a", "b"), len(y) // 2, "task")


def test_labels_change_places_within_a_task_only():
    data = sides()
    drawn = list(permuted_labels(data, 5, 30))
    assert len(drawn) == 30
    assert any((y != data.y).any() for y in drawn)
    for y in drawn:
        for name in np.unique(data.groups):
            assert y[data.groups == name].sum() == 2


def test_counting_ends_once_twenty_permutations_have_reached_the_auc():
    data = sides()
    folds = make_folds(data, 1)
    # Every AUC is at least 0: the 20th permutation is the 20th that reaches it.
    assert permuted_p(0.0, data, "logistic", 1, folds, 200) == (1.0, 20)
    # None is above 1: all are counted, and p is the smallest that 30 permutations allow.
    p, counted = permuted_p(1.1, data, "logistic", 1, folds, 30)
    assert (p, counted) == (pytest.approx(1 / 31), 30)


@pytest.mark.parametrize(("shift", "auc"), [(0.0, 0.5), (1.0, 0.6)])
def test_processes_give_the_same_p_as_one(shift, auc):
    data = sides(shift)
    folds = make_folds(data, 1)
    said = []
    alone = permuted_p(auc, data, "logistic", 1, folds, 30, workers=1)
    shared = permuted_p(
        auc, data, "logistic", 1, folds, 30, lambda i, n: said.append((i, n)), workers=2
    )
    assert alone == shared
    assert said == [(at + 1, 30) for at in range(shared[1])]
