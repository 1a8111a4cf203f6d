"""Logs that hold a conversation once a call: each record repeats it from its beginning.

A record is the beginning of another where all its messages stand first in that one. Only the
longest counts. Records that share the id of a conversation are put together always; without ids
it is done where the file shows that it is such a log, since two short talks may begin alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from usi.loading.context import Context
from usi.records import Session

WINDOW = 2_000
"""Sessions that are held back to find the longer ones that they begin."""
LEAST_SHARE = 0.25
"""Share of the sessions without an id that begin others, from which on a file is such a log."""
BEGINNING = "session: beginning of a longer record of the same conversation"
_NUMBER = re.compile(r"-\d+$")
_FEWEST = 2
"""Messages of a beginning: a question and its answer."""


@dataclass
class _Held:
    """A session that waits, the id that it will have, and whether a longer one holds it."""

    session: Session
    name: str
    marks: list[tuple[str, int]]
    inside: bool = False


@dataclass
class _Window:
    """Sessions that wait, oldest first."""

    held: dict[int, _Held] = field(default_factory=dict)
    whole: dict[tuple[str, int], int] = field(default_factory=dict)
    begun: dict[tuple[str, int], int] = field(default_factory=dict)
    without_id: int = 0
    begins: int = 0
    is_log: bool | None = None


def whole_histories(sessions: Iterator[Session], context: Context) -> Iterator[Session]:
    """Sessions without those that are only the beginning of another, in the order of the file.

    Sessions that name a task, run, batch or reward pass as they are: they are results, not calls.
    """
    window = _Window()
    for number, session in enumerate(sessions):
        if not _may_grow(session):
            yield from _released(window, context, 0)
            yield session
            continue
        _take(window, number, session)
        yield from _released(window, context, WINDOW)
    yield from _released(window, context, 0)


def _may_grow(session: Session) -> bool:
    told: tuple[Any, ...] = (
        session.task_id, session.trial, session.batch, session.outcome.reward,
    )  # fmt: skip
    return all(value is None for value in told) and session.status == "ok"


def _take(window: _Window, number: int, session: Session) -> None:
    base = _NUMBER.sub("", session.session_id)
    marks = _beginnings(base, session)
    own = _Held(session, session.session_id, marks)
    window.held[number] = own
    window.without_id += not base
    if not marks:
        return
    longer = window.begun.get(marks[-1])
    shorter = next(
        (window.whole[mark] for mark in reversed(marks[:-1]) if mark in window.whole), None
    )
    before = window.held.get(shorter) if shorter is not None else None
    if longer is not None:
        own.inside = True
        window.begins += not base
    elif before is not None:
        own.name = before.name
        window.begins += not base and not before.inside
        before.inside = True
    if len(session.turns) >= _FEWEST:
        window.whole[marks[-1]] = number
    for mark in marks[:-1]:
        window.begun.setdefault(mark, number)


def _beginnings(base: str, session: Session) -> list[tuple[str, int]]:
    """Marks of its beginnings of at least two messages, the whole last."""
    found, state = [], 0
    for count, turn in enumerate(session.turns, 1):
        text = turn.content if isinstance(turn.content, str) else repr(turn.content)
        state = hash((state, turn.role, text, repr(turn.tool_calls)))
        if count >= _FEWEST:
            found.append((base, state))
    return found


def _released(window: _Window, context: Context, keep: int) -> Iterator[Session]:
    """Sessions beyond the `keep` youngest, without the beginnings of others."""
    if len(window.held) <= keep:
        return
    if window.is_log is None and window.without_id:
        window.is_log = window.begins >= LEAST_SHARE * window.without_id
        if window.begins and not window.is_log:
            context.notes.remark(
                f"{window.begins:,} sessions without an id begin as others go on; each counts, "
                "since talks may begin alike. Give records of one conversation its id"
            )
    for number in list(window.held)[: len(window.held) - keep]:
        held = window.held.pop(number)
        for table in (window.whole, window.begun):
            for mark in held.marks:
                if table.get(mark) == number:
                    del table[mark]
        if held.inside and (held.session.session_id or window.is_log):
            context.merge(BEGINNING)
        else:
            yield msgspec.structs.replace(held.session, session_id=held.name)
