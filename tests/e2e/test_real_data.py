"""Public transcripts, scored with the profile robust; expected ranges come from the literature of
the project's specification, never from usi itself. Skips where the shared data are absent.

No data here pair people and simulators on the same tasks: that the machinery works is all that
these numbers say, nothing about any simulator.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Done, usi
from helpers import shared

DIMENSIONS = ("conversation", "information", "clarification", "reaction")
AIRLINE = "data/taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json"
RETAIL = "data/taubench/retail_agent-gpt-4o_user-gpt-4o_115x1.json"
RETAIL_MINI = "data/taubench/retail_agent-gpt-4o-mini_user-gpt-4o-mini_115x1.json"
RETAIL_QWEN = "data/taubench/retail_agent-qwen2.5-7b_user-qwen2.5-7b_115x1.json"
STAR = "data/star/dialogues_even.tar.xz"


def score(simulators: list[Path], human: Path, *more: str | Path, code: int = 0) -> Done:
    done = usi("score", *simulators, "--human", human, "--profile", "robust", "--replicates", "500",
               *more)  # fmt: skip
    assert done.code == code, done.err
    assert "NaN" not in done.out
    return done


def mean(side: dict[str, Any], field: str = "value") -> float:
    return sum(side["components"][name][field] for name in DIMENSIONS) / len(DIMENSIONS)


def test_a_simulator_against_itself_by_trials_passes_tier_c_near_its_ceiling(
    tmp_path: Path,
) -> None:
    file = shared(AIRLINE)
    done = usi(
        "score", file, "--human", file, "--human-runs", "0,1", "--sim-runs", "2,3",
        "--gate", "C", "-o", tmp_path / "card.json", "-o", tmp_path / "card.verdict.json",
    )  # fmt: skip
    verdict = json.loads((tmp_path / "card.verdict.json").read_text())
    assert verdict["verdict"] != "FAIL"
    assert done.code == verdict["exit_code"] in (0, 3)
    side = json.loads((tmp_path / "card.json").read_text())["simulators"][0]
    assert mean(side) == pytest.approx(91, abs=3)
    assert mean(side, "ceiling_at_n") == pytest.approx(94, abs=2)
    assert side["index"]["value"] == pytest.approx(side["index"]["ceiling_at_n"], abs=4)
    assert side["n"]["sessions"] == 100
    trees = next(t for t in side["two_sample"] if t["classifier"] == "trees")
    assert trees["auc"]["value"] is None or trees["auc"]["value"] < 0.65


@pytest.mark.parametrize(
    ("human", "sim", "seed"), [("0,2", "1,3", "1"), ("0,3", "1,2", "1"), ("2,3", "0,1", "2")]
)
def test_no_split_by_trials_fails_whatever_the_seed(human: str, sim: str, seed: str) -> None:
    file = shared(AIRLINE)
    done = usi("score", file, "--human", file, "--human-runs", human, "--sim-runs", sim,
               "--gate", "C", "--seed", seed, "--c2st", "off")  # fmt: skip
    assert done.code in (0, 3), done.err
    assert done.json()["verdict"] in ("PASS", "INCONCLUSIVE")


def test_another_model_as_user_differs_in_components_with_bounds() -> None:
    human, sim = shared(RETAIL), shared(RETAIL_MINI)
    side = score([sim], human).json()["simulators"][0]
    assert side["design"] == "paired"
    assert side["n"]["tasks"] == 115
    for name in ("conversation", "information", "clarification"):
        part = side["components"][name]
        assert part["low"] <= part["value"] <= part["high"]
        assert part["value"] < part["ceiling_at_n"]
    gap = side["success_gap"]
    assert gap["high"] < 0  # the small agent and user succeed less often
    logistic = next(t for t in side["two_sample"] if t["classifier"] == "logistic")
    assert logistic["auc"]["low"] > 0.5


def test_halves_of_the_same_people_stand_near_the_ceiling() -> None:
    file = shared(STAR)
    side = score([file], file, "--human-runs", "odd", "--sim-runs", "even").json()["simulators"][0]
    assert side["design"] == "paired"
    assert side["n"]["tasks"] == 36
    assert 93 <= mean(side) <= 97.5
    assert mean(side) > mean(side, "ceiling_at_n") - 3
    assert side["index"]["value"] > 93


def test_simulators_of_other_tasks_stand_below_people_and_the_card_says_why(
    tmp_path: Path,
) -> None:
    people = shared(STAR)
    sims = [shared(path) for path in (AIRLINE, RETAIL, RETAIL_MINI, RETAIL_QWEN)]
    done = score(sims, people, "-o", tmp_path / "card.md")
    for side in done.json()["simulators"]:
        assert side["design"] == "unpaired"
        assert side["tier_limit"] == "C"
        assert 30 <= mean(side) <= 70
        assert mean(side) < mean(side, "ceiling_at_n") - 10
        floor = side["floors"]["people_of_another_domain"]["value"]
        assert floor is not None
        assert 54 <= floor <= 90
        assert mean(side) < floor
        assert any("tasks differ" in warning["text"] for warning in side["warnings"])
        assert side["index"]["status"] == "not_assessed"
        assert not side["components"]["clarification"]["decides_fail"]
    text = (tmp_path / "card.md").read_text()
    assert "people of another domain" in text
    assert "pairs)" in text
    assert "tasks differ" in text


def test_happy_and_unhappy_people_and_two_domains_differ_as_read_elsewhere() -> None:
    file = shared(STAR)
    more = ("--c2st", "off")
    happy = score([file], file, "--human-where", "happy=true", "--sim-where", "happy=false", *more)
    assert 79 <= mean(happy.json()["simulators"][0]) <= 90
    domains = score([file], file, "--human-where", "domain=bank", "--sim-where", "domain=hotel",
                    *more)  # fmt: skip
    assert 54 <= mean(domains.json()["simulators"][0]) <= 77


def test_second_raters_agree_as_published_and_a_constant_may_beat_them() -> None:
    file = shared("data/abredial/annotated_dialogues.csv")
    done = score([file], file, "--c2st", "off")
    items = {item["item"]: item for item in done.json()["simulators"][0]["survey_items"]}
    skill = {name: item["human_skill"]["value"] for name, item in items.items()}
    assert skill == pytest.approx(
        {
            "understanding": -0.12, "task-completion": 0.01, "interest-arousal": 0.01,
            "efficiency": -0.13, "dialogue-overall": -0.04,
        },
        abs=0.006,
    )  # fmt: skip
    for item in items.values():
        assert 0.18 <= item["human_kappa"]["value"] <= 0.36
