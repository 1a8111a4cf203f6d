"""How a blind check stands, for its owner: raters, sessions read, flags, who was left out and why.

What raters could tell is not shown while they come: an owner who stops when the number pleases
would make it say what it need not.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from usi.study.blind.raters import Blind, closed
from usi.study.blind.results import LeftOut
from usi.study.database import Connection

Kind = Literal["fast", "same_answer"]
FASTEST_SECONDS, FAST_GAPS = 5.0, 3
"""Median seconds between two ratings below which nobody reads a conversation; and least gaps."""
SAME_ANSWERS = 6
"""So many ratings or more, all with the same verdict and certainty."""


@dataclass(frozen=True)
class Flag:
    """A sign that a rater may not have read: median seconds, or number of equal answers."""

    kind: Kind
    value: float


@dataclass(frozen=True)
class RaterRow:
    """One rater in the owner's table."""

    id: int
    code: str
    state: str
    experience: str
    done: int
    total: int
    seconds: float | None
    excluded: str | None
    flags: tuple[Flag, ...]


@dataclass(frozen=True)
class BlindStatus:
    """A blind check in numbers.

    Attributes
    ----------
    raters
        State -> raters.
    ratings, wanted
        Ratings that were given, and those of all raters who began.
    read
        Side (``person``, ``program``) -> how many of its sessions were read by 0, 1, 2 and at
        least 3 raters.
    closed
        Why no rater begins; ``None`` where they do.
    """

    raters: dict[str, int]
    ratings: int
    wanted: int
    read: dict[str, tuple[int, int, int, int]]
    closed: str | None


def status_of(db: Connection, blind: Blind) -> BlindStatus:
    """Numbers of a blind check as they are now."""
    raters = {
        row["state"]: row["n"]
        for row in db.execute("select state, count(*) n from rater group by state order by state")
    }
    counts = Counter(
        row["item"]
        for row in db.execute(
            "select item from rating join rater on rater.id = rating.rater "
            "where at is not null and excluded is null"
        )
    )
    read: dict[str, list[int]] = {"person": [0, 0, 0, 0], "program": [0, 0, 0, 0]}
    for item in blind.items.values():
        read[item.side][min(3, counts[item.id])] += 1
    wanted = db.execute("select count(*) n from rating").fetchone()["n"]
    given = db.execute("select count(*) n from rating where at is not null").fetchone()["n"]
    return BlindStatus(
        raters=raters,
        ratings=given,
        wanted=wanted,
        read={side: (n[0], n[1], n[2], n[3]) for side, n in read.items()},
        closed=closed(db, blind),
    )


def rater_rows(db: Connection) -> list[RaterRow]:
    """Raters who agreed, newest first."""
    found = []
    for row in db.execute("select * from rater where consented is not null order by id desc"):
        ratings = db.execute(
            "select verdict, sure, at from rating where rater = ? order by position", (row["id"],)
        ).fetchall()
        given = [one for one in ratings if one["at"] is not None]
        seconds = median_gap([one["at"] for one in given])
        found.append(
            RaterRow(
                id=row["id"],
                code=row["code"],
                state=row["state"],
                experience=row["experience"] or "",
                done=len(given),
                total=len(ratings),
                seconds=seconds,
                excluded=row["excluded"],
                flags=flags_of(seconds, [(one["verdict"], one["sure"]) for one in given]),
            )
        )
    return found


def median_gap(times: Sequence[float]) -> float | None:
    """Median seconds between one rating and the next; ``None`` for fewer than two ratings."""
    ordered = sorted(times)
    gaps = [late - early for early, late in pairwise(ordered)]
    return round(statistics.median(gaps), 1) if gaps else None


def flags_of(seconds: float | None, answers: Sequence[tuple[str, int]]) -> tuple[Flag, ...]:
    """Flags of one rater.

    Parameters
    ----------
    seconds
        Median between two ratings.
    answers
        Verdict and certainty of each rating.
    """
    found = []
    if seconds is not None and seconds < FASTEST_SECONDS and len(answers) > FAST_GAPS:
        found.append(Flag("fast", seconds))
    if len(answers) >= SAME_ANSWERS and len(set(answers)) == 1:
        found.append(Flag("same_answer", float(len(answers))))
    return tuple(found)


def exclude(db: Connection, rater: int, reason: str) -> bool:
    """Leave a rater's answers out of the result, with the reason; whether that was possible."""
    reason = " ".join(reason.split())[:300]
    if not reason:
        return False
    done = db.execute(
        "update rater set excluded = ? where id = ? and consented is not null", (reason, rater)
    )
    return done.rowcount == 1


def include(db: Connection, rater: int) -> bool:
    """Take an exclusion back."""
    return db.execute("update rater set excluded = null where id = ?", (rater,)).rowcount == 1


def left_out(db: Connection) -> tuple[LeftOut, ...]:
    """Raters who are not in the result, with the reason."""
    rows: list[Any] = db.execute(
        "select code, excluded, (select count(*) from rating where rater = rater.id and "
        "at is not null) n from rater where excluded is not null order by id"
    ).fetchall()
    return tuple(
        LeftOut(rater=row["code"], reason=row["excluded"], ratings=row["n"]) for row in rows
    )
