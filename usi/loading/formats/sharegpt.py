"""ShareGPT-style conversations: ``conversations`` of ``from``/``value``, in its many spellings.

Written after the public data format of FastChat's training data and its dataset cards. Raw
exports hold the assistant's words as HTML; long conversations are split into parts whose id ends
with the number of messages before them (``x_0``, ``x_14``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from msgspec.structs import replace

from usi.loading.context import Context
from usi.loading.fields import BadField, kind, messages_of, record_of
from usi.loading.formats import usi_jsonl
from usi.loading.formats.openai_chat import ACTION, OWN_KEY, TALK, line_of, note_message
from usi.loading.messages import text_of
from usi.loading.notes import LoadNotes
from usi.loading.reader import About, Target, carries
from usi.loading.role_names import SYNONYMS
from usi.loading.sample import Sample
from usi.loading.times import time_of
from usi.records import MISSING, Session

NAME = "sharegpt"
ABOUT = About(
    holds="conversations of {from, value}, also {role, value} and {role, content}",
    carries=carries("agent", "task", "run", "outcome", "survey", "person"),
    lacks="prompts and tool results are set aside, tool calls are text; ids, reward and survey "
    "only where usi wrote them",
    follows="FastChat data format (lm-sys/FastChat, docs/training.md) and dataset cards",
    version="dataset cards as of 2026",
    told_by="a list of messages under `conversations`",
)
_ROLE_OF = {"user": "human", "assistant": "gpt"}
_HTML = re.compile(r"\s*<(?:div|p|pre|ol|ul|h[1-6]|span|table)\b", re.IGNORECASE)
_PART = re.compile(r"(?P<base>.+)_(?P<before>[0-9]{1,9})")
_BLOCKS = frozenset(("p", "div", "li", "br", "pre", "tr", "h1", "h2", "h3", "h4", "h5", "h6"))


def recognise(sample: Sample) -> bool:
    """Records with a list of messages under ``conversations``."""
    return any(
        isinstance(record, dict) and _are_messages(record.get("conversations"))
        for record in sample.records or [sample.members]
    )


def _are_messages(found: Any) -> bool:
    """Whether the first element is a message, and not a conversation (as in exports of desks)."""
    if not isinstance(found, list):
        return False
    if not found or not isinstance(found[0], dict):
        return True
    return any(
        isinstance(found[0].get(key), str)
        for key in ("from", "role", "user", "value", "content", "text")
    )


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the file; consecutive parts of one conversation are joined."""
    joiner = _Joiner(context)
    for row, value in usi_jsonl.records(context):
        session = context.build(lambda v=value, r=row: _session(v, r, context), row)  # type: ignore[misc]
        if session is not None:
            whole = joiner.add(session, _length(value))
            if whole is not None:
                yield whole
    if joiner.waiting is not None:
        yield joiner.waiting


def _length(value: Any) -> int:
    return len(value["conversations"]) if isinstance(value.get("conversations"), list) else 0


@dataclass
class _Joiner:
    """Holds a session back until it is known whether the next record carries it on."""

    context: Context
    waiting: Session | None = None
    base: str | None = None
    messages: int = field(default=0)

    def add(self, session: Session, length: int) -> Session | None:
        """Take a session; give back the one before it where that is whole."""
        part = _PART.fullmatch(session.session_id)
        before = int(part["before"]) if part else -1
        base = part["base"] if part else None
        if self.waiting is not None and before > 1 and (base, before) == (self.base, self.messages):
            self.waiting = replace(self.waiting, turns=self.waiting.turns + session.turns)
            self.messages += length
            self.context.merge("session: part of a conversation that was split")
            return None
        whole, self.waiting = self.waiting, session
        self.base, self.messages = (base if before == 0 else None), length
        return whole


def _session(value: Any, row: int, context: Context) -> Session | None:
    record = record_of(value)
    found = record.get("conversations", MISSING)
    if found is MISSING:
        raise BadField("conversations", "is missing: this format has its messages there")
    own = record.get(OWN_KEY)
    extra = {
        key: part
        for key, part in record.items()
        if key not in ("conversations", "messages", OWN_KEY)
    }
    messages = None
    if found is not None:
        listed = messages_of(found, "conversations")
        messages = list(kept_messages(listed, "conversations", context))
    return usi_jsonl.session_of(
        {"layout": NAME, **extra, **(own if isinstance(own, dict) else {}), "messages": messages},
        row,
        context,
    )


def kept_messages(messages: list[Any], field: str, context: Context) -> Iterator[dict[str, Any]]:
    """Messages of user and assistant under their usual names; the rest is counted."""
    for i, message in enumerate(messages):
        if not isinstance(message, dict):
            raise BadField(f"{field}[{i}]", f"a message must be an object, not {kind(message)}")
        speaker = message.get("from", message.get("role", message.get("user")))
        if not isinstance(speaker, str):
            raise BadField(f"{field}[{i}].from", f"must be the speaker, not {kind(speaker)}")
        content = next(
            (message[key] for key in ("value", "content", "text") if key in message), MISSING
        )
        role = SYNONYMS.get(speaker.strip().lower())
        if context.is_chosen(speaker, message.get("name")):
            role = speaker
        elif role == "tool":
            context.leave_out("message: tool result")
            continue
        elif role == "system":
            context.leave_out("message: system prompt")
            continue
        elif role is None:
            context.other_role(speaker)
            continue
        content = text_of(content, context)
        if role == "assistant" and isinstance(content, str) and _HTML.match(content):
            content = html_text(content)
            context.leave_out("part: HTML tags of the assistant's text")
        kept = {"role": role, "name": message.get("name"), "time": time_of(message, "", context)}
        yield kept if content is MISSING else {**kept, "content": content}


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS and self.found and not self.found[-1].endswith("\n"):
            self.found.append("\n")

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def html_text(html: str) -> str:
    """Words of an HTML fragment, blocks on lines of their own."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    return "".join(parser.found).strip()


def _lines(sessions: Iterable[Session], notes: LoadNotes) -> Iterator[str]:
    for session in sessions:
        messages = []
        for turn in session.turns:
            note_message(turn, notes)
            if turn.role not in TALK:
                continue
            if turn.is_action:  # without its calls it would be read as an empty utterance
                notes.left_out[ACTION] += 1
                continue
            if turn.tool_calls:
                notes.left_out["field: tool calls"] += 1
            message: dict[str, Any] = {"from": _ROLE_OF[turn.role]}
            if turn.name is not None:
                message["name"] = turn.name
            if turn.content is not MISSING:
                message["value"] = turn.content
            if turn.time is not None:
                message["timestamp"] = turn.time.isoformat()
            messages.append(message)
        yield line_of(
            {
                "id": session.session_id,
                "conversations": messages,
                OWN_KEY: usi_jsonl.identity(session),
                **({"metadata": session.meta} if session.meta else {}),
            }
        )


TARGET = Target(
    NAME,
    (".jsonl", ".jsonl.gz"),
    _lines,
    "messages of other roles, tool calls, actions; parts are joined when read again",
)
