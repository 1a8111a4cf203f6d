"""From the spans of a conversation to one transcript: every call repeats what was said before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from usi.errors import InputError
from usi.load.context import Context
from usi.load.fields import BadField
from usi.load.roles import SYNONYMS
from usi.load.spans import Span, read_spans
from usi.load.times import moment, one_clock
from usi.records import Session, Turn

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
    for span in sorted(spans, key=lambda span: span.start):
        try:
            found = said(span, context)
        except BadField as bad:
            context.notes.add_problem(bad.at(context.source.name, span.row))
            continue
        if found is None or not (found[0] or found[1]):
            context.leave_out("field: span without messages")
            continue
        own = next((str(span.attributes[k]) for k in keys if span.attributes.get(k)), "")
        if not own:
            own = span.trace or "trace"
            guessed.add(own)
        groups.setdefault(own, []).append((span, found))
    if spans and not groups and not context.notes.problems:
        raise InputError(NO_CONTENT, file=context.source.name)
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
        common = _overlap(keys, fresh)
        if common:
            context.merge(REPEATED, common)
        elif keys and given:
            context.guess("message: a call without the history; what it was given is new")
        for turn in [*given[common:], *answered]:
            spoken.append(turn)
            keys.append(_key(turn))
    return spoken


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
        context.leave_out("message: another role than user and assistant")
        return None
    if context.is_chosen(found, None):
        return found
    role = SYNONYMS.get(found.strip().lower())
    if role in ("user", "assistant"):
        return role
    context.leave_out(
        {"system": "message: system prompt", "tool": "message: tool result"}.get(
            role or "", "message: another role than user and assistant"
        )
    )
    return None


def structure(value: Any, field: str) -> Any:
    """A value that may have been written as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise BadField(field, "is text that is no JSON; was it cut off?") from None
