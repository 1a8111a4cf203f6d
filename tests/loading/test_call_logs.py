"""Langfuse and LangSmith: calls with their inputs and outputs become conversations.

Shapes follow the documentation of both; all texts are invented.
"""

from __future__ import annotations

import json

import pytest

from usi.errors import InputError
from usi.loading import LoadOptions, open_sessions

U1, A1 = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello?"}
U2, A2 = {"role": "user", "content": "my pass"}, {"role": "assistant", "content": "renewed"}
SYSTEM = {"role": "system", "content": "you are"}
WHOLE = [("user", "hi"), ("assistant", "hello?"), ("user", "my pass"), ("assistant", "renewed")]


def read(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def said(session):
    return [(turn.role, turn.content) for turn in session.turns]


def trace(minute, given, answered, session="s", **more):
    return {
        "id": f"{session}{minute}", "timestamp": f"2026-09-01T10:0{minute}:00Z",
        "sessionId": session, "userId": "u", "input": given, "output": answered, **more,
    }  # fmt: skip


def observation(minute, given, answered, **more):
    return {
        "id": f"o{minute}", "trace_id": f"t{minute}", "type": "GENERATION", "session_id": "s",
        "start_time": f"2026-09-01 10:0{minute}:00.5", "input": given, "output": answered, **more,
    }  # fmt: skip


def run(minute, given, answered, **more):
    return {
        "id": f"r{minute}", "trace_id": f"r{minute}", "run_type": "llm", "parent_run_id": None,
        "start_time": f"2026-09-01T10:0{minute}:00", "end_time": f"2026-09-01T10:0{minute}:09",
        "extra": {"metadata": {"thread_id": "s"}}, "inputs": given, "outputs": answered, **more,
    }  # fmt: skip


def human(text):
    return {
        "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": {"content": text, "type": "human"},
    }  # fmt: skip


def ai(text):
    message = {"id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": text}}
    return {"text": text, "message": {"lc": 1, "type": "constructor", **message}}


HISTORY = [SYSTEM, U1, A1, U2]
FORMS = {
    "traces with histories": ("langfuse", [trace(1, [SYSTEM, U1], A1), trace(2, HISTORY, A2)]),
    "traces in any order": ("langfuse", [trace(2, HISTORY, A2), trace(1, [SYSTEM, U1], A1)]),
    "new words alone": ("langfuse", [trace(1, "hi", "hello?"), trace(2, "my pass", "renewed")]),
    "words in an object": (
        "langfuse",
        [trace(1, {"question": "hi"}, {"answer": "hello?"}), trace(2, {"text": "my pass"}, [A2])],
    ),
    "JSON text": (
        "langfuse",
        [
            trace(1, json.dumps({"messages": [U1]}), json.dumps(A1)),
            trace(2, json.dumps(HISTORY), json.dumps({"choices": [{"message": A2}]})),
        ],
    ),
    "a session": ("langfuse", {"id": "s", "traces": [trace(1, [U1], A1), trace(2, HISTORY, A2)]}),
    "observations": (
        "langfuse", [observation(1, [U1], A1), observation(2, json.dumps(HISTORY), json.dumps(A2))],
    ),
    "observations inside": (
        "langfuse",
        [
            trace(1, None, None, observations=[observation(1, [U1], A1)]),
            trace(2, None, None, observations=[observation(2, HISTORY, A2)]),
        ],
    ),
    "messages of chat completions": (
        "langsmith",
        [
            run(1, {"messages": [SYSTEM, U1]}, {"choices": [{"message": A1}]}),
            run(2, {"messages": HISTORY}, {"choices": [{"message": A2}]}),
        ],
    ),
    "messages of LangChain": (
        "langsmith",
        [
            run(1, {"messages": [[human("hi")]]}, {"generations": [[ai("hello?")]]}),
            run(
                2, {"messages": [[human("hi"), ai("hello?")["message"], human("my pass")]]},
                {"generations": [[ai("renewed")]]},
            ),
        ],
    ),
    "the state of a graph": (
        "langsmith",
        [
            run(1, {"messages": [U1]}, {"messages": [U1, A1]}),
            run(2, {"messages": [U2]}, {"messages": [U1, A1, U2, A2]}),
        ],
    ),
    "runs of a query": (
        "langsmith",
        {"runs": [run(1, {"input": "hi"}, {"output": "hello?"}), run(2, [U2], {"output": A2})]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_one_session_with_every_message_once(write, form):
    name, content = FORMS[form]
    found, notes = read(write("x.json", content))
    assert notes.layout == name
    assert [session.session_id for session in found] == ["s"]
    assert said(found[0]) == WHOLE


def test_lines_and_sessions_apart(write):
    rows = [trace(1, [U1], A1), trace(1, [U1], A1, "other"), trace(2, HISTORY, A2)]
    found, _ = read(write("x.jsonl", rows, lines=True))
    assert {s.session_id: len(s.turns) for s in found} == {"s": 4, "other": 2}
    assert found[0].participant == "u"
    assert found[0].turns[2].time.isoformat() == "2026-09-01T10:02:00+00:00"


def test_the_outermost_call_counts_and_no_call_twice(write):
    rows = [
        run(1, [U1], A1, run_type="chain"),
        run(1, [SYSTEM, {"role": "user", "content": "sub-agent, classify"}], A2, id="inner",
            parent_run_id="r1"),
        run(2, {"messages": [U2]}, A2),
        run(2, {"messages": [U2]}, A2),
    ]  # fmt: skip
    (session,), notes = read(write("x.json", rows))
    assert said(session) == WHOLE
    assert notes.left_out == {
        "field: call inside another one, or without messages": 1,
        "field: a call whose id stands twice": 1,
    }


def test_without_a_conversation_id_a_trace_is_a_session(write):
    rows = [run(1, [U1], A1, extra={}), run(2, [U2], A2, extra=None)]
    found, notes = read(write("x.json", rows))
    assert [session.session_id for session in found] == ["r1", "r2"]
    assert notes.guessed["session: has no conversation id; one trace is taken for one session"] == 2


def test_tool_results_and_parts(write):
    given = [
        U1,
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "find"}}]},
        {"role": "tool", "content": "{}"},
        {"role": "user", "content": [{"type": "tool_result", "content": "42"}]},
        {"role": "user", "content": [{"type": "text", "text": "my pass"}]},
    ]
    (session,), notes = read(write("x.json", [trace(1, given, A2)]))
    assert said(session) == [
        ("user", "hi"), ("assistant", None), ("user", "my pass"), ("assistant", "renewed"),
    ]  # fmt: skip
    assert session.turns[1].tool_calls
    assert notes.left_out["message: tool result"] == 1
    assert notes.left_out["message: parts without text"] == 1


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "user"}, "input[1]"),
        ({"role": "user", "content": 7}, "input[1]"),
    ],
)
def test_a_bad_message_is_named(write, message, field):
    rows = [trace(1, [U1], A1), trace(2, [U1, message], A2)]
    with pytest.raises(InputError) as caught:
        read(write("x.jsonl", rows, lines=True))
    assert (caught.value.row, caught.value.field) == (2, field)


def test_records_without_input_and_output(write):
    with pytest.raises(InputError, match="neither inputs nor outputs"):
        read(write("x.json", [trace(1, None, None)]))
    with pytest.raises(InputError, match="not a record of langfuse"):
        read(write("y.json", [trace(1, [U1], A1), {"id": "x"}]))


def stored(number, messages, answer, **more):
    return {"id": f"c{number}", "object": "chat.completion", "created": number,
            "messages": messages, "choices": [{"index": 0, "message": answer}], **more}  # fmt: skip


@pytest.mark.parametrize("named", [True, False])
def test_stored_completions_count_each_message_once(write, named):
    more = {"metadata": {"conversation_id": "s"}} if named else {}
    calls = [stored(1, [SYSTEM, U1], A1, **more), stored(2, [SYSTEM, U1, A1, U2], A2, **more)]
    other = {"role": "user", "content": "another matter"}
    calls.append(stored(3, [SYSTEM, other], A1, metadata={"conversation_id": "t"} if named else {}))
    found, notes = read(write("x.json", calls))
    assert notes.layout == "openai-stored"
    assert said(found[0]) == WHOLE
    assert [len(session.turns) for session in found] == [4, 2]
    assert [session.session_id for session in found] == (["s", "t"] if named else ["c1", "c3"])


@pytest.mark.parametrize("lead", [[], [{"role": "user", "content": "What was said so far."}]])
def test_stored_completions_whose_history_was_cut_go_on(write, lead):
    third = {"role": "user", "content": "and the other one?"}
    calls = [
        stored(1, [U1], A1),
        stored(2, [U1, A1, U2], A2),
        stored(3, [*lead, U2, A2, third], A1),
        stored(4, [U1], A1),
    ]
    found, _ = read(write("x.json", calls))
    assert [content for _, content in said(found[0])] == [
        U1["content"], A1["content"], U2["content"], A2["content"], third["content"], A1["content"],
    ]  # fmt: skip
    assert len(found) == 2, "the same words again begin another conversation"


def test_responses_follow_the_response_that_they_name(write):
    def answered(message):
        return [{"type": "message", "role": "assistant",
                 "content": [{"type": "output_text", "text": message["content"]}]}]  # fmt: skip

    calls = [
        {"id": "r1", "object": "response", "created_at": 1, "input": U1["content"],
         "output": answered(A1)},
        {"id": "r2", "object": "response", "created_at": 2, "input": [{**U2, "type": "message"}],
         "previous_response_id": "r1", "output": [{"type": "reasoning"}, *answered(A2)]},
        {"id": "r3", "object": "response", "created_at": 3, "input": "another matter",
         "output": answered(A1)},
    ]  # fmt: skip
    found, notes = read(write("x.json", calls))
    assert notes.layout == "openai-responses"
    assert said(found[0]) == WHOLE
    assert [len(session.turns) for session in found] == [4, 2]
