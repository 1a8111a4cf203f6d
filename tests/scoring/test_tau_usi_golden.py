"""Both golden cases, cell by cell, through the Python interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import shared

import usi
from usi.scoring.published.export import aggregate_metrics, published_rows


def score(case: str, **choices: Any) -> tuple[Any, dict[str, Any]]:
    folder = shared(f"golden/{case}")
    paths = sorted(folder.glob("eval_results_*.json"))
    human = folder / "tau_bench_tasks_unified.json"
    card = usi.score(paths, human, profile="tau-usi", **choices)
    return card, json.loads((folder / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("case", ["score_six_terms", "score_five_terms"])
def test_every_cell_agrees(case: str) -> None:
    card, expected = score(case)
    rows = {row["name"]: row for row in published_rows(card)["rows"]}
    assert rows.keys() == {row["name"] for row in expected["rows"]}
    cells = 0
    for want in expected["rows"]:
        got = rows[want["name"]]
        assert got.keys() == want.keys()
        for cell, value in want.items():
            if cell == "name" or value is None:
                assert got[cell] == value
            else:
                assert got[cell] == pytest.approx(value, rel=0, abs=1e-9), (want["name"], cell)
                cells += 1
    assert cells == (21 if case == "score_six_terms" else 12)
    assert published_rows(card)["difficulty"] == expected["difficulty"]


def test_the_card_says_what_stands_behind_the_numbers() -> None:
    card, _ = score("score_six_terms")
    assert [side.name for side in card.simulators] == ["sim-human-like", "sim-polite"]
    assert card.signature.startswith("USI|profile:tau-usi|corpus:tau_bench_tasks_unified@")
    assert (
        "|source:human|terms:6|batches:3|runs:3|tasks:165|lex:tau19@1|bins:frozen31|seed:42|v:"
        in card.signature
    )
    assert card.settings["surveys"] == "survey_data"
    assert {file.role for file in card.inputs} == {"human", "simulator", "survey"}
    side = card.simulators[0]
    assert side.n.model_dump(exclude_none=True) == {
        "tasks": 165,
        "sessions": 495,
        "runs": 3,
        "batches": 3,
    }
    assert side.index.terms == card.human.index.terms == 6
    assert len(side.features) == 19
    # The public scorer's rule, checked on one number: keep marks of the reference that are false.
    assert {(item.reason.text, item.count) for item in card.human.left_out} == {
        ("session: keep mark is not true", 8)
    }


def test_surveys_can_be_left_out() -> None:
    card, expected = score("score_six_terms", surveys=None)
    assert card.human.index.terms == 5
    for side in (card.human, *card.simulators):
        assert side.components["survey"].status == "not_assessed"
        want = next(row for row in expected["rows"] if row["name"] == side.name)
        five = (6 * want["usi"][0] - want["eval_agree"][0]) / 5
        assert side.index.value == pytest.approx(five, abs=1e-9)
        assert side.index.terms == 5


def test_the_aggregate_file_holds_model_and_people() -> None:
    card, expected = score("score_five_terms")
    found = aggregate_metrics(card, "sim-single-run")
    by_name = {row.pop("name"): row for row in expected["rows"]}
    for key, name in (("model", "sim-single-run"), ("human_inter_annotator", "Human (inter-ann.)")):
        assert found[key].keys() == by_name[name].keys()
        assert found[key]["ece"] == pytest.approx(by_name[name]["ece"], abs=1e-9)
    with pytest.raises(usi.UsiError, match="sim-single-run"):
        aggregate_metrics(card, "other")


def test_a_file_order_or_a_session_order_changes_nothing(tmp_path: Path) -> None:
    folder = shared("golden/score_six_terms")
    paths = sorted(folder.glob("eval_results_*.json"))
    human = folder / "tau_bench_tasks_unified.json"
    shuffled = []
    for path in [human, *paths]:
        data = json.loads(path.read_text("utf-8"))
        turned = dict(reversed(list(data.items())))
        shuffled.append(tmp_path / path.name)
        shuffled[-1].write_text(json.dumps(turned), encoding="utf-8")
    options = {"profile": "tau-usi", "surveys": folder / "survey_data"}
    one = usi.score(paths, human, **options)
    other = usi.score(list(reversed(shuffled[1:])), shuffled[0], **options)
    assert other.to_json() == one.to_json()
    assert usi.score(list(reversed(paths)), human, **options).to_json() == one.to_json()
