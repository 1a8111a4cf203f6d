"""Bootstrap weights and replicated means against direct resampling."""

from __future__ import annotations

import numpy as np
import pytest

from usi.scoring.robust import bootstrap
from usi.scoring.robust.bootstrap import Sums, replicate, weight_chunks


def _all(clusters, replicates, **keys):
    return np.vstack([w for _, w in weight_chunks(clusters, replicates, **keys)])


def test_every_row_draws_as_many_clusters_as_there_are():
    weights = _all(37, 500, seed=3)
    assert weights.shape == (500, 37)
    assert (weights.sum(axis=1) == 37).all()
    # multinomial: mean 1, variance 1 - 1/n
    assert weights.mean() == pytest.approx(1.0)
    assert weights.var() == pytest.approx(1 - 1 / 37, rel=0.05)


def test_draws_do_not_depend_on_the_chunk_size(monkeypatch):
    whole = _all(37, 200, seed=3)
    monkeypatch.setattr(bootstrap, "CHUNK_BYTES", 37 * 8 * 7)
    assert np.array_equal(_all(37, 200, seed=3), whole)


def test_seed_and_stream_make_other_draws():
    first = _all(20, 50, seed=1)
    assert not np.array_equal(first, _all(20, 50, seed=2))
    assert not np.array_equal(first, _all(20, 50, seed=1, stream=1))


def test_replicates_equal_resampling_task_by_task():
    rng = np.random.default_rng(0)
    top, bottom = rng.random((12, 2)), np.ones((12, 2))
    bottom[3, 1] = top[3, 1] = 0.0  # a task without a value
    side = Sums(top, bottom, np.arange(12))
    other = Sums(top * 2, bottom, np.arange(12))
    found = replicate(side, other, paired=True, replicates=30, seed=5)
    for row, weights in enumerate(_all(12, 30, seed=5)):
        drawn = np.repeat(np.arange(12), weights.astype(int))
        direct = top[drawn].sum(axis=0) / bottom[drawn].sum(axis=0)
        assert found.simulator[row] == pytest.approx(direct)
        assert found.human[row] == pytest.approx(2 * direct)


def test_units_of_a_cluster_are_drawn_together():
    top = np.array([[1.0], [3.0], [10.0]])
    side = Sums(top, np.ones((3, 1)), np.array([0, 0, 1]))
    assert side.clusters == 2
    values = set(
        np.round(replicate(side, side, paired=True, replicates=200, seed=1).human[:, 0], 6)
    )
    # both clusters, the first twice, the second twice
    assert values == {round(14 / 3, 6), 2.0, 10.0}


def test_unpaired_sides_are_drawn_apart():
    rng = np.random.default_rng(1)
    a = Sums(rng.random((40, 1)), np.ones((40, 1)), np.arange(40))
    b = Sums(rng.random((40, 1)), np.ones((40, 1)), np.arange(40))
    apart = replicate(a, b, paired=False, replicates=2000, seed=1)
    together = replicate(a, b, paired=True, replicates=2000, seed=1)
    assert abs(np.corrcoef(apart.simulator[:, 0], apart.human[:, 0])[0, 1]) < 0.07
    # sd of a mean of n: s sqrt((n - 1) / n) / sqrt(n) in the bootstrap
    expected = a.top.std() / np.sqrt(40)
    assert apart.simulator.std() == pytest.approx(expected, rel=0.06)
    assert together.simulator.std() == pytest.approx(expected, rel=0.06)


def test_influence_gives_the_standard_error_of_a_ratio():
    rng = np.random.default_rng(2)
    top, bottom = rng.random((50, 1)) * 5, rng.integers(1, 6, (50, 1)).astype(float)
    side = Sums(top, bottom, np.arange(50))
    ratio = top.sum() / bottom.sum()
    by_hand = (top - ratio * bottom)[:, 0] / bottom.sum()
    assert side.influence()[:, 0] == pytest.approx(by_hand)
    assert side.mean()[0] == pytest.approx(ratio)
