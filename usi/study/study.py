"""A study that runs: its settings, tasks, texts and file, and what is true of them now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib import resources
from pathlib import Path

from usi.errors import InputError, UsageError
from usi.simulate.agents.agent import AgentFactory, fingerprint
from usi.simulate.agents.oracle import OracleAgents
from usi.simulate.candidates import read_agent
from usi.simulate.domains import load_domain
from usi.simulate.protocol import EXPECTED_SUCCESS, Domain, Task
from usi.simulate.questions import Instrument, read_instrument
from usi.simulate.runner import choose_tasks
from usi.study.assignment import Cells, stratum_of
from usi.study.database import Connection, Database
from usi.study.settings import STUDY, Place, check_filled_in, read_study
from usi.study.survey import Shown, shown_survey
from usi.study.tasks import read_task_file
from usi.study.texts import Texts, texts_of

SCHEMA_VERSION = 1
PRACTICE = ""
"""Task of the practice talk."""


@dataclass(frozen=True)
class Running:
    """Everything that the site needs to know.

    Attributes
    ----------
    place
        Settings and folder.
    domain, agent
        What people talk about, and with whom.
    population, tasks
        All tasks that were to choose from, and those of the study in order.
    instrument, survey
        Survey after each task, and the words in which people read it; ``None`` where there is none.
    clock
        Seconds since 1970; tests put their own.
    """

    place: Place
    database: Database
    domain: Domain
    agent: AgentFactory
    agent_name: str
    population: tuple[Task, ...]
    tasks: tuple[Task, ...]
    texts: Texts
    instrument: Instrument | None
    survey: Shown | None
    clock: Callable[[], float] = time.time
    by_id: Mapping[str, Task] = field(default_factory=dict)

    @property
    def trial(self) -> bool:
        """Whether only scripts and testers take part."""
        row = self.database.read().execute("select value from setting where name = 'trial'")
        found = row.fetchone()
        return found is not None and found["value"] == "yes"

    @property
    def greeting(self) -> str:
        """First message of the agent, the same for everybody; in the language of the study."""
        return self.place.study.greeting or self.texts("greeting")

    @cached_property
    def strata(self) -> dict[str, str]:
        """Task -> stratum, in order."""
        return {task.id: self.stratum(task) for task in self.tasks}

    def stratum(self, task: Task) -> str:
        """Stratum of any task."""
        by = self.place.study.design.strata
        return stratum_of(task.difficulty, self.domain.name, by)

    def cells(self, db: Connection) -> Cells:
        """Cells and which of them are taken."""
        taken: dict[str, set[int]] = {}
        filled = 0
        for row in db.execute(
            "select task, batch, state from talk where batch is not null and excluded is null "
            "and state in ('open', 'survey', 'done')"
        ):
            taken.setdefault(row["task"], set()).add(row["batch"])
            filled += row["state"] == "done"
        return Cells(self.strata, self.place.study.design.people_per_task, taken, filled)

    def closed(self, db: Connection) -> str | None:
        """Why the study begins no talk any more, as a code; ``None`` where it does.

        ``closed`` by its owner, ``date``, ``budget``, or ``filled``: every cell is filled.
        """
        row = db.execute("select value from setting where name = 'closed'").fetchone()
        if row is not None:
            return str(row["value"])
        closes = self.place.study.limits.closes
        if closes is not None and datetime.fromtimestamp(self.clock(), UTC).date() > closes:
            return "date"
        cells = self.cells(db)
        return "filled" if cells.filled >= cells.size else None


def open_study(place: Place, *, clock: Callable[[], float] = time.time) -> Running:
    """Check the settings against what they name, and open the file of the study.

    Raises
    ------
    UsageError, InputError
        Where something that they name is not there, the agent does not listen to people, or the
        tasks or the agent are not those that the file was begun with.
    """
    study, shown = place.study, str(place.folder / STUDY)
    domain = _domain(place)
    agent = _agent(place)
    if isinstance(agent, OracleAgents):
        raise InputError(
            "an oracle follows its own plan whatever people say, so people can't talk to it; "
            "name a model, an address or a callable",
            file=shown,
            field="agent",
        )
    population = tuple(choose_tasks(domain, study.design.tasks))
    tasks = subset(population, study.design.subset, seed=study.design.seed, file=shown)
    instrument = survey = None
    if not study.survey.skip:
        instrument = read_instrument(place.file(study.survey.file) if study.survey.file else None)
        own = place.file(study.survey.translation) if study.survey.translation else None
        survey = shown_survey(instrument, study.language, own=own)
    place.folder.mkdir(parents=True, exist_ok=True)
    running = Running(
        place=place,
        database=open_database(place.database),
        domain=domain,
        agent=agent,
        agent_name=fingerprint(agent, domain, policy=study.policy),
        population=population,
        tasks=tasks,
        texts=texts_of(study.language, study.texts, file=shown),
        instrument=instrument,
        survey=survey,
        clock=clock,
        by_id={task.id: task for task in tasks},
    )
    try:
        running.database.write(lambda db: _same_study(db, running, shown))
    except BaseException:
        running.database.close()
        raise
    return running


@contextmanager
def opened_study(folder: Path, *, served: bool = True) -> Iterator[Running]:
    """The study of a folder with its file, closed at the end.

    Parameters
    ----------
    folder
        Holds ``study.toml``.
    served
        Whether it must have been served before, so that there is a file.

    Raises
    ------
    InputError, UsageError
        Where the settings are wrong, or nobody was served yet.
    """
    place = read_study(folder)
    if served and not place.database.exists():
        raise UsageError(f"{place.database} is not there: nobody was served yet")
    running = open_study(place)
    try:
        yield running
    finally:
        running.database.close()


def begin(running: Running, *, trial: bool) -> None:
    """Check what has to hold before people may come.

    Parameters
    ----------
    running
        The study.
    trial
        Whether only scripts and testers take part: what it gives is marked synthetic.

    Raises
    ------
    InputError, UsageError
        Where the consent text is not complete, or the study began as a trial and is none now, or
        the other way round.
    """
    if not trial:
        check_filled_in(running.place.consent, running.place.file(running.place.study.consent.file))
    shown = str(running.place.folder / STUDY)
    running.database.write(lambda db: _keep(db, "trial", "yes" if trial else "no", shown))


def open_database(path: Path) -> Database:
    """The file of a study."""
    schema = resources.files("usi.study").joinpath("schema.sql").read_text("utf-8")
    return Database(path, schema, SCHEMA_VERSION)


def subset(
    population: tuple[Task, ...], number: int | None, *, seed: int, file: str
) -> tuple[Task, ...]:
    """So many tasks, in proportion to their difficulty, in the order of the population."""
    if number is None:
        return population
    from usi.decisions.task_sample import pick_tasks

    if number > len(population):
        raise InputError(
            f"asks for {number} tasks, there are {len(population)}",
            file=file,
            field="design.subset",
        )
    rates = {task.id: EXPECTED_SUCCESS[task.difficulty] for task in population}
    chosen = {picked.task for picked in pick_tasks(rates, number, seed=seed)}
    return tuple(task for task in population if task.id in chosen)


def _near(place: Place, name: str) -> str:
    """A name in the settings: a path beside them where there is one, else as it is."""
    path = place.file(name)
    return str(path) if path.exists() else name


def _agent(place: Place) -> AgentFactory:
    name = _near(place, place.study.agent)
    if name.endswith(".toml") and not Path(name).is_file():
        raise InputError(
            f"names {name}, and there is no such file: write it (kind, model), or name the agent "
            "as model:NAME, an address or callable:module:function",
            file=str(place.folder / STUDY),
            field="agent",
        )
    return read_agent(name)


def _domain(place: Place) -> Domain:
    if place.study.task_file is not None:
        return read_task_file(place.file(place.study.task_file))
    return load_domain(_near(place, str(place.study.domain)))


def _same_study(db: Connection, running: Running, file: str) -> None:
    """Keep what the study was begun with, or refuse what differs from it."""
    _keep(db, "agent", running.agent_name, file)
    _keep(db, "domain", running.domain.name, file)


def _keep(db: Connection, name: str, value: str, file: str) -> None:
    row = db.execute("select value from setting where name = ?", (name,)).fetchone()
    if row is not None and row["value"] != value and _begun(db):
        raise UsageError(
            f"{file}: people took part with {name} {row['value']}, and now it is {value}; "
            "what they said must not be mixed: begin a new study in another folder"
        )
    db.execute("insert or replace into setting values (?, ?)", (name, value))


def _begun(db: Connection) -> bool:
    return db.execute("select 1 from talk where batch is not null limit 1").fetchone() is not None
