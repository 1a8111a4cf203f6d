"""The regression gate: its formulas, and its error rates where the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from usi.decisions.regression import Change, changes, margins_for, mean_abs, var_abs
from usi.errors import UsageError
from usi.scoring.robust.terms import Terms, signed_terms

SIZES = {"conversation": 8, "information": 4, "clarification": 3, "reaction": 3, "outcome": 5}
"""Terms a component: features of the four dimensions, difficulty bins."""


def terms(points: dict[str, np.ndarray], noise: dict[str, np.ndarray]) -> dict[str, Terms]:
    """Terms with given points and replicate noise (shape replicates x terms)."""
    result = {}
    for name, x in points.items():
        n = len(x)
        weight = np.ones(n) if name == "outcome" else np.full(n, 1 / n)
        names = tuple(f"{name}{k}" for k in range(n))
        se = noise[name].std(axis=0, ddof=1)
        result[name] = signed_terms(name, names, weight, x, se, x + noise[name], np.zeros(0))
    return result


@given(st.floats(-8, 8))
def test_moments_of_a_shifted_normal(x: float) -> None:
    # by numerical integration over a grid, an independent way
    z = np.linspace(-10, 10, 20001)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    mean = float(np.sum(np.abs(x + z) * density))
    second = float(np.sum((x + z) ** 2 * density))
    assert mean_abs(x) == pytest.approx(mean, abs=1e-5)
    assert var_abs(x) == pytest.approx(second - mean**2, abs=1e-4)


def test_distance_by_hand() -> None:
    # two terms of weight 1/2: d = (+0.02, -0.04); S and s from replicate spreads 0.01 and 0.03
    spread = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    sd = math.sqrt(4 / 3)  # sample sd of (-1, 1, -1, 1)
    old = terms({"a": np.array([0.1, -0.1])}, {"a": np.zeros((4, 2))})
    moved = spread * np.array([[0.01, 0.03]])
    new = terms({"a": np.array([0.12, -0.14])}, {"a": moved})
    change = changes(old, new)["index"]
    assert change.distance == pytest.approx(100 * 0.5 * (0.02 + 0.04))
    assert change.noise == pytest.approx(100 * 0.5 * (0.01 + 0.03) * sd)
    assert change.spread == pytest.approx(100 * 0.5 * math.sqrt(0.01**2 + 0.03**2) * sd)
    # the score: 100 (1 - mean |x|) falls from 90 to 87
    assert change.difference == pytest.approx(-3.0)
    assert change.smallest_margin == pytest.approx(1.45 * change.noise)


def test_states_at_their_boundaries() -> None:
    base = {"name": "index", "se": 1.0, "maxbias_old": 2.0, "noise": 2.0, "spread": 0.5}
    # m/S = 2.5: h = 2.504, v close to 1; critical D = 2 x 2.5040 - 1.96 x 0.5 x 0.990
    critical = Change(difference=0.0, distance=0.0, **base).critical_distance(5.0)
    assert critical == pytest.approx(4.04, abs=0.02)
    near = Change(difference=-4.0, distance=critical, **base)
    far = Change(difference=-4.0, distance=critical + 1e-9, **base)
    assert (near.state(5.0), far.state(5.0)) == ("unchanged", "inconclusive")
    # better: -1.04 - 2 - 1.96 = -5 is just allowed
    assert Change(difference=-1.04, distance=9.0, **base).state(5.0) == "better"
    assert Change(difference=-1.0401, distance=9.0, **base).state(5.0) == "inconclusive"
    # regressed: below -5 by more than 1.645
    assert Change(difference=-6.65, distance=9.0, **base).state(5.0) == "regressed"
    assert Change(difference=-6.64, distance=9.0, **base).state(5.0) == "inconclusive"


def test_identical_versions_are_unchanged_without_noise() -> None:
    same = terms({"a": np.array([0.1, 0.2])}, {"a": np.zeros((10, 2))})
    change = changes(same, same)["index"]
    assert change.state(0.0) == "unchanged"


def test_a_margin_that_cannot_be_certified_is_refused() -> None:
    change = Change("index", 0.0, 1.0, 1.0, 1.0, noise=4.0, spread=1.0)
    with pytest.raises(UsageError, match=r"5 asked, 5\.8 is the smallest"):
        margins_for({"index": change})
    assert margins_for({"index": change}, index=5.8) == {"index": 5.8}


def test_different_terms_are_refused() -> None:
    one = terms({"a": np.zeros(2)}, {"a": np.zeros((3, 2))})
    three = terms({"a": np.zeros(3)}, {"a": np.zeros((3, 3))})
    with pytest.raises(UsageError, match="a2"):
        changes(one, three)
    with pytest.raises(UsageError, match="b"):
        changes(one, {**one, "b": one["a"]})


def study(
    rng: np.random.Generator, old: dict[str, np.ndarray], new: dict[str, np.ndarray], noise: float
) -> dict[str, Change]:
    """One study: terms of both versions observed with noise, and its bootstrap.

    People's noise is shared by the versions; each version has its own run noise.
    """
    boot = 200
    seen: list[dict[str, np.ndarray]] = [{}, {}]
    draws: list[dict[str, np.ndarray]] = [{}, {}]
    for name, size in SIZES.items():
        scale = noise / math.sqrt(size) if name == "outcome" else noise
        shared, shared_draws = rng.normal(0, scale, size), rng.normal(0, scale, (boot, size))
        for k, truth in enumerate((old, new)):
            seen[k][name] = truth[name] + shared + rng.normal(0, scale, size)
            draws[k][name] = shared_draws + rng.normal(0, scale, (boot, size))
    return changes(terms(seen[0], draws[0]), terms(seen[1], draws[1]))


def truth(drop: float, component: str | None = None) -> dict[str, np.ndarray]:
    """Terms whose score lies `drop` points below 100, spread evenly over the terms.

    In one component alone where one is named (its score falls by `drop`).
    """
    values = {}
    for name, size in SIZES.items():
        each = drop / 100 / (size if name == "outcome" else 1)
        values[name] = np.full(size, each if component in (None, name) else 0.0)
    return values


def rate(old: dict[str, np.ndarray], new: dict[str, np.ndarray], part: str, margin: float) -> float:
    rng = np.random.default_rng(11)
    passed = [
        study(rng, old, new, noise=0.02)[part].state(margin) in ("unchanged", "better")
        for _ in range(400)
    ]
    return float(np.mean(passed))


MONTE_CARLO = 1.96 * math.sqrt(0.05 * 0.95 / 400)


def test_false_pass_of_the_index_at_a_true_drop_of_the_margin() -> None:
    assert rate(truth(0), truth(5), "index", 5.0) <= 0.05 + MONTE_CARLO
    assert rate(truth(8), truth(13), "index", 5.0) <= 0.05 + MONTE_CARLO


@pytest.mark.parametrize("component", ["conversation", "outcome"])
def test_false_pass_of_a_component_at_a_true_drop_of_the_margin(component: str) -> None:
    passed = rate(truth(0), truth(10, component), component, 10.0)
    assert passed <= 0.05 + MONTE_CARLO


def test_an_unchanged_version_passes() -> None:
    # noise per term 0.02 x sqrt 2 a side: S about 2.6 points, so a margin of 5 is about 1.9 S
    assert rate(truth(0), truth(0), "index", 5.0) >= 0.80
    assert rate(truth(5), truth(5), "index", 5.0) >= 0.80


def test_a_far_worse_version_is_named() -> None:
    rng = np.random.default_rng(5)
    states = [study(rng, truth(2), truth(14), 0.02)["index"].state(5.0) for _ in range(50)]
    assert states.count("regressed") >= 45
