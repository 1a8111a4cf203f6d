"""OpenAI chat JSONL: ``messages`` of chat completions, items of the Responses API, bare lists.

Written after the public API reference (chat completions, Responses) and the fine-tuning guide.
Messages of the roles user and assistant are the conversation; system and developer prompts, tool
results and reasoning are counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from usi.loading.context import Context
from usi.loading.fields import STAMPS, BadField, kind, messages_of, record_of
from usi.loading.formats import usi_jsonl
from usi.loading.messages import JOINED, text_of
from usi.loading.notes import LoadNotes
from usi.loading.reader import About, Target, carries
from usi.loading.sample import Sample
from usi.loading.times import time_of
from usi.records import MISSING, Session, Turn

NAME = "openai-chat"
ABOUT = About(
    holds="one conversation a line: messages of chat completions or items of Responses",
    carries=carries("agent", "tools", "task", "run", "outcome", "survey", "person"),
    lacks="prompts, tool results, reasoning and images are set aside; parts are joined; ids, "
    "reward and survey only where `metadata` has them",
    follows="OpenAI API reference: chat completions, Responses; fine-tuning data format",
    version="API reference as of 2026",
    told_by="a mark that only they have: a developer role, `tools`, `tool_call_id`, `weight`, "
    "items",
)
TALK = ("user", "assistant")
OTHER_ROLE = "message: of another role than user and assistant"
ACTION = "message: action of the user (tool calls without words)"
OWN_KEY = "usi"
"""Key of `metadata` under which usi writes what the format has no place for."""
_MARKS = frozenset(("tools", "functions", "parallel_tool_calls", "response_format", "tool_choice"))
_FIELDS = frozenset(
    ("role", "content", "name", "tool_calls", "function_call", "type", "id", "status")
)
_ASIDE = {
    "system": "message: system prompt",
    "developer": "message: system prompt",
    "tool": "message: tool result",
    "function": "message: tool result",
}


def recognise(sample: Sample) -> bool:
    """Records with a mark that only this format has; plain messages alone are usi JSONL."""
    return any(_marked(record) for record in sample.records or [sample.members])


def _marked(record: Any) -> bool:
    if isinstance(record, list):
        return any(_marked_message(message) for message in record)
    if not isinstance(record, dict) or "reward_info" in record or "traj" in record:
        return False
    messages = record.get("messages")
    if not isinstance(messages, list):
        items = [*_list(record.get("input")), *_list(record.get("output"))]
        return any(_is_item(item) or _marked_message(item) for item in items)
    if record.keys() & usi_jsonl.OWN_KEYS:
        return False
    own = isinstance(record.get("metadata"), dict) and OWN_KEY in record["metadata"]
    return own or bool(record.keys() & _MARKS) or any(map(_marked_message, messages))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_item(message: Any) -> bool:
    return isinstance(message, dict) and (
        message.get("type") in usi_jsonl.ITEMS or str(message.get("type")).endswith("_call")
    )


def _marked_message(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    return (
        _is_item(message)
        or message.get("role") in ("developer", "function")
        or "weight" in message
        or (
            "role" in message
            and bool({"tool_call_id", "function_call", "refusal"} & message.keys())
        )
    )


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the file."""
    for row, value in usi_jsonl.records(context):
        session = context.build(lambda v=value, r=row: _session(v, r, context), row)  # type: ignore[misc]
        if session is not None:
            yield session


def _session(value: Any, row: int, context: Context) -> Session | None:
    record: dict[str, Any] = {"messages": value} if isinstance(value, list) else record_of(value)
    metadata = record.get("metadata")
    own: dict[str, Any] = {}
    if isinstance(metadata, dict) and isinstance(metadata.get(OWN_KEY), dict):
        own = metadata[OWN_KEY]
        metadata = {key: found for key, found in metadata.items() if key != OWN_KEY} or None
    field, messages = _messages(record)
    extra = {
        key: found
        for key, found in record.items()
        if key not in ("messages", "conversation", "input", "output", "metadata")
    }
    return usi_jsonl.session_of(
        {
            "layout": NAME,
            **extra,
            **own,
            "metadata": metadata,
            "messages": None if messages is None else list(_kept(messages, field, context)),
        },
        row,
        context,
    )


def _messages(record: dict[str, Any]) -> tuple[str, list[Any] | None]:
    """Messages of a chat record, or input and output items of a Responses record, in order."""
    if "messages" in record:
        found = record["messages"]
        return "messages", None if found is None else messages_of(found, "messages")
    if "input" not in record and "output" not in record:
        raise BadField("messages", "neither `messages` nor `input` and `output` are there")
    given, answer = record.get("input"), record.get("output")
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    items: list[Any] = []
    for name, part in (("input", given), ("output", answer)):
        items += [] if part is None else messages_of(part, name)
    return "input+output", items


def _kept(messages: list[Any], field: str, context: Context) -> Iterator[dict[str, Any]]:
    for i, message in enumerate(messages):
        if not isinstance(message, dict):
            raise BadField(f"{field}[{i}]", f"a message must be an object, not {kind(message)}")
        kept = _item(message, context) if "role" not in message else _chat(message, context)
        if kept is not None:
            yield kept


def _chat(message: dict[str, Any], context: Context) -> dict[str, Any] | None:
    role = context.role(message.get("role"), message.get("name"))
    chosen = context.is_chosen(role, message.get("name"))
    if role not in ("user", "assistant") and not chosen:
        reason = _ASIDE.get(role) if isinstance(role, str) else None
        if reason is None:
            context.other_role(role)
        else:
            context.leave_out(reason)
        return None
    if message.keys() - _FIELDS - STAMPS:
        context.leave_out("field: of a message, beside role, content, name and tool calls")
    content = text_of(message.get("content", MISSING), context)
    if content is None and isinstance(message.get("refusal"), str):
        content = message["refusal"]
    kept: dict[str, Any] = {
        key: message[key] for key in ("name", "tool_calls", "function_call") if key in message
    } | {"role": role}
    time = time_of(message, "", context)
    if time is not None:
        kept["time"] = time
    return kept if content is MISSING else kept | {"content": content}


def _item(item: dict[str, Any], context: Context) -> dict[str, Any] | None:
    """An item of the Responses API that is no message: a call is an action of the assistant."""
    kind_ = item.get("type")
    if kind_ == "function_call":
        call = {
            "id": item.get("call_id"),
            "type": "function",
            "function": {"name": item.get("name"), "arguments": item.get("arguments")},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if kind_ == "reasoning":
        context.leave_out("message: reasoning")
    elif isinstance(kind_, str) and kind_.endswith("_output"):
        context.leave_out("message: tool result")
    elif isinstance(kind_, str) and kind_.endswith("_call"):
        context.leave_out("message: call of a hosted tool")
    else:
        context.leave_out("message: another role than user and assistant")
    return None


def _lines(sessions: Iterable[Session], notes: LoadNotes) -> Iterator[str]:
    for session in sessions:
        own = usi_jsonl.identity(session)
        for name in ("status",) if session.status != "ok" and not session.turns else ():
            own[name] = session.status
        record = usi_jsonl.record_of_session(session)
        for turn in session.turns:
            note_message(turn, notes)
        metadata = {**session.meta, OWN_KEY: own}
        yield line_of({"messages": record["messages"], "metadata": metadata})


def note_message(turn: Turn, notes: LoadNotes) -> None:
    """What a reader of chat formats sets aside or joins."""
    if turn.role not in TALK:
        notes.left_out[OTHER_ROLE] += 1
    elif isinstance(turn.content, list):
        notes.merged[JOINED] += 1


def line_of(record: dict[str, Any]) -> str:
    line = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        line = json.dumps(record, separators=(",", ":"))
    return line + "\n"


TARGET = Target(
    NAME,
    (".jsonl", ".jsonl.gz"),
    _lines,
    "parts are joined and messages of other roles set aside when it is read again",
)
