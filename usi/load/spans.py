"""Spans of traces: OTLP/JSON and what SDKs and exporters make of it, as one plain form."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from usi.load import usi_jsonl
from usi.load.context import Context
from usi.load.fields import BadField, kind

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


def read_spans(context: Context) -> list[Span]:
    """All spans of a file: a session can't be told before its last span was seen."""
    spans: list[Span] = []
    for row, value in usi_jsonl.records(context):
        try:
            for span in spans_of(value):
                span.row = row
                spans.append(span)
        except BadField as bad:
            context.notes.add_problem(bad.at(context.source.name, row))
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
    trace = next(
        (
            str(found)
            for found in (
                span.get("traceId"), span.get("trace_id"), context.get("trace_id"),
                span.get("context.trace_id"), context.get("traceId"),
            )
            if found
        ),
        "",
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
    return Span(trace, _time(began), attributes, events, began=began, ended=ended)


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
        return (int(found), "") if found.isdecimal() and len(found) < 30 else (0, found)
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
    if name == "intValue" and isinstance(inner, str) and inner.lstrip("-").isdecimal():
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
