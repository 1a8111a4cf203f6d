"""A person plays the user: consent, the same agent and tasks, the survey, a batch of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from usi.corpora.manifest import (
    DATASHEET,
    MANIFEST,
    Manifest,
    datasheet,
    read_manifest,
    with_values,
)
from usi.corpora.resolve import resolve
from usi.curation.add import write_manifest
from usi.errors import InputError, UsageError
from usi.provenance.record import sha256_file
from usi.scoring.people import counts_of, read_people_of
from usi.simulate.calls import Calls, Runtime
from usi.simulate.episode import Cell, Setting, run_episode
from usi.simulate.protocol import Message, Task
from usi.simulate.questions import Instrument
from usi.simulate.runner import RunLog
from usi.simulate.sessions import lines_of, session_record, write_whole
from usi.simulate.user import STOP

END = "/stop"
SESSIONS = "sessions.jsonl"
LOG = ".human.runlog"
CONSENT = """\
You are about to talk to a support agent that is a computer program, to help to test programs that
imitate people. Before you agree:
  - What you type, your survey answers and the end of each task are stored in this folder, under a
    pseudonym. Do not type anything about yourself or other people: use what the task tells you.
  - Taking part is voluntary. You may end at any time with /stop, or by closing the terminal; a
    talk that did not end is not stored.
  - Ask whoever runs this study who will see the data, under which licence, and how to have yours
    deleted.
"""

Read = Callable[[str], str]
Write = Callable[[str], None]


def read_consent(path: Path | None) -> str:
    """The consent text of a study of one's own, else that of usi.

    Raises
    ------
    InputError
        Where it can't be read.
    """
    if path is None:
        return CONSENT
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't be read ({error})", file=str(path)) from None


class Left(Exception):
    """The person closed the input."""


@dataclass
class Person:
    """Makes the one user of a terminal; `read` gives a line, `write` shows one."""

    read: Read
    write: Write
    synthetic: bool = False
    identity: dict[str, Any] = field(default_factory=lambda: {"kind": "human"})

    def new(self, task: Task, seed: int, runtime: Calls) -> PersonAtTerminal:
        """Show the task and begin."""
        self.write("\n--- your task ---")
        self.write(task.instruction)
        self.write(f"--- write {END} when you are done ---\n")
        return PersonAtTerminal(self)


@dataclass
class PersonAtTerminal:
    """One talk."""

    person: Person
    shown: int = 0

    def reply(self, history: Sequence[Message]) -> Message:
        """Show what the agent said and read a line; empty lines are asked for again."""
        for message in history[self.shown :]:
            if message["role"] == "assistant":
                self.person.write(f"agent: {message['content']}")
        self.shown = len(history)
        while not (text := self.person.read("you: ").strip()):
            pass
        return {"role": "user", "content": STOP if text == END else text}

    def survey(self, history: Sequence[Message], instrument: Instrument) -> dict[str, str | None]:
        """Ask every question; a number chooses, an empty line leaves it unanswered."""
        self.person.write("\n--- a few questions about this talk (an empty line skips one) ---")
        answers: dict[str, str | None] = {}
        for q in instrument.questions:
            self.person.write(f"\n{q.question}")
            for number, option in enumerate(q.options, start=1):
                self.person.write(f"  {number}  {option}")
            while True:
                text = self.person.read("number: ").strip()
                if not text:
                    answers[q.item] = None
                    break
                if text.isdecimal() and 1 <= int(text) <= len(q.options):
                    answers[q.item] = q.options[int(text) - 1]
                    break
                self.person.write(f"write a number from 1 to {len(q.options)}")
        return answers


@dataclass(frozen=True)
class HumanPlan:
    """A round of people.

    Attributes
    ----------
    folder
        Of the corpus; ``sessions.jsonl``, ``manifest.toml`` and the log are in it.
    batch, participant
        Which round, and the pseudonym of who sits here.
    """

    folder: Path
    tasks: Sequence[Task]
    setting: Setting
    batch: int = 1
    participant: str | None = None
    consent: str = CONSENT
    seed: int = 1


def play(plan: HumanPlan, begin: Callable[[], Runtime], read: Read, write: Write) -> int:
    """Play tasks that nobody did in this batch; the number of talks stored.

    Until consent is given nothing is written: `begin` opens the cache only then.

    Raises
    ------
    UsageError
        Where consent is not given, or the folder's sessions were made with another agent.
    """
    write(plan.consent)
    if read('Write "yes" to take part: ').strip().casefold() != "yes":
        raise UsageError("no consent was given: nothing is stored")
    _manifest(plan)  # one that can't be read is told before anybody talks
    runtime = begin()
    log = RunLog(plan.folder / LOG)
    try:
        done = [body["session"] for body in log.bodies if body["kind"] == "episode"]
        others = {r["agent"] for r in done} - {plan.setting.agent_name}
        if others:
            raise UsageError(
                f"{plan.folder} holds sessions with the agent {', '.join(sorted(others))}, not "
                f"{plan.setting.agent_name}: people and simulators need the same agent; choose "
                "another -o"
            )
        taken = {(r["task_id"], r["batch"]) for r in done}
        todo = [task for task in plan.tasks if (task.id, plan.batch) not in taken]
        if not todo:
            raise UsageError(
                f"batch {plan.batch} has these tasks already; begin --batch N or --tasks"
            )
        stored = 0
        person = Person(read, write)
        try:
            for task in todo:
                record = _one(plan, task, person, runtime)
                log.append({"kind": "episode", "session": record})
                done.append(record)
                stored += 1
                _files(plan, done)
                write("Stored. Thank you.")
        except Left:
            write("\nEnded; the talk under way is not stored.")
        return stored
    finally:
        log.close()


def _one(plan: HumanPlan, task: Task, person: Person, runtime: Runtime) -> dict[str, Any]:
    cell = Cell(task, plan.batch, plan.batch, plan.seed)
    episode = run_episode(cell, person, plan.setting, Calls(runtime, task.id))
    record = session_record(
        episode,
        cell,
        simulator="",
        user="",
        agent=plan.setting.agent_name,
        domain=plan.setting.domain.name,
        synthetic=False,
        policy=plan.setting.policy,
        batch=plan.batch,
        participant=plan.participant,
    )
    record["metadata"]["consent"] = True
    return record


def _files(plan: HumanPlan, records: Sequence[dict[str, Any]]) -> None:
    ordered = sorted(records, key=lambda r: (r["batch"], r["task_id"]))
    write_whole(plan.folder / SESSIONS, lines_of(ordered))
    manifest, path = _manifest(plan), plan.folder / MANIFEST
    if not path.exists():
        write_manifest(plan.folder, manifest)
    people = read_people_of(replace(resolve(plan.folder), part=None))
    digest = sha256_file(plan.folder / SESSIONS)
    manifest = manifest.model_copy(
        update={
            "counts": counts_of(people.tables[""]),
            "sha256": {**manifest.sha256, SESSIONS: digest},
        }
    )
    text = with_values(path.read_text(encoding="utf-8"), manifest)
    write_whole(path, text.encode("utf-8"))
    sheet = plan.folder / DATASHEET
    if not sheet.exists():
        write_whole(sheet, datasheet(manifest).encode("utf-8"))


def _manifest(plan: HumanPlan) -> Manifest:
    """What the folder's manifest says; a new one passes nothing on until somebody allows it."""
    path = plan.folder / MANIFEST
    if path.is_file():
        return read_manifest(path)
    domain = plan.setting.domain
    return Manifest(
        name=plan.folder.resolve().name,
        redistribute=False,
        channel="chat",
        agent=plan.setting.agent_name,
        task_set=domain.name,
        sessions=SESSIONS,
    )
