"""Deleting data of people for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from usi.errors import UsageError
from usi.study.database import Connection
from usi.study.people import delete_content, note
from usi.study.study import Running


@dataclass(frozen=True)
class Forgotten:
    """How much was deleted: people's talks and answers, identities, talks left in the middle."""

    people: int = 0
    identities: int = 0
    talks: int = 0

    def __str__(self) -> str:
        """Say in a line what was deleted."""
        return (
            f"deleted: {self.people} people's talks, {self.identities} identities, "
            f"{self.talks} talks left in the middle"
        )


def forget_data(
    running: Running,
    *,
    participants: Sequence[str] = (),
    identities: bool = False,
    dropouts: bool = False,
    everything: bool = False,
) -> Forgotten:
    """Delete what is named, in the file and in its write-ahead log.

    Parameters
    ----------
    participants
        Codes of people whose talks and answers go, as if they had withdrawn.
    identities
        What recruiting services told about people.
    dropouts
        Talks that gave their place back, and practice talks that ended.
    everything
        All talks, answers, events and identities.

    Raises
    ------
    UsageError
        For a code that nobody has; then nothing is deleted.
    """

    def work(db: Connection) -> Forgotten:
        known = {
            row["code"]: row["id"]
            for row in db.execute("select code, id from participant where state != 'withdrawn'")
        }
        unknown = [code for code in participants if code not in known]
        if unknown:
            raise UsageError(f"there is no participant {unknown[0]!r} whose data are here")
        chosen = list(known.values()) if everything else [known[code] for code in participants]
        for person in chosen:
            delete_content(db, person)
            db.execute(
                "update participant set state = 'withdrawn', background = null where id = ?",
                (person,),
            )
        gone = 0
        if identities or everything:
            gone = db.execute("delete from identity").rowcount
        talks = 0
        if dropouts:
            rows = db.execute(
                "select id from talk where state = 'returned' or (task = '' and state != 'open')"
            ).fetchall()
            for row in rows:
                db.execute("delete from message where talk = ?", (row["id"],))
            talks = len(rows)
        note(db, running, "forgotten",
             detail={"people": len(chosen), "identities": gone, "talks": talks})  # fmt: skip
        return Forgotten(len(chosen), gone, talks)

    done = running.database.write(work)
    running.database.forget_log()
    return done
