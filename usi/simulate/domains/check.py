"""Whether a domain grades what it should: the oracle reaches every goal, every change misses it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from usi.errors import UsiError
from usi.simulate.domains.folder import FolderDomain
from usi.simulate.domains.kit import Tables
from usi.simulate.domains.mutations import Mutation, additions, argument_changes, omissions
from usi.simulate.domains.oracle import converse
from usi.simulate.domains.state import state_hash
from usi.simulate.domains.tasks import GoalTask
from usi.simulate.protocol import Action


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
