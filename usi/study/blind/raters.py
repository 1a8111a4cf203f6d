"""What raters do, each a function of a connection; calling it again changes nothing."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Literal

from usi.errors import UsageError
from usi.study.blind.items import Item, choose_items, read_items
from usi.study.blind.results import Rating
from usi.study.blind.settings import BLIND, ITEMS, BlindPlace, read_blind
from usi.study.database import Connection, Database
from usi.study.texts import Texts, texts_of

SCHEMA_VERSION = 2
Step = Literal["consent", "background", "rate", "debrief", "declined", "withdrawn", "closed"]
AWAY_SECONDS = 3600.0
"""A rater who has rated nothing for so long has left, and no longer counts for the limit."""
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class Blind:
    """A blind check that runs: settings, sessions, texts, file."""

    place: BlindPlace
    database: Database
    items: Mapping[str, Item]
    texts: Texts
    clock: Callable[[], float] = field(default=time.time)

    @property
    def trial(self) -> bool:
        """Whether only scripts and testers take part."""
        row = self.database.read().execute("select value from setting where name = 'trial'")
        found = row.fetchone()
        return found is not None and found["value"] == "yes"


@dataclass(frozen=True)
class Rater:
    """Where a rater stands.

    Attributes
    ----------
    item
        The session to read now.
    done, total
        Sessions that were rated, and that the rater was given.
    """

    id: int
    code: str
    step: Step
    item: str | None = None
    done: int = 0
    total: int = 0


def open_blind(place: BlindPlace, *, clock: Callable[[], float] = time.time) -> Blind:
    """Check the settings and the sessions, and open the file of ratings.

    Raises
    ------
    InputError
        Where something is wrong.
    """
    study = place.study
    texts = texts_of(study.language, study.texts, file=str(place.folder / BLIND))
    items = read_items(place.folder / ITEMS)
    schema = resources.files("usi.study.blind").joinpath("schema.sql").read_text("utf-8")
    database = Database(place.database, schema, SCHEMA_VERSION)
    return Blind(place, database, {item.id: item for item in items}, texts, clock)


@contextmanager
def opened_blind(folder: Path) -> Iterator[Blind]:
    """The blind check of a folder with its file, closed at the end."""
    blind = open_blind(read_blind(folder))
    try:
        yield blind
    finally:
        blind.database.close()


def set_trial(blind: Blind, *, trial: bool) -> None:
    """Keep whether only scripts and testers take part; it can't change once somebody rated.

    Raises
    ------
    UsageError
        Where it would change.
    """
    value = "yes" if trial else "no"

    def work(db: Connection) -> None:
        row = db.execute("select value from setting where name = 'trial'").fetchone()
        begun = db.execute("select 1 from rating where at is not null limit 1").fetchone()
        if row is not None and row["value"] != value and begun is not None:
            raise UsageError(
                f"{blind.place.folder}: ratings were given with trial {row['value']}; begin a "
                "new blind check in another folder"
            )
        db.execute("insert or replace into setting values ('trial', ?)", (value,))

    blind.database.write(work)


def arrive(
    db: Connection,
    blind: Blind,
    *,
    invitation: int | None = None,
    key: str | None = None,
    parameters: Mapping[str, str] | None = None,
) -> int | None:
    """Number of the rater of an invitation or of a recruiting service's parameters."""
    found = None
    if invitation is not None:
        found = db.execute("select id from rater where invitation = ?", (invitation,)).fetchone()
    elif key is not None:
        row = db.execute("select participant id, parameters from identity where key = ?", (key,))
        found = row.fetchone()
        if found is not None and json.loads(found["parameters"]) != dict(parameters or {}):
            return None
    if found is not None:
        return int(found["id"])
    code = "r_" + "".join(secrets.choice(_ALPHABET) for _ in range(10))
    made = db.execute(
        "insert into rater (code, invitation, state, arrived) values (?, ?, 'arrived', ?)",
        (code, invitation, blind.clock()),
    ).lastrowid
    if key is not None:
        kept = json.dumps(dict(parameters or {}), sort_keys=True)
        db.execute("insert into identity values (?, ?, ?)", (made, key, kept))
    return made


def closed(db: Connection, blind: Blind) -> str | None:
    """Why no rater begins any more, as a code; ``None`` where they do.

    ``closed`` by its owner, ``date``, or ``filled``: there are as many raters as wanted.
    """
    if db.execute("select 1 from setting where name = 'closed'").fetchone() is not None:
        return "closed"
    limits = blind.place.study.limits
    if limits.closes is not None:
        today = datetime.fromtimestamp(blind.clock(), UTC).date()
        if today > limits.closes:
            return "date"
    if limits.participants is None:
        return None
    begun = db.execute(
        "select count(*) n from rater where consented is not null and state != 'withdrawn' "
        "and excluded is null and (state = 'finished' or consented >= :since or exists "
        "(select 1 from rating where rater = rater.id and at >= :since))",
        {"since": blind.clock() - AWAY_SECONDS},
    ).fetchone()["n"]
    return "filled" if begun >= limits.participants else None


def set_closed(db: Connection, *, closed_: bool) -> None:
    """Take no more raters, or take them again."""
    if closed_:
        db.execute("insert or replace into setting values ('closed', 'closed')")
    else:
        db.execute("delete from setting where name = 'closed'")


def where(db: Connection, blind: Blind, rater: int) -> Rater | None:
    """Where a rater stands."""
    row = db.execute("select id, code, state from rater where id = ?", (rater,)).fetchone()
    if row is None:
        return None
    given = db.execute(
        "select item, at from rating where rater = ? order by position", (rater,)
    ).fetchall()
    done = sum(one["at"] is not None for one in given)
    steps: dict[str, Step] = {
        "arrived": "consent", "consented": "background", "ready": "rate", "finished": "debrief",
        "declined": "declined", "withdrawn": "withdrawn",
    }  # fmt: skip
    item = next((one["item"] for one in given if one["at"] is None), None)
    step = steps[row["state"]]
    if step == "consent" and closed(db, blind) is not None:
        step = "closed"
    return Rater(row["id"], row["code"], step, item, done, len(given))


def consent(db: Connection, blind: Blind, rater: int, *, agreed: bool) -> None:
    """Keep that a rater agreed, and to which text."""
    here = where(db, blind, rater)
    if here is None or here.step != "consent":
        return
    if not agreed:
        db.execute("delete from identity where participant = ?", (rater,))
        db.execute("update rater set state = 'declined' where id = ?", (rater,))
        return
    place = blind.place
    db.execute(
        "update rater set state = 'consented', consented = ?, consent_version = ?, "
        "consent_sha256 = ? where id = ?",
        (blind.clock(), place.study.consent.version, place.consent_sha256, rater),
    )


def begin(db: Connection, blind: Blind, rater: int, experience: str) -> bool:
    """Keep the experience and give the rater their sessions; whether the answer is an option."""
    here = where(db, blind, rater)
    if here is None or here.step != "background":
        return True
    study = blind.place.study
    if experience not in study.experience.options:
        return False
    counts = {
        row["item"]: row["n"]
        for row in db.execute("select item, count(*) n from rating group by item")
    }
    chosen = choose_items(
        list(blind.items.values()), counts, study.sessions_per_rater,
        seed=study.seed, person=here.code,
    )  # fmt: skip
    db.executemany(
        "insert into rating (rater, item, position) values (?, ?, ?)",
        [(rater, item, position) for position, item in enumerate(chosen)],
    )
    db.execute("update rater set state = 'ready', experience = ? where id = ?", (experience, rater))
    return True


def rate(
    db: Connection,
    blind: Blind,
    rater: int,
    item: str,
    *,
    verdict: str,
    sure: int,
    realism: int,
    turn: int | None,
) -> bool:
    """Keep a rating; whether it is complete. A session that was rated stays as it is."""
    here = where(db, blind, rater)
    if here is None or here.step != "rate" or here.item != item:
        return True
    if verdict not in ("person", "program") or not 1 <= sure <= 3 or not 1 <= realism <= 5:
        return False
    messages = blind.items[item].messages
    if turn is not None and not (0 <= turn < len(messages) and messages[turn][0] == "user"):
        turn = None
    db.execute(
        "update rating set verdict = ?, sure = ?, realism = ?, turn = ?, at = ? "
        "where rater = ? and item = ?",
        (verdict, sure, realism, turn, blind.clock(), rater, item),
    )
    if here.done + 1 >= here.total:
        db.execute(
            "update rater set state = 'finished', finished = ? where id = ?",
            (blind.clock(), rater),
        )
    return True


def withdraw(db: Connection, rater: int) -> None:
    """Delete what a rater answered."""
    db.execute("delete from rating where rater = ?", (rater,))
    db.execute("delete from identity where participant = ?", (rater,))
    db.execute("update rater set state = 'withdrawn', experience = null where id = ?", (rater,))


def ratings_of(db: Connection) -> tuple[list[Rating], int]:
    """All complete ratings, and how many were not given; of raters who were not left out."""
    rows = db.execute(
        "select rating.*, rater.code, rater.experience from rating join rater on "
        "rater.id = rating.rater where rater.excluded is null order by rater.id, position"
    ).fetchall()
    found = [
        Rating(
            rater=row["code"],
            item=row["item"],
            verdict=row["verdict"],
            sure=row["sure"],
            realism=row["realism"],
            turn=row["turn"],
            experience=row["experience"] or "",
        )
        for row in rows
        if row["at"] is not None
    ]
    return found, len(rows) - len(found)
