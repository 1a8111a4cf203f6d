"""OpenTelemetry GenAI spans and events (OTLP/JSON, or spans as SDKs print them).

Written after the OpenTelemetry semantic conventions for generative AI: messages as attributes
(``gen_ai.input.messages``, JSON text or structure), as events of the older conventions
(``gen_ai.user.message``, ``gen_ai.choice``), or one attribute a field
(``gen_ai.prompt.0.content``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from usi.loading.context import Context
from usi.loading.fields import BadField, kind
from usi.loading.formats.traces import (
    Said,
    Span,
    attribute_names,
    looks_like_spans,
    role_of,
    sessions_of,
    structure,
)
from usi.loading.messages import text_of
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.records import Session, Turn

NAME = "otel"
ABOUT = About(
    holds="OpenTelemetry GenAI spans or events: OTLP/JSON, lines or an array of spans",
    carries=carries("agent", "tools", "person"),
    lacks="tasks, outcomes, surveys; prompts and tool results are set aside; content only where "
    "its capture was switched on",
    follows="OpenTelemetry semantic conventions for generative AI (spans, events)",
    version="semantic conventions 1.36 (events) and later (attributes)",
    told_by="spans with `gen_ai.*`",
)
_KEYS = ("gen_ai.conversation.id", "session.id", "conversation.id", "thread.id")
_AGENT = ("gen_ai.agent.name", "gen_ai.response.model", "gen_ai.request.model")
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
_MODEL_CALLS = ("chat", "text_completion", "generate_content")


def recognise(sample: Sample) -> bool:
    """Spans with an attribute or event of the GenAI conventions."""
    for record in sample.records or [_rebuilt(sample)]:
        if looks_like_spans(record):
            names = attribute_names(record)
            if any(name.startswith("gen_ai.") for name in names):
                return not any(name.startswith("llm.input_messages") for name in names)
    return False


def _rebuilt(sample: Sample) -> Any:
    """The first element of every member: enough of an object that spans many lines."""
    return sample.members


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of their first spans."""
    yield from sessions_of(context, NAME, _said, _KEYS, _AGENT)


def _said(span: Span, context: Context) -> Said | None:
    operation = span.attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation not in _MODEL_CALLS:
        return None  # an agent's or workflow's span repeats what its calls hold
    given = _messages(
        span.attributes.get("gen_ai.input.messages"), "gen_ai.input.messages", context
    )
    answered = _messages(
        span.attributes.get("gen_ai.output.messages"), "gen_ai.output.messages", context
    )
    if span.attributes.get("gen_ai.system_instructions"):
        context.leave_out("message: system prompt")
    if given or answered:
        return given, answered
    indexed = _indexed(span, "gen_ai.prompt", context), _indexed(span, "gen_ai.completion", context)
    if indexed[0] or indexed[1]:
        return indexed
    for name, found in span.events:
        if name.endswith("operation.details"):
            given += _messages(found.get("gen_ai.input.messages"), name, context)
            answered += _messages(found.get("gen_ai.output.messages"), name, context)
        elif name in _EVENT_ROLES:
            turn = _event_turn(name, found, context)
            if turn is not None:
                (answered if name == "gen_ai.choice" else given).append(turn)
    return given, answered


def _messages(value: Any, field: str, context: Context) -> list[Turn]:
    if value is None:
        return []
    listed = structure(value, field)
    if isinstance(listed, dict):
        listed = [listed]
    if not isinstance(listed, list):
        raise BadField(field, f"must be a list of messages, not {kind(listed)}")
    turns = []
    for i, message in enumerate(listed):
        if not isinstance(message, dict):
            raise BadField(f"{field}[{i}]", f"a message must be an object, not {kind(message)}")
        turn = _turn(message, f"{field}[{i}]", context)
        if turn is not None:
            turns.append(turn)
    return turns


def _turn(message: dict[str, Any], field: str, context: Context) -> Turn | None:
    parts = message.get("parts", message.get("content"))
    if not isinstance(parts, list):
        parts = [] if parts is None else [{"type": "text", "content": parts}]
    calls, words, results = [], [], 0
    for part in parts:
        name = part.get("type") if isinstance(part, dict) else None
        if name == "tool_call":
            calls.append(_call(part.get("id"), part.get("name"), part.get("arguments")))
        elif name == "tool_call_response":
            results += 1
        else:
            words.append(part)
    if results:
        context.leave_out("message: tool result", results)
        if not words and not calls:
            return None
    role = role_of(message.get("role"), context)
    if role is None:
        return None
    speaker = message.get("name")
    text = text_of(words, context)
    if text is None and not calls and words:
        context.leave_out("message: parts without text")
        return None
    return Turn(role, text, calls or None, speaker if isinstance(speaker, str) else None)


def _call(own: Any, name: Any, arguments: Any) -> dict[str, Any]:
    return {"id": own, "type": "function", "function": {"name": name, "arguments": arguments}}


def _event_turn(name: str, found: dict[str, Any], context: Context) -> Turn | None:
    message = found.get("message")
    body = structure(message, f"{name}.message") if message is not None else found
    if not isinstance(body, dict):
        body = {"content": body}
    role = role_of(body.get("role") or found.get("role") or _EVENT_ROLES[name], context)
    if role is None:
        return None
    calls = body.get("tool_calls", found.get("tool_calls"))
    calls = structure(calls, f"{name}.tool_calls") if calls else None
    return Turn(role, text_of(body.get("content"), context), calls or None)


def _indexed(span: Span, prefix: str, context: Context) -> list[Turn]:
    """Messages of one attribute a field, as several instrumentations write them."""
    turns = []
    i = 0
    while f"{prefix}.{i}.role" in span.attributes or f"{prefix}.{i}.content" in span.attributes:
        found = span.attributes.get(f"{prefix}.{i}.role")
        default = "assistant" if prefix.endswith("completion") else None
        role = role_of(found if found is not None else default, context)
        if role is not None:
            calls = []
            k = 0
            while f"{prefix}.{i}.tool_calls.{k}.name" in span.attributes:
                base = f"{prefix}.{i}.tool_calls.{k}"
                get = span.attributes.get
                calls.append(
                    _call(get(f"{base}.id"), get(f"{base}.name"), get(f"{base}.arguments"))
                )
                k += 1
            content = text_of(span.attributes.get(f"{prefix}.{i}.content"), context)
            turns.append(Turn(role, content, calls or None))
        i += 1
    return turns
