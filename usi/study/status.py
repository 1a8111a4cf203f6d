"""How a study stands, for its owner: cells, people, cost, flags, what was left out and why."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from usi.study.agents import spent_so_far
from usi.study.assignment import stratum_counts
from usi.study.database import Connection
from usi.study.flags import Flag, Typed, flags_of
from usi.study.people import is_heard, note, talk_of
from usi.study.study import Running


@dataclass(frozen=True)
class TalkRow:
    """One talk in the owner's table."""

    id: int
    participant: str
    task: str
    batch: int
    state: str
    termination: str | None
    turns: int
    minutes: float | None
    reward: float | None
    cost: float
    excluded: str | None
    flags: tuple[Flag, ...]


@dataclass(frozen=True)
class Status:
    """A study in numbers.

    Attributes
    ----------
    cells, filled, held
        Number of cells, those with a talk that ended, those with one under way.
    people
        State -> participants.
    strata
        Stratum -> (filled or held, all).
    talks
        State -> talks, practice left aside; ``excluded`` apart.
    dropouts
        Participants who agreed and neither finished nor have a talk under way.
    cost_usd, tokens, calls
        Of the agent.
    closed
        Why nothing new begins; ``None`` where it does.
    """

    cells: int
    filled: int
    held: int
    people: dict[str, int]
    strata: dict[str, tuple[int, int]]
    talks: dict[str, int]
    dropouts: int
    cost_usd: float
    tokens: int
    calls: int
    closed: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    def lines(self) -> list[str]:
        """What is said of it on a terminal."""
        return [
            f"cells: {self.filled} of {self.cells} filled, {self.held} under way",
            *(f"  {name}: {taken} of {size} taken" for name, (taken, size) in self.strata.items()),
            f"people: {_listed(self.people)}",
            f"talks: {_listed(self.talks)}",
            f"dropouts: {self.dropouts}",
            f"agent: {self.calls:,} calls, {self.tokens:,} tokens, ${self.cost_usd:.2f}",
            f"new talks: {'no, ' + self.closed if self.closed else 'yes'}",
        ]


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items()) or "none"


def status_of(db: Connection, running: Running) -> Status:
    """Numbers of a study as they are now."""
    cells = running.cells(db)
    size, taken = stratum_counts(cells)
    people = Counter({
        row["state"]: row["n"]
        for row in db.execute("select state, count(*) n from participant group by state")
    })  # fmt: skip
    talks: Counter[str] = Counter()
    for row in db.execute("select state, excluded from talk where batch is not null"):
        talks["excluded" if row["excluded"] is not None else row["state"]] += 1
    idle = db.execute(
        "select count(*) n from participant p where consented is not null and state in "
        "('consented', 'background', 'instructed', 'ready') and not exists (select 1 from talk "
        "where participant = p.id and state in ('open', 'survey') and batch is not null) "
        "and arrived < ?",
        (running.clock() - 60 * running.place.study.design.idle_minutes,),
    ).fetchone()["n"]
    spent = spent_so_far(db)
    total = sum(len(batches) for batches in cells.taken.values())
    return Status(
        cells=cells.size,
        filled=cells.filled,
        held=total - cells.filled,
        people=dict(sorted(people.items())),
        strata={name: (taken[name], size[name]) for name in size},
        talks=dict(sorted(talks.items())),
        dropouts=idle,
        cost_usd=round(spent.cost, 6),
        tokens=spent.tokens,
        calls=spent.calls,
        closed=running.closed(db),
    )


def grid_of(db: Connection, running: Running) -> list[tuple[str, str, list[str]]]:
    """Task, its stratum, and the state of each of its cells: ``free``, ``held`` or ``filled``."""
    found: dict[tuple[str, int], str] = {
        (row["task"], row["batch"]): "filled" if row["state"] == "done" else "held"
        for row in db.execute(
            "select task, batch, state from talk where batch is not null and excluded is null "
            "and state in ('open', 'survey', 'done')"
        )
    }
    batches = range(1, running.place.study.design.people_per_task + 1)
    return [
        (task, stratum, [found.get((task, batch), "free") for batch in batches])
        for task, stratum in running.strata.items()
    ]


def typed_of(db: Connection, talk: int) -> list[Typed]:
    """Messages of the participant in a talk, with how they came about."""
    typed: list[Typed] = []
    heard_at: float | None = None
    for row in db.execute("select * from message where talk = ? order by seq", (talk,)):
        body = json.loads(row["body"])
        if row["role"] == "user":
            waited = None if heard_at is None else round(1000 * (row["at"] - heard_at))
            typed.append(
                Typed(
                    body["content"],
                    row["typing_ms"],
                    waited,
                    row["pasted_characters"] or 0,
                    row["hidden"] or 0,
                )
            )
        elif is_heard(body):
            heard_at = row["at"]
    return typed


def talk_rows(db: Connection, running: Running) -> list[TalkRow]:
    """All talks but practice, newest first."""
    rows = db.execute(
        "select talk.*, participant.code from talk join participant on "
        "participant.id = talk.participant where batch is not null order by talk.id desc"
    ).fetchall()
    found = []
    for row in rows:
        typed = typed_of(db, row["id"])
        grade = json.loads(row["grade"]) if row["grade"] else {}
        ended = row["ended"]
        task = running.by_id.get(row["task"])
        found.append(
            TalkRow(
                id=row["id"],
                participant=row["code"],
                task=row["task"],
                batch=row["batch"],
                state=row["state"],
                termination=row["termination"],
                turns=len(typed),
                minutes=None if ended is None else round((ended - row["opened"]) / 60, 1),
                reward=grade.get("reward"),
                cost=round(row["cost"], 6),
                excluded=row["excluded"],
                flags=flags_of(typed, task.instruction if task else ""),
            )
        )
    return found


def exclude(db: Connection, running: Running, talk_id: int, reason: str) -> bool:
    """Leave a talk out of the corpus, with the reason; its cell is free again."""
    talk = talk_of(db, talk_id)
    reason = " ".join(reason.split())[:300]
    if talk is None or talk.practice or not reason:
        return False
    db.execute("update talk set excluded = ? where id = ?", (reason, talk_id))
    note(db, running, "excluded", talk=talk_id, detail=reason)
    return True


def include(db: Connection, running: Running, talk_id: int) -> bool:
    """Take an exclusion back, where the cell was not filled by somebody else meanwhile."""
    talk = talk_of(db, talk_id)
    if talk is None or talk.batch is None:
        return False
    counts = talk.state in ("open", "survey", "done")
    if counts and talk.batch not in running.cells(db).free(talk.task):
        return False
    db.execute("update talk set excluded = null where id = ?", (talk_id,))
    note(db, running, "included", talk=talk_id)
    return True


def set_closed(db: Connection, running: Running, closed: bool) -> None:
    """Begin no new talks, or begin them again."""
    if closed:
        db.execute("insert or replace into setting values ('closed', 'closed')")
    else:
        db.execute("delete from setting where name = 'closed'")
    note(db, running, "closed" if closed else "opened")
