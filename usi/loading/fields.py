"""Reading single fields of a record: what is accepted, and the error that names the field."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from usi.errors import InputError, told
from usi.records import MISSING, SurveyAnswer, Turn


class BadField(Exception):
    """A field of a record that does not hold what it should; the reader adds file and row."""

    def __init__(self, field: str, message: str) -> None:
        self.field, self.message = field, message
        super().__init__(field, message)

    def at(self, file: str | None, row: int | None) -> InputError:
        """The user's error."""
        return InputError(self.message, file=file, row=row, field=self.field or None)


_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def kind(value: Any) -> str:
    """Name of a JSON type, for messages."""
    return "missing" if value is MISSING else _KINDS.get(type(value), type(value).__name__)


def record_of(value: Any) -> dict[str, Any]:
    """The record itself, which must be an object."""
    if not isinstance(value, dict):
        raise BadField("", f"a session must be an object, not {kind(value)}")
    return value


def text_id(record: Mapping[str, Any], *names: str) -> str | None:
    """An identifier that may be text or a whole number; ``None`` where it is null or absent."""
    for name in names:
        value = record.get(name)
        if value is None:
            continue
        if isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        raise BadField(name, f"must be text or a whole number, not {kind(value)}")
    return None


def text(record: Mapping[str, Any], name: str) -> str | None:
    """A text, or ``None``."""
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise BadField(name, f"must be text, not {kind(value)}")
    return value


def number(value: Any, name: str) -> float | None:
    """A reward as a number; true is 1 and false is 0; null and absent are ``None``."""
    if value is None or value is MISSING:
        return None
    if isinstance(value, (bool, int, float)):
        try:
            result = float(value)
        except OverflowError:
            result = math.inf
        if math.isfinite(result):
            return result
        raise BadField(name, "must be a finite number")
    raise BadField(name, f"must be a number, true, false or null, not {kind(value)}")


STAMPS: frozenset[str] = frozenset(("timestamp", "created_at", "time"))
"""Keys of messages that hold a time stamp; the first that is there, in this order, is read."""
ReadTime = Callable[[Mapping[str, Any], str], datetime | None]
"""A message and the name of its place -> its time (`usi.loading.times`)."""


BODILESS: frozenset[str] = STAMPS | {
    "role", "name", "id", "tool_calls", "function_call", "tool_call_id", "type", "status",
    "index", "turn_idx", "metadata", "annotations", "cost", "usage", "tool_messages",
}  # fmt: skip
"""Keys of a message that hold no words of its speaker: with these alone a message is empty. Any
other key may hold them, and is not passed over without a word."""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{told(name)}`" for name in sorted(map(str, names))[:5])


class Parts(list[Any]):
    """Content that stood under ``parts``: it has no form of its own in which it could stay."""


def turn_of(message: Any, field: str, time: ReadTime) -> Turn:
    """One message, content as found.

    A legacy ``function_call`` is a tool call of the same meaning.
    """
    if not isinstance(message, dict):
        raise BadField(field, f"a message must be an object, not {kind(message)}")
    get = message.get
    calls = get("tool_calls") or None
    if calls is None and get("function_call"):
        calls = [{"type": "function", "function": message["function_call"]}]
    role = get("role")
    if role is not None and not isinstance(role, str):
        raise BadField(f"{field}.role", f"must be text, not {kind(role)}")
    name = get("name")
    content = get("content", MISSING)
    if content is MISSING and isinstance(get("parts"), list):  # Gemini, and the Vercel AI SDK
        content = Parts(message["parts"])
    item = get("type") not in (None, "message")  # of the Responses API: a call, its output
    if content is MISSING and calls is None and not item and not BODILESS.issuperset(message):
        raise BadField(field, f"has no `content`, but {_listed(message.keys() - BODILESS)}")
    return Turn(
        role,
        content,
        calls,
        name if isinstance(name, str) else None,
        None if STAMPS.isdisjoint(message) else time(message, field),
    )


def messages_of(value: Any, field: str) -> list[Any]:
    """A list of messages, not looked into yet."""
    if not isinstance(value, list):
        raise BadField(field, f"must be a list of messages, not {kind(value)}")
    return value


def turns_of(value: Any, field: str, time: ReadTime) -> tuple[Turn, ...]:
    """All messages of a list."""
    return tuple(
        turn_of(message, f"{field}[{i}]", time)
        for i, message in enumerate(messages_of(value, field))
    )


def survey_of(value: Any, field: str = "survey") -> tuple[SurveyAnswer, ...] | None:
    """A survey, written ``{item: {"question", "answer"}}`` or ``{item: answer}``.

    A number as answer becomes its text; null stays ``None``, as an item and as a survey.
    """
    if value is None or value is MISSING:
        return None
    if not isinstance(value, dict):
        raise BadField(field, f"must be an object of items, not {kind(value)}")
    answers = []
    for item, found in value.items():
        answer = found.get("answer") if isinstance(found, dict) else found
        if isinstance(answer, (int, float)) and not isinstance(answer, bool):
            answer = str(answer)
        if answer is not None and not isinstance(answer, str):
            raise BadField(f"{field}.{item}", f"an answer must be text, not {kind(answer)}")
        answers.append(SurveyAnswer(item, answer))
    return tuple(answers)
