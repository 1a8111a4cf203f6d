"""Whether a domain grades what it should: the oracle reaches every goal, every change misses it.

Changed versions of the oracle's calls: each must be graded 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from usi.errors import UsiError
from usi.simulate.domains.folder import FolderDomain
from usi.simulate.domains.goals import references
from usi.simulate.domains.kit import Tables
from usi.simulate.domains.oracle import converse
from usi.simulate.domains.state import state_hash
from usi.simulate.domains.tasks import GoalTask
from usi.simulate.protocol import Action, Task

Kind = Literal["omission", "addition", "argument", "wording"]
NEIGHBOURS = 4
"""Other ids of a table that stand in for an id."""


@dataclass(frozen=True)
class Mutation:
    """One change. `place` is the index of the changed action, or where one is added."""

    kind: Kind
    detail: str
    actions: tuple[Action, ...]
    place: int


def omissions(actions: Sequence[Action]) -> Iterator[Mutation]:
    """Every write left out once."""
    for place, action in enumerate(actions):
        if action.write:
            left = (*actions[:place], *actions[place + 1 :])
            yield Mutation("omission", f"without {_named(action)}", left, place)


def additions(domain: FolderDomain, task: Task, actions: Sequence[Action]) -> Iterator[Mutation]:
    """Every write of every task of the domain, and each own write again, put at the end."""
    seen: set[str] = set()
    for other in (task, *domain.tasks):
        for action in domain.oracle_actions(other):
            key = _named(action)
            if action.write and key not in seen:
                seen.add(key)
                added = replace(action, offer=False)
                yield Mutation("addition", f"and {key}", (*actions, added), len(actions))


def argument_changes(
    domain: FolderDomain, task: Task, actions: Sequence[Action]
) -> Iterator[Mutation]:
    """Every argument of every write replaced by other values of its kind, one at a time.

    Values: all others of an enumeration, the neighbours of a number, the other truth value, other
    ids of the table that holds the id, what other tasks give the same argument, another text.
    A call that another legal path makes is no mistake and is left out. Arguments of free text
    give mutations of kind ``wording``, which must not change the grade.
    """
    legal = _legal(domain, task)
    for place, action in enumerate(actions):
        if not action.write:
            continue
        tool = domain.functions[action.name]
        for name, value in _arguments(domain, action).items():
            if name in tool.free:
                others: list[Any] = ["Entirely different words"]
                kind: Kind = "wording"
            else:
                others, kind = _others(domain, action, name, value), "argument"
            for other in others:
                changed = replace(action, arguments={**action.arguments, name: other})
                if kind == "argument" and _named(changed) in legal:
                    continue
                yield Mutation(
                    kind,
                    f"{action.name} with {name} {other!r} in place of {value!r}",
                    (*actions[:place], changed, *actions[place + 1 :]),
                    place,
                )


def _named(action: Action) -> str:
    arguments = ", ".join(f"{k}={v!r}" for k, v in sorted(action.arguments.items()))
    return f"{action.name}({arguments})"


def _legal(domain: FolderDomain, task: Task) -> set[str]:
    """Writes of the task's other legal paths that hold no reference."""
    return {
        _named(Action(step.call, step.args))
        for path in domain.task(task.id).paths[1:]
        for step in path
        if not references(step.args)
    }


def _arguments(domain: FolderDomain, action: Action) -> dict[str, Any]:
    """Arguments of a call, and those with a default that it leaves out."""
    fields = domain.functions[action.name].model.model_fields
    left_out = {
        name: field.default for name, field in fields.items() if name not in action.arguments
    }
    return {**action.arguments, **left_out}


def _others(domain: FolderDomain, action: Action, name: str, value: Any) -> list[Any]:
    schema = domain.functions[action.name].schema["function"]["parameters"]["properties"][name]
    if "enum" in schema:
        return [other for other in schema["enum"] if other != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1]
    found: list[Any] = [f"{value} x"] if isinstance(value, str) else []
    for table in domain.database.tables.values():
        if value in table:
            keys = sorted(table)
            place = keys.index(value)
            near = keys[max(0, place - NEIGHBOURS // 2) : place + 1 + NEIGHBOURS // 2]
            found += [key for key in near if key != value]
    for task in domain.tasks:
        for other in domain.oracle_actions(task):
            given = other.arguments.get(name)
            if other.name == action.name and given is not None and given != value:
                found.append(given)
    return [other for i, other in enumerate(found) if other not in found[:i]]


@dataclass(frozen=True)
class Tried:
    """Mutations of one kind.

    Attributes
    ----------
    n
        How many were graded.
    void
        Additions that change nothing (the tool refuses, or only ignored fields change): no
        addition at all, so not counted in `n`.
    survived
        Those that were graded otherwise than they should.
    """

    n: int = 0
    void: int = 0
    survived: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskCheck:
    """What the check found for one task; `problems` is empty where all is well."""

    id: str
    difficulty: str
    kinds: tuple[str, ...]
    refusal: bool
    goal_states: int
    writes: int
    omissions: Tried = Tried()
    additions: Tried = Tried()
    arguments: Tried = Tried()
    wording: Tried = Tried()
    offers: Tried = Tried()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class DomainCheck:
    """What the check found for a domain."""

    name: str
    title: str
    version: int
    fingerprint: str
    tools: int
    write_tools: int
    rules: int
    tasks: tuple[TaskCheck, ...]
    remarks: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether every task is as it should be."""
        return not any(task.problems for task in self.tasks)


def check_domain(domain: FolderDomain) -> DomainCheck:
    """Run the oracle over every task, then every change of it; see `check_task`."""
    checks = tuple(check_task(domain, task) for task in domain.tasks)
    used = {a.name for task in domain.tasks for a in _actions(domain, task)}
    idle = sorted(set(domain.functions) - used)
    return DomainCheck(
        name=domain.name,
        title=domain.title,
        version=domain.definition.version,
        fingerprint=domain.fingerprint,
        tools=len(domain.functions),
        write_tools=len(domain.writes),
        rules=len(domain.definition.rule),
        tasks=checks,
        remarks=(f"tools that no oracle uses: {', '.join(idle)}",) if idle else (),
    )


def _actions(domain: FolderDomain, task: GoalTask) -> list[Action]:
    try:
        return list(domain.oracle_actions(task))
    except UsiError:
        return []


def check_task(domain: FolderDomain, task: GoalTask) -> TaskCheck:
    """Check one task.

    The oracle, with a user who tells what is asked and agrees to what is right, has to get reward
    1 without a violation. Every single omission, addition and change of an argument of its
    writes, every wrong alternative that is accepted, and last words without the outputs have to
    get 0. Other wording of free text has to change nothing. Reads have to leave the database as
    it is.
    """
    base = TaskCheck(task.id, task.difficulty, task.kinds, task.refusal, 0, 0)
    try:
        goals = domain.goals(task)
        actions = tuple(domain.oracle_actions(task))
    except UsiError as error:
        return _with(base, problems=(str(error),))
    problems = [*_static(domain, task), *_reached(domain, task, actions)]
    plain = tuple(action for action in actions if not action.offer)
    done = domain.canonical(converse(domain, task, plain)[0])
    found = {
        "omissions": _tried(domain, task, omissions(plain)),
        "additions": _tried(domain, task, additions(domain, task, plain), void=done),
    }
    changes = list(argument_changes(domain, task, plain))
    found["arguments"] = _tried(domain, task, (m for m in changes if m.kind == "argument"))
    found["wording"] = _tried(domain, task, (m for m in changes if m.kind == "wording"), reward=1)
    found["offers"] = _offers(domain, task, actions)
    problems += [
        f"graded otherwise than it should: {detail}"
        for tried in found.values()
        for detail in tried.survived
    ]
    return _with(
        base,
        goal_states=len(goals.states),
        writes=sum(action.write for action in plain),
        problems=tuple(problems),
        **found,
    )


def _with(check: TaskCheck, **changes: object) -> TaskCheck:
    return TaskCheck(**{**vars(check), **changes})


def _static(domain: FolderDomain, task: GoalTask) -> Iterable[str]:
    """What is wrong with a task as it is written."""
    for number, path in enumerate(task.paths, start=1):
        names = [step.name for step in path]
        for step in path:
            where = f"path {number}, step {step.name}"
            if names.count(step.name) > 1:
                yield f"{where}: the name occurs twice; give the step an id"
            if step.call not in domain.functions:
                yield f"{where}: there is no tool {step.call}"
            elif step.call in domain.writes and not step.describe and number == 1:
                yield f"{where}: a write needs `describe`, so that it can be confirmed"
            for fact in step.ask:
                if fact not in task.facts:
                    yield f"{where}: asks for {fact!r}, which is no fact of the task"
            for earlier in step.after:
                if earlier not in names:
                    yield f"{where}: comes after {earlier!r}, which is no step"
            if step.offer and step.call not in domain.writes:
                yield f"{where}: an offer has to be a write"


def _reached(domain: FolderDomain, task: GoalTask, actions: tuple[Action, ...]) -> Iterable[str]:
    state, messages = converse(domain, task, actions)
    grade = domain.grade(task, state, messages)
    expected = "correct_refusal" if task.refusal else "full"
    if grade.reward != 1 or grade.label != expected:
        why = "; ".join(finding.detail for finding in grade.triage)
        yield f"the oracle gets {grade.reward} ({grade.label}): {why}"
    for broken in grade.violations:
        yield f"the oracle breaks {broken.check}: {broken.detail}"
    if task.outputs:
        state, messages = converse(domain, task, actions, reply="Goodbye.")
        if domain.grade(task, state, messages).reward:
            yield "the outputs are not needed: they are told before the last words"
    for action in actions:
        if not action.write:
            state = domain.new_state()
            before = state_hash(state.database.tables)
            state.call(action.name, action.arguments)
            if state_hash(state.database.tables) != before:
                yield f"{action.name} is marked as a read and changes the database"


def _tried(
    domain: FolderDomain,
    task: GoalTask,
    mutations: Iterable[Mutation],
    *,
    reward: int = 0,
    void: Tables | None = None,
) -> Tried:
    """Grade each mutation; those that end in the tables `void` change nothing and do not count."""
    n, idle, survived = 0, 0, []
    for mutation in mutations:
        state, messages = converse(domain, task, mutation.actions)
        if void is not None and domain.canonical(state) == void:
            idle += 1
            continue
        n += 1
        if domain.grade(task, state, messages).reward != reward:
            survived.append(mutation.detail)
    return Tried(n, idle, tuple(survived))


def _offers(domain: FolderDomain, task: GoalTask, actions: tuple[Action, ...]) -> Tried:
    offers = [action for action in actions if action.offer]
    if not offers:
        return Tried()
    state, messages = converse(domain, task, actions, accept_offers=True)
    taken = domain.grade(task, state, messages).reward
    return Tried(len(offers), 0, ("the wrong alternative is accepted",) if taken else ())
