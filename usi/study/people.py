"""What participants do, each a function of a connection: it happens whole or not at all.

Every function may be called again with the same arguments (a double click, a reload, a second
tab, the back button) and then changes nothing.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from usi.simulate.protocol import Message
from usi.study.assignment import availability, choose_cell
from usi.study.database import Connection
from usi.study.study import PRACTICE, Running

Step = Literal[
    "consent", "background", "instructions", "practice", "between", "wait", "talk", "survey",
    "debrief", "declined", "screened", "full", "withdrawn", "closed",
]  # fmt: skip
Said = Literal["stored", "again", "not_your_turn", "over", "empty", "long"]
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
COUNTED = ("done", "infrastructure")
"""States of talks that count for what a participant has to do."""
SPENT = ("calls", "tokens_in", "tokens_out", "cost")
"""Columns of a talk that say what its agent cost."""


@dataclass(frozen=True)
class Talk:
    """One talk of a participant."""

    id: int
    participant: int
    task: str
    batch: int | None
    state: str
    opened: float
    active: float
    termination: str | None

    @property
    def practice(self) -> bool:
        """Whether it is the practice talk."""
        return self.task == PRACTICE


@dataclass(frozen=True)
class Person:
    """A participant."""

    id: int
    code: str
    state: str
    tries: int
    finished_why: str | None


@dataclass(frozen=True)
class Stored:
    """A message as it is kept; `body` is in OpenAI's form."""

    seq: int
    body: Message
    at: float
    client: str | None = None


@dataclass(frozen=True)
class Standing:
    """Where a participant stands: the step, the talk that it is about, and how far they are."""

    step: Step
    person: Person
    talk: Talk | None = None
    done: int = 0
    total: int = 0
    last_ended: str | None = None


def person_of(db: Connection, participant: int) -> Person | None:
    """A participant by number."""
    row = db.execute(
        "select id, code, state, tries, finished_why from participant where id = ?", (participant,)
    ).fetchone()
    return None if row is None else Person(*row)


def talk_of(db: Connection, talk: int, participant: int | None = None) -> Talk | None:
    """A talk by number; with `participant` only where it is theirs."""
    row = db.execute(
        "select id, participant, task, batch, state, opened, active, termination from talk "
        "where id = ?",
        (talk,),
    ).fetchone()
    if row is None or (participant is not None and row["participant"] != participant):
        return None
    return Talk(*row)


def messages_of(db: Connection, talk: int, after: int = -1) -> list[Stored]:
    """Messages of a talk in order."""
    rows = db.execute(
        "select seq, body, at, client from message where talk = ? and seq > ? order by seq",
        (talk, after),
    )
    return [_stored(row) for row in rows]


def latest(db: Connection, talk: int) -> list[Stored]:
    """The last message of a talk, alone in a list; the list is empty where there is none."""
    row = db.execute(
        "select seq, body, at, client from message where talk = ? order by seq desc limit 1",
        (talk,),
    ).fetchone()
    return [] if row is None else [_stored(row)]


def _stored(row: Any) -> Stored:
    return Stored(row["seq"], json.loads(row["body"]), row["at"], row["client"])


def is_heard(message: Message) -> bool:
    """Whether the participant sees a message: words of both sides, nothing about tools."""
    content = message.get("content")
    return (
        message["role"] in ("user", "assistant")
        and not message.get("tool_calls")
        and isinstance(content, str)
        and bool(content.strip())
    )


def agents_turn(messages: Sequence[Stored]) -> bool:
    """Whether the agent has to go on: the last message is no word of its own to the user.

    The last message of the talk is looked at alone, so that `latest` is enough.
    """
    return bool(messages) and not (
        messages[-1].body["role"] == "assistant" and is_heard(messages[-1].body)
    )


def arrive(
    db: Connection,
    running: Running,
    *,
    invitation: int | None = None,
    key: str | None = None,
    parameters: Mapping[str, str] | None = None,
) -> Person | None:
    """The participant of an invitation or of a recruiting service's parameters; made at need.

    Parameters
    ----------
    invitation
        Number of a signed link.
    key
        Hash of the recruiting service's id.
    parameters
        What the service told. Somebody who comes back must bring the same; ``None`` is given
        where it differs, so that knowing an id is not enough to read another's talk.
    """
    if invitation is not None:
        row = db.execute("select id from participant where invitation = ?", (invitation,))
        found = row.fetchone()
    elif key is not None:
        row = db.execute("select participant id, parameters from identity where key = ?", (key,))
        found = row.fetchone()
        if found is not None and json.loads(found["parameters"]) != dict(parameters or {}):
            return None
    else:
        found = None
    if found is not None:
        return person_of(db, found["id"])
    now = running.clock()
    while True:
        code = "p_" + "".join(secrets.choice(_ALPHABET) for _ in range(8))
        if db.execute("select 1 from participant where code = ?", (code,)).fetchone() is None:
            break
    made = db.execute(
        "insert into participant (code, invitation, state, arrived) values (?, ?, 'arrived', ?)",
        (code, invitation, now),
    ).lastrowid
    assert made is not None
    if key is not None:
        db.execute(
            "insert into identity values (?, ?, ?)",
            (made, key, json.dumps(dict(parameters or {}), sort_keys=True)),
        )
    note(db, running, "arrived", participant=made)
    return person_of(db, made)


def note(
    db: Connection,
    running: Running,
    kind: str,
    *,
    participant: int | None = None,
    talk: int | None = None,
    detail: Any = None,
) -> None:
    """Keep an event."""
    db.execute(
        "insert into event (participant, talk, kind, at, detail) values (?, ?, ?, ?, ?)",
        (
            participant,
            talk,
            kind,
            running.clock(),
            None if detail is None else json.dumps(detail, sort_keys=True),
        ),
    )


def where(db: Connection, running: Running, participant: int) -> Standing | None:
    """Where a participant stands."""
    person = person_of(db, participant)
    if person is None:
        return None
    design = running.place.study.design
    total = min(design.tasks_per_person, len(running.tasks))
    rows = db.execute(
        "select id, participant, task, batch, state, opened, active, termination from talk "
        "where participant = ? order by id",
        (participant,),
    ).fetchall()
    talks = [Talk(*row) for row in rows]
    done = sum(talk.state in COUNTED and not talk.practice for talk in talks)
    current = next((t for t in reversed(talks) if t.state in ("open", "survey")), None)
    ended = [t.state for t in talks if not t.practice]
    standing = Standing("closed", person, current, done, total, ended[-1] if ended else None)
    match person.state:
        case "arrived":
            step: Step = "consent" if _takes_people(db, running) else "closed"
        case "consented":
            step = "background"
        case "background":
            step = "instructions"
        case "instructed":
            step = "practice"
        case "ready":
            step = _among_tasks(db, running, standing, {t.task for t in talks})
        case "finished":
            step = "debrief"
        case _:
            step = person.state  # type: ignore[assignment]
    return Standing(step, person, current, done, total, standing.last_ended)


def _among_tasks(db: Connection, running: Running, standing: Standing, had: set[str]) -> Step:
    if standing.talk is not None:
        return "talk" if standing.talk.state == "open" else "survey"
    if standing.done or running.closed(db) is not None:
        return "between"
    # Somebody without a task may wait for one; who has done some is thanked instead.
    return "wait" if availability(running.cells(db), had, _ended(db)) == "held" else "between"


def _ended(db: Connection) -> dict[str, int]:
    return {
        row["task"]: row["n"]
        for row in db.execute(
            "select task, count(*) n from talk where batch is not null and excluded is null "
            "and state = 'done' group by task"
        )
    }


def _takes_people(db: Connection, running: Running) -> bool:
    if running.closed(db) is not None:
        return False
    most = running.place.study.limits.participants
    if most is None:
        return True
    begun = db.execute(
        f"select count(*) n from participant where {_TAKING_PART}", _since(running)
    ).fetchone()["n"]
    return int(begun) < most


_TAKING_PART = (
    "consented is not null and excluded is null "
    "and state not in ('screened', 'full', 'withdrawn') "
    "and (state = 'finished' or consented >= :since or exists (select 1 from talk "
    "where participant = participant.id "
    "and (active >= :since or (batch is not null and state = 'done'))))"
)
"""Who counts for limits and quotas: people who have done a task, or were here a while ago."""


def _since(running: Running) -> dict[str, float]:
    """From when on somebody counts as being here."""
    return {"since": running.clock() - 60 * running.place.study.design.idle_minutes}


def consent(db: Connection, running: Running, participant: int, *, agreed: bool) -> None:
    """Keep that somebody agreed, and to which text; or that they did not."""
    person = person_of(db, participant)
    if person is None or person.state != "arrived" or not _takes_people(db, running):
        return
    if not agreed:
        db.execute("delete from identity where participant = ?", (participant,))
        db.execute("update participant set state = 'declined' where id = ?", (participant,))
        return
    place = running.place
    db.execute(
        "update participant set state = ?, consented = ?, consent_version = ?, consent_sha256 = ? "
        "where id = ?",
        (
            "consented" if place.study.background else "background",
            running.clock(),
            place.study.consent.version,
            place.consent_sha256,
            participant,
        ),
    )
    note(db, running, "consented", participant=participant)


def background(
    db: Connection, running: Running, participant: int, answers: Mapping[str, str]
) -> bool:
    """Keep the answers about the person; whether all questions have a valid one."""
    person = person_of(db, participant)
    if person is None or person.state != "consented":
        return True
    questions = running.place.study.background
    if any(answers.get(question.id) not in question.options for question in questions):
        return False
    kept = {question.id: answers[question.id] for question in questions}
    full = False
    for question in questions:
        if question.quota is None:
            continue
        quota = question.quota[question.options.index(kept[question.id])]
        full = full or _with_answer(db, running, question.id, kept[question.id]) >= quota
    db.execute(
        "update participant set state = ?, background = ? where id = ?",
        ("full" if full else "background", json.dumps(kept, sort_keys=True), participant),
    )
    return True


def _with_answer(db: Connection, running: Running, item: str, answer: str) -> int:
    rows = db.execute(
        f"select background from participant where background is not null and {_TAKING_PART}",
        _since(running),
    )
    return sum(json.loads(row["background"]).get(item) == answer for row in rows)


def understood(
    db: Connection, running: Running, participant: int, *, right: bool, tries: int
) -> None:
    """Keep an answer to the comprehension question; after too many wrong ones it is over."""
    person = person_of(db, participant)
    if person is None or person.state != "background":
        return
    used = person.tries + 1
    state = "background" if not right and used < tries else "screened"
    if right:
        state = "ready" if running.place.study.practice.skip else "instructed"
    db.execute("update participant set state = ?, tries = ? where id = ?",
               (state, used, participant))  # fmt: skip
    if state == "instructed":
        _open(db, running, participant, PRACTICE, None)


def _open(db: Connection, running: Running, participant: int, task: str, batch: int | None) -> int:
    now = running.clock()
    made = db.execute(
        "insert into talk (participant, task, batch, state, opened, active, agent) "
        "values (?, ?, ?, 'open', ?, ?, ?)",
        (participant, task, batch, now, now, "" if task == PRACTICE else running.agent_name),
    ).lastrowid
    assert made is not None
    add_messages(db, running, made, -1, [{"role": "assistant", "content": running.greeting}])
    return made


def next_task(db: Connection, running: Running, participant: int) -> int | None:
    """Give a participant their next task, or finish where there is none for them.

    A talk that was returned for idleness is taken up again where its cell is still free.

    Returns
    -------
    int or None
        The talk under way.
    """
    place = where(db, running, participant)
    if place is None or place.step not in ("between", "wait"):
        return place.talk.id if place is not None and place.talk is not None else None
    if place.done >= place.total or running.closed(db) is not None:
        finish(db, running, participant, "done" if place.done >= place.total else "closed")
        return None
    again = _taken_up_again(db, running, participant)
    if again is not None:
        return again
    had = {
        row["task"]
        for row in db.execute("select task from talk where participant = ?", (participant,))
    }
    cells = running.cells(db)
    chosen = choose_cell(cells, had, seed=running.place.study.design.seed, person=place.person.code)
    if chosen is not None:
        return _open(db, running, participant, *chosen)
    if place.done or availability(cells, had, _ended(db)) == "none":
        finish(db, running, participant, "no_more_tasks")
    return None


def _taken_up_again(db: Connection, running: Running, participant: int) -> int | None:
    row = db.execute(
        "select id, task, batch from talk where participant = ? and state = 'returned' "
        "and batch is not null and excluded is null "
        "and exists (select 1 from message where talk = talk.id) order by id desc limit 1",
        (participant,),
    ).fetchone()
    if row is None or row["batch"] not in running.cells(db).free(row["task"]):
        return None
    db.execute(
        "update talk set state = 'open', active = ?, termination = null, ended = null where id = ?",
        (running.clock(), row["id"]),
    )
    note(db, running, "taken_up_again", participant=participant, talk=row["id"])
    return int(row["id"])


def finish(db: Connection, running: Running, participant: int, why: str) -> None:
    """A participant is done: ``done``, ``no_more_tasks`` or ``closed``."""
    db.execute(
        "update participant set state = 'finished', finished = ?, finished_why = ? where id = ?",
        (running.clock(), why, participant),
    )
    note(db, running, "finished", participant=participant, detail=why)


def add_messages(
    db: Connection,
    running: Running,
    talk: int,
    last: int,
    messages: Sequence[Message],
    **about: Any,
) -> int:
    """Append messages after number `last`; the number of the last one."""
    now = running.clock()
    for seq, message in enumerate(messages, start=last + 1):
        db.execute(
            "insert into message (talk, seq, role, body, client, at, typing_ms, pastes, "
            "pasted_characters, hidden) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                talk,
                seq,
                message["role"],
                json.dumps(message, ensure_ascii=True),
                about.get("client"),
                now,
                about.get("typing_ms"),
                about.get("pastes"),
                about.get("pasted_characters"),
                about.get("hidden"),
            ),
        )
    return last + len(messages)


def say(
    db: Connection,
    running: Running,
    participant: int,
    talk_id: int,
    text: str,
    *,
    client: str,
    typing_ms: int | None = None,
    pastes: int = 0,
    pasted_characters: int = 0,
    hidden: int = 0,
) -> Said:
    """Keep what a participant says.

    Parameters
    ----------
    client
        Identity of the message, made by the page: the same one is kept once.
    typing_ms
        From the first key to sending, in milliseconds.
    pastes, pasted_characters, hidden
        How often text was pasted, how much, and how often the page was left, since the last
        message.
    """
    talk = talk_of(db, talk_id, participant)
    if talk is None:
        return "over"
    known = db.execute(
        "select 1 from message where talk = ? and client = ?", (talk_id, client)
    ).fetchone()
    if known is not None:
        return "again"
    if talk.state != "open":
        return "over"
    if not text.strip():
        return "empty"
    if len(text) > running.place.study.limits.message_characters:
        return "long"
    last = latest(db, talk_id)
    if agents_turn(last):
        return "not_your_turn"
    add_messages(
        db, running, talk_id, last[-1].seq, [{"role": "user", "content": text}],
        client=client, typing_ms=typing_ms, pastes=pastes, pasted_characters=pasted_characters,
        hidden=hidden,
    )  # fmt: skip
    db.execute("update talk set active = ? where id = ?", (running.clock(), talk_id))
    return "stored"


def end_talk(db: Connection, running: Running, participant: int, talk_id: int) -> bool:
    """The participant ends a talk; whether it is over. It needs a word of theirs."""
    talk = talk_of(db, talk_id, participant)
    if talk is None or talk.state != "open":
        return True
    said = db.execute("select 1 from message where talk = ? and role = 'user' limit 1", (talk_id,))
    if said.fetchone() is None:
        return False
    over(db, running, talk, "user_stop")
    return True


def over(db: Connection, running: Running, talk: Talk, termination: str) -> None:
    """A talk ended for a reason that is behaviour: the survey follows, after practice the tasks."""
    now = running.clock()
    survey = running.instrument is not None and not talk.practice
    db.execute(
        "update talk set state = ?, termination = ?, ended = ?, active = ? where id = ?",
        ("survey" if survey else "done", termination, now, now, talk.id),
    )
    if talk.practice:
        db.execute(
            "update participant set state = 'ready' where id = ? and state = 'instructed'",
            (talk.participant,),
        )
    else:
        _finish_if_done(db, running, talk.participant)


def broken(db: Connection, running: Running, talk: Talk, reason: str, detail: str) -> None:
    """A talk ended for a reason that is nobody's behaviour: its place is returned."""
    db.execute(
        "update talk set state = 'infrastructure', termination = ?, detail = ?, ended = ? "
        "where id = ? and state = 'open'",
        (reason, detail, running.clock(), talk.id),
    )
    note(db, running, "infrastructure", participant=talk.participant, talk=talk.id, detail=reason)
    _finish_if_done(db, running, talk.participant)


def survey(
    db: Connection,
    running: Running,
    participant: int,
    talk_id: int,
    answers: Mapping[str, str | None],
) -> None:
    """Keep the answers about a talk; it is done."""
    talk = talk_of(db, talk_id, participant)
    if talk is None or talk.state != "survey":
        return
    db.execute(
        "update talk set state = 'done', survey = ?, active = ? where id = ?",
        (json.dumps(dict(answers), sort_keys=True), running.clock(), talk_id),
    )
    _finish_if_done(db, running, participant)


def _finish_if_done(db: Connection, running: Running, participant: int) -> None:
    place = where(db, running, participant)
    if place is not None and place.step == "between" and place.done >= place.total:
        finish(db, running, participant, "done")


def return_idle(db: Connection, running: Running) -> list[int]:
    """Give back the places of talks that were idle for too long; their numbers."""
    limit = running.clock() - 60 * running.place.study.design.idle_minutes
    rows = db.execute(
        "select id, participant, state from talk where batch is not null "
        "and state in ('open', 'survey') and active < ?",
        (limit,),
    ).fetchall()
    for row in rows:
        # A talk that ended lacks its survey alone, and that is no reason to lose it.
        state = "done" if row["state"] == "survey" else "returned"
        db.execute("update talk set state = ? where id = ?", (state, row["id"]))
        kind = "survey_left" if state == "done" else "returned"
        note(db, running, kind, participant=row["participant"], talk=row["id"])
        if state == "done":
            _finish_if_done(db, running, row["participant"])
    return [row["id"] for row in rows]


def withdraw(db: Connection, running: Running, participant: int) -> None:
    """Delete everything that a participant said and answered; that they withdrew is kept."""
    person = person_of(db, participant)
    if person is None or person.state == "withdrawn":
        return
    delete_content(db, participant)
    db.execute(
        "update participant set state = 'withdrawn', background = null, excluded = null "
        "where id = ?",
        (participant,),
    )
    note(db, running, "withdrawn", participant=participant)


def delete_content(db: Connection, participant: int) -> None:
    """Delete talks, messages, events and identity of a participant; what the agent cost is kept."""
    spent: Counter[str] = Counter()
    for row in db.execute(
        "select calls, tokens_in, tokens_out, cost from talk where participant = ?", (participant,)
    ):
        spent.update({name: row[name] for name in SPENT})
    if spent["calls"]:
        count_deleted(db, spent)
    db.execute(
        "delete from message where talk in (select id from talk where participant = ?)",
        (participant,),
    )
    db.execute(
        "delete from event where participant = :person "
        "or talk in (select id from talk where participant = :person)",
        {"person": participant},
    )
    db.execute("delete from talk where participant = ?", (participant,))
    db.execute("delete from identity where participant = ?", (participant,))


def count_deleted(db: Connection, spent: Mapping[str, float]) -> None:
    """Add to what the agent cost in talks that were deleted."""
    row = db.execute("select value from setting where name = 'deleted_spent'").fetchone()
    total = Counter(json.loads(row["value"]) if row is not None else {})
    total.update(spent)
    db.execute("insert or replace into setting values ('deleted_spent', ?)", (json.dumps(total),))
