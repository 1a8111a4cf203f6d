"""Rank intervals: small cases by hand, coverage by simulation with known ranks."""

from __future__ import annotations

import numpy as np
import pytest

from usi.decisions.compare import judged
from usi.decisions.rank import rank_scores


def draws(k: int, sd: float, seed: int = 0, replicates: int = 1000) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, sd, (replicates, k))


def test_far_apart_simulators_have_single_ranks() -> None:
    values = np.array([70.0, 90.0, 80.0])
    found = rank_scores(["c", "a", "b"], values, values + draws(3, 0.5))
    assert [(r.name, r.best, r.worst, r.group) for r in found.rows] == [
        ("a", 1, 1, 1),
        ("b", 2, 2, 2),
        ("c", 3, 3, 3),
    ]


def test_near_ones_are_a_tie_group() -> None:
    values = np.array([90.0, 89.5, 70.0])
    found = rank_scores(["a", "b", "c"], values, values + draws(3, 1.0))
    assert [(r.best, r.worst, r.group) for r in found.rows] == [(1, 2, 1), (1, 2, 1), (3, 3, 2)]


def test_shared_noise_cancels() -> None:
    # the same noise in both: the difference is exact however large the noise
    shared = draws(1, 10.0)
    values = np.array([81.0, 80.0])
    found = rank_scores(["a", "b"], values, values + shared)
    assert [(r.best, r.worst) for r in found.rows] == [(1, 1), (2, 2)]


def test_replicates_that_slide_down_do_not_matter() -> None:
    values = np.array([90.0, 80.0])
    noise = draws(2, 1.0)
    plain = rank_scores(["a", "b"], values, values + noise)
    slid = rank_scores(["a", "b"], values, values + noise - np.array([9.0, 1.0]))
    assert plain.rows == slid.rows
    assert (plain.critical, plain.excess) == pytest.approx((slid.critical, slid.excess))


def test_equal_scores_are_in_order_of_names_and_tied() -> None:
    values = np.array([80.0, 80.0])
    found = rank_scores(["z", "a"], values, np.tile(values, (10, 1)))
    assert [(r.name, r.best, r.worst, r.group) for r in found.rows] == [
        ("a", 1, 2, 1),
        ("z", 1, 2, 1),
    ]


def test_one_simulator_has_rank_one() -> None:
    found = rank_scores(["a"], np.array([80.0]), 80 + draws(1, 1.0))
    assert (found.rows[0].best, found.rows[0].worst, found.excess) == (1, 1, 0.0)


def test_intervals_hold_at_once() -> None:
    # eight simulators, some equal: true ranks allow ties
    truth = np.array([90.0, 90.0, 88.0, 86.0, 86.0, 86.0, 80.0, 79.0])
    names = [f"s{k}" for k in range(8)]
    lowest = np.array([1 + (truth > value).sum() for value in truth])
    highest = np.array([(truth >= value).sum() for value in truth])
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(300):
        seen = truth + rng.normal(0, 1.5, 8)
        found = rank_scores(names, seen, seen + rng.normal(0, 1.5, (300, 8)))
        by_name = {row.name: row for row in found.rows}
        # a true rank is any place that a tie allows; the interval must hold one of them
        held += all(
            by_name[name].best <= highest[k] and by_name[name].worst >= lowest[k]
            for k, name in enumerate(names)
        )
    assert held / 300 >= 0.95 - 1.96 * np.sqrt(0.05 * 0.95 / 300)


def test_winners_curse_of_equal_simulators() -> None:
    # the largest of ten independent standard normals lies 1.5388 sd above their mean
    found = rank_scores(
        [f"s{k}" for k in range(10)], np.full(10, 80.0), 80 + draws(10, 2.0, 1, 20000)
    )
    assert found.excess == pytest.approx(2 * 1.5388, rel=0.02)


@pytest.mark.parametrize(
    ("b", "se", "word"),
    [(82.0, 1.0, "better"), (78.0, 1.0, "worse"), (81.6, 1.0, "noise"), (99.0, None, "unknown")],
)
def test_words_of_a_difference(b: float, se: float | None, word: str) -> None:
    found = judged("x", "component", 80.0, b, se)
    assert found.word == word
    assert found.difference.value == pytest.approx(b - 80.0)
