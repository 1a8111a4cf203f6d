"""ABCD, the Action-Based Conversations Dataset: customers and agents with guidelines.

Dataset of ASAPP (MIT; arXiv 2104.00783), read after its README: lists of conversations, bare or
under ``train``, ``dev`` and ``test``; ``original`` holds pairs of speaker and text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from usi.errors import quoted
from usi.loading.context import Context
from usi.loading.fields import BadField, kind, record_of, text, text_id
from usi.loading.jsonstream import Cursor
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.records import Session, Turn

NAME = "abcd"
ABOUT = About(
    holds="ABCD: conversations with convo_id, scenario and original, in a list or by split",
    carries=carries("agent", "task"),
    lacks="outcome, survey and who took part; what buttons the agent pressed is set aside",
    follows="arXiv 2104.00783; asappresearch/abcd README",
    version="README as of 2026",
    told_by="`convo_id` beside `original` or `delexed`",
)
_ROLES = {"customer": "user", "agent": "assistant"}
_SPLITS = ("train", "dev", "test")


def recognise(sample: Sample) -> bool:
    """Conversations with a convo_id, bare or below the name of a split."""
    found = list(sample.records)
    for split in _SPLITS:
        part = sample.members.get(split)
        found += part if isinstance(part, list) else []
    return any(
        isinstance(record, dict)
        and "convo_id" in record
        and {"original", "delexed"} & record.keys()
        for record in found
    )


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the file."""
    with context.open() as stream:
        cursor = context.cursor(stream)
        if cursor.peek() == b"[":
            yield from _rows(cursor, context, None)
        else:
            for key in cursor.members():
                if cursor.peek() == b"[":
                    yield from _rows(cursor, context, key)
                else:
                    cursor.skip()
        cursor.end()


def _rows(cursor: Cursor, context: Context, split: str | None) -> Iterator[Session]:
    for row in cursor.elements():
        value = cursor.value()
        session = context.build(lambda v=value, r=row: _session(v, r, split, context), row)  # type: ignore[misc]
        if session is not None:
            yield session


def _session(value: Any, row: int, split: str | None, context: Context) -> Session | None:
    record = record_of(value)
    own = text_id(record, "convo_id")
    if own is None:
        raise BadField("convo_id", "is missing")
    scenario = record.get("scenario")
    if scenario is not None and not isinstance(scenario, dict):
        raise BadField("scenario", f"must be an object, not {kind(scenario)}")
    turns = tuple(_turns(record, context))
    if not context.is_new(("id", own), "session: duplicate id"):
        return None
    return Session(
        session_id=own,
        turns=turns,
        simulator=context.label,
        domain=context.domain(text(scenario or {}, "flow")),
        task_id=text(scenario or {}, "subflow"),
        layout=NAME,
        row=row,
        meta={} if split is None else {"split": split},
    )


def _turns(record: dict[str, Any], context: Context) -> Iterator[Turn]:
    field = "original" if "original" in record else "delexed"
    listed = record.get(field)
    if not isinstance(listed, list):
        raise BadField(field, f"must be a list, not {kind(listed)}")
    if field == "delexed":
        context.guess("session: only the text with placeholders is there (delexed)")
    for i, entry in enumerate(listed):
        if isinstance(entry, dict):
            entry = [entry.get("speaker"), entry.get("text")]  # noqa: PLW2901
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[1], str):
            raise BadField(f"{field}[{i}]", "must be a pair of speaker and text")
        if entry[0] == "action":
            context.leave_out("message: result of a button that the agent pressed")
        elif entry[0] in _ROLES:
            yield Turn(_ROLES[entry[0]], entry[1])
        else:
            raise BadField(
                f"{field}[{i}]",
                f"the speaker must be agent, customer or action, not {quoted(entry[0])}",
            )
