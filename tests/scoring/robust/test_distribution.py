"""Distances of distributions: cells against scipy, laws of D, what means can't see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from usi.extraction.spec import FeatureSpec
from usi.scoring.robust.distribution import Grid, cell_sums, cell_values, cut_points
from usi.scoring.robust.sums import side_sums
from usi.scoring.robust.terms import contrast, distance

SETTINGS = settings(max_examples=100, deadline=None, derandomize=True, database=None)
samples = st.lists(st.integers(0, 40), min_size=2, max_size=60).map(
    lambda x: np.array(x, dtype=float) / 8
)


def compared(simulator, human, *, scale="amount", cells=12, by_means=False):
    """x = 1 - D / 100 of two samples, one session a unit."""
    grid = Grid(np.empty(0) if by_means else cut_points(human, cells))
    sides = []
    for values in (simulator, human):
        n = len(values)
        sides.append(
            side_sums(
                unit=np.arange(n),
                units=[str(k) for k in range(n)],
                split=["1"] * n,
                bin_index=np.full(n, -1),
                bins=(),
                features=("x",),
                values=values[:, None],
                hits=(values[:, None] > 0).astype(float),
                success=np.full(n, np.nan),
                labels=np.full((n, 5), np.nan),
                grids={"x": grid},
            )
        )
    spec = FeatureSpec("x", "conversation", "mean", "x", "", scale=scale)
    return distance(contrast(*sides, paired=False), spec)


def test_the_parts_of_a_value_add_up_to_it():
    rng = np.random.default_rng(1)
    human, other = rng.gamma(2, 1, 300), rng.gamma(3, 2, 200)
    grid = Grid(cut_points(human))
    assert cell_values(other, grid).sum(axis=1) == pytest.approx(other)
    assert cell_values(np.array([np.nan]), grid).shape == (1, grid.cells)
    assert np.isnan(cell_values(np.array([np.nan]), grid)).any()


def test_sums_by_group_equal_the_sums_of_the_parts():
    rng = np.random.default_rng(2)
    human, values = rng.poisson(2, 200) / 4, rng.poisson(3, 150) / 4
    values[7] = np.nan
    grid, group, weight = Grid(cut_points(human)), rng.integers(0, 5, 150), rng.random(150)
    sums, squares = cell_sums(values, grid, group, 5, weight)
    parts = cell_values(values, grid)
    known = ~np.isnan(values)
    for k in range(5):
        own = known & (group == k)
        assert sums[k] == pytest.approx(weight[own] @ parts[own])
        assert squares[k] == pytest.approx(weight[own] @ parts[own] ** 2)


def test_many_cells_give_the_wasserstein_distance():
    rng = np.random.default_rng(3)
    human, simulator = rng.gamma(2, 1, 400), rng.gamma(2, 1.3, 300)
    exact = wasserstein_distance(simulator, human) / (simulator.mean() + human.mean())
    assert compared(simulator, human, cells=2000).point == pytest.approx(exact, rel=1e-3)
    assert compared(simulator, human).point == pytest.approx(exact, rel=0.01)


@SETTINGS
@given(samples, samples)
def test_laws_of_d(simulator, human):
    if simulator.mean() + human.mean() == 0:
        assert np.isnan(compared(simulator, human).point)
        return
    x = compared(simulator, human).point
    a, b = simulator.mean(), human.mean()
    exact = wasserstein_distance(simulator, human) / (a + b)
    assert abs(a - b) / (a + b) - 1e-12 <= x <= exact + 1e-12 <= 1 + 1e-9
    if b > 0:
        assert compared(human, human).point == 0
    assert compared(8 * simulator, 8 * human).point == pytest.approx(x)
    # one side larger everywhere: the distance is that of the means
    larger = compared(human + 1, human).point
    assert larger == pytest.approx(1 / (2 * b + 1))


def test_a_constant_user_has_the_people_s_mean_and_not_their_spread():
    human = np.array([0.0, 0.0, 2.0, 2.0])
    constant = np.ones(4)
    assert compared(constant, human, by_means=True).point == 0
    # the area between the functions is 1 of a + b = 2
    assert compared(constant, human).point == pytest.approx(0.5)


def test_durations_have_no_unit():
    rng = np.random.default_rng(4)
    human, simulator = rng.normal(3, 1, 300), rng.normal(3.4, 0.5, 300)  # logarithms
    one = compared(simulator, human, scale="ratio").point
    assert compared(simulator + np.log(60), human + np.log(60), scale="ratio").point == (
        pytest.approx(one)
    )
    area = wasserstein_distance(simulator, human)
    assert one == pytest.approx(np.tanh(area / 2), rel=0.03)


def test_cut_points_share_the_noise():
    # F is 3/4 all the way from 0 to 4, so equal shares of sqrt(F (1 - F)) are equal widths
    assert cut_points(np.array([0.0, 0.0, 0.0, 4.0]), 4) == pytest.approx([0, 1, 2, 3, 4])
    assert cut_points(np.array([2.0, 2.0, np.nan])).tolist() == [2.0]
