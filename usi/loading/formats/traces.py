"""From the spans of a conversation to one transcript: every call repeats what was said before.

Spans of traces: OTLP/JSON and what SDKs and exporters make of it, as one plain form.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec.structs import replace

from usi.errors import InputError
from usi.loading.context import Context
from usi.loading.fields import BadField, kind
from usi.loading.formats import usi_jsonl
from usi.loading.role_names import SYNONYMS
from usi.loading.times import moment, one_clock
from usi.records import Session, Turn

_DEPTH = 64


@dataclass
class Span:
    """One span (or log record) with flat attributes.

    Attributes
    ----------
    trace, start
        Trace id, and start as text or number (``""`` where unknown).
    began, ended
        Start and end as they stand in the span; ``None`` where unknown.
    own, parent
        Ids of the span and of the one that it is part of; ``""`` where unknown.
    attributes
        Dotted name to value; nested tables and lists are flattened (``a.0.b``), and kept as they
        are under their own name, too.
    events
        Name and attributes of every event.
    """

    trace: str
    start: tuple[int, str]
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    row: int = 0
    began: Any = None
    ended: Any = None
    own: str = ""
    parent: str = ""


def read_spans(context: Context) -> list[Span]:
    """All spans of a file: a session can't be told before its last span was seen."""
    spans: list[Span] = []
    for row, value in usi_jsonl.records(context):
        spans += context.made(partial(_listed, value), row) or []
        for span in reversed(spans):
            if span.row:
                break
            span.row = row
    return spans


def _listed(value: Any) -> list[Span]:
    spans = list(spans_of(value))
    for span in spans:
        for name, when in (("start", span.began), ("end", span.ended)):
            if isinstance(when, float) and not math.isfinite(when):
                raise BadField(f"{name} time", f"must be a time, not {when}")
    return spans


def looks_like_spans(record: Any) -> bool:
    """Whether a record holds spans, whatever their attributes are called."""
    if isinstance(record, list):
        return any(looks_like_spans(part) for part in record[:5])
    if not isinstance(record, dict):
        return False
    if "resourceSpans" in record or "resourceLogs" in record:
        return True
    has_trace = any(
        name in record for name in ("trace_id", "traceId", "context", "context.trace_id")
    )
    return has_trace and (
        "attributes" in record or any(k.startswith("attributes.") for k in record)
    )


def attribute_names(record: Any) -> set[str]:
    """Names of all attributes of the spans of a record; for recognising a format."""
    try:
        spans = list(spans_of(record))
    except BadField:
        return set()
    names = {name for span in spans for name in span.attributes}
    return names | {name for span in spans for name, _ in span.events}


def spans_of(value: Any) -> Iterator[Span]:
    """Spans of one record: an OTLP envelope, a list of spans, or a span."""
    if isinstance(value, list):
        for part in value:
            yield from spans_of(part)
        return
    if not isinstance(value, dict):
        raise BadField("", f"a span must be an object, not {kind(value)}")
    if "resourceSpans" in value or "resourceLogs" in value:
        for resource in _objects(value, "resourceSpans") + _objects(value, "resourceLogs"):
            shared = attributes_of(_dict(resource.get("resource")).get("attributes"))
            for scope in _objects(resource, "scopeSpans") + _objects(resource, "scopeLogs"):
                for span in _objects(scope, "spans") + _objects(scope, "logRecords"):
                    yield _span(span, shared)
        return
    if isinstance(value.get("spans"), list):
        yield from spans_of(value["spans"])
        return
    yield _span(value, {})


def _span(span: dict[str, Any], shared: dict[str, Any]) -> Span:
    context = _dict(span.get("context"))
    trace = _id(
        span.get("traceId"), span.get("trace_id"), context.get("trace_id"),
        span.get("context.trace_id"), context.get("traceId"),
    )  # fmt: skip
    own = _id(
        span.get("spanId"), span.get("span_id"), context.get("span_id"),
        span.get("context.span_id"), context.get("spanId"),
    )  # fmt: skip
    above = _dict(span.get("parent"))
    parent = _id(
        span.get("parentSpanId"), span.get("parent_span_id"), span.get("parent_id"),
        span.get("parentId"), above.get("span_id"), above.get("spanId"),
    )  # fmt: skip
    attributes = dict(shared)
    attributes.update(attributes_of(span.get("attributes")))
    dotted = {k[len("attributes.") :]: v for k, v in span.items() if k.startswith("attributes.")}
    attributes.update(_flat(dotted))
    events = [
        (str(event.get("name")), _event(event)) for event in span.get("events") or []
        if isinstance(event, dict)
    ]  # fmt: skip
    name = span.get("eventName") or attributes.get("event.name")
    if name and "body" in span:  # a log record is an event of its own
        body = _otlp(span["body"], 0)
        events.append((str(name), {**attributes, **(body if isinstance(body, dict) else {})}))
    began, ended = _first(span, _STARTS), _first(span, _ENDS)
    return Span(
        trace, _time(began), attributes, events, began=began, ended=ended, own=own, parent=parent
    )


def _id(*candidates: Any) -> str:
    """The first text or number among what may be an id."""
    for found in candidates:
        if found and isinstance(found, str | int) and not isinstance(found, bool):
            return str(found)
    return ""


def _event(event: dict[str, Any]) -> dict[str, Any]:
    found = attributes_of(event.get("attributes"))
    body = _otlp(event.get("body"), 0)
    return {**found, **(body if isinstance(body, dict) else {})}


_STARTS = (
    "startTimeUnixNano", "start_time_unix_nano", "timeUnixNano", "start_time", "startTime",
)  # fmt: skip
_ENDS = ("endTimeUnixNano", "end_time_unix_nano", "timeUnixNano", "end_time", "endTime")


def _first(span: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The first text or number under one of the names."""
    for name in names:
        found = span.get(name)
        number = isinstance(found, int | float) and not isinstance(found, bool)
        if number or (isinstance(found, str) and found):
            return found
    return None


def _time(found: Any) -> tuple[int, str]:
    """Sort key of a start: nanoseconds, or the text of a date."""
    if isinstance(found, str):
        return (
            (int(found), "")
            if found.isascii() and found.isdecimal() and len(found) < 30
            else (0, found)
        )
    if isinstance(found, float) and not math.isfinite(found):
        return 0, ""  # refused when the span is read
    return (0 if found is None else int(found)), ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = value.get(name)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(part, dict) for part in found):
        raise BadField(name, "must be a list of objects")
    return found


def attributes_of(value: Any) -> dict[str, Any]:
    """Attributes as a flat table, from the list of OTLP or from a table."""
    if isinstance(value, list):
        pairs = {
            str(pair["key"]): _otlp(pair.get("value"), 0)
            for pair in value
            if isinstance(pair, dict) and "key" in pair
        }
        return _flat(pairs)
    return _flat(value) if isinstance(value, dict) else {}


def _otlp(value: Any, depth: int) -> Any:
    """An OTLP AnyValue as a plain value; anything else as it is."""
    if depth > _DEPTH:
        raise BadField("attributes", "are nested too deeply")
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((name, inner),) = value.items()
    if name == "arrayValue":
        return [_otlp(part, depth + 1) for part in _dict(inner).get("values") or []]
    if name == "kvlistValue":
        pairs = _dict(inner).get("values") or []
        return {
            str(p.get("key")): _otlp(p.get("value"), depth + 1)
            for p in pairs
            if isinstance(p, dict)
        }
    if (
        name == "intValue"
        and isinstance(inner, str)
        and inner.isascii()
        and inner.lstrip("-").isdecimal()
    ):
        return int(inner) if len(inner) < 30 else inner
    if name == "bytesValue":
        try:
            return base64.b64decode(str(inner)).decode("utf-8", "replace")
        except ValueError:
            return None
    return inner if name in ("stringValue", "boolValue", "doubleValue", "intValue") else value


def _flat(table: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def walk(name: str, value: Any, depth: int) -> None:
        if depth > _DEPTH:
            raise BadField("attributes", "are nested too deeply")
        found[name] = value
        if isinstance(value, dict):
            for key, part in value.items():
                walk(f"{name}.{key}", part, depth + 1)
        elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
            for i, part in enumerate(value):
                walk(f"{name}.{i}", part, depth + 1)

    for key, value in table.items():
        walk(key, value, 0)
    return found


Said = tuple[list[Turn], list[Turn]]
"""What a call of a model was given, and what it answered."""
REPEATED = "message: repeated by a later call of the model"
NO_CONTENT = (
    "the spans hold no messages: content was not captured. Switch it on where the trace is made "
    "(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT for OpenTelemetry; OPENINFERENCE_HIDE_* "
    "unset for OpenInference)"
)


def sessions_of(
    context: Context, layout: str, said: Callable[[Span, Context], Said | None],
    keys: tuple[str, ...], agent: tuple[str, ...],
) -> Iterator[Session]:  # fmt: skip
    """One session a conversation id (else a trace), in the order of their first spans.

    Parameters
    ----------
    said
        Messages of a span, or ``None`` where it is no call of a model.
    keys
        Attributes that name the conversation, best first.
    agent
        Attributes that name the model or agent.
    """
    groups: dict[str, list[tuple[Span, Said]]] = {}
    guessed: set[str] = set()
    spans = read_spans(context)
    named = _Conversations(spans, keys)
    for span in sorted(spans, key=lambda span: span.start):
        try:
            found = said(span, context)
        except BadField as bad:
            context.notes.add_problem(bad.at(context.source.name, span.row))
            continue
        if found is None or not (found[0] or found[1]):
            context.leave_out("field: span without messages")
            continue
        own = named.of(span)
        if not own:
            own = span.trace or "trace"
            guessed.add(own)
        groups.setdefault(own, []).append((span, found))
    if spans and not groups and not context.notes.problems:
        raise InputError(NO_CONTENT, file=context.source.name)
    yield from joined(groups, guessed, context, layout, agent)


class _Conversations:
    """Which conversation a span belongs to: as it or a span above it says, else its trace."""

    def __init__(self, spans: list[Span], keys: tuple[str, ...]) -> None:
        """Note where each span stands, and which conversations a trace names."""
        self._keys = keys
        self._spans = {(span.trace, span.own): span for span in spans if span.own}
        self._of_trace: dict[str, set[str]] = {}
        for span in spans:
            found = self._named(span, keys[0])
            if found and span.trace:
                self._of_trace.setdefault(span.trace, set()).add(found)

    def of(self, span: Span) -> str:
        """Id of its conversation; ``""`` where nothing names one."""
        above = self._above(span)
        for key in self._keys:
            for each in above:
                found = self._named(each, key)
                if found:
                    return found
        alone = self._of_trace.get(span.trace, set())
        return next(iter(alone)) if len(alone) == 1 else ""

    def _above(self, span: Span) -> list[Span]:
        """The span, and those that it is part of."""
        found, seen = [span], {span.own}
        while (parent := self._spans.get((span.trace, span.parent))) and parent.own not in seen:
            found.append(parent)
            seen.add(parent.own)
            span = parent
        return found

    @staticmethod
    def _named(span: Span, key: str) -> str:
        found = span.attributes.get(key)
        return str(found) if found else ""


def joined(
    groups: dict[str, list[tuple[Span, Said]]], guessed: set[str], context: Context, layout: str,
    agent: tuple[str, ...],
) -> Iterator[Session]:  # fmt: skip
    """One session a group of calls, each with what it was given and what it answered.

    Parameters
    ----------
    groups
        Conversation id -> its calls in the order of their starts.
    guessed
        Ids that are those of a trace, since no conversation was named.
    agent
        Attributes that name the model or agent.
    """
    for row, (own, calls) in enumerate(groups.items(), start=1):
        if own in guessed:
            context.guess("session: has no conversation id; one trace is taken for one session")
        if not context.is_new(("id", own), "session: duplicate id"):
            continue
        first = calls[0][0]
        yield Session(
            session_id=own,
            turns=one_clock(tuple(transcript([_timed(*call) for call in calls], context)), context),
            simulator=context.label,
            domain=context.domain(None),
            layout=layout,
            participant=_text(first.attributes, ("enduser.id", "user.id")),
            agent=_text(first.attributes, agent),
            row=row,
        )


def _timed(span: Span, said: Said) -> Said:
    """What was said, with times: a call begins when the user has spoken, and ends with the answer.

    Messages before the last one that a call was given were said before it: nothing tells when.
    """
    given, answered = said
    if given and given[-1].role == "user":
        given = [*given[:-1], replace(given[-1], time=moment(span.began))]
    ended = moment(span.ended)
    return given, [replace(turn, time=ended) for turn in answered]


def _text(attributes: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((str(attributes[name]) for name in names if attributes.get(name)), None)


def transcript(calls: list[Said], context: Context) -> list[Turn]:
    """What was said, once: every call is given the history, or the end of it."""
    spoken: list[Turn] = []
    keys: list[tuple[str, str]] = []
    for given, answered in calls:
        fresh = [_key(turn) for turn in given]
        lead = _summary(keys, fresh)
        common = _overlap(keys, fresh[lead:])
        if lead:
            context.leave_out(SUMMARY, lead)
        if common:
            context.merge(REPEATED, common)
        elif keys and given and not lead:
            context.guess("message: a call without the history; what it was given is new")
        for turn in [*given[lead + common :], *answered]:
            spoken.append(turn)
            keys.append(_key(turn))
    return spoken


SUMMARY = "message: summary that stands for what was said before"
_SUMMARISES = re.compile(
    r"""^\W*(
        (here\ is\ |this\ is\ )?(a\ |the\ )?
        ((conversation|chat|previous|earlier|session|compacted|running|history)\ )*summary\b
        | this\ session\ is\ being\ continued
        | (the\ )?(conversation|history)\ (was|has\ been)\ (compacted|summari[sz]ed)
        | summari[sz]ed\ (conversation|history)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
MOST_LEADING = 3
"""Messages at the beginning of a history that a summary may consist of."""


def _summary(said: list[tuple[str, str]], fresh: list[tuple[str, str]]) -> int:
    """Messages at the beginning of a history that replace what was said before (compaction).

    Those before a stretch that ends what was said so far, or, where nothing of it is left, a first
    message that calls itself a summary and that a newer one follows.
    """
    if not said or len(fresh) < 2 or _overlap(said, fresh):
        return 0
    for lead in range(1, min(MOST_LEADING, len(fresh) - 1) + 1):
        if _ends_with(said, fresh[lead:]):
            return lead
    return 1 if _SUMMARISES.match(fresh[0][1]) else 0


def _ends_with(said: list[tuple[str, str]], fresh: list[tuple[str, str]]) -> bool:
    """Whether a list of messages begins with an end of what was said that has words."""
    return any(
        said[-length:] == fresh[:length] and any(text for _, text in fresh[:length])
        for length in range(1, min(len(said), len(fresh)) + 1)
    )


def _overlap(said: list[tuple[str, str]], fresh: list[tuple[str, str]]) -> int:
    """Length of the longest beginning of `fresh` that is an end of `said`."""
    for length in range(min(len(said), len(fresh)), 0, -1):
        if said[-length:] == fresh[:length]:
            return length
    # The last answer may have been changed or left out on its way into the history.
    for cut in (1, 2):
        shorter = said[:-cut]
        length = len(shorter)
        if shorter and shorter == fresh[:length]:
            changed = zip(said[length:], fresh[length:], strict=False)
            return length + sum(old[0] == new[0] for old, new in changed)
    return 0


def _key(turn: Turn) -> tuple[str, str]:
    calls = ""
    if turn.tool_calls:
        calls = json.dumps(
            [
                part.get("function", {}).get("name")
                for part in turn.tool_calls
                if isinstance(part, dict)
            ]
        )
    text = turn.content.strip() if isinstance(turn.content, str) else ""
    return str(turn.role), text + calls


def role_of(found: Any, context: Context) -> str | None:
    """Role of a message in plain names; ``None`` (and counted) where it is no conversation."""
    if not isinstance(found, str):
        context.other_role(None)
        return None
    if context.is_chosen(found, None):
        return found
    role = SYNONYMS.get(found.strip().lower())
    if role in ("user", "assistant"):
        return role
    aside = {"system": "message: system prompt", "tool": "message: tool result"}.get(role or "")
    if aside is None:
        context.other_role(found)
    else:
        context.leave_out(aside)
    return None


def structure(value: Any, field: str) -> Any:
    """A value that may have been written as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise BadField(field, "is text that is not JSON; was it cut off?") from None
