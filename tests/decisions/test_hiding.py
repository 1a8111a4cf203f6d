"""Ways to hide what speaks against a simulator, from its files to the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from command import usi

from usi.phantom import build_phantom

Row = dict[str, Any]


def status(row: Row) -> Row:
    return {**row, "status": "infrastructure_error"}


def keep(row: Row) -> Row:
    return {**row, "keep": False}


def no_outcome(row: Row) -> Row:
    return {key: value for key, value in row.items() if key != "reward"}


def language(row: Row) -> Row:
    said = [{**turn, "content": "да нет спасибо хорошо пожалуйста билет"} if turn["role"] == "user"
            else turn for turn in row["messages"]]  # fmt: skip
    return {**row, "messages": said, "language": "ru"}


def silent_agent(row: Row) -> Row:
    return {**row, "messages": [turn for turn in row["messages"] if turn["role"] == "user"]}


# How a session is hidden -> the check that must not pass, and what it says.
WAYS: dict[str, tuple[Callable[[Row], Row | None], str, str]] = {
    "status": (status, "left_out.simulator", "infrastructure error"),
    "keep": (keep, "left_out.simulator", "keep mark"),
    "no_outcome": (no_outcome, "left_out.simulator", "without an outcome"),
    "language": (language, "left_out.simulator", "without word lists"),
    "silent_agent": (silent_agent, "left_out.simulator", "the agent says nothing"),
    "dropped": (lambda row: None, "left_out.simulator", "sessions are not there"),
}


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Row]]:
    """Simulator -> check -> what was found, at tier C, of one scoring of every way."""
    place = tmp_path_factory.mktemp("hidden")
    files = build_phantom(place, seed=3, tasks=40, simulators=("copy",))
    rows = [json.loads(line) for line in files.simulators["copy"].read_text().splitlines()]
    third = [row["trial"] == "3" and number % 2 == 0 for number, row in enumerate(rows)]
    made = {"open": rows, "runs_twice": []}
    for name, (hide, _, _) in WAYS.items():
        hidden = [hide(row) if bad else row for row, bad in zip(rows, third, strict=True)]
        made[name] = [row for row in hidden if row is not None]
    for row in rows:
        made["runs_twice"] += [
            row,
            {**row, "id": f"{row['id']}-again", "trial": f"1{row['trial']}"},
        ]
    for name, own in made.items():
        lines = (json.dumps({**row, "simulator": name}) + "\n" for row in own)
        (place / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    card = place / "card.json"
    done = usi(
        "score", *(place / f"{name}.jsonl" for name in made), "--human", files.human,
        "--c2st", "off", "--replicates", "100", "-o", card, "-q",
    )  # fmt: skip
    assert done.code == 0, done.err
    verdict = usi("gate", card, "--tier", "C").json()
    return {
        part["name"]: {check["id"]: check for check in part["checks"]}
        | {"verdict": part["verdict"]}
        for part in verdict["simulators"]
    }


def test_with_everything_there_nothing_is_left_out(checks: dict[str, dict[str, Row]]) -> None:
    assert checks["open"]["left_out.simulator"]["state"] == "pass"
    assert checks["open"]["run_copies"]["state"] == "pass"


@pytest.mark.parametrize("way", WAYS)
def test_a_hidden_sixth_of_the_sessions_leaves_no_pass(
    way: str, checks: dict[str, dict[str, Row]]
) -> None:
    _, check, said = WAYS[way]
    found = checks[way][check]
    assert found["state"] == "inconclusive"
    assert said in json.dumps(found["found"])
    assert checks[way]["verdict"] != "PASS"


def test_runs_that_are_copies_leave_no_pass(checks: dict[str, dict[str, Row]]) -> None:
    assert checks["runs_twice"]["run_copies"]["state"] == "inconclusive"
    assert checks["runs_twice"]["verdict"] != "PASS"
