"""Tasks without a domain: people talk to an agent that has no tools, and nothing is graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from usi.errors import InputError
from usi.reading import read_toml
from usi.simulate.protocol import Action, Grade, Level, Message, State, Task
from usi.study.settings import checked_table


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    instruction: str = Field(min_length=1)
    difficulty: Level = "medium"
    kinds: tuple[str, ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    policy: str = ""
    task: tuple[_Row, ...] = Field(min_length=1)


class _NoTools:
    """The state of an episode without tools."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """No tool exists."""
        return {"error": f"there is no tool {name}"}


@dataclass(frozen=True)
class PlainTasks:
    """A list of tasks as a domain. Its grade has no reward: success is what people say."""

    name: str
    policy: str
    tasks: Sequence[Task]
    tools: Sequence[Mapping[str, Any]] = ()

    def new_state(self) -> State:
        """A state without tools."""
        return _NoTools()

    def grade(self, task: Task, state: State, messages: Sequence[Message]) -> Grade:
        """Not available: `graded` tells beforehand."""
        raise NotImplementedError("tasks of a task file have no grade")

    def oracle_actions(self, task: Task) -> Sequence[Action]:
        """None."""
        return ()

    def oracle_reply(self, task: Task) -> str:
        """None."""
        return ""


def read_task_file(path: Path) -> PlainTasks:
    """Tasks of a TOML file with ``name``, ``policy`` and ``[[task]]`` tables.

    Raises
    ------
    InputError
        For every mistake, and ids that occur twice.
    """
    found = checked_table(_File, read_toml(path), str(path))
    seen: set[str] = set()
    for number, row in enumerate(found.task, start=1):
        if row.id in seen:
            raise InputError(f"task id {row.id!r} twice", file=str(path), row=number, field="id")
        seen.add(row.id)
    tasks = tuple(
        Task(
            id=row.id,
            instruction=" ".join(row.instruction.split()),
            difficulty=row.difficulty,
            kinds=row.kinds,
        )
        for row in found.task
    )
    return PlainTasks(found.name, found.policy, tasks)
