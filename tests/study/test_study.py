"""The study's own parts: its short road to a verdict, its page, the error that it had mended."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers import ROOT
from phantom_truth.counts import phantom_table
from study.cells import Cell, people, simulator
from study.light import CRITERIA, light_card, verdicts
from study.many import run
from study.page import render
from study.paired import REPLICATES, human_side, scored, task_seed
from study.summary import rate

from usi.decisions import gate_scorecard
from usi.options import ScoreOptions
from usi.phantom import draw
from usi.scoring.context import ScoreContext
from usi.scoring.profiles import get_profile
from usi.scoring.robust.bounds import Interval, score_terms
from usi.scoring.robust.terms import signed_terms

CELL = Cell(40, 2, 2, ("copy", "easy-1", "defect-role"))
DOCS = ROOT / "docs"


def test_the_short_road_gives_the_verdicts_of_the_scorecard(tmp_path) -> None:
    tasks, ref = human_side(CELL, 0)
    seed = task_seed(CELL, 0)
    human = phantom_table(
        draw(people(), tasks, replicates=2, seed=(seed, 1)), "robust", side="human"
    )
    tables = {
        name: phantom_table(
            draw(simulator(name), tasks, replicates=2, seed=(seed, 2)),
            "robust",
            side="simulated",
            simulator=name,
        )
        for name in CELL.simulators
    }
    pool = tmp_path / "pool.json"
    pool.write_text(json.dumps(tasks.difficulty_map))
    card = get_profile("robust").score_tables(
        human,
        tables,
        surveys=None,
        options=ScoreOptions(difficulty=str(pool), replicates=REPLICATES, c2st="off"),
        context=ScoreContext(synthetic=True),
    )
    for name in CELL.simulators:
        short = light_card(name, scored(CELL, 0, name, tasks, ref))
        whole = next(part for part in card.simulators if part.name == name)
        one = short.simulators[0]
        assert one.index.low == whole.index.low
        assert one.success_gap == whole.success_gap
        for part in ("conversation", "information", "clarification", "reaction", "outcome"):
            assert one.components[part].low == whole.components[part].low
            assert one.components[part].high == whole.components[part].high
        full = tuple(
            gate_scorecard(card, criteria, simulator=name).verdict for criteria in CRITERIA
        )
        assert verdicts(short) == full


def test_rows_do_not_depend_on_blocks() -> None:
    cell = Cell(30, 1, 1, ("copy",))
    ((_, all_rows),) = run("paired", 12, cells=(cell,))
    ((_, few),) = run("paired", 3, cells=(cell,))
    for one, two in zip(all_rows, few, strict=False):
        assert np.array_equal(one.values, two.values, equal_nan=True)


def test_rate_by_hand() -> None:
    found = rate([True, False, False, False])
    assert (found["percent"], found["n"]) == (25.0, 4)
    # sqrt(1/4 x 3/4 / 4) = 0.2165
    assert found["error"] == pytest.approx(21.65, abs=0.01)


def test_a_folded_term_keeps_its_error() -> None:
    # replicates ± 0.1 around a point of 0.01: their absolute values do not vary at all
    draws = np.array([[0.1], [-0.1], [0.1], [-0.1]])
    one = np.ones(1)
    terms = signed_terms("reaction", ("pivot",), one, 0.01 * one, 0.1 * one, draws, np.zeros(0))
    score = score_terms(terms, Interval(1.645, 1.0, None, True))
    # sd of ±10 points over four values: 10 x sqrt(4 / 3)
    assert score.se == pytest.approx(11.547, abs=0.001)


def test_the_page_is_that_of_its_numbers() -> None:
    results = json.loads((DOCS / "validation.json").read_text(encoding="utf-8"))
    assert (DOCS / "validation.md").read_text(encoding="utf-8") == render(results)


def test_the_published_numbers_keep_the_promises() -> None:
    results = json.loads((DOCS / "validation.json").read_text(encoding="utf-8"))
    for design, simulators in results["paired"].items():
        tasks, *size = design.split("x")
        for name, own in simulators.items():
            for part, found in own["parts"].items():
                share = found["false_pass"]
                if share["n"] < 20 or int(tasks) < 165 or (size != ["3", "3"] and part != "index"):
                    continue
                limit = 5 if part == "index" else 8
                assert share["percent"] <= limit + 3 * share["error"], (design, name, part)
    assert results["paired"]["165x3x3"]["copy"]["verdicts"]["B"]["PASS"]["percent"] >= 90
    for step in results["versions"]:
        for part, found in step["parts"].items():
            if found["n"]:
                assert found["percent"] <= 5 + 3 * found["error"], (step["new"], part)
