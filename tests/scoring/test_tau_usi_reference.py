"""The published profile agrees with the slow second implementation on made-up studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import shared
from scoring.made_up import study, write
from scoring.reference import table

import usi
from usi.scoring.published.export import published_rows

CASES: dict[str, dict[str, Any]] = {
    "three runs": {"seed": 1},
    "one run, bare ids": {"seed": 2, "runs": 1, "suffixed": False},
    "five runs: four and five count in the outcome alone": {"seed": 3, "runs": 5},
    "few tasks, three runs above the limit": {"seed": 4, "tasks": 66},
    "bare ids with more than 170 entries": {
        "seed": 5,
        "runs": 1,
        "suffixed": False,
        "extra_ids": tuple(f"extra_{i}" for i in range(16)),
    },
    "odd ids": {
        "seed": 6,
        "extra_ids": ("retail_0", "retail_7_9", "airline_3_x", "shop_1_2", "retail_5_ann2", "x"),
    },
    "a domain without difficulty": {"seed": 7, "foreign": True},
    "one simulator": {"seed": 8, "simulators": 1},
    "three simulators, one without a survey": {
        "seed": 9,
        "simulators": 3,
        "runs": 1,
        "suffixed": False,
    },
}


def frozen() -> dict[str, float]:
    path = Path(usi.__file__).parent / "scoring" / "data" / "difficulty_frozen31.json"
    rates: dict[str, float] = json.loads(path.read_text("utf-8"))["difficulty"]
    return rates


def compare(card: Any, expected: dict[str, dict[str, Any]]) -> None:
    rows = {row["name"]: row for row in published_rows(card)["rows"]}
    assert rows.keys() == expected.keys()
    for name, row in expected.items():
        for cell, want in row.items():
            if cell == "name" or want is None:
                assert rows[name][cell] == want, (name, cell)
            else:
                assert rows[name][cell] == pytest.approx(want, rel=0, abs=1e-9), (name, cell)


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_the_reference(case: str, tmp_path: Path) -> None:
    human, files, surveys = study(**CASES[case])
    reference, paths = write(tmp_path, human, files, surveys)
    card = usi.score(paths, reference, profile="tau-usi")
    compare(card, table(human, files, frozen(), surveys))


@pytest.mark.parametrize("seed", range(20, 26))
def test_agrees_with_self_difficulty_and_without_surveys(seed: int, tmp_path: Path) -> None:
    human, files, _ = study(seed, tasks=70, runs=3, simulators=4)
    reference, paths = write(tmp_path, human, files)
    card = usi.score(paths, reference, profile="tau-usi", difficulty="self")
    assert card.difficulty == "self"
    compare(card, table(human, files, None))


def test_agrees_with_a_difficulty_file(tmp_path: Path) -> None:
    human, files, surveys = study(30, tasks=70, foreign=True)
    reference, paths = write(tmp_path, human, files, surveys)
    rates = {task: k / 69 for k, task in enumerate(sorted({i.split("_ann")[0] for i in human}))}
    rates = {task: rate for k, (task, rate) in enumerate(rates.items()) if k % 7}
    wrapped, plain = tmp_path / "wrapped.json", tmp_path / "plain.json"
    wrapped.write_text(json.dumps({"difficulty": rates}), encoding="utf-8")
    plain.write_text(json.dumps(rates), encoding="utf-8")
    expected = table(human, files, rates, surveys)
    for path in (wrapped, plain):
        compare(usi.score(paths, reference, profile="tau-usi", difficulty=str(path)), expected)


def test_the_reference_itself_agrees_with_the_public_scorer() -> None:
    for case in ("score_six_terms", "score_five_terms"):
        folder = shared(f"golden/{case}")

        def read(path: Path) -> Any:
            return json.loads(path.read_text("utf-8"))

        files = {
            path.stem.removeprefix("eval_results_"): read(path)
            for path in folder.glob("eval_results_*.json")
        }
        surveys = {
            path.stem.removeprefix("survey_comparable_"): read(path)
            for path in folder.glob("survey_data/*.json")
        }
        rows = table(read(folder / "tau_bench_tasks_unified.json"), files, frozen(), surveys)
        for want in read(folder / "expected.json")["rows"]:
            for cell, value in want.items():
                if cell == "name" or value is None:
                    assert rows[want["name"]][cell] == value
                else:
                    assert rows[want["name"]][cell] == pytest.approx(value, rel=0, abs=1e-9)
