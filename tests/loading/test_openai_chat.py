"""OpenAI chat JSONL.

Fixtures follow the public API reference (chat completions: messages, parts, tool_calls, the
legacy function_call; Responses: input and output items) and the fine-tuning guide (`weight`).
"""

from __future__ import annotations

import pytest

from usi.errors import InputErrors
from usi.loading import LoadOptions, open_sessions

CHAT = {
    "messages": [
        {"role": "developer", "content": "be brief"},
        {"role": "system", "content": "policy"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "hi"},
                {"type": "image_url", "image_url": {"url": "data:"}},
                {"type": "text", "text": "look"},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I can't"}]},
        {"role": "user", "content": "please"},
        {"role": "user", "content": "  "},
        {"role": "user", "content": None},
    ],
    "tools": [],
    "metadata": {"task_id": "t1", "trial": 2, "reward": 1, "note": "x"},
}


def read(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def said(session):
    return [(turn.role, turn.content) for turn in session.turns]


def test_chat_messages(write):
    (session,), notes = read(write("airline_x.jsonl", [CHAT], lines=True))
    assert notes.layout == session.layout == "openai-chat"
    assert said(session) == [
        ("user", "hi\nlook"),
        ("assistant", None),
        ("assistant", "I can't"),
        ("user", "please"),
        ("user", "  "),
        ("user", None),
    ]
    assert session.turns[1].tool_calls[0]["function"]["name"] == "f"
    assert (session.session_id, session.task_id, session.trial) == ("airline_t1", "t1", "2")
    assert session.outcome.reward == 1.0
    assert session.meta["note"] == "x"
    assert notes.left_out == {
        "message: system prompt": 2,
        "message: tool result": 1,
        "part: image_url": 1,
    }
    assert notes.merged == {"message: text parts joined by a line end": 1}


def test_legacy_functions_and_weights(write):
    record = {
        "messages": [
            {"role": "user", "content": "weather?"},
            {"role": "assistant", "content": None, "weight": 0,
             "function_call": {"name": "get", "arguments": "{}"}},
            {"role": "function", "name": "get", "content": "{}"},
            {"role": "assistant", "content": "Sunny", "weight": 1},
        ]
    }  # fmt: skip
    (session,), notes = read(write("x.jsonl", [record], lines=True))
    assert [turn.role for turn in session.turns] == ["user", "assistant", "assistant"]
    call = {"type": "function", "function": {"name": "get", "arguments": "{}"}}
    assert session.turns[1].tool_calls == [call]
    assert notes.left_out["message: tool result"] == 1
    assert notes.left_out["field: of a message, beside role, content, name and tool calls"] == 2


def test_items_of_responses(write):
    record = {
        "id": "resp_1",
        "model": "gpt-x",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "ok"},
            {"type": "web_search_call", "status": "completed"},
            {"role": "user", "content": "and now?"},
        ],
        "output": [
            {"type": "message", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": "done", "annotations": []}]},
        ],
    }  # fmt: skip
    (session,), notes = read(write("x.jsonl", [record], lines=True))
    assert said(session) == [
        ("user", "hi"), ("assistant", None), ("user", "and now?"), ("assistant", "done"),
    ]  # fmt: skip
    assert session.session_id == "resp_1"
    assert notes.left_out == {
        "message: reasoning": 1, "message: tool result": 1, "message: call of a hosted tool": 1,
    }  # fmt: skip
    text = {"input": "hello", "output": record["output"]}
    (session,), _ = read(write("y.jsonl", [text], lines=True), format="openai-chat")
    assert said(session) == [("user", "hello"), ("assistant", "done")]


def test_a_bare_list_a_line(write):
    lines = [
        [{"role": "developer", "content": "p"}, {"role": "user", "content": "a"}],
        [{"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}],
    ]
    found, notes = read(write("x.jsonl", lines, lines=True))
    assert notes.layout == "openai-chat"
    assert [said(session)[0] for session in found] == [("user", "a"), ("user", "b")]
    assert len({session.session_id for session in found}) == 2


def test_names_tell_several_users_apart(write):
    messages = [
        {"role": "developer", "content": "p"},
        {"role": "user", "name": "ann", "content": "a"},
        {"role": "user", "name": "ben", "content": "b"},
        {"role": "assistant", "content": "c"},
    ]
    path = write("x.jsonl", [{"messages": messages}], lines=True)
    (session,), notes = read(path)
    assert [turn.role for turn in session.turns] == ["user", "user", "assistant"]
    assert list(notes.guessed) == [
        "session: several named speakers under role user, all taken for the user"
    ]
    (session,), notes = read(path, user_speaker="ben")
    assert [turn.role for turn in session.turns] == ["assistant", "user", "assistant"]
    assert not notes.guessed


def test_plain_messages_stay_usi_jsonl(write):
    plain = {"id": "s", "messages": [{"role": "user", "content": "hi"}]}
    _, notes = read(write("x.jsonl", [plain], lines=True))
    assert notes.layout == "usi-jsonl"
    own = {"task_id": "t", "messages": [{"role": "developer", "content": "hi"}]}
    _, notes = read(write("y.jsonl", [own], lines=True))
    assert notes.layout == "usi-jsonl"


def test_bad_rows_are_collected(write):
    lines = [CHAT, {"messages": 3, "tools": []}, {"tools": []}, {"messages": ["x"], "tools": []}]
    with pytest.raises(InputErrors) as caught:
        read(write("x.jsonl", lines, lines=True))
    assert [(p.row, p.field) for p in caught.value.problems] == [
        (2, "messages"), (3, "messages"), (4, "messages[0]"),
    ]  # fmt: skip
