"""A domain from its folder: the one implementation of `usi.simulate.protocol.Domain`."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from usi.errors import InputError, InputErrors, UsageError
from usi.simulate.domains.definition import read_definition, read_tables
from usi.simulate.domains.goals import Call, Goals, goals_of, run_steps
from usi.simulate.domains.grading import grade_episode
from usi.simulate.domains.kit import Database, Tables
from usi.simulate.domains.rule_names import wrong_names
from usi.simulate.domains.rules import Own, Predicate, out_of_order, violations
from usi.simulate.domains.state import EpisodeState, canonical
from usi.simulate.domains.tasks import GoalTask, Tool, read_tasks, tools_of
from usi.simulate.domains.trajectory import replay
from usi.simulate.protocol import Action, Grade, Message, State, Task


class FolderDomain:
    """Tables, tools, rule book, tasks and grading of one folder.

    Loading runs the folder's Python files: they are code of whoever wrote the domain, so load only
    folders that you trust.

    Parameters
    ----------
    folder
        Holds ``domain.toml``, ``tables/*.json``, ``tools.py`` (or several ``tools*.py``),
        ``policy.md``, ``tasks/*``, and where it has checks of its own ``rules.py``.
    shown
        How messages name it.

    Raises
    ------
    InputError
        Something is missing or wrong; where several things are, all are named.
    """

    def __init__(self, folder: Path, shown: str) -> None:
        self.folder, self.shown = folder, shown
        self.definition = read_definition(folder, shown)
        tables = read_tables(folder, shown, self.definition.references)
        self.database = Database(tables, self.definition.now)
        self.policy = _text(folder, shown, "policy.md")
        self._modules = _modules(folder, shown, self.definition.name)
        self.functions: Mapping[str, Tool] = tools_of(self._modules, file=shown)
        problems = wrong_names(self.definition, self.functions, tables, shown)
        if problems:
            raise InputErrors(problems)
        files = sorted(p for p in (folder / "tasks").glob("*") if p.suffix in (".toml", ".json"))
        self.tasks: Sequence[GoalTask] = read_tasks(
            files, {path: f"{shown}/tasks/{path.name}" for path in files}
        )
        if not self.tasks:
            raise InputError("there are no tasks (tasks/*.toml or *.json)", file=shown)
        self._by_id = {task.id: task for task in self.tasks}
        self._goals: dict[str, Goals] = {}
        self.predicates = self._predicates()

    @property
    def name(self) -> str:
        """Name, also of the sessions' domain."""
        return self.definition.name

    @property
    def title(self) -> str:
        """What it is, in one line."""
        return self.definition.title

    @cached_property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """JSON schemas of the tools in OpenAI's function form."""
        return tuple(tool.schema for tool in self.functions.values())

    @property
    def writes(self) -> frozenset[str]:
        """Names of the tools that change the database."""
        return frozenset(name for name, tool in self.functions.items() if tool.write)

    @cached_property
    def fingerprint(self) -> str:
        """First 16 hex digits of the SHA-256 of its files; independent of where it lies."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*"), key=lambda p: p.relative_to(self.folder).parts):
            if path.is_file() and path.suffix in (".toml", ".json", ".py", ".md"):
                name = path.relative_to(self.folder).as_posix()
                content = path.read_bytes()
                digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()[:16]

    def task(self, task_id: str) -> GoalTask:
        """The task of this id.

        Raises
        ------
        UsageError
            There is none.
        """
        if task_id not in self._by_id:
            raise UsageError(f"the domain {self.name} has no task {task_id!r}")
        return self._by_id[task_id]

    def new_state(self) -> EpisodeState:
        """A fresh database."""
        return EpisodeState(self.database, self.functions)

    def canonical(self, state: EpisodeState) -> Tables:
        """Tables of a state as they are compared."""
        return canonical(state.database.tables, self.definition.comparison)

    @cached_property
    def _start(self) -> Tables:
        return canonical(self.database.tables, self.definition.comparison)

    def goals(self, task: Task) -> Goals:
        """Goal states of a task, and the oracle's calls (kept once computed)."""
        if task.id not in self._goals:
            self._goals[task.id] = goals_of(
                self.task(task.id), self.new_state, self.writes, self.definition.comparison
            )
        return self._goals[task.id]

    def grade(self, task: Task, state: State, messages: Sequence[Message]) -> Grade:
        """Grade the final state and the conversation (without the rule book)."""
        if not isinstance(state, EpisodeState):
            raise TypeError("grade takes a state that new_state() of the same domain gave")
        own = self.task(task.id)
        goals = self.goals(own)
        trajectory = replay(messages, self.new_state(), self.functions)
        broken = (
            *violations(trajectory, self.definition.rule, self.predicates),
            *out_of_order(own, trajectory, self.functions),
        )
        return grade_episode(
            own,
            goals,
            self._start,
            self.canonical(state),
            trajectory,
            broken,
        )

    def regrade(self, task: Task, messages: Sequence[Message]) -> Grade:
        """Grade a recorded conversation: its calls are run again on a fresh database."""
        state = self.new_state()
        replay(messages, state, self.functions)
        return self.grade(task, state, messages)

    def oracle_actions(self, task: Task) -> Sequence[Action]:
        """Calls that reach the goal, in an allowed order, with offers where they are made."""
        own = self.task(task.id)
        reached = iter(self.goals(own).oracle)
        actions = []
        for step in own.paths[0]:
            call = self._offered(own, step.name) if step.offer else next(reached)
            actions.append(
                Action(
                    step.call,
                    call.arguments,
                    step.call in self.writes,
                    step.ask,
                    step.describe,
                    step.offer,
                )
            )
        return actions

    def oracle_reply(self, task: Task) -> str:
        """What the agent has to tell at the end: required outputs, or why it refuses."""
        return self.task(task.id).reply

    def _offered(self, task: GoalTask, name: str) -> Call:
        """An offer, run after the steps before it."""
        path = task.paths[0]
        place = next(i for i, step in enumerate(path) if step.name == name)
        steps = [step for step in path[:place] if not step.offer] + [path[place]]
        calls = run_steps(self.new_state(), steps)
        if calls is None:
            raise InputError(f"task {task.id}: the offer {name} can't be made", file=self.shown)
        return calls[-1]

    def _predicates(self) -> Mapping[str, Predicate]:
        found: dict[str, Predicate] = {}
        for rule in self.definition.rule:
            if isinstance(rule, Own):
                named: list[Any] = [
                    getattr(module, rule.function, None) for module in self._modules
                ]
                function = next((one for one in named if callable(one)), None)
                if function is None:
                    raise InputError(
                        f"rule {rule.id}: no module has the function {rule.function}",
                        file=f"{self.shown}/domain.toml",
                    )
                found[rule.function] = function
        return found


def _text(folder: Path, shown: str, name: str) -> str:
    try:
        text = (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't be read: {error}", file=f"{shown}/{name}") from None
    if not text.strip():
        raise InputError("is empty", file=f"{shown}/{name}")
    return text


def _modules(folder: Path, shown: str, name: str) -> list[ModuleType]:
    """Run the folder's ``tools*.py`` and ``rules.py``, each under a name of its own."""
    paths = sorted(folder.glob("tools*.py")) + sorted(folder.glob("rules.py"))
    if not paths or paths[0].name == "rules.py":
        raise InputError("there is no tools.py", file=shown)
    return [_module(path, f"{shown}/{path.name}", name) for path in paths]


def _module(path: Path, shown: str, name: str) -> ModuleType:
    mark = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    title = f"usi_domain_{name}_{mark}"
    spec = importlib.util.spec_from_file_location(title, path)
    if spec is None or spec.loader is None:
        raise InputError("can't be loaded as Python", file=shown)
    module = importlib.util.module_from_spec(spec)
    sys.modules[title] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[title]
        raise InputError(
            f"fails when it is loaded: {type(error).__name__}: {error}", file=shown
        ) from error
    return module
