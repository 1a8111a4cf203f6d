"""OpenTelemetry GenAI and OpenInference spans.

Fixtures follow the OpenTelemetry semantic conventions for generative AI (messages with parts as
attributes of spans; the events of version 1.36 and before), OTLP/JSON, and the OpenInference
specification (flattened messages, nested again by exports of data frames).
"""

from __future__ import annotations

import json

import pytest

from usi.errors import InputError
from usi.loading import LoadOptions, open_sessions


def read(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def said(session):
    return [(turn.role, turn.content) for turn in session.turns]


def text(role, words):
    return {"role": role, "parts": [{"type": "text", "content": words}]}


CALL = {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"q": 1}}
HISTORY = [
    text("user", "hi"),
    text("assistant", "Hello"),
    text("user", "find it"),
    {"role": "assistant", "parts": [CALL]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "ok"}]},
    text("assistant", "Found"),
    text("user", "thanks"),
    text("assistant", "Bye"),
]
WHOLE = [
    ("user", "hi"), ("assistant", "Hello"), ("user", "find it"), ("assistant", None),
    ("assistant", "Found"), ("user", "thanks"), ("assistant", "Bye"),
]  # fmt: skip
STEPS = [(1, 2), (3, 4), (5, 6), (7, 8)]
"""Each call is given all before it: [0, start) in, [start, end) out."""


def otlp_value(value):
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(part) for part in value]}}
    return {
        "kvlistValue": {
            "values": [{"key": k, "value": otlp_value(part)} for k, part in value.items()]
        }
    }


def attributes(table):
    return [{"key": key, "value": otlp_value(value)} for key, value in table.items()]


def envelope(spans):
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes({"service.name": "bot"})},
                "scopeSpans": [{"scope": {"name": "x"}, "spans": spans}],
            }
        ]
    }


def genai_spans(encode, conversation="conv-1"):
    spans = []
    for number, (start, end) in enumerate(STEPS):
        table = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m-1",
            "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "policy"}]),
            "gen_ai.input.messages": encode(HISTORY[:start]),
            "gen_ai.output.messages": encode(
                [part | {"finish_reason": "stop"} for part in HISTORY[start:end]]
            ),
        }
        if conversation:
            table["gen_ai.conversation.id"] = conversation
        spans.append(
            {"traceId": "t1", "spanId": str(number), "startTimeUnixNano": str(10**18 + number),
             "attributes": attributes(table)}
        )  # fmt: skip
    return spans


@pytest.mark.parametrize("encode", [json.dumps, list])
@pytest.mark.parametrize("shape", ["object", "array", "lines", "pretty"])
def test_otlp_and_the_repeated_history(write, encode, shape):
    spans = genai_spans(encode)
    agent = {"traceId": "t1", "spanId": "a", "startTimeUnixNano": "1", "attributes": attributes(
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": json.dumps(HISTORY)}
    )}  # fmt: skip
    # Spans come in the order in which they end, and may lie in several envelopes.
    content = {
        "object": json.dumps(envelope([*reversed(spans), agent])),
        "array": json.dumps([envelope(spans[2:]), envelope([agent, *spans[:2]])]),
        "lines": "\n".join(json.dumps(envelope([span])) for span in [*reversed(spans), agent]),
        "pretty": json.dumps(envelope([*spans, agent]), indent=2),
    }[shape]
    (session,), notes = read(write("x.json", content))
    assert notes.layout == "otel"
    assert said(session) == WHOLE
    assert session.session_id == "conv-1"
    assert session.agent == "m-1"
    assert session.turns[3].tool_calls[0]["function"] == {"name": "find", "arguments": {"q": 1}}
    # Given again: hi, Hello | hi, Hello, find, the call | these and Found.
    assert notes.merged["message: repeated by a later call of the model"] == 2 + 4 + 5
    assert notes.left_out["message: tool result"] == 2
    assert notes.left_out["message: system prompt"] == 4
    assert notes.left_out["field: span without messages"] == 1


def test_without_a_conversation_id_a_trace_is_a_session(write):
    spans = genai_spans(json.dumps, conversation=None)
    other = genai_spans(json.dumps, conversation=None)
    for span in other:
        span["traceId"] = "t2"
    found, notes = read(write("x.json", envelope([*spans, *other])))
    assert [(s.session_id, len(s.turns)) for s in found] == [("t1", 7), ("t2", 7)]
    assert notes.guessed == {
        "session: has no conversation id; one trace is taken for one session": 2
    }


def test_a_call_that_is_given_a_window_of_the_history(write):
    spans = genai_spans(json.dumps)
    given = json.dumps(HISTORY[5:7])
    spans[3]["attributes"] = attributes(
        {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "conv-1",
         "gen_ai.input.messages": given, "gen_ai.output.messages": json.dumps(HISTORY[7:])}
    )  # fmt: skip
    (session,), _ = read(write("x.json", envelope(spans)))
    assert said(session) == WHOLE


def test_calls_without_history_are_put_together(write):
    turns = [(HISTORY[0], HISTORY[1]), (HISTORY[6], HISTORY[7])]
    spans = [
        {"traceId": f"t{i}", "startTimeUnixNano": i, "attributes": attributes(
            {"gen_ai.conversation.id": "c", "gen_ai.input.messages": json.dumps([given]),
             "gen_ai.output.messages": json.dumps([answer])})}
        for i, (given, answer) in enumerate(turns)
    ]  # fmt: skip
    (session,), notes = read(write("x.json", envelope(spans)))
    assert [content for _, content in said(session)] == ["hi", "Hello", "thanks", "Bye"]
    assert notes.guessed == {"message: a call without the history; what it was given is new": 1}


def traces_of_calls(place):
    """A trace a call, the conversation named on one span of it: its agent's, or that of a tool."""
    spans = []
    for number, span in enumerate(genai_spans(json.dumps, conversation=None)):
        trace, named = f"t{number}", attributes({"gen_ai.conversation.id": "conv-1"})
        above = {"traceId": trace, "spanId": "top", "startTimeUnixNano": str(10**18),
                 "attributes": named if place == "top" else []}  # fmt: skip
        middle = {"traceId": trace, "spanId": "mid", "parentSpanId": "top", "attributes": []}
        tool = {"traceId": trace, "spanId": "tool", "parentSpanId": "top",
                "attributes": named if place == "tool" else []}  # fmt: skip
        spans += [span | {"traceId": trace, "parentSpanId": "mid"}, above, middle, tool]
    return spans


@pytest.mark.parametrize("place", ["top", "tool"])
@pytest.mark.parametrize("order", ["as they end", "as they begin"])
def test_a_conversation_named_elsewhere_in_the_trace_holds_for_its_calls(write, place, order):
    spans = traces_of_calls(place)
    (session,), notes = read(
        write("x.json", envelope(spans if order == "as they end" else spans[::-1]))
    )
    assert session.session_id == "conv-1"
    assert said(session) == WHOLE
    assert not any("no conversation id" in guess for guess in notes.guessed)


def test_two_conversations_in_a_trace_stay_apart(write):
    spans = genai_spans(json.dumps, conversation=None)
    for number, span in enumerate(spans):
        span["parentSpanId"] = "a" if number < 3 else "b"
    tops = [
        {"traceId": "t1", "spanId": name, "attributes": attributes({"session.id": f"conv-{name}"})}
        for name in "ab"
    ]
    found, _ = read(write("x.json", envelope([*spans, *tops])))
    assert [session.session_id for session in found] == ["conv-a", "conv-b"]


def given_last(spans, messages):
    """The last call with another history."""
    table = {
        "gen_ai.operation.name": "chat", "gen_ai.conversation.id": "conv-1",
        "gen_ai.input.messages": json.dumps(messages),
        "gen_ai.output.messages": json.dumps(HISTORY[7:]),
    }  # fmt: skip
    return [*spans[:3], spans[3] | {"attributes": attributes(table)}]


BRIEF = "The user asked to find a thing, and it was found."


@pytest.mark.parametrize(
    ("history", "left_out"),
    [
        ([text("user", BRIEF), *HISTORY[2:7]], "message: summary that stands for"),
        ([text("assistant", BRIEF), text("user", "go on"), HISTORY[5], HISTORY[6]],
         "message: summary that stands for"),
        ([text("user", "Conversation summary: " + BRIEF), HISTORY[6]],
         "message: summary that stands for"),
        ([{"role": "user", "parts": [{"type": "compaction", "content": BRIEF}]}, *HISTORY[5:7]],
         "message: parts without text"),
    ],
)  # fmt: skip
def test_a_history_that_was_compacted_goes_on(write, history, left_out):
    spans = given_last(genai_spans(json.dumps), history)
    (session,), notes = read(write("x.json", envelope(spans)))
    assert said(session) == WHOLE
    assert any(reason.startswith(left_out) for reason in notes.left_out)


def test_new_messages_of_the_user_are_no_summary(write):
    words = "Is there a summary of my bill?"
    spans = given_last(genai_spans(json.dumps), [text("user", words), HISTORY[6]])
    (session,), notes = read(write("x.json", envelope(spans)))
    assert words in [content for _, content in said(session)]
    assert "message: a call without the history; what it was given is new" in notes.guessed


def test_roles_in_the_wild_and_spans_of_sdks(write):
    line = {
        "name": "chat m", "context": {"trace_id": "0xabc", "span_id": "0x1"}, "parent_id": None,
        "start_time": "2026-01-01T00:00:00Z",
        "attributes": {"gen_ai.input.messages": json.dumps([text("Human", "hi")]),
                       "gen_ai.output.messages": json.dumps([text("AI", "yo")])},
        "events": [],
    }  # fmt: skip
    for content in (json.dumps(line), json.dumps(line, indent=4)):
        (session,), _ = read(write("x.jsonl", content))
        assert said(session) == [("user", "hi"), ("assistant", "yo")]
        assert session.session_id == "0xabc"


def test_events_of_the_older_conventions(write):
    events = [
        {"name": "gen_ai.system.message", "attributes": attributes({"content": "policy"})},
        {"name": "gen_ai.user.message", "attributes": attributes({"content": "hi"})},
        {"name": "gen_ai.assistant.message", "attributes": attributes({"content": "Hello"})},
        {"name": "gen_ai.tool.message", "attributes": attributes({"content": "{}"})},
        {"name": "gen_ai.user.message", "attributes": attributes({"content": "thanks"})},
        {"name": "gen_ai.choice", "attributes": attributes(
            {"index": 0, "message": json.dumps({"role": "assistant", "content": "Bye"})})},
    ]  # fmt: skip
    span = {"traceId": "t", "attributes": attributes({"gen_ai.system": "openai"}), "events": events}
    (session,), notes = read(write("x.json", envelope([span])))
    assert said(session) == [
        ("user", "hi"), ("assistant", "Hello"), ("user", "thanks"), ("assistant", "Bye"),
    ]  # fmt: skip
    assert notes.left_out["message: system prompt"] == 1
    # The same as log records.
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [
        {"traceId": "t", "timeUnixNano": "1", "eventName": "gen_ai.user.message",
         "body": otlp_value({"content": "hi"})},
        {"traceId": "t", "timeUnixNano": "2",
         "attributes": attributes({"event.name": "gen_ai.choice"}),
         "body": otlp_value({"index": 0, "message": {"role": "assistant", "content": "yo"}})},
    ]}]}]}  # fmt: skip
    (session,), _ = read(write("y.json", logs), format="otel")
    assert said(session) == [("user", "hi"), ("assistant", "yo")]


def test_one_attribute_a_field(write):
    table = {"gen_ai.prompt.0.role": "system", "gen_ai.prompt.0.content": "p",
             "gen_ai.prompt.1.role": "user", "gen_ai.prompt.1.content": "hi",
             "gen_ai.completion.0.content": "yo"}  # fmt: skip
    (session,), _ = read(
        write("x.json", envelope([{"traceId": "t", "attributes": attributes(table)}]))
    )
    assert said(session) == [("user", "hi"), ("assistant", "yo")]


def test_content_that_was_not_captured(write):
    span = {"traceId": "t", "attributes": attributes({"gen_ai.operation.name": "chat"})}
    with pytest.raises(InputError, match="content was not captured"):
        read(write("x.json", envelope([span])))


def test_messages_cut_off_are_named(write):
    spans = genai_spans(json.dumps)
    spans[1]["attributes"] = attributes({"gen_ai.input.messages": '[{"role": "user", "par'})
    with pytest.raises(InputError, match="cut off") as caught:
        read(write("x.json", envelope(spans)))
    assert caught.value.field == "gen_ai.input.messages"


def openinference(given, answered):
    table = {"openinference.span.kind": "LLM", "session.id": "s-9", "llm.model_name": "m"}
    for prefix, messages in (("llm.input_messages", given), ("llm.output_messages", answered)):
        for i, (role, content) in enumerate(messages):
            base = f"{prefix}.{i}.message"
            table[f"{base}.role"] = role
            if isinstance(content, list):
                for k, part in enumerate(content):
                    table[f"{base}.contents.{k}.message_content.type"] = part["type"]
                    if "text" in part:
                        table[f"{base}.contents.{k}.message_content.text"] = part["text"]
            elif isinstance(content, dict):
                call = f"{base}.tool_calls.0.tool_call"
                table[f"{call}.function.name"] = content["name"]
                table[f"{call}.function.arguments"] = content["arguments"]
            else:
                table[f"{base}.content"] = content
    return table


def nested(table):
    """Dotted names as nested tables, numbers as lists."""
    found = {}
    for name, value in table.items():
        place = found
        *path, last = name.split(".")
        for key in path:
            place = place.setdefault(key, {})
        place[last] = value

    def listed(value):
        if not isinstance(value, dict):
            return value
        if value and all(key.isdecimal() for key in value):
            return [listed(value[key]) for key in sorted(value, key=int)]
        return {key: listed(part) for key, part in value.items()}

    return listed(found)


@pytest.mark.parametrize("shape", ["flat", "nested", "otlp", "columns"])
def test_openinference(write, shape):
    parts = [{"type": "text", "text": "hi"}, {"type": "image"}]
    steps = [
        ([("system", "p"), ("user", parts)], [("assistant", "Hello")]),
        ([("system", "p"), ("user", parts), ("assistant", "Hello"), ("user", "find")],
         [("assistant", {"name": "f", "arguments": "{}"})]),
    ]  # fmt: skip
    tables = [openinference(*step) for step in steps]
    chain = {"openinference.span.kind": "CHAIN", "session.id": "s-9", "input.value": "hi"}
    spans = []
    for number, table in enumerate([*tables, chain]):
        if shape == "columns":
            span = {f"attributes.{key}": value for key, value in table.items()}
            span |= {"context.trace_id": "t", "start_time": f"2026-01-01T00:00:0{number}"}
        else:
            kept = {"flat": dict, "nested": nested, "otlp": attributes}[shape](table)
            span = {"traceId": "t", "startTimeUnixNano": number, "attributes": kept}
        spans.append(span)
    content = envelope(spans) if shape == "otlp" else spans
    (session,), notes = read(write("x.json", content))
    assert notes.layout == "openinference"
    assert said(session) == [
        ("user", "hi"), ("assistant", "Hello"), ("user", "find"), ("assistant", None),
    ]  # fmt: skip
    assert session.turns[3].tool_calls[0]["function"]["name"] == "f"
    assert (session.session_id, session.agent) == ("s-9", "m")
    assert notes.left_out["field: span without messages"] == 1
    assert notes.left_out["part: image"] == 2


def test_deep_attributes_are_refused(write):
    value = "x"
    for _ in range(200):
        value = {"a": value}
    spans = [{"traceId": "t", "attributes": {"gen_ai.input.messages": "[]", "deep": value}}]
    with pytest.raises(InputError, match="nested too deeply"):
        read(write("x.json", spans), format="otel")
