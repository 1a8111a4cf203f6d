"""``study.toml``: everything that a study fixes before the first participant arrives."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from usi.errors import InputError, InputErrors, unknown_name
from usi.reading import read_text, read_toml

STUDY, DATABASE = "study.toml", "study.sqlite"
TO_FILL = "[TO FILL IN]"
"""Mark of a place in a text that the owner of a study has to complete."""


T = TypeVar("T", bound=BaseModel)


class Table(BaseModel):
    """A table of settings: unknown keys are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Design(Table):
    """``[design]``: tasks, people and time limits.

    Attributes
    ----------
    tasks
        As in ``usi simulate --tasks``: ids, a level, a mark, or the first n.
    subset
        Take so many of these tasks, stratified by difficulty.
    people_per_task
        Each task is done once in each of so many batches, by different people.
    tasks_per_person
        Tasks that one participant is given.
    strata
        What assignment balances.
    idle_minutes
        A talk without activity for so long gives its place back.
    seed
        Of the subset, the order of tasks and the agent.
    """

    tasks: str = "all"
    subset: int | None = Field(None, ge=1)
    people_per_task: int = Field(3, ge=1, le=1000)
    tasks_per_person: int = Field(4, ge=1, le=200)
    strata: tuple[Literal["difficulty", "domain"], ...] = ("difficulty",)
    idle_minutes: float = Field(30.0, gt=0, le=7 * 24 * 60)
    seed: int = Field(7, ge=0)
    max_turns: int = Field(30, ge=1, le=500)


class Limits(Table):
    """``[limits]``: when the study takes nobody more."""

    participants: int | None = Field(
        None, ge=1, description="people who begin; whoever left before the end of a task is not one"
    )
    budget: float | None = Field(None, ge=0, description="US dollars for the agent")
    budget_tokens: int | None = Field(None, ge=0)
    closes: date | None = Field(None, description="last day, in UTC")
    message_characters: int = Field(2000, ge=50, le=20_000)


class Calls(Table):
    """``[calls]``: how the agent is called."""

    concurrency: int = Field(64, ge=1, le=512)
    retries: int = Field(1, ge=0, le=10)
    per_minute: float | None = Field(None, gt=0)
    max_steps: int = Field(20, ge=1, le=200, description="tool rounds of one agent turn")


class Consent(Table):
    """``[consent]``: what people agree to."""

    file: str = "consent.md"
    version: str = "1"


class Choice(Table):
    """A question with options; the right one is counted from 1."""

    question: str = Field(min_length=1)
    options: tuple[str, ...] = Field(min_length=2, max_length=12)


class Comprehension(Choice):
    """``[comprehension]``: what people must have understood before the first task."""

    answer: int = Field(ge=1)
    tries: int = Field(2, ge=1, le=10)

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> Self:
        if self.answer > len(self.options):
            raise ValueError(f"answer is {self.answer}, there are {len(self.options)} options")
        return self


class Background(Choice):
    """``[[background]]``: asked once, after consent; ``quota`` limits the people of an option."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    quota: tuple[int, ...] | None = Field(None, description="one number for each option")

    @model_validator(mode="after")
    def _a_quota_for_each_option(self) -> Self:
        if self.quota is not None and (len(self.quota) != len(self.options) or min(self.quota) < 0):
            raise ValueError("quota needs a number of 0 or more for each option")
        return self


class Practice(Table):
    """``[practice]``: the practice task; its agent answers by rule and is not the one studied."""

    skip: bool = False
    instruction: str | None = None


class Survey(Table):
    """``[survey]``: after each task; without a file the questions of the published index.

    Attributes
    ----------
    file
        A survey of the study's own.
    translation
        Other words for the same items and options; see `usi.study.survey`.
    """

    file: str | None = None
    translation: str | None = None
    skip: bool = False


class Recruiting(Table):
    """``[recruiting]``: how people arrive.

    Attributes
    ----------
    open
        Anybody with the address may begin. Otherwise signed links or the parameters are needed.
    parameters
        Names of query parameters of a recruiting service, such as ``PROLIFIC_PID``.
    id
        The one of them that names the person.
    """

    open: bool = False
    parameters: tuple[str, ...] = ()
    id: str | None = None

    @model_validator(mode="after")
    def _id_is_a_parameter(self) -> Self:
        if self.parameters and self.id not in self.parameters:
            raise ValueError("id must be one of the parameters")
        if self.id is not None and not self.parameters:
            raise ValueError("id without parameters")
        return self


def check_open(recruiting: Recruiting, participants: int | None) -> None:
    """Refuse a site that anybody may use without end.

    Raises
    ------
    ValueError
        Where anybody may begin, and no number of people ends it.
    """
    if recruiting.open and participants is None:
        raise ValueError(
            "recruiting.open lets anybody begin, so limits.participants has to say how many"
        )


class Completion(Table):
    """``[completion]``: what shows a recruiting service that somebody finished.

    Without a code each participant gets one of their own.
    """

    code: str | None = Field(None, min_length=1, max_length=80)
    redirect: str | None = Field(None, pattern=r"^https?://\S+$")


class CorpusFacts(Table):
    """``[corpus]``: what the exported human corpus declares about itself."""

    name: str = Field("people", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
    title: str = ""
    licence: str | None = None
    terms: str | None = None
    redistribute: bool = Field(False, strict=True)
    research_only: bool = Field(True, strict=True)
    citation: str | None = None
    expires: date | None = None


class Study(Table):
    """Every key of a ``study.toml``; ``usi study new`` writes one with comments."""

    title: str = Field(min_length=1, max_length=200)
    institution: str = ""
    contact: str = Field("", description="shown on every page: name, e-mail address")
    language: str = Field("en", pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")
    url: str | None = Field(None, pattern=r"^https?://[^\s/]+(/\S*)?$")
    domain: str | None = None
    task_file: str | None = Field(None, description="tasks without tools and grades, in TOML")
    agent: str = Field(min_length=1)
    policy: bool = Field(True, strict=True)
    greeting: str | None = None
    design: Design = Design()
    limits: Limits = Limits()
    calls: Calls = Calls()
    consent: Consent = Consent()
    comprehension: Comprehension | None = None
    background: tuple[Background, ...] = ()
    practice: Practice = Practice()
    survey: Survey = Survey()
    recruiting: Recruiting = Recruiting()
    completion: Completion = Completion()
    corpus: CorpusFacts = CorpusFacts()
    texts: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_source_of_tasks(self) -> Self:
        if (self.domain is None) == (self.task_file is None):
            raise ValueError("give domain, or task_file, and not both")
        check_open(self.recruiting, self.limits.participants)
        names = [question.id for question in self.background]
        if len(set(names)) != len(names):
            raise ValueError("two background questions have the same id")
        return self


@dataclass(frozen=True)
class Place:
    """A study in its folder."""

    folder: Path
    study: Study

    @property
    def database(self) -> Path:
        """The file of everything that happened."""
        return self.folder / DATABASE

    def file(self, name: str) -> Path:
        """A file that the settings name, beside them."""
        return self.folder / name

    @cached_property
    def consent(self) -> str:
        """The consent text, as it stands in its file."""
        return read_text(self.file(self.study.consent.file)).strip()

    @property
    def consent_sha256(self) -> str:
        """SHA-256 of the consent text, UTF-8, without white space around it."""
        return hashlib.sha256(self.consent.encode("utf-8")).hexdigest()


def check_filled_in(consent: str, path: Path) -> None:
    """Refuse a consent text that is not filled in.

    Raises
    ------
    InputError
        With the number of places that are left.
    """
    left = consent.count(TO_FILL)
    if not consent:
        raise InputError("is empty", file=str(path))
    if left:
        raise InputError(
            f"{left} places marked {TO_FILL} are left: complete the text, have it approved, and "
            "only then serve it (--trial: with testers alone; all they say is marked synthetic)",
            file=str(path),
        )


def read_study(folder: str | Path) -> Place:
    """Read the settings of a study from the ``study.toml`` in its folder.

    Raises
    ------
    InputError
        With every unknown key (and near matches) and every wrong value together.
    """
    path = Path(folder) / STUDY
    if not path.is_file():
        raise InputError("there is no such file; usi study new FOLDER makes one", file=str(path))
    study = checked_table(Study, read_toml(path), str(path))
    return Place(Path(folder), study)


def checked_table(model: type[T], data: Mapping[str, Any], file: str) -> T:
    """The tables of a file held to a model.

    Raises
    ------
    InputError
        `InputErrors` where there are several mistakes.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [_explained(problem, model, file) for problem in error.errors(include_url=False)]
        raise problems[0] if len(problems) == 1 else InputErrors(problems) from None


def _explained(problem: Any, model: type[BaseModel], file: str) -> InputError:
    place = [str(part) for part in problem["loc"]]
    field = ".".join(place) or None
    if problem["type"] == "extra_forbidden":
        text = str(unknown_name("key", place[-1], _keys(model, place[:-1])))
        return InputError(text, file=file, field=field)
    return InputError(str(problem["msg"]).removeprefix("Value error, "), file=file, field=field)


def _keys(model: type[BaseModel], place: Sequence[str]) -> list[str]:
    """Keys of the table at a place."""
    for part in place:
        if part not in model.model_fields:
            continue
        found = model.model_fields[part].annotation
        inner = [found, *getattr(found, "__args__", ())]
        model = next((t for t in inner if isinstance(t, type) and issubclass(t, BaseModel)), model)
    return list(model.model_fields)
