"""Rules of the way, as data: what the final database can't show.

Partial orders of a task's steps, held against what the agent called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from usi.errors import InputError
from usi.simulate.domains.goals import filled, references
from usi.simulate.domains.speech import unconfirmed
from usi.simulate.domains.tasks import GoalTask, Step, Tool
from usi.simulate.domains.trajectory import Called, Trajectory
from usi.simulate.protocol import Violation

CHECK = "step_order"


def out_of_order(
    task: GoalTask, trajectory: Trajectory, tools: Mapping[str, Tool]
) -> tuple[Violation, ...]:
    """Steps that came before one that they have to follow.

    A step is found by its tool and its arguments (free text aside, references filled in from the
    calls found before). Of several legal paths the one that is broken least counts.
    """
    return min((tuple(_path(path, trajectory, tools)) for path in task.paths), key=len, default=())


def _path(
    path: Sequence[Step], trajectory: Trajectory, tools: Mapping[str, Tool]
) -> Iterator[Violation]:
    places: dict[str, int] = {}
    results: dict[str, object] = {}
    for step in path:
        place = _place(step, trajectory, tools, results, set(places.values()))
        if place is not None:
            places[step.name] = place
            results[step.name] = trajectory.calls[place].result
    for step in path:
        if step.name not in places:
            continue
        for earlier in step.after:
            if places.get(earlier, len(trajectory.calls)) > places[step.name]:
                call = trajectory.calls[places[step.name]]
                yield Violation(CHECK, f"{step.name} without {earlier} before it", call.at)


def _place(
    step: Step,
    trajectory: Trajectory,
    tools: Mapping[str, Tool],
    results: Mapping[str, object],
    taken: set[int],
) -> int | None:
    if step.offer or not references(step.args) <= results.keys():
        return None
    wanted = filled(step.args, results)
    free = tools[step.call].free if step.call in tools else frozenset()

    def fits(call: Called) -> bool:
        keys = (wanted.keys() | call.arguments.keys()) - free
        return all(wanted.get(key) == call.arguments.get(key) for key in keys)

    return next(
        (
            i
            for i, call in enumerate(trajectory.calls)
            if i not in taken and call.name == step.call and call.done and fits(call)
        ),
        None,
    )


Found = Iterable[tuple[str, int | None]]
Predicate = Callable[[Trajectory], Found]
"""A check of one's own in ``tools.py``: gives (detail, index of the message or None)."""


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    text: str = Field(min_length=1)
    """The rule in the words of policy.md."""


class Confirmation(_Rule):
    """Each write needs a yes; `tools` narrows it, `exempt` lists free ones."""

    kind: Literal["confirmation"]
    tools: tuple[str, ...] = ()
    exempt: tuple[str, ...] = ()


class Before(_Rule):
    """A call of `tools` (``["*"]``: any other) needs an earlier successful call of one of `needs`.

    `same` maps an argument of the call to one of the earlier call that must be equal; `when`
    restricts to calls whose arguments have one of these values; tools in `exempt` need nothing.
    """

    kind: Literal["before"]
    tools: tuple[str, ...]
    needs: tuple[str, ...]
    exempt: tuple[str, ...] = ()
    same: dict[str, str] = Field(default_factory=dict)
    when: dict[str, tuple[Any, ...]] = Field(default_factory=dict)


class Never(_Rule):
    """These calls are never allowed."""

    kind: Literal["never"]
    tools: tuple[str, ...]
    when: dict[str, tuple[Any, ...]] = Field(default_factory=dict)


class AtMost(_Rule):
    """No more than `times` successful calls, for each value of the argument `per`."""

    kind: Literal["at_most"]
    tools: tuple[str, ...]
    times: int = Field(ge=1)
    per: str = ""


class InOrder(_Rule):
    """For each `per`, the values of the argument `value` follow `order` (approvals)."""

    kind: Literal["in_order"]
    tools: tuple[str, ...]
    per: str
    value: str
    order: tuple[Any, ...]


class Transitions(_Rule):
    """For each record `per`, `value` goes only along `allowed` (assignees).

    `start` is the ``table.field`` that holds the value before the call.
    """

    kind: Literal["transitions"]
    tools: tuple[str, ...]
    per: str
    value: str
    start: str
    allowed: dict[str, tuple[str, ...]]


class Own(_Rule):
    """A predicate in ``tools.py``."""

    kind: Literal["predicate"]
    function: str


Rule = Annotated[
    Confirmation | Before | Never | AtMost | InOrder | Transitions | Own,
    Field(discriminator="kind"),
]


def violations(
    trajectory: Trajectory, rules: Iterable[Rule], predicates: Mapping[str, Predicate]
) -> tuple[Violation, ...]:
    """Every rule that was broken on the way, in the order of the rules."""
    return tuple(
        Violation(rule.id, detail, at)
        for rule in rules
        for detail, at in _broken(rule, trajectory, predicates)
    )


def _broken(rule: Rule, trajectory: Trajectory, predicates: Mapping[str, Predicate]) -> Found:
    match rule:
        case Confirmation():
            kept = {call.name for call in trajectory.writes} - set(rule.exempt)
            return unconfirmed(trajectory, kept & set(rule.tools) if rule.tools else kept)
        case Before():
            return _before(rule, trajectory)
        case Never():
            return [(f"{c.name} {_short(c)}", c.at) for _, c in _fitting(rule, trajectory)]
        case AtMost():
            return _at_most(rule, trajectory)
        case InOrder():
            return _in_order(rule, trajectory)
        case Transitions():
            return _transitions(rule, trajectory)
        case Own():
            return _own(rule, predicates[rule.function], trajectory)


def _own(rule: Own, predicate: Predicate, trajectory: Trajectory) -> Found:
    """What a check of somebody's own found; a defect of it is told as theirs."""
    try:
        found = list(predicate(trajectory))
    except Exception as error:
        why = f"fails: {type(error).__name__}: {error}"
        raise InputError(why, file="rules.py", field=rule.function) from error
    for one in found:
        if not (isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str)):
            why = f"gives {one!r:.60}, not (what is wrong, index of the message or None)"
            raise InputError(why, file="rules.py", field=rule.function)
    return found


def _short(call: Called) -> str:
    return ", ".join(f"{name}={value}" for name, value in call.arguments.items())


def _fitting(rule: Before | Never, trajectory: Trajectory) -> Iterator[tuple[int, Called]]:
    for place, call in enumerate(trajectory.calls):
        listed = call.name in rule.tools or "*" in rule.tools
        if listed and call.done and all(call.arguments.get(n) in v for n, v in rule.when.items()):
            yield place, call


def _before(rule: Before, trajectory: Trajectory) -> Iterator[tuple[str, int]]:
    for place, call in _fitting(rule, trajectory):
        if call.name in rule.needs or call.name in rule.exempt:
            continue
        if not any(
            other.name in rule.needs
            and other.done
            and all(call.arguments.get(a) == other.arguments.get(b) for a, b in rule.same.items())
            for other in trajectory.calls[:place]
        ):
            yield f"{call.name} without {' or '.join(rule.needs)} before it", call.at


def _calls(tools: Iterable[str], trajectory: Trajectory) -> Iterator[Called]:
    return (call for call in trajectory.calls if call.done and call.name in tools)


def _at_most(rule: AtMost, trajectory: Trajectory) -> Iterator[tuple[str, int]]:
    seen: dict[str, int] = {}
    for call in _calls(rule.tools, trajectory):
        key = str(call.arguments.get(rule.per)) if rule.per else ""
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > rule.times:
            yield f"{call.name} {seen[key]} times {key}".rstrip(), call.at


def _in_order(rule: InOrder, trajectory: Trajectory) -> Iterator[tuple[str, int]]:
    last: dict[str, int] = {}
    for call in _calls(rule.tools, trajectory):
        key, value = str(call.arguments.get(rule.per)), call.arguments.get(rule.value)
        if value not in rule.order:
            continue
        place = rule.order.index(value)
        if place < last.get(key, -1):
            yield f"{key}: {value} after {rule.order[last[key]]}", call.at
        last[key] = max(place, last.get(key, -1))


def _transitions(rule: Transitions, trajectory: Trajectory) -> Iterator[tuple[str, int]]:
    table, field = rule.start.split(".")
    for call in _calls(rule.tools, trajectory):
        key, value = str(call.arguments.get(rule.per)), call.arguments.get(rule.value)
        was = call.before.get(table, {}).get(key, {}).get(field)
        if value != was and value not in rule.allowed.get(str(was), ()):
            yield f"{key}: from {was} to {value}", call.at
