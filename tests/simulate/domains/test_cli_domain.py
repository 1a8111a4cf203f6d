"""`usi domain` in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import refused, usi
from helpers import shared
from lockers import DEFINITION, build

from usi.scoring.published.calibration import read_difficulty


def test_list_and_show() -> None:
    (listed,) = usi("domain", "list").json()["domains"]
    assert listed["domain"] == "service_desk"
    shown = usi("domain", "show", "service_desk").json()
    assert len(shown["tasks"]) == int(listed["tasks"])
    assert "instruction" not in json.dumps(shown["tasks"])
    one = usi("domain", "show", "service_desk", "--task", "reopen").json()
    assert [c["call"] for c in one["oracle"] if c["write"] and not c["offer"]] == [
        "reopen_incident"
    ]
    table = usi("domain", "show", "service_desk", "--task", "reopen", "--print", "table")
    assert "Priya Nandakumar" in table.out
    policy = usi("domain", "show", "service_desk", "--policy")
    assert policy.out.startswith("# Service desk: rule book")


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    refused(usi("domain", "show", "service_dask"), "service_desk")
    refused(usi("domain", "show", "service_desk", "--task", "nothing"), "nothing")
    refused(usi("domain", "check", str(tmp_path)), "domain.toml")


def test_check_of_an_own_folder_with_runs(tmp_path: Path) -> None:
    # L1 may be given to anybody: an argument that does not count.
    loose = DEFINITION[: DEFINITION.index("[[rule]]")]
    build(tmp_path / "own", definition=loose)
    runs = "\n".join(
        json.dumps(
            {"task_id": "take", "trial": n, "domain": "lockers", "reward": 0, "messages": []}
        )
        for n in range(3)
    )
    (tmp_path / "runs.jsonl").write_text(runs, encoding="utf-8")
    done = usi("domain", "check", "./own", "--runs", "runs.jsonl", "-o", "c.md", "-o", "c.json",
               cwd=tmp_path)  # fmt: skip
    assert done.code == 0, done
    found = done.json()
    assert found["ok"] is True
    assert [(t["task"], t["verdict"]) for t in found["runs"]] == [("lockers_take", "never")]
    assert found["tasks_without_runs"] == ["two", "refuse", "either"]
    assert "0 of 3" in (tmp_path / "c.md").read_text(encoding="utf-8")
    build(tmp_path / "bad", definition=loose.replace('"keys.remark"', '"lockers"'))
    bad = usi("domain", "check", "./bad", cwd=tmp_path)
    assert bad.code == 1
    assert bad.json()["ok"] is False


def test_a_list_of_tasks_without_any_is_no_empty_table(tmp_path: Path) -> None:
    build(tmp_path / "own")
    row = {"task_id": "take", "domain": "lockers", "messages": []}
    runs = [{**row, "trial": n, "reward": n % 2} for n in range(3)]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(r) + "\n" for r in runs))
    done = usi("domain", "check", "./own", "--runs", "runs.jsonl", "--print", "table",
               "-o", "c.md", cwd=tmp_path)  # fmt: skip
    for text in (done.out, (tmp_path / "c.md").read_text(encoding="utf-8")):
        assert "Tasks that always or never succeed in the runs" in text
        assert "No task with enough trials never succeeds." in text
        assert "failures that agree" not in text  # the head of a table without rows


@pytest.mark.parametrize("form", ["json", "table"])
def test_results_of_recorded_runs(form: str) -> None:
    path = shared("data/taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json")
    done = usi("domain", "results", path, "-k", "1,4", "--print", form)
    assert done.code == 0, done
    if form == "json":
        (found,) = done.json()["simulators"]
        assert found["pass_k"]["values"]["4"]["value"] == pytest.approx(0.2)
    else:
        assert "0.420" in done.out
        assert "Does reward 1 hide skipped confirmations?" in done.out
        assert "mixes agent and simulator variance" in done.out
    refused(usi("domain", "results", path, "-k", "0"), "-k 0")


def test_levels_become_a_difficulty_file(tmp_path: Path) -> None:
    file = tmp_path / "difficulty.json"
    assert usi("domain", "difficulty", "service_desk", "-o", file, "--print", "none").code == 0
    rates = read_difficulty(file).rates
    assert (rates["service_desk_unlock"], rates["service_desk_misuse"]) == (0.9, 0.35)
    assert len(rates) == 32


def test_an_agent_that_never_asks_keeps_its_reward_and_is_found_out(tmp_path: Path) -> None:
    """Without a question every write is right and none is confirmed: reward alone hides it."""
    runs = tmp_path / "runs"
    made = usi("simulate", "scripted:plain", "--domain", "service_desk", "--agent", "oracle:rush=1",
               "--tasks", "unlock,headset,price", "-o", runs, "--quiet")  # fmt: skip
    assert made.code == 0, made.err
    (found,) = usi("domain", "results", runs / "plain.jsonl", "-k", "1").json()["simulators"]
    assert found["reward"]["value"] == 1.0
    assert found["way"]["broken"]["confirmation"] == [2, 2]  # a price is told, nothing is written
    assert found["way"]["unconfirmed"]["value"] == pytest.approx(2 / 3)
