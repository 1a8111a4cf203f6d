"""Exports of evaluation and chat tools: one reader, a declaration a format.

The smallest example of every format stands in ``docs/examples``; shapes follow the projects'
own sources, all texts are invented.
"""

from __future__ import annotations

import copy
import json

import pytest

from tests.helpers import ROOT
from usi.errors import InputError, InputErrors
from usi.loading import LoadOptions, open_sessions
from usi.loading.formats.exports import at

EXAMPLES = ROOT / "docs/examples"
TALK = [
    {"role": "assistant", "content": "Hello?"},
    {"role": "user", "content": "my pass wont renew"},
    {"role": "assistant", "content": "It is renewed."},
    {"role": "user", "content": "thx"},
]


def read(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def said(session):
    return [(turn.role, turn.content) for turn in session.turns]


def deepeval(turns, **more):
    return {"turns": turns, "scenario": "renew", "chatbot_role": "agent", **more}


def promptfoo(messages, **more):
    return {
        "promptIdx": 0, "testIdx": 4, "id": "r", "success": False, "vars": {},
        "provider": {"id": "p", "label": "agent 1"},
        "response": {"metadata": {"messages": messages}}, **more,
    }  # fmt: skip


def azure(messages, **more):
    return {"conversation": {"messages": messages}, **more}


MAKERS = {"deepeval": deepeval, "promptfoo": promptfoo, "azure-conversation": azure}
by_format = pytest.mark.parametrize("name", MAKERS)


@by_format
@pytest.mark.parametrize("lines", [False, True])
def test_every_conversation_is_a_session(write, name, lines):
    path = write("x.json", [MAKERS[name](TALK), MAKERS[name](TALK[:3])], lines=lines)
    found, notes = read(path)
    assert notes.layout == name
    assert [len(session.turns) for session in found] == [4, 3]
    assert said(found[0]) == [(m["role"], m["content"]) for m in TALK]


@by_format
def test_same_id_with_other_words_is_another_session(write, name):
    record = MAKERS[name](TALK, id="r", name="r", conversation_id="r")
    other = MAKERS[name](TALK[:3], id="r", name="r", conversation_id="r")
    found, notes = read(write("x.json", [record, other, copy.deepcopy(record)]))
    assert [session.session_id for session in found] == ["r", "r-2"]
    assert notes.left_out == {"session: duplicate id": 1}
    assert sum(notes.guessed.values()) == 1


@by_format
@pytest.mark.parametrize(
    ("message", "word"),
    [
        ({"role": "user"}, "without text"),
        ({"role": "user", "content": 7}, "can't be a number"),
        ({"content": "x"}, "the speaker"),
        ({"role": "narrator", "content": "x"}, "--user-role"),
        ("hi", "must be an object"),
    ],
)
def test_a_bad_message_is_named_with_row_and_field(write, name, message, word):
    rows = [MAKERS[name](TALK), MAKERS[name]([*TALK, message])]
    with pytest.raises((InputError, InputErrors)) as caught:
        read(write("x.jsonl", rows, lines=True))
    problem = caught.value
    assert word in problem.message
    assert "[4]" in problem.field
    assert (problem.row, problem.file.endswith("x.jsonl")) == (2, True)


@by_format
def test_tool_results_and_prompts_are_counted_and_never_speech(write, name):
    aside = [
        {"role": "system", "content": "you are"},
        {"role": "tool", "content": "{}"},
        {"role": "user", "content": [{"type": "tool_result", "content": "42"}]},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]},
        {"role": "assistant", "content": None},
    ]
    (session,), notes = read(write("x.json", [MAKERS[name](aside)]))
    assert said(session) == [("user", "a"), ("assistant", None)]
    assert notes.left_out == {
        "message: system prompt": 1,
        "message: tool result": 1,
        "message: parts without text": 1,
        "part: tool_result": 1,
        "part: image_url": 1,
    }


@by_format
def test_speakers_may_be_named_by_the_caller(write, name):
    talk = [{"role": "Ann", "content": "hi"}, {"role": "Bob", "content": "hello"}]
    (session,), _ = read(write("x.json", [MAKERS[name](talk)]), user_role="Ann")
    assert said(session) == [("user", "hi"), ("assistant", "hello")]


def test_turns_of_deepeval_may_be_json_text(write):
    (session,), notes = read(write("x.json", [deepeval(json.dumps(TALK), success=True)]))
    assert notes.layout == "deepeval"
    assert (session.task_id, session.outcome.reward, len(session.turns)) == ("renew", 1.0, 4)
    with pytest.raises(InputError, match="cut off"):
        read(write("y.json", [deepeval(json.dumps(TALK)[:-9])]))


def test_records_inside_the_object_of_a_run(write):
    for name, holder in [
        ("deepeval", {"conversational_test_cases": [deepeval(TALK)]}),
        ("promptfoo", {"evalId": "e", "results": {"results": [promptfoo(TALK)]}}),
        ("promptfoo", {"results": [promptfoo(TALK)]}),
        ("azure-conversation", {"rows": [{"inputs.conversation": {"messages": TALK}}]}),
    ]:
        found, notes = read(write("x.json", holder))
        assert (notes.layout, len(found)) == (name, 1)
    broken = {"results": {"results": [promptfoo(TALK), promptfoo([{"role": "user"}])]}}
    with pytest.raises(InputError) as caught:
        read(write("x.json", broken))
    assert caught.value.field == "results.results[1].response.metadata.messages[0]"


def test_promptfoo_results_without_a_conversation(write):
    single = promptfoo(TALK, id="a") | {"response": {"output": "42"}}
    failed = single | {"error": "no answer", "id": "b"}
    found, notes = read(write("x.json", [single, failed, promptfoo(TALK)]))
    assert [(s.session_id, s.status, s.agent, s.task_id) for s in found] == [
        ("b", "infrastructure_error", "agent 1", "4"),
        ("r", "ok", "agent 1", "4"),
    ]
    assert notes.left_out == {"session: a record without a conversation": 1}


def test_paths():
    record = {"a": {"b": [{"c": 1}]}, "x.y": {"z": 2}}
    assert at(record, "a.b.0.c") == 1
    assert at(record, "x.y.z") == 2
