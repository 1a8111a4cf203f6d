"""The service desk: enough of every kind, reachable goals, and users who make a difference."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lockers import call, say

from usi.simulate.agents.oracle import OracleAgents
from usi.simulate.domains import FolderDomain
from usi.simulate.domains.check import DomainCheck, check_domain
from usi.simulate.domains.oracle import converse
from usi.simulate.domains.state import state_hash
from usi.simulate.domains.trajectory import replay
from usi.simulate.episode import Cell, Episode, Setting, run_episode
from usi.simulate.protocol import Domain, Grade
from usi.simulate.users.scripted import PRESETS, ScriptedUsers


@pytest.fixture(scope="module")
def checked(desk: FolderDomain) -> DomainCheck:
    return check_domain(desk)


def test_there_is_enough_of_every_kind(desk: FolderDomain) -> None:
    tasks = desk.tasks
    assert len(tasks) >= 24
    assert sum(task.refusal for task in tasks) >= 6
    assert sum("compound" in task.kinds for task in tasks) >= 6
    assert sum(bool({"approval", "handoff"} & set(task.kinds)) for task in tasks) >= 6
    levels = [task.difficulty for task in tasks]
    assert min(levels.count(level) for level in ("easy", "medium", "hard")) >= 6
    for task in tasks:
        assert "compound" not in task.kinds or len(task.requests) >= 2


def test_the_check_finds_nothing(checked: DomainCheck) -> None:
    assert {task.id: task.problems for task in checked.tasks if task.problems} == {}
    assert checked.ok


def test_the_check_tried_every_write(desk: FolderDomain, checked: DomainCheck) -> None:
    for task, found in zip(desk.tasks, checked.tasks, strict=True):
        writes = sum(a.write and not a.offer for a in desk.oracle_actions(task))
        assert found.omissions.n == found.writes == writes
        assert found.additions.n > 20
        assert found.arguments.n >= writes
    assert sum(found.wording.n for found in checked.tasks) > 0
    assert sum(found.offers.n for found in checked.tasks) >= 8


def test_facts_stand_in_the_instruction(desk: FolderDomain) -> None:
    for task in desk.tasks:
        for name in ("employee number", "staff code"):
            assert task.facts[name] in task.instruction, task.id
            caller = desk.database.get("employees", task.facts["employee number"])
        assert caller["staff_code"] == task.facts["staff code"]
        assert caller["name"] in task.instruction


def test_tools_never_show_a_staff_code(desk: FolderDomain) -> None:
    codes = {record["staff_code"] for record in desk.database.table("employees").values()}
    for task in desk.tasks:
        _, messages = converse(desk, task, desk.oracle_actions(task))
        results = " ".join(m["content"] for m in messages if m["role"] == "tool")
        assert not codes & set(re.findall(r"\b\d{4}\b", re.sub(r"\d{4}-\d\d", "", results)))


def test_due_times_and_priorities_follow_the_rule_book(desk: FolderDomain) -> None:
    state = desk.new_state()
    made = {"requester": "E1001", "category": "network", "summary": "x"}
    for impact, urgency, priority, due in (
        ("site", "high", "P1", "2025-03-12T14:00"),
        ("site", "medium", "P2", "2025-03-12T18:00"),
        ("team", "high", "P2", "2025-03-12T18:00"),
        ("person", "high", "P3", "2025-03-13T10:00"),
        ("person", "low", "P4", "2025-03-15T10:00"),
    ):
        found = state.call("open_incident", {**made, "impact": impact, "urgency": urgency})
        assert (found["priority"], found["due"]) == (priority, due)
    for key, incident in desk.database.table("incidents").items():
        fresh = desk.new_state()
        fresh.database.tables["incidents"][key].update(status="new", impact="", urgency="")
        arguments = {k: incident[k] for k in ("impact", "urgency")}
        found = fresh.call("change_priority", {"incident_id": key, **arguments})
        assert (found["priority"], found["due"]) == (incident["priority"], incident["due"]), key


def test_oracle_actions_are_plain_data(desk: FolderDomain) -> None:
    domain = cast(Domain, desk)
    for task in domain.tasks:
        for action in domain.oracle_actions(task):
            assert json.loads(json.dumps(dict(action.arguments))) == dict(action.arguments)
            assert "$" not in json.dumps(dict(action.arguments))
            assert action.describe or not action.write


def _run(desk: FolderDomain, preset: str, task: str, seed: int = 1) -> Episode:
    fixed = Setting(desk, OracleAgents(), "oracle")
    users = ScriptedUsers(PRESETS[preset])
    calls: Any = SimpleNamespace(usage=None, truncated=0)
    return run_episode(Cell(desk.task(task), seed, seed, seed), users, fixed, calls)


def _grades(desk: FolderDomain, preset: str) -> dict[str, Grade]:
    found = {task.id: _run(desk, preset, task.id).grade for task in desk.tasks}
    return {task: grade for task, grade in found.items() if grade is not None}


def test_a_cooperative_user_gets_everything_right(desk: FolderDomain) -> None:
    for preset in ("plain", "terse", "front-loading"):
        found = _grades(desk, preset)
        assert len(found) == len(desk.tasks)
        assert [task for task, grade in found.items() if not grade.reward] == [], preset
        assert [grade.violations for grade in found.values() if grade.violations] == []


def test_an_over_compliant_user_takes_the_wrong_alternative(desk: FolderDomain) -> None:
    offered = {t.id for t in desk.tasks if any(a.offer for a in desk.oracle_actions(t))}
    found = _grades(desk, "over-compliant")
    assert {task for task, grade in found.items() if not grade.reward} == offered
    for task in offered:
        assert "extra_write" in {finding.kind for finding in found[task].triage}, task


def test_an_impatient_user_leaves_before_the_work_is_done(desk: FolderDomain) -> None:
    found = _grades(desk, "impatient")
    failed = {task: grade for task, grade in found.items() if not grade.reward}
    assert 5 < len(failed) < len(found)
    kinds = {finding.kind for grade in failed.values() for finding in grade.triage}
    assert "missing_write" in kinds
    assert "extra_write" not in kinds
    refusals = {task.id for task in desk.tasks if task.refusal and not task.kinds}
    assert not refusals & failed.keys()


JUNK = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=4)
    | st.lists(st.text(max_size=2))
)


@st.composite
def calls(draw: st.DrawFn, desk: FolderDomain) -> dict[str, Any]:
    """A call of some oracle with an argument or two replaced by anything."""
    task = draw(st.sampled_from(list(desk.tasks)))
    action = draw(st.sampled_from(list(desk.oracle_actions(task))))
    arguments = dict(action.arguments)
    for name in draw(st.lists(st.sampled_from([*arguments, "more"]), max_size=2)):
        others = [v for table in desk.database.tables.values() for v in list(table)[:3]]
        arguments[name] = draw(JUNK | st.sampled_from(others))
    return call(action.name, **arguments)


@settings(max_examples=60)
@given(st.data())
def test_whatever_an_agent_calls_is_graded(desk: FolderDomain, data: st.DataObject) -> None:
    task = data.draw(st.sampled_from(list(desk.tasks)))
    drawn = data.draw(st.lists(calls(desk), max_size=6))
    words = [say("user", "yes"), say("assistant", data.draw(st.text(max_size=8)))]
    messages = [say("user", "hi"), *drawn, *words]
    found = desk.regrade(task, messages)
    assert found == desk.regrade(task, messages)
    assert (found.label in ("full", "correct_refusal")) == (found.reward == 1)
    assert found.reward == 1 or found.triage
    state = desk.new_state()
    replay(messages, state, desk.functions)
    if found.reward:
        assert (
            state_hash(state.database.tables, desk.definition.comparison) in desk.goals(task).states
        )
