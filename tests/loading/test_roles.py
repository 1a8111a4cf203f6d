"""Who the user is: --user-role, --user-speaker, --flip, and logs with the roles exchanged."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from helpers import shared

from usi.errors import InputError, UsageError
from usi.loading import LoadOptions, open_sessions, validate
from usi.loading import messages as roles


def read(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def talk(number, user="user", agent="assistant"):
    return {
        "id": f"s{number}",
        "messages": [
            {"role": agent, "content": "Hi! How can I help you today?"},
            {"role": user, "content": f"I want to cancel my order {number}"},
            {"role": agent, "content": "Could you please provide your email?"},
            {"role": user, "content": "a@b.c ###STOP###"},
        ],
    }


FLIPPED = [talk(number, user="assistant", agent="user") for number in range(4)]
RIGHT = [talk(number) for number in range(4)]


def test_exchanged_roles_are_refused(write):
    path = write("x.jsonl", FLIPPED, lines=True)
    with pytest.raises(InputError, match=r"wrong way round.*4 of 4.*--flip") as caught:
        read(path)
    assert caught.value.file == str(path)
    report = validate(path)
    assert not report.ok
    assert "--flip" in report.problems[0]


def test_flipped_they_are_the_same_sessions(write):
    wrong, right = write("x.jsonl", FLIPPED, lines=True), write("x2.jsonl", RIGHT, lines=True)
    flipped, _ = read(wrong, flip=True)
    meant, _ = read(right)
    assert [s.turns for s in flipped] == [s.turns for s in meant]
    by_role, _ = read(wrong, user_role="assistant")
    assert [s.turns for s in by_role] == [s.turns for s in meant]
    as_it_is, _ = read(wrong, user_role="user")
    assert as_it_is[0].turns[0].role == "user"
    with pytest.raises(InputError, match="wrong way round"):
        read(right, flip=True)


def test_a_simulator_that_falls_out_of_its_role_is_scored(write):
    rows = json.loads(json.dumps(RIGHT))
    for row in rows:
        row["messages"][3]["content"] = "Is there anything else I can help you with?"
    assert len(read(write("x.jsonl", rows, lines=True))[0]) == 4
    # Without a greeting of the agent, the user's wishes still tell who is who.
    for row in rows:
        del row["messages"][0]
    assert len(read(write("y.jsonl", rows, lines=True))[0]) == 4


def test_few_sessions_are_no_proof(write):
    path = write("x.jsonl", FLIPPED[:2], lines=True)
    assert len(read(path)[0]) == 2


def test_real_results_are_refused_only_when_flipped(write):
    rows = json.loads(
        shared("data/taubench/retail_agent-gpt-4o_user-gpt-4o_115x1.json").read_text()
    )
    assert len(read(write("a.json", rows))[0]) == 115
    names = {"user": "assistant", "assistant": "user"}
    for row in rows:
        for message in row["traj"]:
            message["role"] = names.get(message["role"], message["role"])
            message.pop("tool_calls", None)
    with pytest.raises(InputError, match="--flip"):
        read(write("b.json", rows))


@pytest.mark.parametrize("name", ["score_six_terms", "score_five_terms"])
def test_golden_files_are_not_refused(name):
    for path in sorted(shared(f"golden/{name}").glob("*.json")):
        if path.name != "expected.json":
            assert read(path)[0]


def test_free_names_of_roles(write):
    rows = [talk(n, user="Customer", agent="Agent") for n in range(2)]
    (first, _), _ = read(write("x.jsonl", rows, lines=True), user_role="Customer")
    assert [turn.role for turn in first.turns] == ["assistant", "user", "assistant", "user"]
    runs = [{"task_id": 1, "traj": rows[0]["messages"]}]
    (session,), notes = read(write("y.json", runs), user_role="Customer")
    assert [turn.role for turn in session.turns] == ["assistant", "user", "assistant", "user"]
    assert not notes.left_out


def test_a_session_without_the_role_is_read_by_rule(write):
    rows = [talk(1), talk(2, user="Customer")]
    found, notes = read(write("x.jsonl", rows, lines=True), user_role="Customer")
    assert [sum(t.role == "user" for t in s.turns) for s in found] == [2, 2]
    assert notes.guessed == {"session: has no role of the name that was asked for; read by rule": 1}


def test_speakers(write):
    messages = [
        {"role": "user", "name": "helper", "content": "a"},
        {"role": "user", "name": "ann", "content": "b"},
    ]
    (session,), _ = read(write("x.jsonl", [{"messages": messages}], lines=True), user_speaker="ann")
    assert [t.role for t in session.turns] == ["assistant", "user"]


def test_one_way_of_saying_it():
    with pytest.raises(UsageError, match="--user-role and --flip"):
        LoadOptions(user_role="x", flip=True)


@pytest.mark.parametrize("who", ["agent", "user"])
def test_examples_of_the_word_lists(who):
    data = tomllib.loads((Path(roles.__file__).parent / "roles.toml").read_text(encoding="utf-8"))
    pattern = {"agent": roles.AGENT, "user": roles.USER}[who]
    for text in data[who]["positive"]:
        assert pattern.search(text.lower()), text
    for text in data[who]["negative"]:
        assert not pattern.search(text.lower()), text
    names = [name for listed in data["synonyms"].values() for name in listed]
    assert len(names) == len(set(names))


SPELLINGS = ["User", "Human", "CUSTOMER", " user ", "client", "usr"]
FORMATS = {
    "usi-jsonl": lambda role: {"id": "1", "messages": _talk(role)},
    "openai-chat": lambda role: {"messages": _talk(role)},
    "tau2": lambda role: {"id": "1", "task_id": "t", "trial": 0, "messages": _talk(role)},
    "sharegpt": lambda role: {
        "conversations": [{"from": m["role"], "value": m["content"]} for m in _talk(role)]
    },
    "inspect": lambda role: {
        "eval": {"task": "x", "model": "m"},
        "samples": [{"id": "a", "epoch": 1, "messages": _talk(role)}],
    },
}


def _talk(role: str | None) -> list[dict[str, str | None]]:
    return [
        {"role": "Assistant", "content": "Hello"},
        {"role": role, "content": "I want to cancel"},
    ]


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("role", SPELLINGS)
def test_a_known_spelling_of_the_user_is_read_in_every_format(write, layout, role):
    path = write("a.json", json.dumps(FORMATS[layout](role)))
    (session,) = open_sessions(path, options=LoadOptions(format=layout))
    assert [turn.role for turn in session.turns] == ["assistant", "user"]


@pytest.mark.parametrize("layout", FORMATS)
def test_an_unknown_role_is_counted_and_named(write, layout):
    path = write("a.json", json.dumps(FORMATS[layout]("narrator")))
    stream = open_sessions(path, options=LoadOptions(format=layout))
    list(stream)
    assert stream.notes.roles == {"narrator": 1}
    assert any("'narrator' (1)" in remark for remark in stream.notes.remarks)


@pytest.mark.parametrize("layout", ["usi-jsonl", "openai-chat", "tau2", "inspect"])
def test_a_missing_role_is_counted(write, layout):
    path = write("a.json", json.dumps(FORMATS[layout](None)))
    stream = open_sessions(path, options=LoadOptions(format=layout))
    list(stream)
    assert stream.notes.roles == {"no role": 1}


def test_the_role_that_the_caller_names_is_the_user_however_it_is_spelt(write):
    path = write("a.json", json.dumps(FORMATS["usi-jsonl"]("narrator")))
    (session,) = open_sessions(path, options=LoadOptions(user_role="narrator"))
    assert [turn.role for turn in session.turns] == ["assistant", "user"]
