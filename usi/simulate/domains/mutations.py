"""Changed versions of the oracle's calls: each must be graded 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from usi.simulate.domains.folder import FolderDomain
from usi.simulate.domains.goals import references
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
