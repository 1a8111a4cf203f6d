"""Commands that read people by session respect the corpus: its keys of reading, its parts."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from command import usi as run

TASKS = 18


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A corpus from a table with columns of its own; a third of its tasks is held out."""
    run("init", ".", cwd=tmp_path)
    for name, sessions in (("people", 4 * TASKS), ("bot", 2 * TASKS)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as stream:
            rows = csv.writer(stream)
            rows.writerow(["chat", "who", "said", "about", "won"])
            for k in range(sessions):
                words = " ".join(["please change my flight"] * (1 + k % 3))
                rows.writerow([f"{name}{k}", "customer", words, f"t{k % TASKS}", k // TASKS % 2])
                rows.writerow([f"{name}{k}", "agent", "Done.", f"t{k % TASKS}", k // TASKS % 2])
    columns = "session=chat,role=who,text=said,task=about,reward=won"
    (tmp_path / "usi.toml").write_text("")
    reading = ("--map", columns, "--user-role", "customer")
    done = run("corpus", "add", "people.csv", "--name", "people", *reading, "--yes", cwd=tmp_path)
    assert done.code == 0, done.err
    done = run("corpus", "split", "people", "--by", "task", "--held-out", "0.34", cwd=tmp_path)
    assert "held-out: 6 by task" in done.out + done.err
    return tmp_path


READING = (
    "--map",
    "session=chat,role=who,text=said,task=about,reward=won",
    "--user-role",
    "customer",
)


def test_correct_reads_a_corpus_by_its_manifest_and_leaves_held_out_out(workspace: Path) -> None:
    done = run("correct", "bot.csv", *READING, "--human", "people", cwd=workspace)
    assert done.code == 0, done.err
    assert (done.json()["human_tasks"], done.json()["all_tasks"]) == (12, 18)
    refused = run("correct", "bot.csv", *READING, "--human", "people@held-out", cwd=workspace)
    assert refused.code == 2
    assert "kept for decisions" in refused.err


def test_a_pilot_is_read_by_its_manifest(workspace: Path) -> None:
    done = run("plan", "--pilot", "people", cwd=workspace)
    assert done.code == 0, done.err
    refused = run("plan", "--pilot", "people@held-out", cwd=workspace)
    assert refused.code == 2
    assert "kept for decisions" in refused.err


def test_an_aggregate_holds_no_sessions_to_correct_plan_or_write_with(workspace: Path) -> None:
    done = run(
        "corpus", "aggregate", "people", "-o", "sums.parquet", "--min-cell", "2", cwd=workspace
    )
    assert done.code == 0, done.err
    for command in (
        ("correct", "bot.csv", *READING, "--human", "sums.parquet"),
        ("plan", "--pilot", "sums.parquet"),
        ("score", "bot.csv", *READING, "--human", "sums.parquet", "-o", "x.sessions.parquet"),
    ):
        refused = run(*command, cwd=workspace)
        assert refused.code == 2, command
        assert "is an aggregate and holds no sessions" in refused.err
    assert not list(workspace.glob("x.*"))


def test_features_of_a_corpus_leave_held_out_out(workspace: Path) -> None:
    for name, sessions in (("people", 48), ("human_corpus/people", 48), ("people@half-1", 24)):
        done = run("features", name, "--side", "human", cwd=workspace)
        assert done.code == 0, done.err
        assert len(done.out.splitlines()) == sessions
    refused = run("features", "people@held-out", "--side", "human", cwd=workspace)
    assert refused.code == 2
    assert "kept for decisions" in refused.err
