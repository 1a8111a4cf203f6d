"""Message lists of harnesses: which messages are conversation, and what is set aside."""

from __future__ import annotations

from functools import partial
from typing import Any

from usi.load.context import Context
from usi.load.fields import messages_of, turn_of
from usi.load.times import one_clock, time_of
from usi.records import Turn

API_OUTPUT = "API output: "
"""How text-only agents of tau-bench write a tool result, under the role ``user``."""


def conversation(messages: Any, field: str, context: Context) -> tuple[Turn, ...]:
    """User and assistant messages, content as found; everything else is counted by what it is.

    Raises
    ------
    BadField
        The messages are no list, or one of them is no object.
    """
    turns = []
    time = partial(time_of, context=context)
    for i, message in enumerate(messages_of(messages, field)):
        turn = turn_of(message, f"{field}[{i}]", time)
        chosen = context.is_chosen(turn.role, turn.name)
        aside = None if chosen and turn.role != "user" else _set_aside(turn, message)
        if aside is None:
            turns.append(turn)
        else:
            nested = message.get("tool_messages")
            context.leave_out(aside, len(nested) if isinstance(nested, list) and nested else 1)
    return one_clock(tuple(turns), context)


def _set_aside(turn: Turn, message: dict[str, Any]) -> str | None:
    """Why a message is no part of the conversation, or ``None``."""
    if turn.role in ("user", "assistant"):
        if message.get("is_audio") is True:
            return "message: audio, no text"
        content = turn.content
        if turn.role == "user" and isinstance(content, str) and content.startswith(API_OUTPUT):
            return "message: tool result under role user"
        return None
    if turn.role in ("tool", "function"):
        return "message: tool result"
    if turn.role in ("system", "developer"):
        return "message: system prompt"
    return "message: another role than user and assistant"
