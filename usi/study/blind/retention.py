"""Deleting what raters answered, for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from usi.errors import UsageError
from usi.study.blind.raters import Blind, withdraw
from usi.study.database import Connection


@dataclass(frozen=True)
class Forgotten:
    """How much was deleted: raters with their answers, and identities."""

    raters: int = 0
    identities: int = 0


def forget_ratings(
    blind: Blind,
    *,
    raters: Sequence[str] = (),
    identities: bool = False,
    everything: bool = False,
) -> Forgotten:
    """Delete what is named, in the file and in its write-ahead log. The sessions stay.

    Parameters
    ----------
    raters
        Codes of raters whose answers go, as if they had withdrawn.
    identities
        What recruiting services told about raters.
    everything
        All answers and identities.

    Raises
    ------
    UsageError
        For a code that nobody has; then nothing is deleted.
    """

    def work(db: Connection) -> Forgotten:
        known = {
            row["code"]: row["id"]
            for row in db.execute("select code, id from rater where state != 'withdrawn'")
        }
        unknown = [code for code in raters if code not in known]
        if unknown:
            raise UsageError(f"there is no rater {unknown[0]!r} whose answers are here")
        chosen = list(known.values()) if everything else [known[code] for code in raters]
        held = db.execute("select count(*) n from identity").fetchone()["n"]
        for rater in chosen:
            withdraw(db, rater)
        if identities or everything:
            db.execute("delete from identity")
        left = db.execute("select count(*) n from identity").fetchone()["n"]
        return Forgotten(len(chosen), held - left)

    done = blind.database.write(work)
    blind.database.forget_log()
    return done
