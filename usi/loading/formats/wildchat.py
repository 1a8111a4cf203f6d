"""Rows of WildChat and LMSYS-Chat: talk of people with chat models, without task or outcome.

Written after the dataset cards of allenai/WildChat-1M and lmsys/lmsys-chat-1m.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from usi.loading.context import Context
from usi.loading.fields import BadField, messages_of, record_of, text, text_id
from usi.loading.formats import usi_jsonl
from usi.loading.formats.sharegpt import kept_messages
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.records import MISSING, Session

NAME = "wildchat"
ABOUT = About(
    holds="rows of WildChat ({conversation_hash, conversation, ...}) or LMSYS-Chat",
    carries=carries("agent", "person"),
    lacks="tasks, outcomes and surveys: there are none; flags of single messages are set aside",
    follows="dataset cards of allenai/WildChat-1M and lmsys/lmsys-chat-1m",
    version="dataset cards as of 2026",
    told_by="`conversation` and `conversation_hash` or `conversation_id` beside their columns",
)
_MARKER = re.compile(r"\b(?:NAME|PRESIDIO_ANONYMIZED_[A-Z_]+)_?[0-9]*\b")
_KEPT = ("model", "language", "country", "state", "turn", "redacted", "toxic")
_TURN_FIELDS = ("toxic", "redacted", "language", "hashed_ip", "header", "turn_identifier")


def recognise(sample: Sample) -> bool:
    """Rows with a conversation and the columns that only these two data sets have."""
    return any(map(is_row, sample.records or [sample.members]))


def is_row(record: Any) -> bool:
    """Whether an object is a row of these data sets."""
    return (
        isinstance(record, dict)
        and isinstance(record.get("conversation"), list)
        and ("conversation_hash" in record or "conversation_id" in record)
        and bool({"openai_moderation", "turn", "redacted"} & record.keys())
    )


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the file."""
    for row, value in usi_jsonl.records(context):
        session = context.build(lambda v=value, r=row: session_of(v, r, context), row)  # type: ignore[misc]
        if session is not None:
            yield session


def has_columns(names: Iterable[str]) -> bool:
    """Whether a table (the data sets are published as Parquet) has their columns."""
    found = set(names)
    own = {"conversation_hash", "conversation_id"} & found
    return "conversation" in found and bool(own) and "model" in found


def sessions_of_rows(
    rows: Iterable[tuple[int, Mapping[str, Any]]], context: Context
) -> Iterator[Session]:
    """Sessions of a table whose cells are lists of messages."""
    context.file.layout = NAME
    for row, value in rows:
        session = context.build(lambda v=value, r=row: session_of(dict(v), r, context), row)  # type: ignore[misc]
        if session is not None:
            yield session


def session_of(value: Any, row: int, context: Context) -> Session | None:
    """One row; redaction markers stay in the text and are counted."""
    record = record_of(value)
    found = record.get("conversation", MISSING)
    if found is MISSING:
        raise BadField("conversation", "is missing: a row has its messages there")
    listed = messages_of(found, "conversation")
    people = {
        message["hashed_ip"]
        for message in listed
        if isinstance(message, dict) and isinstance(message.get("hashed_ip"), str)
    }
    if any(isinstance(m, dict) and m.keys() & set(_TURN_FIELDS) for m in listed):
        context.leave_out("field: flags, language and origin of single messages", len(listed))
    messages = list(kept_messages(listed, "conversation", context))
    marked = sum(
        isinstance(message.get("content"), str) and bool(_MARKER.search(message["content"]))
        for message in messages
    )
    if marked:
        context.guess("message: holds a redaction marker, which is read as a word", marked)
    return usi_jsonl.session_of(
        {
            "id": text_id(record, "conversation_hash", "conversation_id"),
            "layout": NAME,
            "agent": text(record, "model"),
            "participant": min(people) if len(people) == 1 else None,
            "messages": messages,
            "metadata": {key: record[key] for key in _KEPT if record.get(key) is not None},
        },
        row,
        context,
    )
