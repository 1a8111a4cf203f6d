"""The regression gate with the project's own task bootstrap, on sessions of known means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from usi.decisions.regression import Change, changes
from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.scoring.robust.distribution import Grid
from usi.scoring.robust.scorable import Selection
from usi.scoring.robust.sums import SideSums, side_sums
from usi.scoring.robust.terms import contrast, feature_terms

TASKS, ROUNDS, EACH = 60, 3, 3
SPECS = tuple(
    FeatureSpec(
        name=f"{dimension}{k}", dimension=dimension, kind="mean", numerator="x", denominator="y"
    )  # type: ignore[arg-type]
    for dimension in DIMENSIONS
    for k in range(EACH)
)
SELECTIONS = {
    dimension: Selection(tuple(s.name for s in SPECS if s.dimension == dimension), EACH, None)
    for dimension in DIMENSIONS
}


MEANS = {spec.name: Grid(np.empty(0)) for spec in SPECS}
CELLS = {spec.name: Grid(np.linspace(0.0, 2.0, 13)) for spec in SPECS}


def side(
    rng: np.random.Generator, effects: np.ndarray, factor: float, grids: dict[str, Grid]
) -> SideSums:
    """Sessions whose features have the mean `factor`, task effects, and noise of their own."""
    n, f = TASKS * ROUNDS, len(SPECS)
    unit = np.repeat(np.arange(TASKS), ROUNDS)
    values = factor * (1 + effects[unit] + rng.normal(0, 0.4, (n, f)))
    return side_sums(
        unit=unit,
        units=[f"t{k:02d}" for k in range(TASKS)],
        split=[str(k % ROUNDS) for k in range(n)],
        bin_index=np.full(n, -1),
        bins=(),
        features=[spec.name for spec in SPECS],
        values=values,
        hits=np.ones((n, f)),
        success=np.full(n, np.nan),
        labels=np.full((n, 5), np.nan),
        grids=grids,
    )


def study(
    rng: np.random.Generator, old: float, new: float, grids: dict[str, Grid] = CELLS
) -> Change:
    """One study; `old` and `new` are the true relative gaps of every feature."""
    effects = rng.normal(0, 0.2, (TASKS, len(SPECS)))
    people = side(rng, effects, 1.0, grids)
    terms = []
    for gap in (old, new):
        # (a - 1) / (a + 1) = gap
        sim = side(rng, effects, (1 + gap) / (1 - gap), grids)
        data = contrast(sim, people, paired=True, replicates=200, seed=7)
        terms.append(feature_terms(data, SPECS, SELECTIONS))
    return changes(*terms)["index"]


@pytest.fixture(scope="module")
def unchanged() -> list[Change]:
    rng = np.random.default_rng(1)
    return [study(rng, 0.0, 0.0) for _ in range(60)]


def test_the_noise_is_that_of_theory() -> None:
    # compared by means, for which there is a theory
    rng = np.random.default_rng(1)
    unchanged = [study(rng, 0.0, 0.0, MEANS) for _ in range(60)]
    # relative gap: SE of a mean over 180 sessions, two versions, half of it:
    # 0.4 / sqrt(180) x sqrt(2) / 2 = 0.0211, times 100 points
    found = float(np.mean([change.noise for change in unchanged]))
    assert found == pytest.approx(2.11, rel=0.08)


def test_unchanged_versions_pass(unchanged: list[Change]) -> None:
    passed = [change.state(5.0) in ("unchanged", "better") for change in unchanged]
    assert np.mean(passed) >= 0.90


@pytest.mark.parametrize(("old", "new"), [(0.0, 0.05), (0.0, -0.05), (0.10, 0.15)])
def test_a_true_drop_of_the_margin_hardly_passes(old: float, new: float) -> None:
    rng = np.random.default_rng(2)
    passed = [study(rng, old, new).state(5.0) in ("unchanged", "better") for _ in range(60)]
    assert np.mean(passed) <= 0.05 + 1.96 * math.sqrt(0.05 * 0.95 / 60)
