"""tau-bench results: every trap of the format."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from helpers import shared

from usi.errors import InputError, InputErrors
from usi.loading import LoadOptions, open_sessions
from usi.records import MISSING


def run(task: object = 0, trial: object = 0, **other: object) -> dict[str, object]:
    traj = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    return {"task_id": task, "trial": trial, "reward": 1.0, "info": {}, "traj": traj, **other}


def test_a_run_becomes_a_session(write):
    stream = open_sessions(write("airline_x.json", [run(7, 2, records=[1])]))
    (session,) = stream
    assert session.session_id == "airline_7"
    assert (session.task_id, session.trial, session.domain) == ("7", "2", "airline")
    assert session.layout == "tau-bench"
    assert session.simulator == stream.label == "airline_x"
    assert session.outcome.reward == 1.0
    assert session.status == "ok"
    assert session.meta == {"info": {}, "records": [1]}
    assert stream.notes.files[0].sessions == 1


def test_wrapped_in_metrics_and_results(write):
    path = write("x.json", {"metrics": {"avg": 1}, "results": [run(1), run(2)]})
    stream = open_sessions(path)
    assert [s.task_id for s in stream] == ["1", "2"]
    assert stream.notes.layout == "tau-bench"


def test_tool_results_and_system_prompts_are_set_aside_and_counted(write):
    traj = [
        {"role": "system", "content": "policy"},
        {"role": "user", "content": "cancel it"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {}}]},
        {"role": "tool", "tool_call_id": "c", "content": "{}"},
        {"role": "user", "content": "API output: {'ok': true}"},
        {"role": "user", "content": "the API output: looks odd"},
        {"role": "user", "content": "Thank you! ###STOP###"},
    ]
    stream = open_sessions(write("a.json", [run(traj=traj)]))
    (session,) = stream
    assert [(t.role, t.content) for t in session.turns] == [
        ("user", "cancel it"),
        ("assistant", None),
        ("user", "the API output: looks odd"),
        ("user", "Thank you! ###STOP###"),
    ]
    assert session.turns[1].tool_calls == [{"id": "c", "function": {}}]
    assert stream.notes.left_out == {
        "message: system prompt": 1,
        "message: tool result": 1,
        "message: tool result under role user": 1,
    }


def test_content_stays_as_found(write):
    parts = [{"type": "text", "text": "hi"}]
    contents = ["###STOP###", "bye ###TRANSFER###", "x###OUT-OF-SCOPE###", None, parts, 3, " \n"]
    traj = [{"role": "user", "content": content} for content in contents] + [{"role": "user"}]
    (session,) = open_sessions(write("a.json", [run(traj=traj)]))
    assert [t.content for t in session.turns] == [*contents, MISSING]
    assert not any(t.is_action for t in session.turns)


def test_a_user_message_of_tool_calls_alone_is_an_action(write):
    traj = [
        {"role": "user", "content": None, "tool_calls": [{"name": "toggle"}]},
        {"role": "user", "content": None, "function_call": {"name": "toggle"}},
        {"role": "user", "content": "done", "tool_calls": [{"name": "toggle"}]},
        {"role": "user", "content": "done", "tool_calls": [], "function_call": None},
    ]
    (session,) = open_sessions(write("a.json", [run(traj=traj)]))
    assert [t.is_action for t in session.turns] == [True, True, False, False]


def test_failed_runs_are_kept_as_failed(write):
    rows = [
        run(1, traj=[], info={"error": "Timeout\nlong traceback"}),
        run(2, traj=[]),
        run(3, traj=None),
        {"task_id": 4, "trial": 0, "reward": 0.0, "info": {"error": "boom"}},
        run(5),
    ]
    sessions = list(open_sessions(write("a.json", rows)))
    assert [s.status for s in sessions] == ["failed"] * 4 + ["ok"]
    assert [s.status_reason for s in sessions] == [
        "Timeout",
        "traj is empty",
        "traj is empty",
        "boom",
        None,
    ]
    assert all(s.turns == () for s in sessions[:4])


def test_duplicates_keep_the_first_and_are_counted(write):
    rows = [run(1, 0, reward=1), run(1, 1), run(1, 0, reward=0), run("1", 0)]
    stream = open_sessions(write("a.json", rows))
    sessions = list(stream)
    assert [(s.task_id, s.trial, s.outcome.reward) for s in sessions] == [
        ("1", "0", 1.0),
        ("1", "1", 1.0),
    ]
    assert stream.notes.left_out["session: duplicate task and trial"] == 2


def test_two_simulators_may_run_the_same_tasks(write):
    paths = [write("a.json", [run(1)]), write("b.json", [run(1)])]
    assert [s.simulator for s in open_sessions(paths)] == ["a", "b"]
    as_one = open_sessions(paths, options=LoadOptions(name="one"))
    assert len(list(as_one)) == 1
    assert as_one.notes.left_out == {"session: duplicate task and trial": 1}


def test_missing_task_ids(write):
    rows = [run(None, None), run(None, None, id="mine"), run(None, None)]
    first, mine, last = [s.session_id for s in open_sessions(write("a.json", rows))]
    assert (mine, last) == ("mine", f"{first}-2")
    assert first.startswith("session-")


def test_trial_that_equals_the_task_and_uneven_trials_stay_as_found(write):
    rows = [run(i, i) for i in range(3)]
    assert [s.trial for s in open_sessions(write("a.json", rows))] == ["0", "1", "2"]
    rows = [run(0, 0), run(1, 0), run(0, 1)]
    assert Counter(s.trial for s in open_sessions(write("b.json", rows))) == {"0": 2, "1": 1}


@pytest.mark.parametrize(
    ("found", "reward"),
    [(None, None), (0.5, 0.5), (True, 1.0), (False, 0.0), (1, 1.0), (-2, -2.0)],
)
def test_rewards(write, found, reward):
    (session,) = open_sessions(write("a.json", [run(reward=found)]))
    assert session.outcome.reward == reward


def test_a_missing_reward_is_none(write):
    row = run()
    del row["reward"]
    (session,) = open_sessions(write("a.json", [row]))
    assert session.outcome.reward is None


@pytest.mark.parametrize("bad", ['"1.0"', "[1]", "NaN", "Infinity", "1e999", "1" + "0" * 400])
def test_ill_typed_rewards_are_problems(write, bad):
    text = json.dumps([run(), run(1, reward="@")]).replace('"@"', bad)
    with pytest.raises(InputError) as caught:
        list(open_sessions(write("a.json", text)))
    assert (caught.value.row, caught.value.field) == (2, "reward")


def test_all_bad_rows_are_reported_together(write):
    rows = [run(1), run(2, traj=3), "no object", run(True), run(4, traj=["x"]), {"task_id": 5}]
    stream = open_sessions(write("a.json", rows))
    with pytest.raises(InputErrors) as caught:
        list(stream)
    assert [(p.row, p.field) for p in caught.value.problems] == [
        (2, "traj"),
        (3, None),
        (4, "task_id"),
        (5, "traj[0]"),
        (6, "traj"),
    ]
    assert all(p.file.endswith("a.json") for p in caught.value.problems)


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("airline_x.json", "airline"),
        ("RETAIL-y.json", "retail"),
        ("telecom.json", "telecom"),
        ("gpt_airline.json", "unknown"),
        ("airlines.json", "unknown"),
        ("x.json", "unknown"),
    ],
)
def test_domain_of_the_file_name(write, name, domain):
    (session,) = open_sessions(write(name, [run()]))
    assert session.domain == domain


def test_domain_of_the_user_and_of_the_data(write):
    path = write("airline.json", [run(), run(1, domain="banking")])
    sessions = list(open_sessions(path, options=LoadOptions(domain="retail")))
    assert [s.domain for s in sessions] == ["retail", "banking"]
    assert [s.session_id for s in sessions] == ["retail_0", "banking_1"]


@pytest.mark.parametrize(
    ("name", "sessions", "failed", "tasks"),
    [
        ("airline_agent-gpt-4o_user-gpt-4o_50x4.json", 200, 0, 50),
        ("retail_agent-gpt-4o_user-gpt-4o_115x1.json", 115, 0, 115),
        ("retail_agent-gpt-4o-mini_user-gpt-4o-mini_115x1.json", 115, 0, 115),
        ("retail_agent-qwen2.5-7b_user-qwen2.5-7b_115x1.json", 115, 0, 115),
        ("all_errors_a.json", 30, 30, 30),
        ("all_errors_b.json", 6, 6, 6),
        ("retail_broken_run.json", 2, 1, 2),
    ],
)
def test_real_files_agree_with_plain_json(name, sessions, failed, tasks):
    path = shared(f"data/taubench/{name}")
    rows = json.loads(path.read_text(encoding="utf-8"))
    stream = open_sessions(path)
    found = list(stream)
    assert len(found) == len(rows) == sessions
    assert sum(s.status == "failed" for s in found) == failed
    assert len({s.task_id for s in found}) == tasks
    for row, session in zip(rows, found, strict=True):
        kept = [m for m in row["traj"] if m["role"] in ("user", "assistant")]
        assert [(t.role, t.content) for t in session.turns] == [
            (m["role"], m["content"]) for m in kept
        ]
        assert session.outcome.reward == row["reward"]
        assert (session.task_id, session.trial) == (str(row["task_id"]), str(row["trial"]))
    aside = Counter(m["role"] for r in rows for m in r["traj"])
    assert stream.notes.left_out["message: tool result"] == aside["tool"]
    assert stream.notes.left_out["message: system prompt"] == aside["system"]
