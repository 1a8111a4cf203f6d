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


ADK_CASE = json.loads((EXAMPLES / "google-adk.json").read_text())["eval_case_results"][0]
WHOLE = [
    ("user", "my tram pass wont renew"), ("assistant", "It is renewed."), ("user", "thx bye"),
]  # fmt: skip


def words(session):
    return [(turn.role, turn.content) for turn in session.turns if not turn.tool_calls]


@pytest.mark.parametrize("name", ["google-adk", "sdialog", "rasa", "intercom"])
def test_events_and_parts_become_messages(name):
    (session,), notes = read(EXAMPLES / f"{name}.json")
    assert notes.layout == name
    assert words(session) == WHOLE
    if name != "sdialog":
        assert [turn.time is not None for turn in session.turns] == [True] * len(session.turns)


def test_results_of_adk(write):
    (session,), notes = read(EXAMPLES / "google-adk.json")
    assert (session.session_id, session.task_id, session.outcome.reward, session.agent) == (
        "s1", "renew", 1.0, "tram",
    )  # fmt: skip
    assert session.turns[1].tool_calls[0]["function"]["name"] == "renew"
    assert notes.left_out["part: tool_result"] == 1
    camel = {
        "evalId": "renew", "finalEvalStatus": "FAILED", "sessionId": "s2",
        "evalMetricResultPerInvocation": [{"actualInvocation": {
            "userContent": {"parts": [{"text": "hi"}]},
            "finalResponse": {"parts": [{"text": "think", "thought": True}, {"text": "hello"}]},
        }}],
    }  # fmt: skip
    text = json.dumps({"evalCaseResults": [camel]})
    for content in (text, json.dumps(text)):  # some versions write the JSON as one text
        (session,), _ = read(write("x.json", content))
        assert (session.outcome.reward, words(session)) == (
            0.0, [("user", "hi"), ("assistant", "hello")],
        )  # fmt: skip
    (session,), _ = read(write("y.json", ADK_CASE["session_details"]))
    assert words(session) == WHOLE


def test_speakers_of_sdialog_with_names(write):
    record = json.loads((EXAMPLES / "sdialog.json").read_text())
    record["turns"] = [{"speaker": "Ann", "text": "hi"}, {"speaker": "Bob", "text": "hello"}]
    path = write("x.json", record)
    with pytest.raises(InputError, match="--user-speaker"):
        read(path)
    (session,), _ = read(path, user_speaker="Ann")
    assert said(session) == [("user", "hi"), ("assistant", "hello")]


def test_notes_and_unknown_authors_of_intercom(write):
    record = json.loads((EXAMPLES / "intercom.json").read_text())["conversations"][0]
    parts = record["conversation_parts"]["conversation_parts"]
    parts.append({"part_type": "note", "body": "<p>call her</p>", "author": {"type": "admin"}})
    (session,), notes = read(write("x.jsonl", [record], lines=True))
    assert words(session) == WHOLE
    assert notes.left_out["message: internal note"] == 1
    parts.append({"part_type": "comment", "body": "x", "author": {"type": "alien"}})
    with pytest.raises(InputError, match="alien"):
        read(write("y.jsonl", [record], lines=True))


def test_lists_of_conversations_are_not_sharegpt(write):
    inner = {"conversation_id": "a", "channel": "phone", "transcript": "A: hi"}
    with pytest.raises(InputError, match=r"not recognised.*--map.*usi JSONL.*own-format"):
        read(write("x.json", {"conversations": [inner]}))


def test_a_corpus_of_convokit(write, tmp_path):
    rows = [
        {"id": str(i), "conversation_id": "0", "text": text, "speaker": who, "reply-to": None,
         "timestamp": i, "meta": {}, "vectors": []}
        for i, (who, text) in enumerate([("ann", "hi"), ("bob", "hello")])
    ]  # fmt: skip
    write("corpus/utterances.jsonl", rows, lines=True)
    for name in ("speakers.json", "conversations.json", "corpus.json", "index.json"):
        write(f"corpus/{name}", {"0": {"meta": {}}})
    (session,), notes = read(tmp_path / "corpus", user_role="ann")
    assert (session.session_id, said(session)) == ("0", [("user", "hi"), ("assistant", "hello")])
    assert any("speakers.json" in remark for remark in notes.remarks)


def test_paths():
    record = {"a": {"b": [{"c": 1}]}, "x.y": {"z": 2}}
    assert at(record, "a.b.0.c") == 1
    assert at(record, "x.y.z") == 2
