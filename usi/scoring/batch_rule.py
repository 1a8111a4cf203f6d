"""Batches of people by a rule: date, participant, or a field of the sessions.

A corpus whose sessions name no batch (or name rounds that have no task in common) says in its
manifest, as ``batch_by``, what divides its people. Each batch then stands for the same population.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import polars as pl

from usi.errors import InputError
from usi.records import Session
from usi.scoring.keys import natural

DATE, PARTICIPANT = "date", "participant"
DEFAULT_BATCHES = 3
TIME_KEYS = ("timestamp", "time", "started", "start_time", "created_at", "date")
"""Where sessions keep their time among their other fields, first found first."""
STARTED = "session_started"
"""Column of the time of a session while its batch is not known yet."""


def session_moment(session: Session) -> float | None:
    """When a session began, in seconds since 1970; ``None`` where nothing tells.

    From the first of `TIME_KEYS` among its other fields, else from its first message with a time.
    Times without a zone are taken as UTC.
    """
    found = next((session.meta[k] for k in TIME_KEYS if k in session.meta), None)
    if isinstance(found, int | float) and not isinstance(found, bool):
        return float(found)
    moment: datetime | None = None
    if isinstance(found, str):
        try:
            moment = datetime.fromisoformat(found)
        except ValueError:
            return None
    elif found is None:
        moment = next((turn.time for turn in session.turns if turn.time is not None), None)
    return None if moment is None else moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()


def batch_columns(by: str | None) -> tuple[str, ...]:
    """Columns of the session table that a rule reads."""
    return () if by is None else (_column(by),)


def _column(by: str) -> str:
    return STARTED if by == DATE else by


def with_batches(
    frame: pl.DataFrame, by: str, number: int | None = None, *, file: str
) -> pl.DataFrame:
    """The session table of people with ``batch`` by a rule.

    Parameters
    ----------
    frame
        Session table; by date with the column `STARTED` (seconds since 1970), by a field with a
        column of its name.
    by
        ``"date"``: sessions in the order of time, cut into `number` parts of about the same size; a
        day (UTC) is not divided. ``"participant"``: participants, those with most sessions first,
        each into the part that has the fewest sessions so far. Another name: each value of that
        column is a batch, in natural order.
    number
        How many batches by date or participant; default 3.
    file
        The manifest, for messages.

    Raises
    ------
    InputError
        Where sessions that count lack what they are divided by, or there is but one batch. A
        session that does not count, such as one without an utterance, is then of batch 1.
    """
    column = _column(by)
    every = frame[column].to_list() if column in frame.columns else [None] * frame.height
    counted = (frame["status"] == "ok").to_list()
    known = [value is not None for value in every]
    missing = sum(own and not there for own, there in zip(counted, known, strict=True))
    if missing or not any(known):
        what = {DATE: "have no time that can be read", PARTICIPANT: "name no participant"}
        raise InputError(
            f"{missing:,} of {sum(counted):,} sessions {what.get(by, f'have no field {by!r}')}: "
            "batches can't be made of it",
            file=file,
            field="batch_by",
        )
    values = [value for value in every if value is not None]
    parts = DEFAULT_BATCHES if number is None else number
    if by == DATE:
        days = [datetime.fromtimestamp(value, UTC).date().toordinal() for value in values]
        batches = _by_day(days, parts)
    elif by == PARTICIPANT:
        batches = _by_participant(values, parts)
    else:
        order = {name: k for k, name in enumerate(sorted(set(values), key=natural), 1)}
        batches = [order[value] for value in values]
    if len(set(batches)) < 2:
        raise InputError(
            f"{by!r} gives 1 batch of {len(values):,} sessions; at least 2 are needed",
            file=file,
            field="batch_by",
        )
    following = iter(batches)
    filled = [next(following) if there else 1 for there in known]
    return frame.with_columns(batch=pl.Series(filled, dtype=pl.Int64))


def _by_day(days: Sequence[int], parts: int) -> list[int]:
    """Part of each session: the one in which the middle of its day lies."""
    counts = Counter(days)
    part: dict[int, int] = {}
    before = 0
    for day in sorted(counts):
        middle = before + counts[day] / 2
        part[day] = min(parts - 1, int(parts * middle / len(days)))
        before += counts[day]
    used = {old: new for new, old in enumerate(sorted(set(part.values())), 1)}
    return [used[part[day]] for day in days]


def _by_participant(names: Sequence[str], parts: int) -> list[int]:
    part: dict[str, int] = {}
    sizes = [0] * parts
    for name, count in sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])):
        smallest = sizes.index(min(sizes))
        part[name] = smallest + 1
        sizes[smallest] += count
    return [part[name] for name in names]
