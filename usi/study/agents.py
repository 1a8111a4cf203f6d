"""The agent's side of talks, in threads beside the event loop; each message is stored at once.

An agent is made anew for each answer from what is stored: the database of the task is brought to
its state by running the recorded tool calls again. So nothing is lost where the server ends, and
no thread waits for people.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from usi.errors import UsiError
from usi.simulate.agents.model import ModelAgents
from usi.simulate.calls import Budget, Cache, Calls, Ledger, Runtime, Usage
from usi.simulate.client import ready
from usi.simulate.episode import agent_turn, grade_fields, tool_result
from usi.simulate.faults import EpisodeFault, Refused, RunStopped
from usi.simulate.protocol import Grade, Message, State, Task
from usi.study.database import Connection
from usi.study.people import (
    SPENT,
    Talk,
    add_messages,
    agents_turn,
    broken,
    count_deleted,
    is_heard,
    latest,
    messages_of,
    note,
    over,
    talk_of,
)
from usi.study.study import Running
from usi.study.tasks import PlainTasks

_LOG = logging.getLogger("usi.study")
_TRIED_ONCE = ("plugin_error", "malformed_response")
"""Faults that `Calls` does not try again by itself, and that may pass."""


class _Superseded(Exception):
    """The talk went on without this answer: it ended, or its participant withdrew."""


class _KeepsNothing(Cache):
    """People are answered anew, even where two say the same."""

    def __init__(self) -> None:
        super().__init__(None)

    def get(self, key: str) -> Any | None:
        """Nothing is known."""
        return None

    def put(self, key: str, answer: Any) -> None:
        """Keep nothing."""


def spent_so_far(db: Connection) -> Usage:
    """What the agent cost, talks that were deleted included."""
    row = db.execute(
        "select coalesce(sum(calls), 0) calls, coalesce(sum(tokens_in), 0) tokens_in, "
        "coalesce(sum(tokens_out), 0) tokens_out, coalesce(sum(cost), 0) cost from talk"
    ).fetchone()
    gone = db.execute("select value from setting where name = 'deleted_spent'").fetchone()
    before = json.loads(gone["value"]) if gone is not None else {}
    return Usage(**{name: row[name] + before.get(name, 0) for name in SPENT})


def state_after(running: Running, messages: Sequence[Message]) -> State:
    """The database of a task after the tool calls of a talk."""
    state = running.domain.new_state()
    for message in messages:
        for call in message.get("tool_calls") or ():
            tool_result(call, state)
    return state


def grade_of(running: Running, task: Task, messages: Sequence[Message]) -> Grade | None:
    """The grade of a talk; ``None`` where the tasks have none."""
    if isinstance(running.domain, PlainTasks):
        return None
    return running.domain.grade(task, state_after(running, messages), messages)


def grade_text(grade: Grade) -> str:
    """A grade as it is stored."""
    return json.dumps(
        {"reward": grade.reward, "label": grade.label, **grade_fields(grade)}, sort_keys=True
    )


@dataclass
class Agents:
    """Answers people and grades talks.

    Attributes
    ----------
    running
        The study.
    changed
        Called from any thread with the number of a talk that changed.
    """

    running: Running
    changed: Callable[[int], None] = lambda talk: None
    _runtime: Runtime = field(init=False)
    _pool: ThreadPoolExecutor = field(init=False)
    _under_way: set[int] = field(default_factory=set)
    _again: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        study = self.running.place.study
        self._runtime = Runtime(
            cache=_KeepsNothing(),
            ledger=Ledger(
                Budget(study.limits.budget, study.limits.budget_tokens),
                spent_so_far(self.running.database.read()),
            ),
            retries=study.calls.retries,
            per_minute=study.calls.per_minute,
        )
        self._pool = ThreadPoolExecutor(study.calls.concurrency, "study-agent")

    def resume(self) -> int:
        """Take up what an earlier server left: unanswered messages and missing grades."""
        if isinstance(self.running.agent, ModelAgents):
            self._pool.submit(ready)
        rows = self.running.database.read().execute(
            "select id from talk where batch is not null or state = 'open' order by id"
        )
        waiting = [row["id"] for row in rows if self._due(row["id"])]
        for talk in waiting:
            self.submit(talk)
        return len(waiting)

    def _due(self, talk_id: int) -> bool:
        db = self.running.database.read()
        talk = talk_of(db, talk_id)
        if talk is None:
            return False
        if talk.state == "open":
            return agents_turn(latest(db, talk_id))
        return not talk.practice and talk.state in ("survey", "done") and self._ungraded(talk_id)

    def _ungraded(self, talk_id: int) -> bool:
        row = (
            self.running.database.read()
            .execute("select grade from talk where id = ?", (talk_id,))
            .fetchone()
        )
        return (
            row is not None
            and row["grade"] is None
            and not isinstance(self.running.domain, PlainTasks)
        )

    def submit(self, talk: int) -> None:
        """Have a talk seen to, if it is not already."""
        with self._lock:
            if talk in self._under_way:
                self._again.add(talk)
                return
            self._under_way.add(talk)
        self._pool.submit(self._see_to, talk)

    def close(self) -> None:
        """Let calls under way end; nothing new begins."""
        self._runtime.stopping.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _see_to(self, talk_id: int) -> None:
        try:
            while True:
                self._once(talk_id)
                with self._lock:
                    if talk_id not in self._again:
                        self._under_way.discard(talk_id)
                        return
                    self._again.discard(talk_id)
        except Exception as error:  # noqa: BLE001  (nobody waits on this thread)
            _LOG.exception("talk %d", talk_id)
            with self._lock:
                self._under_way.discard(talk_id)
                self._again.discard(talk_id)
            talk = talk_of(self.running.database.read(), talk_id)
            if talk is not None and talk.state == "open":
                self._broken(talk, "plugin_error", type(error).__name__)
                self.changed(talk_id)

    def _once(self, talk_id: int) -> None:
        db = self.running.database.read()
        talk = talk_of(db, talk_id)
        if talk is None:
            return
        if talk.state == "open":
            if agents_turn(latest(db, talk_id)):
                self._answer(talk)
                self.changed(talk_id)
        elif self._due(talk_id):
            self._grade(talk)

    def _grade(self, talk: Talk) -> None:
        task = self.running.by_id[talk.task]
        messages = [m.body for m in messages_of(self.running.database.read(), talk.id)]
        grade = grade_of(self.running, task, messages)
        if grade is not None:
            self.running.database.write(
                lambda db: db.execute(
                    "update talk set grade = ? where id = ?", (grade_text(grade), talk.id)
                )
            )

    def _answer(self, talk: Talk) -> None:
        """Have the agent answer; a fault that stays ends the talk, and its place is returned."""
        answer = self._practice if talk.practice else self._agent
        try:
            try:
                answer(talk)
            except EpisodeFault as fault:
                if fault.reason not in _TRIED_ONCE:
                    raise
                answer(talk)
        except _Superseded:
            return
        except EpisodeFault as fault:
            self._broken(talk, fault.reason, fault.detail)
        except RunStopped as stop:
            if not self._runtime.stopping.is_set():
                self._close_study("budget")
                self._broken(talk, "budget", stop.why)
        except Refused as refused:
            self._close_study("agent_refused")
            self._broken(talk, "provider_error", str(refused))
        except UsiError as error:
            self._broken(talk, "plugin_error", str(error))

    def _broken(self, talk: Talk, reason: str, detail: str) -> None:
        self.running.database.write(lambda db: broken(db, self.running, talk, reason, detail[:400]))

    def _close_study(self, why: str) -> None:
        def work(db: Connection) -> None:
            db.execute("insert or ignore into setting values ('closed', ?)", (why,))
            note(db, self.running, "closed", detail=why)

        self.running.database.write(work)
        _LOG.error("the study takes no new talks: %s", why)

    def _practice(self, talk: Talk) -> None:
        messages = messages_of(self.running.database.read(), talk.id)
        said = sum(m.body["role"] == "user" for m in messages)
        text = self.running.texts(f"practice_reply_{min(3, said)}")
        self._keep(talk, messages[-1].seq, [{"role": "assistant", "content": text}])

    def _agent(self, talk: Talk) -> None:
        running = self.running
        stored = messages_of(running.database.read(), talk.id)
        messages: list[Message] = [m.body for m in stored]
        calls = Calls(self._runtime, f"{talk.task} of talk {talk.id}")
        study, task = running.place.study, running.by_id[talk.task]
        agent = running.agent.new(
            running.domain,
            task,
            study.design.seed + (talk.batch or 0),
            calls,
            running.domain.policy if study.policy else None,
        )
        keeper = _Keeper(self, talk, agent, calls, kept=len(messages))
        try:
            ended = agent_turn(
                keeper, state_after(running, messages), messages, study.calls.max_steps
            )
        except (EpisodeFault, RunStopped, UsiError, _Superseded):
            raise
        except Exception as error:
            raise EpisodeFault("plugin_error", f"{type(error).__name__}: {error}") from error
        finally:
            keeper.spend()
        keeper.keep(messages)
        turns = sum(m["role"] == "user" for m in messages)
        if ended is None and turns >= study.design.max_turns:
            ended = "max_turns"
        if ended is not None:
            reason = ended

            def work(db: Connection) -> None:
                now = talk_of(db, talk.id)
                if now is not None and now.state == "open":
                    over(db, running, now, reason)

            running.database.write(work)
            with self._lock:
                self._again.add(talk.id)  # its grade is due

    def _keep(self, talk: Talk, last: int, messages: Sequence[Message]) -> None:
        running = self.running

        def work(db: Connection) -> None:
            now = talk_of(db, talk.id)
            stored = latest(db, talk.id)
            if now is None or now.state != "open" or stored[-1].seq != last:
                raise _Superseded
            add_messages(db, running, talk.id, last, messages)
            if any(is_heard(message) for message in messages):
                db.execute("update talk set active = ? where id = ?", (running.clock(), talk.id))

        running.database.write(work)

    def _spend(self, talk: Talk, paid: Usage) -> None:
        """Money that is gone is counted, whatever became of the talk.

        Nothing waits for it: it is written with the answer, which follows in the same queue.
        """
        if not paid.calls:
            return
        used = {name: getattr(paid, name) for name in SPENT}

        def work(db: Connection) -> None:
            found = db.execute(
                "update talk set calls = calls + :calls, tokens_in = tokens_in + :tokens_in, "
                "tokens_out = tokens_out + :tokens_out, cost = cost + :cost where id = :id",
                {**used, "id": talk.id},
            )
            if not found.rowcount:  # its participant withdrew meanwhile
                count_deleted(db, used)

        self.running.database.submit(work)


@dataclass
class _Keeper:
    """An agent whose messages and tool results are stored as soon as they are there."""

    owner: Agents
    talk: Talk
    agent: Any
    calls: Calls
    kept: int
    counted: Usage = field(default_factory=Usage)

    def act(self, messages: Sequence[Message]) -> Message:
        """Store what is new, then ask the agent."""
        self.keep(messages)
        message: Message = self.agent.act(messages)
        self.spend()
        return message

    def keep(self, messages: Sequence[Message]) -> None:
        """Store what is new: complete rounds of calls with their results, and words."""
        if len(messages) > self.kept:
            self.owner._keep(self.talk, self.kept - 1, messages[self.kept :])
            self.kept = len(messages)

    def spend(self) -> None:
        """Count what calls cost since the last time."""
        paid = self.calls.paid
        new = Usage(
            paid.cost - self.counted.cost,
            paid.tokens_in - self.counted.tokens_in,
            paid.tokens_out - self.counted.tokens_out,
            paid.calls - self.counted.calls,
        )
        self.counted = paid
        self.owner._spend(self.talk, new)
