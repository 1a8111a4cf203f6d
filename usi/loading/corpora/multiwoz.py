"""MultiWOZ: people who talk to people playing the assistant (versions 2.0/2.1, 2.2, ConvLab).

Datasets of arXiv 1810.00278 and 1907.01669 (MIT). In the form of 2.1 a dialogue is a ``log``
whose even entries are the user's; the later forms name the speaker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from usi.errors import quoted
from usi.loading.context import Context
from usi.loading.fields import BadField, kind, record_of, text
from usi.loading.reader import About, carries
from usi.loading.role_names import SYNONYMS
from usi.loading.sample import Sample
from usi.records import Session, Turn

NAME = "multiwoz"
ABOUT = About(
    holds="MultiWOZ: {id: {goal, log}} (2.0, 2.1), or a list of {dialogue_id, turns} (2.2)",
    carries=carries("agent", "task"),
    lacks="outcome, survey, runs and who took part: there are none; annotations are set aside",
    follows="arXiv 1810.00278 and 1907.01669; MultiWOZ 2.2 README; ConvLab-3 unified format",
    version="2.0, 2.1 (ConvLab-3 at 2a168fc), 2.2",
    told_by="`goal` and `log`; `dialogue_id` and `turns` of utterances",
)
_ANNOTATED = "field: dialogue acts and states"


def recognise(sample: Sample) -> bool:
    """Dialogues with goal and log, or with services or goal and turns of utterances."""
    if any(_has_log(value) for value in sample.members.values()):
        return True
    return any(
        isinstance(record, dict)
        and "dialogue_id" in record
        and isinstance(turns := record.get("turns"), list)
        and any(isinstance(turn, dict) and "utterance" in turn for turn in turns)
        for record in sample.records
    )


def _has_log(value: Any) -> bool:
    return isinstance(value, dict) and "goal" in value and isinstance(value.get("log"), list)


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the file."""
    context.notes.remark("MultiWOZ has no outcome: whether the goal was reached is not in the data")
    with context.open() as stream:
        cursor = context.cursor(stream)
        if cursor.peek() == b"[":
            for row in cursor.elements():
                value = cursor.value()
                yield from _built(None, value, row, context)
        else:
            for row, key in enumerate(cursor.members(), start=1):
                value = cursor.value()
                yield from _built(key, value, row, context)
        cursor.end()


def _built(key: str | None, value: Any, row: int, context: Context) -> Iterator[Session]:
    session = context.build(lambda: _session(key, value, row, context), row)
    if session is not None:
        yield session


def _session(key: str | None, value: Any, row: int, context: Context) -> Session | None:
    record = record_of(value)
    own = key or text(record, "original_id") or text(record, "dialogue_id") or None
    if own is not None and not context.is_new(("id", own), "session: duplicate id"):
        return None
    turns = tuple(_log(record["log"], context) if "log" in record else _named(record, context))
    return Session(
        session_id=own or "",
        turns=turns,
        simulator=context.label,
        domain=context.domain(_domain(record)),
        task_id=own,
        layout=NAME,
        row=row,
    )


def _log(log: Any, context: Context) -> Iterator[Turn]:
    if not isinstance(log, list):
        raise BadField("log", f"must be a list, not {kind(log)}")
    for i, entry in enumerate(log):
        if not isinstance(entry, dict):
            raise BadField(f"log[{i}]", f"must be an object, not {kind(entry)}")
        context.leave_out(_ANNOTATED)
        yield Turn("assistant" if i % 2 else "user", text(entry, "text"))


def _named(record: dict[str, Any], context: Context) -> Iterator[Turn]:
    turns = record.get("turns")
    if not isinstance(turns, list):
        raise BadField("turns", f"must be a list, not {kind(turns)}")
    for i, turn in enumerate(turns):
        if not isinstance(turn, dict):
            raise BadField(f"turns[{i}]", f"must be an object, not {kind(turn)}")
        speaker = str(turn.get("speaker")).lower()
        role = {"system": "assistant"}.get(speaker, SYNONYMS.get(speaker))
        if role not in ("user", "assistant"):
            raise BadField(f"turns[{i}].speaker", f"must be user or system, not {quoted(speaker)}")
        context.leave_out(_ANNOTATED)
        yield Turn(role, text(turn, "utterance"))


def _domain(record: dict[str, Any]) -> str | None:
    """Domains of the goal, sorted, joined by ``+``."""
    for key in ("domains", "services"):
        if isinstance(record.get(key), list):
            return "+".join(sorted(name for name in record[key] if isinstance(name, str))) or None
    goal = record.get("goal")
    if not isinstance(goal, dict):
        return None
    names = [
        name
        for name, part in goal.items()
        if part and isinstance(part, dict) and name not in ("topic", "message")
    ]
    return "+".join(sorted(names)) or None
