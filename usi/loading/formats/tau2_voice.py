"""Full-duplex runs of tau2: what was said tick by tick, put together into utterances.

A tick holds a chunk of each side, mostly silence. Chunks of a speaker are one utterance as long as
they share an utterance id, or the other side has not spoken alone since; utterances stand in the
order in which they began. That both spoke at once, and how long nobody did, is not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from usi.loading.fields import BadField, kind

Record = Mapping[str, Any]
_SIDES = (("agent", "assistant"), ("user", "user"))
_CHUNK_KEYS = ("contains_speech", "utterance_ids", "chunk_id")


@dataclass
class _Utterance:
    role: str
    time: Any
    parts: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    last: frozenset[str] = frozenset()

    def add(self, content: str, ids: frozenset[str]) -> None:
        """Another chunk; a space between two utterance ids, as tau2 puts one."""
        apart = bool(self.parts and ids and self.last and ids.isdisjoint(self.last))
        if apart and not (self.parts[-1][-1:].isspace() or content[:1].isspace()):
            self.parts.append(" ")
        self.parts.append(content)
        self.ids |= ids
        self.last = ids

    def message(self) -> dict[str, Any]:
        found = {"role": self.role, "content": "".join(self.parts).strip()}
        return found | ({"timestamp": self.time} if self.time is not None else {})


def is_flattened(messages: Any) -> bool:
    """Whether a list of messages is one of chunks: ticks that were written one after another."""
    return isinstance(messages, list) and any(
        isinstance(message, Mapping)
        and any(message.get(key) is not None for key in _CHUNK_KEYS)
        and isinstance(message.get("contains_speech"), bool)
        for message in messages
    )


def ticks_of(messages: list[Any]) -> list[dict[str, Any]]:
    """A tick for each chunk of a flattened list; other messages keep their place."""
    ticks: list[dict[str, Any]] = []
    for message in messages:
        role = message.get("role") if isinstance(message, Mapping) else None
        side = {"assistant": "agent_chunk", "user": "user_chunk"}.get(str(role))
        if side is not None and not message.get("tool_calls"):
            ticks.append({side: message})
        else:
            ticks.append({"message": message})
    return ticks


def utterances(ticks: Any, field_: str) -> list[Any]:
    """Messages of a full-duplex run.

    Raises
    ------
    BadField
        For ticks that are not a list of objects, or a chunk that is not an object with text.
    """
    if not isinstance(ticks, list):
        raise BadField(field_, f"must be a list of ticks, not {kind(ticks)}")
    found: list[_Utterance | dict[str, Any]] = []
    current: dict[str, _Utterance] = {}
    closed: set[str] = set()
    for number, tick in enumerate(ticks):
        if not isinstance(tick, Mapping):
            raise BadField(f"{field_}[{number}]", f"a tick must be an object, not {kind(tick)}")
        said = list(_chunks(tick, f"{field_}[{number}]"))
        for role, content, ids, time in said:
            own = current.get(role)
            if own is None or (role in closed and own.ids.isdisjoint(ids)):
                own = current[role] = _Utterance(role, time)
                found.append(own)
            closed.discard(role)
            own.add(content, ids)
        if len(said) == 1:  # who was silent meanwhile has ended
            closed.update({role for _, role in _SIDES} - {said[0][0]})
        found.extend(_calls(tick))
        if "message" in tick:
            found.append(tick["message"])
    return [item.message() if isinstance(item, _Utterance) else item for item in found]


def _chunks(tick: Record, place: str) -> Iterator[tuple[str, str, frozenset[str], Any]]:
    """Role, text, utterance ids and time of what is said in a tick."""
    for side, role in _SIDES:
        chunk = tick.get(f"{side}_chunk")
        if chunk is None:
            continue
        where = f"{place}.{side}_chunk"
        if not isinstance(chunk, Mapping):
            raise BadField(where, f"a chunk must be an object, not {kind(chunk)}")
        content = chunk.get("content")
        if content is not None and not isinstance(content, str):
            raise BadField(f"{where}.content", f"must be text, not {kind(content)}")
        ids = chunk.get("utterance_ids")
        names = frozenset(map(str, ids)) if isinstance(ids, list) else frozenset()
        if content and content.strip():
            yield role, content, names, chunk.get("timestamp") or tick.get("timestamp")


def _calls(tick: Record) -> Iterator[dict[str, Any]]:
    for side, role in _SIDES:
        calls = tick.get(f"{side}_tool_calls")
        if isinstance(calls, list) and calls:
            yield {"role": role, "content": None, "tool_calls": calls}
