"""What happened on the way: the tool calls of a conversation, replayed on a fresh database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from usi.simulate.domains.kit import Tables
from usi.simulate.domains.state import EpisodeState, is_error
from usi.simulate.domains.tasks import Tool
from usi.simulate.protocol import Message


@dataclass(frozen=True)
class Called:
    """One call of the agent.

    Attributes
    ----------
    at
        Index of its message.
    result
        As replayed; ``{"error": text}`` where it did nothing.
    before
        The tables before the call; not to be changed.
    """

    at: int
    name: str
    arguments: Mapping[str, Any]
    write: bool
    result: Any
    before: Tables

    @property
    def done(self) -> bool:
        """Whether the call went through."""
        return not is_error(self.result)


@dataclass(frozen=True)
class Trajectory:
    """Messages and calls of one episode, as trajectory checks see them."""

    messages: Sequence[Message]
    calls: tuple[Called, ...]

    @property
    def writes(self) -> tuple[Called, ...]:
        """Calls that changed the database."""
        return tuple(call for call in self.calls if call.write and call.done)


def text_of(message: Message) -> str:
    """Text of a message; parts are joined, anything else is empty."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict)]
        return " ".join(part for part in parts if isinstance(part, str))
    return ""


def spoken(message: Message, role: str) -> bool:
    """Whether a side says something that the other sees; text beside a tool call goes to nobody."""
    return (
        message.get("role") == role
        and not message.get("tool_calls")
        and bool(text_of(message).strip())
    )


def texts(messages: Sequence[Message], role: str) -> list[str]:
    """What one side said to the other."""
    return [text_of(message) for message in messages if spoken(message, role)]


def calls_in(messages: Sequence[Message]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Index, tool and arguments of each call; arguments that are not a JSON object are ``{}``."""
    for at, message in enumerate(messages):
        if message.get("role") != "assistant":
            continue
        for call in message.get("tool_calls") or ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                yield at, str(function.get("name")), _arguments(function.get("arguments"))


def _arguments(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return dict(value) if isinstance(value, dict) else {}


def replay(
    messages: Sequence[Message], state: EpisodeState, tools: Mapping[str, Tool]
) -> Trajectory:
    """Run the calls of a conversation on `state`, which then is the final database."""
    calls = []
    for at, name, arguments in calls_in(messages):
        before = state.database.tables
        result = state.call(name, arguments)
        write = name in tools and tools[name].write
        calls.append(Called(at, name, arguments, write, result, before))
    return Trajectory(messages, tuple(calls))
