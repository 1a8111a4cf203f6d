"""A small study for tests: plain tasks, an agent that is a function, a clock that tests set."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from usi.study import people
from usi.study.agents import Agents
from usi.study.settings import read_study
from usi.study.study import Running, begin, open_study

SECRET = "test-secret-of-32-characters-or-more"
OWNER = "owner-password-of-tests"
CONSENT = "# Consent\n\nYou may **stop** at any time.\n"


def reply(request: dict[str, Any]) -> dict[str, Any]:
    """The agent: says how many messages the user sent, from the talk alone."""
    said = [m["content"] for m in request["messages"] if m["role"] == "user"]
    if said[-1] == "break":
        raise RuntimeError("the agent broke")
    if said[-1].startswith("both"):
        time.sleep(1.5)  # time for a second tab to send something, too
    return {"content": f"answer {len(said)} to {said[-1]}"}


def silent(request: dict[str, Any]) -> dict[str, Any]:
    """An agent that always breaks."""
    raise RuntimeError("always")


def task_file(levels: Sequence[str]) -> str:
    rows = [
        f'[[task]]\nid = "t{n}"\ndifficulty = "{level}"\n'
        f'instruction = "You want thing number {n} repaired before the end of this week."\n'
        for n, level in enumerate(levels, start=1)
    ]
    return 'name = "repairs"\npolicy = "Help."\n' + "\n".join(rows)


@dataclass
class Clock:
    """Seconds that tests move."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def write_study(
    folder: Path,
    *,
    levels: Sequence[str] = ("easy", "medium", "hard"),
    people_per_task: int = 2,
    each: int = 2,
    agent: str = "callable:study_site.support:reply",
    more: str = "",
    top: str = "",
    design: str = "",
) -> Path:
    """Write the files of a study."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tasks.toml").write_text(task_file(levels), encoding="utf-8")
    (folder / "consent.md").write_text(CONSENT, encoding="utf-8")
    (folder / "study.toml").write_text(
        f'title = "Repairs"\ntask_file = "tasks.toml"\nagent = "{agent}"\n{top}\n'
        f"[design]\npeople_per_task = {people_per_task}\ntasks_per_person = {each}\n{design}\n"
        f"{more}\n",
        encoding="utf-8",
    )
    return folder


def open_running(folder: Path, clock: Clock | None = None, *, trial: bool = True) -> Running:
    """The study of a folder."""
    running = open_study(read_study(folder), clock=clock or Clock())
    begin(running, trial=trial)
    return running


def join(running: Running, number: int, *, practise: bool = True) -> int:
    """Somebody arrives, agrees, understands, practises; their number."""
    db = running.database
    person = db.write(lambda c: people.arrive(c, running, invitation=number))
    assert person is not None
    db.write(lambda c: people.consent(c, running, person.id, agreed=True))
    db.write(lambda c: people.understood(c, running, person.id, right=True, tries=2))
    if practise:
        here = people.where(db.read(), running, person.id)
        assert here is not None
        assert here.talk is not None
        talk = here.talk.id
        db.write(lambda c: people.say(c, running, person.id, talk, "hello", client="p1"))
        db.write(lambda c: people.end_talk(c, running, person.id, talk))
    return person.id


def step(running: Running, person: int) -> str:
    """Name of the step that somebody is at."""
    here = people.where(running.database.read(), running, person)
    assert here is not None
    return here.step


def begin_task(running: Running, person: int) -> int | None:
    """The next task of somebody."""
    return running.database.write(lambda c: people.next_task(c, running, person))


def do_task(running: Running, person: int, agents: Agents | None = None) -> int | None:
    """Do a task to its end; the talk."""
    talk = begin_task(running, person)
    if talk is None:
        return None
    db = running.database
    db.write(lambda c: people.say(c, running, person, talk, "please help", client=f"c{talk}"))
    db.write(lambda c: people.end_talk(c, running, person, talk))
    db.write(lambda c: people.survey(c, running, person, talk, {}))
    return talk
