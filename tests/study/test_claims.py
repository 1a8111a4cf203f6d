"""A small seeded version of the validation study: one core, under a minute."""

from __future__ import annotations

import math

import numpy as np
import pytest
from phantom_truth.tasks import sample_tasks
from study.cells import Cell, people, simulator
from study.many import run
from study.paired import COLUMNS, NAMES, Row
from study.truth import truth_of

from usi.extraction.profile import get_specs
from usi.extraction.spec import DIMENSIONS
from usi.phantom import draw

LOW, HIGH, TRUTH = (COLUMNS.index(name) for name in ("low", "high", "truth"))


def slack(level: float, n: int) -> float:
    """Highest share that a rate of `level` gives in 99.5 % of `n` studies, about."""
    return level + 2.6 * math.sqrt(level * (1 - level) / n)


def rows_of(cell: Cell, studies: int) -> dict[str, list[Row]]:
    ((_, rows),) = run("paired", studies, cells=(cell,))
    return {name: [row for row in rows if row.simulator == name] for name in cell.simulators}


@pytest.fixture(scope="module")
def large() -> dict[str, list[Row]]:
    return rows_of(Cell(165, 3, 3, ("copy", "easy-0.1", "easy-0.5", "defect-outcome")), 50)


@pytest.fixture(scope="module")
def small() -> dict[str, list[Row]]:
    return rows_of(Cell(50, 3, 3, ("copy", "easy-0.5", "defect-outcome")), 60)


def test_the_people_are_true_to_themselves() -> None:
    truth = truth_of("copy")
    names = [f.name for f in get_specs("robust") if f.dimension in DIMENSIONS and f.scored]
    assert truth.features(names) == [1.0] * len(names)
    assert truth.signed_gap == 0.0


def test_the_true_gap_is_that_of_many_sessions() -> None:
    tasks = sample_tasks(60_000, seed=4)
    rates = [
        draw(spec, tasks, replicates=1, seed=seed).reward.mean()
        for seed, spec in ((5, people()), (6, simulator("defect-outcome")))
    ]
    # sd of a difference of two shares of 60,000 sessions: about 0.0027
    assert truth_of("defect-outcome").signed_gap == pytest.approx(rates[1] - rates[0], abs=0.009)


@pytest.mark.parametrize("name", ["easy-0.1", "easy-0.5", "defect-outcome"])
def test_false_pass_at_the_boundary(large: dict[str, list[Row]], name: str) -> None:
    values = np.stack([row.values for row in large[name]])
    above = (values[:, :, LOW] > values[:, :, TRUTH] + 1e-9).mean(axis=0)
    n = len(values)
    for part, share in zip(NAMES, above, strict=True):
        assert share <= slack(0.05 if part == "index" else 0.08, n), part


def test_false_fail_is_rare(large: dict[str, list[Row]]) -> None:
    for rows in large.values():
        values = np.stack([row.values for row in rows])
        below = (values[:, :, HIGH] < values[:, :, TRUTH] - 1e-9).mean(axis=0)
        assert (below <= slack(0.05, len(rows))).all()


def test_a_perfect_simulator_passes(
    large: dict[str, list[Row]], small: dict[str, list[Row]]
) -> None:
    b = np.mean([row.verdict[1] == "PASS" for row in large["copy"]])
    c = np.mean([row.verdict[2] == "PASS" for row in small["copy"]])
    assert b >= 0.90 - 2.6 * math.sqrt(0.09 / 50)
    assert c == pytest.approx(0.80, abs=2.6 * math.sqrt(0.16 / 60))


def test_broken_in_outcome_alone_never_passes_tier_b(
    large: dict[str, list[Row]], small: dict[str, list[Row]]
) -> None:
    for rows in (large["defect-outcome"], small["defect-outcome"]):
        assert "PASS" not in {row.verdict[0] for row in rows}
        assert "PASS" not in {row.verdict[1] for row in rows}


def test_small_studies_end_inconclusive() -> None:
    rows = rows_of(Cell(50, 1, 1, ("copy", "easy-0.2")), 30)
    for own in rows.values():
        assert np.mean([row.verdict[1] == "INCONCLUSIVE" for row in own]) >= 0.9


def test_bounds_close_in(large: dict[str, list[Row]], small: dict[str, list[Row]]) -> None:
    for name in ("copy", "easy-0.5"):
        widths = [
            np.mean([row.values[:, HIGH] - row.values[:, LOW] for row in rows[name]], axis=0)
            for rows in (small, large)
        ]
        # sqrt(50 / 165) = 0.55 where nothing is cut off at 100
        assert (widths[1] < 0.8 * widths[0]).all()


def test_regression_gate() -> None:
    cell = Cell(165, 3, 10, ("copy", "copy", "easy-0.1"))
    ((_, steps),) = run("versions", 10, cells=(cell,))
    unchanged = [step for step in steps if step.new == "copy"]
    dropped = [step for step in steps if step.new == "easy-0.1"]
    assert np.mean([step.passed for step in unchanged]) >= 0.7
    assert dropped[0].drop["index"] == pytest.approx(5, abs=0.3)
    assert np.mean([step.at_drop["index"] for step in dropped]) <= slack(0.05, len(dropped))


def test_unpaired_bounds_hold() -> None:
    cell = Cell(100, 3, 3, ("copy", "easy-0.35"))
    ((_, rows),) = run("unpaired", 30, cells=(cell,))
    for name in cell.simulators:
        own = [row for row in rows if row.simulator == name]
        values = np.stack([row.values for row in own])
        assert (values[:, 0, LOW] > values[:, 0, TRUTH]).mean() <= slack(0.05, len(own))
        assert {row.verdict[1] for row in own} <= {"INCONCLUSIVE", "FAIL"}
    perfect = [row.verdict[2] for row in rows if row.simulator == "copy"]
    assert np.mean([verdict == "PASS" for verdict in perfect]) >= 0.8


def test_a_collapsed_simulator_is_seen() -> None:
    cell = Cell(100, 3, 3, ("copy", "collapsed"))
    ((_, rows),) = run("classifier", 2, cells=(cell,))
    assert [row.collapsed for row in rows] == [False, True] * 2
    assert all(row.auc["trees"] > 0.9 for row in rows if row.simulator == "collapsed")
    assert all(0.40 <= row.auc["trees"] < 0.60 for row in rows if row.simulator == "copy")
