"""What may stand on either side: files, session tables, names, simulator output as reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scoring.small import answered, entry, people, put, words

import usi
from usi.errors import InputError, UsageError


def tau_bench(path: Path, rows: list[dict[str, Any]]) -> Path:
    return put(path, rows)


def run(task: int, trial: int, text: str, reward: float = 1.0) -> dict[str, Any]:
    return {
        "task_id": task,
        "trial": trial,
        "reward": reward,
        "info": {},
        "traj": [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}],
    }


def test_session_tables_score_like_the_files_they_came_from(tmp_path: Path) -> None:
    human = put(tmp_path / "people.json", people("retail_0", "retail_1", turn="please w w w"))
    sims = [
        put(tmp_path / "eval_results_a.json", {"retail_0": entry("w"), "retail_1": entry("ok")}),
        put(tmp_path / "eval_results_b.json", {"retail_0": entry(words(9))}),
    ]
    tables = []
    for path, side in ((human, "human"), (sims[0], "simulated"), (sims[1], "simulated")):
        label = path.stem.removeprefix("eval_results_")
        tables.append(tmp_path / f"{label}.sessions.parquet")
        usi.features(path, side=side, profile="tau-usi").write(tables[-1])  # type: ignore[arg-type]
    wanted = usi.score(sims, human, profile="tau-usi")
    for mine, theirs in (
        (tables[1:], tables[0]),
        (sims, tables[0]),
        ([tables[1], sims[1]], human),
    ):
        card = usi.score(mine, theirs, profile="tau-usi")
        assert {side.name for side in card.simulators} == {"a", "b"}
        assert card.human.components == wanted.human.components
        for a, b in zip(card.simulators, wanted.simulators, strict=True):
            assert (a.index, a.components, a.features) == (b.index, b.components, b.features)
    with pytest.raises(UsageError, match="--name"):
        usi.score([tables[1], sims[0]], human, profile="tau-usi")


def test_tables_in_memory_and_several_simulators_in_one(tmp_path: Path) -> None:
    human = put(tmp_path / "people.json", people("retail_0"))
    lines = [
        {"simulator": name, "task_id": "retail_0", "messages": [{"role": "user", "content": text}]}
        for name, text in (("x", words(4)), ("y", words(8)))
    ]
    both = tmp_path / "both.jsonl"
    both.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    card = usi.score(both, human, profile="tau-usi")
    assert {side.name for side in card.simulators} == {"x", "y"}
    table = usi.features(both, side="simulated", profile="tau-usi")
    people_table = usi.features(human, side="human", profile="tau-usi")
    again = usi.score(table, people_table, profile="tau-usi")
    assert [s.components for s in again.simulators] == [s.components for s in card.simulators]


def test_a_table_of_another_profile_is_refused(tmp_path: Path) -> None:
    human = put(tmp_path / "people.json", people("retail_0"))
    path = tmp_path / "r.sessions.parquet"
    usi.features(human, side="human", profile="robust").write(path)
    with pytest.raises(UsageError, match="profile 'robust'"):
        usi.score(human, path, profile="tau-usi")
    broken = tmp_path / "x.parquet"
    broken.write_bytes(b"PAR1")
    with pytest.raises(InputError):
        usi.score(broken, human, profile="tau-usi")


def test_simulator_output_as_reference_is_said_to_be_no_human(tmp_path: Path) -> None:
    rows = [run(task, trial, "please w w") for trial in (0, 1) for task in (0, 1)]
    reference = tau_bench(tmp_path / "retail_a.json", rows)
    sim = tau_bench(tmp_path / "retail_b.json", rows)
    card = usi.score(sim, reference, profile="tau-usi")
    assert card.human.is_human is False
    assert "reference_not_human" in [warning.code for warning in card.warnings]
    assert "|source:simulated|" in card.signature
    assert card.simulators[0].index.value == card.human.index.value == 100.0
    assert card.simulators[0].n.batches == 2
    forced = usi.score(sim, reference, profile="tau-usi", human_source="human")
    assert forced.human.is_human is True
    assert "|source:human|" in forced.signature


def test_the_source_picks_the_cleaning(tmp_path: Path) -> None:
    """``/stop`` goes in the cleaning for people, ``###STOP###`` in that for simulators."""
    human = {"retail_0": entry(words(4), "/stop"), "retail_1": entry(words(4), "/stop")}
    sim = put(tmp_path / "eval_results_s.json", {"retail_0": entry(words(4))})
    for name, source, want in (
        ("people.json", "human", 4.0),
        ("eval_results_people.json", "simulated", 2.5),
    ):
        card = usi.score(sim, put(tmp_path / name, human), profile="tau-usi")
        assert card.simulators[0].features["user_words_per_turn"].human.value == want
        assert card.settings["human_source"] == source
    card = usi.score(sim, tmp_path / "people.json", profile="tau-usi", human_source="simulated")
    assert card.simulators[0].features["user_words_per_turn"].human.value == 2.5


def test_files_with_trials_meet_the_published_layout(tmp_path: Path) -> None:
    human = put(tmp_path / "people.json", people("retail_0", "retail_1", turn="please w w"))
    rows = [run(task, trial, "please w w") for trial in (0, 1) for task in (0, 1)]
    card = usi.score(tau_bench(tmp_path / "retail_b.json", rows), human, profile="tau-usi")
    assert card.simulators[0].index.value == 100.0
    assert card.simulators[0].n.runs == 2
    same = tau_bench(tmp_path / "chats.json", rows)
    with pytest.raises(usi.UsiError, match="--domain"):
        usi.score(same, human, profile="tau-usi")
    card = usi.score(same, human, profile="tau-usi", domain="retail")
    assert card.simulators[0].index.value == 100.0


def test_a_survey_folder_beside_the_reference_is_found_and_named(tmp_path: Path) -> None:
    made = people("retail_0")
    for each in made.values():
        each["survey"] = answered(human_like="Yes")
    human = put(tmp_path / "people.json", made)
    sim = put(tmp_path / "eval_results_s.json", {"retail_0": entry("w")})
    survey = {"retail_0": {"survey": answered(human_like="No")}}
    put(tmp_path / "survey_data" / "survey_comparable_s.json", survey)
    card = usi.score(sim, human, profile="tau-usi")
    assert card.settings["surveys"] == "survey_data"
    assert card.simulators[0].components["survey"].value == 0.0
    assert [f.name for f in card.inputs if f.role == "survey"] == ["survey_comparable_s.json"]
    for none in (None, "none"):
        card = usi.score(sim, human, profile="tau-usi", surveys=none)
        assert card.settings["surveys"] == "none"
        assert card.simulators[0].components["survey"].status == "not_assessed"
    card = usi.score(sim, human, profile="tau-usi", name="renamed")
    assert card.simulators[0].name == "renamed"
    assert card.simulators[0].components["survey"].value == 0.0
    with pytest.raises(InputError, match="no such folder"):
        usi.score(sim, human, profile="tau-usi", surveys=tmp_path / "absent")


def test_several_sessions_of_a_task_in_one_run_are_averaged_and_said(tmp_path: Path) -> None:
    human = put(tmp_path / "people.json", people("retail_0"))
    lines = [
        {"id": f"c{k}", "task_id": "retail_0", "reward": k, "messages": [
            {"role": "user", "content": words(4 * (k + 1))}
        ]}
        for k in (0, 1)
    ]  # fmt: skip
    sim = tmp_path / "sim.jsonl"
    sim.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    card = usi.score(sim, human, profile="tau-usi")
    side = card.simulators[0]
    assert side.features["user_words_per_turn"].simulator.value == 6
    assert side.components["outcome"].detail["ece"].value == 0.5
    assert [warning.code for warning in side.warnings] == ["several_sessions_per_task"]


def test_loading_and_features_give_typed_results(tmp_path: Path) -> None:
    path = put(tmp_path / "people.json", people("retail_0"))
    loaded = usi.load(path)
    assert len(loaded) == 3
    assert loaded.to_dict()[0]["session_id"] == "retail_0"
    assert list(loaded.to_pandas()["messages"]) == [1, 1, 1]
    one = usi.features(loaded, side="human", profile="tau-usi")
    other = usi.features(path, side="human", profile="tau-usi")
    assert one.frame.equals(other.frame)
    assert other.to_dict()[1]["batch"] == 2
    assert list(other.to_pandas()["task"]) == ["retail_0"] * 3
