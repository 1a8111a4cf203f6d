"""Goals, rewards, labels and triage, by hand on three lockers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lockers import TASKS, build, call, say

from usi.errors import InputError
from usi.simulate.domains import FolderDomain, load_domain
from usi.simulate.domains.goals import orders
from usi.simulate.domains.grading import triage
from usi.simulate.domains.tasks import Step
from usi.simulate.protocol import Mismatch

ASK = [say("assistant", "I give you locker L1. Is that right?"), say("user", "yes")]
TAKE = call("take", locker="L1", person="ann")
TOLD = say("assistant", "Your code is 1234.")


def grade(domain: FolderDomain, task: str, *messages: dict[str, Any]) -> tuple[int, str, list[str]]:
    found = domain.regrade(domain.task(task), [say("user", "Hello."), *messages])
    return found.reward, found.label, sorted(finding.kind for finding in found.triage)


@pytest.mark.parametrize(
    ("task", "messages", "expected"),
    [
        ("take", [*ASK, TAKE, TOLD], (1, "full", [])),
        ("take", [*ASK, TAKE], (0, "partial", ["missing_output"])),
        ("take", [TOLD], (0, "failure", ["missing_write"])),
        ("take", [say("assistant", "I can't do that.")],
         (0, "wrong_refusal", ["missing_output", "missing_write"])),
        ("take", [say("assistant", "Good bye.")],
         (0, "failure", ["missing_output", "missing_write"])),
        ("take", [call("take", locker="L1", person="ben"), TOLD],
         (0, "failure", ["wrong_argument"])),
        ("take", [call("take", locker="L3", person="ann"), TOLD],
         (0, "failure", ["extra_write", "missing_write"])),
        ("take", [TAKE, call("order_key", locker="L1"), TOLD], (0, "failure", ["extra_write"])),
        ("take", [TAKE, call("free", locker="L1"), TAKE, TOLD], (1, "full", [])),
        ("take", [{**TAKE, "content": "Your code is 1234."}], (0, "partial", ["missing_output"])),
        ("refuse", [say("assistant", "No, it is taken.")], (1, "correct_refusal", [])),
        ("refuse", [say("assistant", "It is taken by Ben.")], (0, "failure", ["forbidden_output"])),
        ("refuse", [call("free", locker="L2")], (0, "failure", ["extra_write"])),
        ("either", [call("take", locker="L3", person="ann")], (1, "full", [])),
        ("either", [TAKE], (1, "full", [])),
        ("either", [TAKE, call("take", locker="L3", person="ann")],
         (0, "failure", ["extra_write"])),
        ("two", [TAKE], (0, "partial", ["missing_write", "missing_write"])),
        ("two", [TAKE, call("order_key", locker="L1"), call("order_key", locker="L2")],
         (1, "full", [])),
        ("two", [call("order_key", locker="L2"), TAKE, call("order_key", locker="L1", remark="q")],
         (1, "full", [])),
        ("two", [TAKE, call("order_key", locker="L1"), call("order_key", locker="L3")],
         (0, "failure", ["wrong_argument"])),
    ],
)  # fmt: skip
def test_grades(
    lockers: FolderDomain,
    task: str,
    messages: list[dict[str, Any]],
    expected: tuple[int, str, list[str]],
) -> None:
    assert grade(lockers, task, *messages) == expected


def test_malformed_calls_do_nothing(lockers: FolderDomain) -> None:
    broken = {**TAKE, "tool_calls": [{"function": {"name": "take", "arguments": "{oops"}}, "x"]}
    reward, _, kinds = grade(lockers, "take", broken, TOLD)
    assert (reward, kinds) == (0, ["missing_write"])


def test_the_state_of_the_episode_counts(lockers: FolderDomain) -> None:
    """What the harness says of the database wins over what the messages would give."""
    state = lockers.new_state()
    assert lockers.grade(lockers.task("take"), state, [*ASK, TAKE, TOLD]).reward == 0


def test_orders_are_those_that_after_allows() -> None:
    a, b = Step(call="w", id="a"), Step(call="w", id="b")
    c = Step(call="w", id="c", after=("a",))
    d = Step(call="w", id="d", args={"x": "$c.key"})
    writes = frozenset("w")

    def names(*steps: Step) -> list[str]:
        return ["".join(s.id for s in order) for order in orders(steps, writes)]

    assert names(a, b) == ["ab", "ba"]
    assert names(a, c) == ["ac"]
    assert names(a, b, c) == ["abc", "acb", "bac"]
    assert names(a, c, d) == ["acd"]
    assert names(a, Step(call="r", id="r"), b) == ["rab", "rba"]


def test_goal_states_are_those_of_all_legal_orders(lockers: FolderDomain) -> None:
    # k1 and k2 number their keys by who comes first: K008/K009 either way round.
    assert len(lockers.goals(lockers.task("two")).states) == 2
    assert len(lockers.goals(lockers.task("either")).states) == 2
    assert len(lockers.goals(lockers.task("take")).states) == 1


def test_references_take_results(tmp_path: Path) -> None:
    steps = [
        {"id": "t", "call": "take", "args": {"locker": "L1", "person": "ann"}, "describe": "t"},
        {"id": "k", "call": "order_key", "args": {"locker": "$t.locker"}, "describe": "k"},
    ]
    domain = load_domain(build(tmp_path / "d", tasks=json.dumps([{**TASKS[0], "step": steps}])))
    actions = domain.oracle_actions(domain.tasks[0])
    assert [dict(a.arguments) for a in actions][1] == {"locker": "L1"}


def test_a_path_that_fails_is_named(tmp_path: Path) -> None:
    steps = [{"call": "take", "args": {"locker": "L2", "person": "ann"}, "describe": "t"}]
    domain = load_domain(build(tmp_path / "d", tasks=json.dumps([{**TASKS[0], "step": steps}])))
    with pytest.raises(InputError, match="task take: path 1 fails: step take: taken"):
        domain.goals(domain.tasks[0])


def test_triage_takes_the_nearest_goal_and_half_done_records() -> None:
    start: dict[str, Any] = {"t": {"1": {"a": 0, "b": 0}}}
    goals = [{"t": {"1": {"a": 1, "b": 1}}}, {"t": {"1": {"a": 2, "b": 0}}}]
    assert triage(start, {"t": {"1": {"a": 2, "b": 0}}}, goals) == ()
    (found,) = triage(start, {"t": {"1": {"a": 3, "b": 0}}}, goals)
    assert found == Mismatch("wrong_argument", "t 1: a is 3, not 2")
    empty: dict[str, Any] = {"t": {}}
    goal, half = {"t": {"1": {"s": "sent"}}}, {"t": {"1": {"s": "new"}}}
    assert triage(empty, half, [goal])[0].kind == "wrong_argument"
    assert triage(empty, half, [goal], [half])[0].kind == "missing_write"
    assert triage(goal, empty, [goal])[0].kind == "extra_write"
    assert triage(goal, goal, [empty])[0].kind == "missing_write"
