"""`usi score` on golden cases and on public transcripts; nothing is computed here but read."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest
from command import refused, usi
from helpers import shared

PROFILE = ("--profile", "tau-usi")
COLUMNS = ("D1_conv", "D2_info", "D3_clarif", "D4_react", "eval_agree", "ece", "usi")
COMPONENTS = ["conversation", "information", "clarification", "reaction", "outcome", "survey"]


@pytest.mark.parametrize("case", ["score_six_terms", "score_five_terms"])
def test_golden_scores_through_the_command_line(case: str, tmp_path: Path) -> None:
    folder = shared(f"golden/{case}")
    expected = json.loads((folder / "expected.json").read_text())
    done = usi(
        "score", *sorted(folder.glob("eval_results_*.json")),
        "--human", folder / "tau_bench_tasks_unified.json", *PROFILE,
        "-o", tmp_path / "card.json", "-o", tmp_path / "card.tau-usi.json",
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = {r["name"]: r for r in json.loads((tmp_path / "card.tau-usi.json").read_text())["rows"]}
    assert next(iter(rows)) == expected["rows"][0]["name"]
    assert set(rows) == {row["name"] for row in expected["rows"]}
    for wanted in expected["rows"]:
        for column in COLUMNS:
            found = rows[wanted["name"]][column]
            if wanted[column] is None:
                assert found is None
            else:
                assert found == pytest.approx(wanted[column], abs=1e-9, rel=0)
    card = json.loads((tmp_path / "card.json").read_text())
    assert done.json() == card
    terms = 6 if case == "score_six_terms" else 5
    for side in (card["human"], *card["simulators"]):
        assert side["index"]["name"] == "USI"
        assert side["index"]["terms"] == terms
        assert sorted(side["components"]) == sorted(COMPONENTS)
    assert [s["n"]["tasks"] for s in card["simulators"]] == [165] * len(card["simulators"])


def test_a_survey_folder_beside_the_reference_is_used_and_named_and_none_turns_it_off() -> None:
    folder = shared("golden/score_six_terms")
    base = ("score", folder / "eval_results_sim-polite.json", "--human",
            folder / "tau_bench_tasks_unified.json", *PROFILE)  # fmt: skip
    used, off = usi(*base), usi(*base, "--surveys", "none")
    assert "survey_data" in used.out + used.err
    assert used.json()["simulators"][0]["index"]["terms"] == 6
    side = off.json()["simulators"][0]
    assert side["index"]["terms"] == 5
    assert side["components"]["survey"]["status"] == "not_assessed"
    assert side["components"]["survey"]["reason"]


def test_every_number_of_a_card_is_an_estimate_and_none_is_nan(tmp_path: Path) -> None:
    folder = shared("golden/score_five_terms")
    done = usi(
        "score", folder / "eval_results_sim-single-run.json", "--human",
        folder / "tau_bench_tasks_unified.json", *PROFILE,
    )  # fmt: skip
    text = done.out
    assert "NaN" not in text
    assert "Infinity" not in text
    side = done.json()["simulators"][0]
    for part in (*side["components"].values(), side["index"]):
        assert {"value", "low", "high", "n", "unit", "status", "reason"} <= set(part)
        assert (part["value"] is None) == (part["status"] != "ok")


def test_equal_inputs_give_equal_bytes_wherever_they_lie(tmp_path: Path) -> None:
    folder = shared("golden/score_five_terms")
    made = []
    for place in (tmp_path / "a", tmp_path / "b" / "deeper"):
        shutil.copytree(folder, place)
        done = usi(
            "score", place / "eval_results_sim-single-run.json", "--human",
            place / "tau_bench_tasks_unified.json", *PROFILE,
            *(x for s in ("json", "md", "html") for x in ("-o", place / f"out.{s}")),
        )  # fmt: skip
        assert done.code == 0, done.err
        made.append([(place / f"out.{s}").read_bytes() for s in ("json", "md", "html")])
        assert str(tmp_path) not in (place / "out.json").read_text()
        record = json.loads((place / "out.run.json").read_text())
        assert record["signature"] == done.json()["signature"]
        assert {f["name"] for f in record["outputs"]} >= {"out.json", "out.md", "out.html"}
    assert made[0] == made[1]


def test_run_ids_none_keeps_ids_whole_and_suffix_splits_them(tmp_path: Path) -> None:
    """3 runs of 50 tasks: the published rule sees 150 unknown tasks, --run-ids suffix mends it."""
    folder = shared("golden/score_six_terms")
    sims = json.loads((folder / "eval_results_sim-polite.json").read_text())
    few = {k: v for k, v in sims.items() if k.startswith("airline_")}
    assert len(few) == 150
    path = tmp_path / "eval_results_few.json"
    path.write_text(json.dumps(few))
    base = ("score", path, "--human", folder / "tau_bench_tasks_unified.json", *PROFILE,
            "--surveys", "none")  # fmt: skip
    refused(usi(*base), "--run-ids suffix")
    split = usi(*base, "--run-ids", "suffix").json()["simulators"][0]
    assert (split["n"]["tasks"], split["n"]["runs"]) == (50, 3)


def test_one_simulator_against_another_as_reference() -> None:
    """The reference is simulator output: the card says that it is no human."""
    data = shared("data/taubench")
    done = usi(
        "score", data / "retail_agent-gpt-4o-mini_user-gpt-4o-mini_115x1.json", "--human",
        data / "retail_agent-gpt-4o_user-gpt-4o_115x1.json", *PROFILE, "--surveys", "none",
    )  # fmt: skip
    assert done.code == 0, done.err
    card = done.json()
    assert card["human"]["is_human"] is False
    assert "no human" in json.dumps(card).lower()
    (side,) = card["simulators"]
    assert side["n"]["tasks"] == 115
    assert side["n"]["runs"] == 1
    assert 0 < side["index"]["value"] < 100
    # Success is 72 of 115 against 49 of 115 (counted in the files): the weighted mean of the
    # bins' absolute gaps is at least the absolute gap of the whole.
    assert side["components"]["outcome"]["value"] <= 100 - 100 * (72 - 49) / 115 + 1e-9


def test_three_simulators_on_the_same_tasks() -> None:
    data = shared("data/tau2")
    names = ("airline_user-grok-3_4x4", "airline_user-grok-3-mini_4x4", "airline_user-grok-4_4x4")
    files = [data / f"{name}.json" for name in names]
    done = usi("score", *files, "--human", files[0], *PROFILE, "--surveys", "none")
    assert done.code == 0, done.err
    card = done.json()
    by_name = {side["name"]: side for side in card["simulators"]}
    assert set(by_name) == set(names)
    for side in by_name.values():
        assert (side["n"]["tasks"], side["n"]["sessions"], side["n"]["runs"]) == (4, 16, 4)
    # Against itself every behavioural mean of a simulator is that of the pooled trials.
    values = {name: side["components"]["conversation"]["value"] for name, side in by_name.items()}
    assert max(values, key=values.__getitem__) == names[0]


def test_a_trial_that_is_the_task_index_is_one_run() -> None:
    data = shared("data/taubench")
    done = usi(
        "score", data / "retail_agent-qwen2.5-7b_user-qwen2.5-7b_115x1.json", "--human",
        data / "retail_agent-gpt-4o_user-gpt-4o_115x1.json", *PROFILE, "--surveys", "none",
    )  # fmt: skip
    (side,) = done.json()["simulators"]
    assert (side["n"]["tasks"], side["n"]["runs"]) == (115, 1)


@pytest.mark.parametrize("name", ["all_errors_a", "all_errors_b"])
def test_a_file_of_failed_runs_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    data = shared("data/taubench")
    done = usi(
        "score", data / f"{name}.json", "--human",
        data / "retail_agent-gpt-4o_user-gpt-4o_115x1.json", *PROFILE, "--surveys", "none",
        "-o", tmp_path / "card.json",
    )  # fmt: skip
    refused(done, name, "failed")
    assert list(tmp_path.iterdir()) == []


def test_silence_is_never_perfect(tmp_path: Path) -> None:
    """All conversations without a user turn: the public scorer gives 98.67, usi refuses."""
    folder = shared("golden/score_five_terms")
    sims = json.loads((folder / "eval_results_sim-single-run.json").read_text())
    for entry in sims.values():
        entry["conversation"] = [m for m in entry["conversation"] if m["role"] != "user"]
    path = tmp_path / "eval_results_mute.json"
    path.write_text(json.dumps(sims))
    done = usi(
        "score", path, "--human", folder / "tau_bench_tasks_unified.json", *PROFILE,
        "-o", tmp_path / "card.json",
    )  # fmt: skip
    refused(done, "mute", "user turn")
    assert not (tmp_path / "card.json").exists()


def test_the_partly_broken_run_counts_what_it_left_out() -> None:
    data = shared("data/taubench")
    done = usi(
        "score", data / "retail_broken_run.json", "--human",
        data / "retail_agent-gpt-4o_user-gpt-4o_115x1.json", *PROFILE, "--surveys", "none",
    )  # fmt: skip
    assert done.code == 0, done.err
    (side,) = done.json()["simulators"]
    assert side["n"]["sessions"] == 1
    assert any(
        item["reason"]["code"] == "failed_run_told" and item["count"] == 1
        for item in side["left_out"]
    )


def test_an_unknown_domain_has_no_frozen_difficulty(tmp_path: Path) -> None:
    data = shared("data/taubench")
    for name, source in (("a", "gpt-4o-mini_user-gpt-4o-mini"), ("b", "gpt-4o_user-gpt-4o")):
        shutil.copy(data / f"retail_agent-{source}_115x1.json", tmp_path / f"{name}.json")
    base = ("score", tmp_path / "a.json", "--human", tmp_path / "b.json", *PROFILE,
            "--surveys", "none")  # fmt: skip
    (bare,) = usi(*base).json()["simulators"]
    assert bare["components"]["outcome"]["status"] == "not_assessed"
    assert "--domain" in json.dumps(bare) or "difficult" in json.dumps(bare)
    (named,) = usi(*base, "--domain", "retail").json()["simulators"]
    assert named["components"]["outcome"]["status"] == "ok"


def test_human_row_is_first_and_the_table_says_everything(tmp_path: Path) -> None:
    folder = shared("golden/score_six_terms")
    done = usi(
        "score", *sorted(folder.glob("eval_results_*.json")), "--human",
        folder / "tau_bench_tasks_unified.json", *PROFILE, "--print", "table",
        env={"NO_COLOR": "1"},
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    at = [done.out.index(n) for n in ("Human (inter-ann.)", "sim-human-like", "sim-polite")]
    assert at == sorted(at)
    expected = json.loads((folder / "expected.json").read_text())["rows"]
    for row in expected:
        mean, sd = row["usi"]
        assert f"{mean:.1f} ± {sd:.1f} USI(6)" in done.out
        mean, sd = row["ece"]
        assert f"{100 * (1 - mean):.1f} ± {100 * sd:.1f}" in done.out
        assert math.isfinite(mean)
