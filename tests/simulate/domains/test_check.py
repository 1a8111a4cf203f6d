"""The check notices domains that grade what they should not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lockers import DEFINITION, TASKS, TOOLS, build

from usi.simulate.domains import FolderDomain, load_domain
from usi.simulate.domains.check import TaskCheck, additions, argument_changes, check_task, omissions

WRITES = 'db.get("lockers", locker)["n"] = 1\n    return {"locker": locker, **'
QUIET = DEFINITION[: DEFINITION.index("[[rule]]")]


def changed(**fields: Any) -> str:
    return json.dumps([{**TASKS[0], **fields}])


def first(folder: Path, **changes: str) -> TaskCheck:
    domain = load_domain(build(folder, **{"definition": QUIET, "tasks": changed(), **changes}))
    return check_task(domain, domain.tasks[0])


def test_a_sound_task_has_no_problem(tmp_path: Path) -> None:
    found = first(tmp_path / "d")
    assert found.problems == ()
    assert (found.goal_states, found.writes, found.omissions.n) == (1, 1, 1)


def test_mutations_are_those_of_the_hand(lockers: FolderDomain) -> None:
    task = lockers.task("take")
    actions = lockers.oracle_actions(task)
    assert [m.detail for m in omissions(actions)] == ["without take(locker='L1', person='ann')"]
    details = [(m.kind, m.detail) for m in argument_changes(lockers, task, actions)]
    assert details == [
        ("argument", f"take with {change}")
        for change in (
            "locker 'L1 x' in place of 'L1'",
            "locker 'L2' in place of 'L1'",
            "locker 'L3' in place of 'L1'",
            "person 'ben' in place of 'ann'",
            "size 2 in place of 1",
            "size 0 in place of 1",
        )
    ]
    either = lockers.task("either")
    kept = [m.detail for m in argument_changes(lockers, either, lockers.oracle_actions(either))]
    assert not any("'L3' in place" in detail for detail in kept)
    added = [m.detail for m in additions(lockers, task, actions)]
    assert added == [
        "and take(locker='L1', person='ann')",
        "and order_key(locker='L1', remark='x')",
        "and order_key(locker='L2')",
        "and free(locker='L2')",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        # A field that is compared with closed eyes: whoever gets the locker, it is graded 1.
        ({"definition": QUIET.replace('"keys.remark"', '"lockers.owner"')}, ["without take"]),
        # An argument that the tool does not use.
        ({"tools": TOOLS.replace('record["size"] = size', "")}, ["size 2 in place of 1"]),
        # A read that writes.
        ({"tools": TOOLS.replace("return {\"locker\": locker, **", WRITES)},
         ["look is marked as a read"]),
        ({"tasks": changed(reply="Done.")}, ["the oracle gets 0", "was not told 1234"]),
        ({"tasks": changed(refusal=True)}, []),
        ({"tasks": changed(outputs=["locker L1"])}, ["the outputs are not needed"]),
        ({"tasks": changed(outputs=[], never_said=["1234"])}, ["the user was told 1234"]),
        ({"tasks": changed(step=[{"call": "take", "args": {"locker": "L1", "person": "ann"},
                                  "ask": ["shoe size"], "after": ["x"]}])},
         ["no fact of the task", "no step", "needs `describe`"]),
        ({"tasks": changed(step=[{"call": "fly", "describe": "fly"}])}, ["there is no tool 'fly'"]),
        ({"tasks": changed(step=[*TASKS[0]["step"], {"call": "order_key", "args": {"locker": "L1"},
                                                     "describe": "x", "offer": True}],
                           refusal=False)}, []),
        ({"definition": DEFINITION}, []),
        ({"definition": DEFINITION.replace('["L2"]', '["L1"]').replace('["free"]', '["take"]')},
         ["the oracle breaks not_l2"]),
    ],
)  # fmt: skip
def test_defects_are_found(tmp_path: Path, changes: dict[str, str], words: list[str]) -> None:
    found = first(tmp_path / "d", **changes)
    for word in words:
        assert any(word in problem for problem in found.problems), found.problems
    assert bool(found.problems) == bool(words)


def test_free_text_must_not_be_compared(tmp_path: Path) -> None:
    step = {"call": "order_key", "args": {"locker": "L1", "remark": "x"}, "describe": "k"}
    tasks = changed(step=[step])
    assert first(tmp_path / "a", tasks=tasks).problems == ()
    eager = QUIET.replace('ignored = ["keys.remark"]', "")
    (problem,) = first(tmp_path / "b", tasks=tasks, definition=eager).problems
    assert "order_key with remark" in problem


def test_an_accepted_offer_must_not_be_right(tmp_path: Path) -> None:
    take = TASKS[0]["step"][1]
    steps = [{**take, "id": "offer", "offer": True}, take]
    (problem,) = first(tmp_path / "d", tasks=changed(step=steps)).problems
    assert "wrong alternative is accepted" in problem
