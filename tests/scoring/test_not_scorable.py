"""What the public scorer lets pass as missing = perfect is refused, with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest
from scoring.small import entry, people, put, scored

import usi
from usi.errors import NotScorable, UsageError

SILENT = entry("###STOP###")


def test_a_simulator_that_never_speaks(tmp_path: Path) -> None:
    human = people("retail_0", "retail_1")
    with pytest.raises(NotScorable, match=r"mute: run 1 .* 2 sessions .* batch 1.*usi validate"):
        scored(tmp_path, human, {"mute": {"retail_0": SILENT, "retail_1": SILENT}})


def test_empty_conversations_are_no_perfect_ones(tmp_path: Path) -> None:
    human = people("retail_0")
    with pytest.raises(NotScorable, match="mute"):
        scored(tmp_path, human, {"mute": {"retail_0": entry()}})


def test_one_silent_run_among_speaking_ones(tmp_path: Path) -> None:
    human = people("retail_0", "retail_1")
    simulator = {"retail_0_1": entry("w"), "retail_0_2": SILENT, "retail_1_2": SILENT}
    with pytest.raises(NotScorable, match=r"half: run 2 has no user turn in any of the 2 "):
        scored(tmp_path, human, {"half": simulator}, run_ids="suffix")


def test_a_silent_batch_of_people(tmp_path: Path) -> None:
    human = {**people("retail_0", batches=1), "retail_0_ann2": entry("/stop")}
    with pytest.raises(NotScorable, match=r"s: batch 2 of the reference.*--human-source"):
        scored(tmp_path, human, {"s": {"retail_0": entry("w")}})


def test_no_shared_task(tmp_path: Path) -> None:
    human = people("retail_0")
    with pytest.raises(NotScorable, match=r"'retail_1'.*'retail_0'.*--domain"):
        scored(tmp_path, human, {"s": {"retail_1": entry("w")}})


def test_three_runs_of_fifty_tasks_hear_of_the_suffix_option(tmp_path: Path) -> None:
    tasks = [f"airline_{k}" for k in range(50)]
    human = people(*tasks)
    simulator = {f"{task}_{run}": entry("w w w w") for task in tasks for run in (1, 2, 3)}
    with pytest.raises(NotScorable, match="--run-ids suffix"):
        scored(tmp_path, human, {"s": simulator})
    card = scored(tmp_path, human, {"s": simulator}, run_ids="suffix")
    assert card.simulators[0].index.value == 100.0
    assert "|ids:suffix|" in card.signature


def test_a_simulator_of_failed_runs_alone(tmp_path: Path) -> None:
    human = people("retail_0")
    broken = {"retail_0": {"conversation": None, "reward": 0.0}}
    with pytest.raises(NotScorable, match=r"dead: .*failed run .*: 1"):
        scored(tmp_path, human, {"dead": broken})


def test_one_bad_simulator_is_refused_alone(tmp_path: Path) -> None:
    human = people("retail_0")
    card = scored(tmp_path, human, {"fine": {"retail_0": entry("w")}, "mute": {"retail_0": SILENT}})
    assert [part.name for part in card.simulators] == ["fine"]
    assert [part.name for part in card.refused] == ["mute"]
    with pytest.raises(NotScorable, match="mute"):
        scored(tmp_path, human, {"mute": {"retail_0": SILENT}})


def test_the_same_label_twice_names_the_option(tmp_path: Path) -> None:
    human = put(tmp_path / "people.json", people("retail_0"))
    one = put(tmp_path / "eval_results_x.json", {"retail_0": entry("w")})
    other = put(tmp_path / "x.json", {"retail_0": entry("w")})
    with pytest.raises(UsageError, match="--name"):
        usi.score([one, other], human, profile="tau-usi")


def test_unknown_names_list_near_matches(tmp_path: Path) -> None:
    human = put(tmp_path / "people.json", people("retail_0"))
    one = put(tmp_path / "eval_results_x.json", {"retail_0": entry("w")})
    with pytest.raises(UsageError, match="did you mean 'tau-usi'"):
        usi.score(one, human, profile="tau-uis")
    with pytest.raises(TypeError, match="dificulty"):
        usi.score(one, human, profile="tau-usi", dificulty="self")
    with pytest.raises(UsageError, match="suffix"):
        usi.score(one, human, profile="tau-usi", run_ids="sufix")
    with pytest.raises(UsageError, match="simulated"):
        usi.score(one, human, profile="tau-usi", human_source="simulator")
    with pytest.raises(UsageError, match="no simulator"):
        usi.score([], human, profile="tau-usi")


def test_rewards_that_are_neither_0_nor_1_need_a_threshold(tmp_path: Path) -> None:
    human = people("retail_0", "retail_1")
    half = {task: {**entry("w"), "reward": 0.5} for task in ("retail_0", "retail_1")}
    whole = {task: {**entry("w"), "reward": 1.0} for task in ("retail_0", "retail_1")}
    with pytest.raises(NotScorable, match=r"such as 0\.5.*--success-at"):
        scored(tmp_path, human, {"s": half})
    declared = scored(tmp_path, human, {"s": half}, success_at=0.5)
    plain = scored(tmp_path, human, {"s": whole})
    assert declared.simulators[0].components == plain.simulators[0].components
    assert "|reward:0.5|" in declared.signature
