"""Results of runs: numbers by hand, on recorded runs and on sessions made here."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from helpers import shared
from lockers import call, say

from usi.errors import NotScorable
from usi.loading import open_sessions, write_usi_jsonl
from usi.records import Outcome, Session
from usi.report.tables import to_markdown
from usi.simulate.domains import FolderDomain
from usi.simulate.domains.oracle import converse
from usi.simulate.report import results_tables
from usi.simulate.results import Results, read_results, results_of, task_runs


def session(task: str, trial: int, reward: float | None, **fields: Any) -> Session:
    meta = fields.pop("meta", {})
    return Session(
        session_id=f"{task}_{trial}", task_id=task, trial=str(trial), domain="d",
        outcome=Outcome(reward=reward, label=fields.pop("label", None)), meta=meta, **fields,
    )  # fmt: skip


def rules(*checks: str) -> dict[str, Any]:
    return {"violations": [{"check": check, "detail": "x"} for check in checks]}


def test_recorded_runs_agree_with_values_by_hand() -> None:
    path = shared("data/taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json")
    runs = json.loads(path.read_text(encoding="utf-8"))
    trials: dict[int, list[int]] = {}
    for run in runs:
        trials.setdefault(run["task_id"], []).append(int(run["reward"] == 1))
    (found,) = read_results([path], ks=(1, 2, 3, 4, 5))
    assert (found.sessions, found.graded) == (200, 200)
    for k in (1, 2, 3, 4):
        # pass^k is the share of all k-subsets of trials that succeed throughout, by task.
        shares = [
            Fraction(sum(map(all, combinations(t, k))), len(list(combinations(t, k))))
            for t in trials.values()
        ]
        expected = sum(shares) / len(shares)
        assert found.pass_k.values[k].value == pytest.approx(float(expected), abs=1e-12)
    assert found.reward.value == pytest.approx(84 / 200)
    assert found.pass_k.values[4].value == pytest.approx(10 / 50)
    assert not found.pass_k.values[5].ok
    by_task = {t.task: (t.successes, t.trials) for t in found.tasks}
    assert by_task == {f"airline_{task}": (sum(t), 4) for task, t in trials.items()}
    assert [t.task for t in found.tasks if t.verdict == "always"] == [
        f"airline_{task}" for task, t in sorted(trials.items()) if sum(t) == 4
    ]
    assert sum(t.verdict == "never" for t in found.tasks) == 14
    assert not found.way.hidden.ok
    costs = [cost for run in runs if (cost := run["info"].get("user_cost")) is not None]
    assert found.cost.usd == pytest.approx(sum(costs))
    assert found.cost.sessions == len(costs)


def test_one_trial_a_task_says_too_few() -> None:
    path = shared("data/taubench/retail_agent-gpt-4o_user-gpt-4o_115x1.json")
    rewards = [run["reward"] for run in json.loads(path.read_text(encoding="utf-8"))]
    (found,) = read_results([path], ks=(1, 2))
    assert found.reward.value == pytest.approx(sum(rewards) / 115)
    assert not found.pass_k.values[2].ok
    assert {task.verdict for task in found.tasks} == {"too few trials"}


def test_reward_1_with_broken_rules_is_counted() -> None:
    sessions = [
        session("a", 1, 1.0, meta=rules("confirmation")),
        session("a", 2, 1.0, meta=rules()),
        session("b", 1, 1.0, meta=rules("handoff")),
        session("b", 2, 0.0, meta=rules("confirmation", "confirmation")),
        session("c", 1, 1.0),
        session("c", 2, None, meta=rules("confirmation")),
        session("e", 1, None, status="infrastructure_error"),
    ]
    found = results_of(sessions, label="x", ks=(1, 2))
    assert found.way.checked == 4
    assert dict(found.way.broken) == {"confirmation": (2, 1), "handoff": (1, 1)}
    assert found.way.hidden.value == pytest.approx(2 / 3)
    assert found.way.unconfirmed.value == pytest.approx(1 / 3)
    assert found.way.hidden.n == 3
    assert dict(found.left_out) == {"infrastructure_error": 1, "no reward": 1}


def test_nothing_hidden_has_a_bound() -> None:
    sessions = [session(f"t{i}", 1, 1.0, meta=rules()) for i in range(10)]
    hidden = results_of(sessions, label="x", ks=(1,)).way.hidden
    assert (hidden.value, hidden.low) == (0.0, 0.0)
    # 10 tasks without one: (1 - p)^10 = 0.05 at p = 0.2589.
    assert hidden.high == pytest.approx(0.258866, abs=1e-6)


def test_levels_labels_triage_and_cost_by_hand() -> None:
    failed = {"triage": [{"kind": "missing_write", "detail": "a"}] * 2}
    sessions = [
        session("a", 1, 1.0, label="full",
                meta={"difficulty": "easy", "cost_usd": 0.25, "calls": 3}),
        session("a", 2, 0.0, label="failure",
                meta={"difficulty": "easy", "cost_usd": 0.5, **failed}),
        session("b", 1, 0.0, label="failure",
                meta={"difficulty": "hard", "tokens_in": 7, **failed}),
        session("b", 2, 0.0, label="partial",
                meta={"difficulty": "hard", "triage": [{"kind": "extra_write", "detail": "b"}]}),
        session("b", 3, 0.0, label="failure", meta={"difficulty": "hard", **failed}),
    ]  # fmt: skip
    found = results_of(sessions, label="x", ks=(1,))
    levels = {level: part.value for level, part in found.by_difficulty.items()}
    assert levels == {"easy": 0.5, "medium": None, "hard": 0.0}
    assert dict(found.labels) == {"failure": 3, "full": 1, "partial": 1}
    assert dict(found.triage) == {"missing_write": 3, "extra_write": 1}
    assert found.triaged == 4
    assert (found.cost.usd, found.cost.usd_a_session, found.cost.sessions) == (0.75, 0.375, 2)
    assert (found.cost.calls, found.cost.tokens_in, found.cost.tokens_out) == (3, 7, None)
    b = found.tasks[1]
    assert (b.task, b.verdict, b.successes, b.trials) == ("d_b", "never", 0, 3)
    assert b.same_failure == pytest.approx(2 / 3)


def test_the_users_noise_shows_in_a_crossed_design() -> None:
    """Each user succeeds always or never: all of the fall of pass^2 is the user's."""
    sessions = [
        session(task, 2 * user + agent, float(user), meta={"user_seed": user, "agent_seed": agent})
        for task in "abc"
        for user in (0, 1)
        for agent in (0, 1)
    ]
    crossed = results_of(sessions, label="x", ks=(1, 2)).pass_k.crossed
    assert crossed is not None
    assert (crossed.same[2].value, crossed.cross[2].value) == (0.5, 0.0)
    assert crossed.user_share.value == 1.0


def test_regrading_recorded_messages_gives_the_recorded_grade(
    desk: FolderDomain, tmp_path: Path
) -> None:
    sessions = []
    for trial, accept in enumerate((False, True), start=1):
        for task in desk.tasks:
            actions = desk.oracle_actions(task)
            state, messages = converse(desk, task, actions, accept_offers=accept)
            grade = desk.grade(task, state, messages)
            path = tmp_path / "one.jsonl"
            record = {
                "task_id": task.id, "trial": trial, "domain": desk.name, "messages": messages,
                "reward": grade.reward, "outcome": grade.label,
                "metadata": {
                    "difficulty": task.difficulty,
                    "violations": [{"check": v.check} for v in grade.violations],
                    "triage": [{"kind": f.kind, "detail": f.detail} for f in grade.triage],
                },
            }  # fmt: skip
            path.write_text(json.dumps(record), encoding="utf-8")
            sessions += list(open_sessions([path]))
    write_usi_jsonl(sessions, tmp_path / "runs.jsonl")
    (stored,) = read_results([tmp_path / "runs.jsonl"], ks=(1, 2))
    (again,) = read_results([tmp_path / "runs.jsonl"], ks=(1, 2), regrade=desk)
    assert again.regraded == f"service_desk@{desk.fingerprint}"
    for name in ("reward", "labels", "triage", "way", "tasks", "by_difficulty"):
        assert getattr(stored, name) == getattr(again, name), name
    assert 0 < (stored.reward.value or 0) < 1


def test_regrading_leaves_out_what_is_no_task_of_the_domain(lockers: FolderDomain) -> None:
    take = (say("user", "hi"), call("take", locker="L1", person="ann"))
    turns = tuple(open_turns(take))
    sessions = [
        Session(session_id="1", task_id="either", domain="lockers", turns=turns),
        Session(session_id="2", task_id="lockers_either", domain="lockers", turns=turns),
        Session(session_id="3", task_id="other", domain="lockers", turns=turns,
                outcome=Outcome(reward=1.0)),
        Session(session_id="4", task_id="either", domain="elsewhere", turns=turns,
                outcome=Outcome(reward=1.0)),
    ]  # fmt: skip
    found = results_of(sessions, label="x", ks=(1,), regrade=lockers)
    assert found.graded == 2
    assert dict(found.left_out) == {"no reward": 2}
    assert dict(found.way.broken) == {"ask_first": (2, 2)}
    assert found.way.unconfirmed.value == 1.0


def open_turns(messages: tuple[dict[str, Any], ...]) -> Any:
    from usi.records import Turn

    for message in messages:
        yield Turn(message["role"], message["content"], message.get("tool_calls"))


def test_runs_of_a_domain_are_pooled(lockers: FolderDomain, tmp_path: Path) -> None:
    for name, reward in (("x", 1), ("y", 0)):
        lines = [
            json.dumps({"task_id": task, "trial": trial, "domain": "lockers", "messages": [],
                        "reward": reward if task == "take" else 0})
            for task in ("take", "two", "foreign")
            for trial in (1, 2)
        ]  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = task_runs([tmp_path / "x.jsonl", tmp_path / "y.jsonl"], lockers)
    assert [(t.task, t.successes, t.trials, t.verdict) for t in found] == [
        ("lockers_take", 2, 4, "mixed"),
        ("lockers_two", 0, 4, "never"),
    ]


def test_files_without_grades_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"task_id": "a", "messages": [{"role": "user", "content": "hi"}]}')
    with pytest.raises(NotScorable, match="1 no reward"):
        read_results([path])


def test_different_agents_are_said_and_questions_answered() -> None:
    def one(label: str, agent: str) -> Results:
        sessions = [
            session("a", n, float(n > 1), agent=agent, meta=rules("confirmation"))
            for n in (1, 2, 3)
        ] + [session("b", n, 0.0, agent=agent, meta=rules()) for n in (1, 2, 3)]
        return results_of(sessions, label=label, ks=(1,))

    same = to_markdown(results_tables([one("x", "g@1"), one("y", "g@1")]))
    other = to_markdown(results_tables([one("x", "g@1"), one("y", "g@2")]))
    warning = "different agents"
    assert warning in other
    assert warning not in same
    assert "| Does reward 1 hide skipped confirmations? | yes: 1.000" in same
    assert "| Which tasks may be ambiguous (never succeed)? | d\\_b |" in same
    assert "user and agent seeds are not recorded" in same
