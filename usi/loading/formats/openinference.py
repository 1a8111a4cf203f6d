"""OpenInference spans (Phoenix and its instrumentations): messages as flattened attributes.

Written after the OpenInference specification: ``llm.input_messages.0.message.role`` and so on;
exports of data frames may have nested them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from usi.loading.context import Context
from usi.loading.formats.traces import (
    Said,
    Span,
    attribute_names,
    looks_like_spans,
    role_of,
    sessions_of,
)
from usi.loading.messages import text_of
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.records import Session, Turn

NAME = "openinference"
ABOUT = About(
    holds="OpenInference spans: llm.input_messages.* and llm.output_messages.*, flat or nested",
    carries=carries("agent", "tools", "person"),
    lacks="tasks, outcomes, surveys; prompts and tool results are set aside",
    follows="OpenInference specification, semantic conventions (Arize-ai/openinference)",
    version="specification as of 2026",
    told_by="spans with `llm.input_messages` or `openinference.*`",
)
_KEYS = ("session.id", "gen_ai.conversation.id")
_AGENT = ("agent.name", "llm.model_name")
_IN, _OUT = "llm.input_messages", "llm.output_messages"


def recognise(sample: Sample) -> bool:
    """Spans with messages, or at least a kind, of this specification."""
    for record in sample.records or [sample.members]:
        if looks_like_spans(record):
            names = attribute_names(record)
            if any(name.startswith((_IN, _OUT, "openinference.")) for name in names):
                return True
    return False


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of their first spans."""
    yield from sessions_of(context, NAME, _said, _KEYS, _AGENT)


def _said(span: Span, context: Context) -> Said | None:
    kind = span.attributes.get("openinference.span.kind")
    if isinstance(kind, str) and kind.upper() != "LLM":
        return None
    return list(_turns(span, _IN, context)), list(_turns(span, _OUT, context))


def _turns(span: Span, prefix: str, context: Context) -> Iterator[Turn]:
    get = span.attributes.get
    i = 0
    while any(f"{prefix}.{i}.message.{name}" in span.attributes for name in _MESSAGE):
        base = f"{prefix}.{i}.message"
        i += 1
        role = role_of(get(f"{base}.role"), context)
        if role is None:
            continue
        content = get(f"{base}.content")
        parts = list(_parts(span, base))
        if content is None and parts:
            content = parts
        calls = list(_calls(span, base))
        name = get(f"{base}.name")
        yield Turn(
            role, text_of(content, context), calls or None, name if isinstance(name, str) else None
        )


_MESSAGE = ("role", "content", "contents", "contents.0.message_content.type", "tool_calls")


def _parts(span: Span, base: str) -> Iterator[Any]:
    get = span.attributes.get
    k = 0
    while any(
        f"{base}.contents.{k}.message_content.{name}" in span.attributes
        for name in ("type", "text", "image", "image.image.url")
    ):
        place = f"{base}.contents.{k}.message_content"
        yield {"type": get(f"{place}.type", "text"), "text": get(f"{place}.text")}
        k += 1


def _calls(span: Span, base: str) -> Iterator[Any]:
    get = span.attributes.get
    k = 0
    while f"{base}.tool_calls.{k}.tool_call.function.name" in span.attributes:
        place = f"{base}.tool_calls.{k}.tool_call"
        yield {
            "id": get(f"{place}.id"),
            "type": "function",
            "function": {
                "name": get(f"{place}.function.name"),
                "arguments": get(f"{place}.function.arguments"),
            },
        }
        k += 1
