"""Tasks as a domain's files write them: TOML or JSON to checked records, all mistakes at once."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from usi.errors import InputError, InputErrors
from usi.simulate.protocol import Level, Task

Words = Annotated[str, Field(min_length=1, pattern=r"\S")]
"""A text that says something."""


class Step(BaseModel):
    """One call of a legal path.

    Attributes
    ----------
    id
        Name within the task, for `after` and references; the tool's name where none is given.
    call, args
        Tool and arguments; the text ``"$step.field"`` stands for a field of an earlier result.
    ask
        Facts that the agent has to ask for first.
    describe
        Clause that says what a write does, for its confirmation.
    after
        Steps that must come before. Writes without it may come in any order.
    offer
        A wrong alternative; part of no goal.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    call: str
    id: str = ""
    args: dict[str, Any] = Field(default_factory=dict)
    ask: tuple[str, ...] = ()
    describe: str = ""
    after: tuple[str, ...] = ()
    offer: bool = False

    @property
    def name(self) -> str:
        """Its id, else the name of its tool."""
        return self.id or self.call


class LegalPath(BaseModel):
    """Another legal path to a goal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: tuple[Step, ...] = ()


class TaskFile(BaseModel):
    """One task as it is written; see docs/domains.md."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    instruction: Words
    difficulty: Level
    traits: tuple[str, ...] = ()
    requests: tuple[str, ...] = Field(min_length=1)
    facts: dict[str, str] = Field(default_factory=dict)
    refusal: bool = False
    kinds: tuple[str, ...] = ()
    reply: Words
    outputs: tuple[str | tuple[str, ...], ...] = ()
    never_said: tuple[str, ...] = ()
    step: tuple[Step, ...] = ()
    path: tuple[LegalPath, ...] = ()


@dataclass(frozen=True)
class GoalTask(Task):
    """A task with what counts as reaching it.

    Attributes
    ----------
    paths
        Legal paths; the first is the oracle's.
    outputs
        What the user must be told: each entry is one text or several, any of which will do.
    never_said
        What must not be told.
    reply
        The oracle's last message.
    """

    paths: tuple[tuple[Step, ...], ...] = ()
    outputs: tuple[tuple[str, ...], ...] = ()
    never_said: tuple[str, ...] = ()
    reply: str = ""


def read_tasks(files: Sequence[Path], shown: Mapping[Path, str]) -> tuple[GoalTask, ...]:
    """Tasks of all files in their order.

    Parameters
    ----------
    files
        TOML with ``[[task]]`` tables, or JSON: a list of tasks or ``{"task": [...]}``.
    shown
        How messages name each file.

    Raises
    ------
    InputErrors
        For every task that can't be read, and every id that occurs twice.
    """
    tasks: list[GoalTask] = []
    problems: list[InputError] = []
    seen: set[str] = set()
    for file in files:
        for row, value in enumerate(_rows(file, shown[file]), start=1):
            try:
                read = TaskFile.model_validate(value)
            except ValidationError as error:
                problems += [
                    InputError(
                        e["msg"],
                        file=shown[file],
                        row=row,
                        field=".".join(map(str, e["loc"])) or None,
                    )
                    for e in error.errors()
                ]
                continue
            if read.id in seen:
                problems.append(
                    InputError(f"task id {read.id!r} twice", file=shown[file], row=row, field="id")
                )
            seen.add(read.id)
            tasks.append(_task(read))
    if problems:
        raise InputErrors(problems)
    return tuple(tasks)


def _rows(file: Path, shown: str) -> Sequence[Any]:
    try:
        text = file.read_text(encoding="utf-8")
        value = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:  # no text, no TOML, no JSON
        raise InputError(f"can't be read: {error}", file=shown) from None
    rows = value.get("task") if isinstance(value, dict) else value
    if not isinstance(rows, list) or (isinstance(value, dict) and set(value) != {"task"}):
        raise InputError("must hold tasks and nothing else ([[task]], or a JSON list)", file=shown)
    return rows


def _task(read: TaskFile) -> GoalTask:
    return GoalTask(
        id=read.id,
        instruction=" ".join(read.instruction.split()),
        difficulty=read.difficulty,
        traits=read.traits,
        requests=read.requests,
        facts=read.facts,
        refusal=read.refusal,
        kinds=read.kinds,
        paths=(read.step, *(other.step for other in read.path)),
        outputs=tuple((o,) if isinstance(o, str) else o for o in read.outputs),
        never_said=read.never_said,
        reply=" ".join(read.reply.split()),
    )
