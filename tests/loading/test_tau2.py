"""tau2-bench results: one file, folder, lone simulations, and their traps."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from helpers import shared

from usi.errors import InputError
from usi.loading import group_by_simulator, open_sessions


def simulation(task: object = "t1", trial: object = 0, **other: object) -> dict[str, object]:
    return {
        "id": f"uuid-{task}-{trial}",
        "task_id": task,
        "trial": trial,
        "termination_reason": "user_stop",
        "reward_info": {"reward": 1.0},
        "messages": [
            {"role": "assistant", "content": "Hi! How can I help you today?"},
            {"role": "user", "content": "my data is dead", "tool_calls": None},
        ],
        **other,
    }


def results(*simulations: object, domain: str = "telecom") -> dict[str, object]:
    info = {"environment_info": {"domain_name": domain}}
    return {"timestamp": "t", "info": info, "tasks": [{"id": "t1"}], "simulations": simulations}


def test_a_simulation_becomes_a_session(write):
    (session,) = open_sessions(write("r.json", results(simulation("[mobile]x", 3))))
    assert session.session_id == "telecom_[mobile]x"
    assert (session.task_id, session.trial, session.domain) == ("[mobile]x", "3", "telecom")
    assert session.outcome.reward == 1.0
    assert session.outcome.termination == "user_stop"
    assert session.layout == "tau2"
    assert session.meta["id"] == "uuid-[mobile]x-3"
    assert session.turns[0].role == "assistant"


def test_info_may_come_after_the_simulations(write):
    whole = results(simulation())
    turned = {key: whole[key] for key in ("tasks", "simulations", "info", "timestamp")}
    (session,) = open_sessions(write("airline_r.json", turned))
    assert session.domain == "telecom"


def test_old_files_have_whole_numbers_as_task_ids(write):
    path = write("r.json", results(simulation(5, 0), simulation("6", None, id="u")))
    assert [s.task_id for s in open_sessions(path)] == ["5", "6"]


def test_tool_results_are_set_aside_and_user_calls_are_actions(write):
    messages = [
        {"role": "user", "content": None, "tool_calls": [{"name": "f", "requestor": "user"}]},
        {"role": "tool", "id": "u1", "content": "OFF", "requestor": "user"},
        {"role": "tool", "tool_messages": [{"role": "tool"}, {"role": "tool"}]},
        {"role": "user", "content": "UklGRg==", "is_audio": True},
        {"role": "critic", "content": "hm"},
        {"role": "user", "content": "###STOP###"},
    ]
    stream = open_sessions(write("r.json", results(simulation(messages=messages))))
    (session,) = stream
    assert [t.is_action for t in session.turns] == [True, False]
    assert session.turns[1].content == "###STOP###"
    assert stream.notes.left_out == {
        "message: tool result": 3,
        "message: audio, no text": 1,
        "message: another role than user and assistant": 1,
    }


@pytest.mark.parametrize(
    "reason", ["infrastructure_error", "unexpected_error", "timeout", "context_window_exceeded"]
)
def test_infrastructure_errors_are_no_behaviour(write, reason):
    rows = [
        simulation(termination_reason=reason, reward_info=None),
        simulation("t2", termination_reason=reason, messages=None),
    ]
    sessions = list(open_sessions(write("r.json", results(*rows))))
    assert [s.status for s in sessions] == ["infrastructure_error"] * 2
    assert [s.status_reason for s in sessions] == [reason] * 2
    assert sessions[0].outcome.reward is None
    assert len(sessions[0].turns) == 2


@pytest.mark.parametrize("reason", ["user_stop", "max_steps", "too_many_errors", None])
def test_other_ends_are_behaviour(write, reason):
    path = write("r.json", results(simulation(termination_reason=reason, reward_info=None)))
    (session,) = open_sessions(path)
    assert (session.status, session.outcome.reward) == ("ok", None)


def test_messages_null_is_a_failed_session(write):
    rows = [simulation(messages=None, ticks=[{}]), simulation("t2", messages=[])]
    sessions = list(open_sessions(write("r.json", results(*rows))))
    assert [s.status for s in sessions] == ["failed", "failed"]
    assert "ticks" in sessions[0].status_reason
    assert "ticks" not in sessions[0].meta


def test_rows_without_task_and_trial(write):
    rows = [simulation(None, None, id="a"), simulation(None, None, id="b")]
    assert [s.session_id for s in open_sessions(write("r.json", results(*rows)))] == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"reward_info": 1}, "reward_info"),
        ({"reward_info": {"reward": "1"}}, "reward_info.reward"),
        ({"messages": {}}, "messages"),
        ({"messages": [1]}, "messages[0]"),
        ({"termination_reason": 3}, "termination_reason"),
        ({"task_id": ["x"]}, "task_id"),
    ],
)
def test_wrong_types(write, change, field):
    path = write("r.json", results(simulation("t0"), simulation(**change)))
    with pytest.raises(InputError) as caught:
        list(open_sessions(path))
    assert (caught.value.row, caught.value.field) == (2, field)


@pytest.fixture
def folder(write, tmp_path):
    head = results()
    del head["simulations"]
    index = [{"id": "s-b", "task_id": "b", "trial": 0}, {"id": "s-a", "task_id": "a", "trial": 0}]
    write("my-run/results.json", head | {"simulation_index": index})
    write("my-run/simulations/s-b.json", simulation("b", id="s-b"))
    write("my-run/simulations/s-a.json", json.dumps(simulation("a", id="s-a"), indent=2))
    return tmp_path / "my-run"


@pytest.mark.parametrize("given", ["", "results.json"])
def test_folder_layout(folder, given):
    stream = open_sessions(folder / given)
    sessions = list(stream)
    assert [s.task_id for s in sessions] == ["a", "b"]
    assert {s.domain for s in sessions} == {"telecom"}
    assert stream.label == "my-run"
    assert len(stream.notes.files) == 3
    assert [stream.label for stream in group_by_simulator(folder)] == ["my-run"]


def test_several_folders_are_several_simulators(write, folder, tmp_path):
    write("other/results.json", results(simulation()))
    write("other/simulations/x.json", simulation("t2"))
    assert sorted(s.label for s in group_by_simulator([folder, tmp_path / "other"])) == [
        "my-run",
        "other",
    ]
    # The file with simulations of its own needs none of the folder beside it.
    assert [s.task_id for s in open_sessions(tmp_path / "other")] == ["t1"]


def test_a_folder_that_is_not_its_index_is_refused(folder):
    (folder / "simulations/s-a.json").unlink()
    with pytest.raises(InputError, match="missing"):
        list(open_sessions(folder))


def test_lone_simulations(write):
    (session,) = open_sessions(write("airline_s.json", json.dumps(simulation("a"), indent=1)))
    assert (session.layout, session.domain) == ("tau2", "airline")
    assert len(list(open_sessions(write("l.json", [simulation("a"), simulation("b")])))) == 2


@pytest.mark.parametrize(
    ("name", "sessions", "actions", "domain"),
    [
        ("airline_agent-claude-sonnet-4-5_user-gpt-4.1_50x1.json", 50, 0, "airline"),
        ("airline_agent-gpt-oss-120b_user-gpt-oss-120b_50x1.json", 50, 0, "airline"),
        ("airline_agent-toolorchestra_user-gpt-4.1_50x1_NOTASKID.json", 50, 0, "airline"),
        ("airline_user-grok-3_4x4.json", 16, 0, "airline"),
        ("airline_user-grok-3-mini_4x4.json", 16, 0, "airline"),
        ("airline_user-grok-4_4x4.json", 16, 0, "airline"),
        ("airline_user-grok-3_1task_x20trials.json", 20, 0, "airline"),
        ("telecom_agent-gpt-4o_user-gpt-4o_20x1.json", 20, 99, "telecom"),
    ],
)
def test_real_files_agree_with_plain_json(name, sessions, actions, domain):
    path = shared(f"data/tau2/{name}")
    data = json.loads(path.read_text(encoding="utf-8"))
    stream = open_sessions(path)
    found = list(stream)
    rows = data["simulations"]
    assert len(found) == len(rows) == sessions
    assert {s.domain for s in found} == {domain}
    assert sum(t.is_action for s in found for t in s.turns) == actions
    for row, session in zip(rows, found, strict=True):
        kept = [m for m in row["messages"] if m["role"] in ("user", "assistant")]
        assert [(t.role, t.content) for t in session.turns] == [
            (m["role"], m["content"]) for m in kept
        ]
        assert session.outcome.reward == row["reward_info"]["reward"]
        task = row.get("task_id")
        assert session.task_id == task
        assert session.session_id == (row["id"] if task is None else f"{domain}_{task}")
    tools = Counter(m["role"] for r in rows for m in r["messages"])["tool"]
    assert stream.notes.left_out == {"message: tool result": tools}
