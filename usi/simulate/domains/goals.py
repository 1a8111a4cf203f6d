"""Goal states: every order of every legal path, run on a fresh database."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from usi.errors import InputError
from usi.simulate.domains.kit import Tables
from usi.simulate.domains.state import Comparison, EpisodeState, canonical, form_hash, is_error
from usi.simulate.domains.tasks import GoalTask, Step

MOST_ORDERS = 720
"""Orders of one path that are tried (six free writes); more is an error of the domain."""

_REFERENCE = re.compile(r"\$(\w+)\.(\w+)")


@dataclass(frozen=True)
class Call:
    """A step with its arguments filled in, and what came of it."""

    step: Step
    arguments: Mapping[str, Any]
    result: Any


def references(value: Any) -> set[str]:
    """Steps whose results the arguments take."""
    if isinstance(value, str):
        return {match[1] for match in _REFERENCE.finditer(value)}
    if isinstance(value, Mapping):
        return set().union(*map(references, value.values()))
    if isinstance(value, list):
        return set().union(*map(references, value))
    return set()


def filled(value: Any, results: Mapping[str, Any]) -> Any:
    """Arguments with ``$step.field`` replaced by what that step gave."""
    if isinstance(value, str):
        whole = _REFERENCE.fullmatch(value)
        if whole:
            return results[whole[1]][whole[2]]
        return _REFERENCE.sub(lambda m: str(results[m[1]][m[2]]), value)
    if isinstance(value, Mapping):
        return {key: filled(part, results) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part, results) for part in value]
    return value


def run_steps(state: EpisodeState, steps: Sequence[Step]) -> list[Call] | None:
    """Run steps in this order; ``None`` as soon as one fails (the order is not legal)."""
    results: dict[str, Any] = {}
    calls = []
    for step in steps:
        try:
            arguments = filled(step.args, results)
        except (KeyError, TypeError):
            return None
        result = state.call(step.call, arguments)
        if is_error(result):
            return None
        results[step.name] = result
        calls.append(Call(step, arguments, result))
    return calls


def orders(steps: Sequence[Step], writes: frozenset[str]) -> Iterator[list[Step]]:
    """Every order of the steps that `after` and references allow; the written one comes first.

    Reads are not permuted among themselves: they come as early as written before their writes.
    """
    names = {step.name for step in steps}

    def before(step: Step) -> set[str]:
        return (set(step.after) | references(step.args)) & names

    def extend(done: list[Step], left: list[Step]) -> Iterator[list[Step]]:
        if not left:
            yield done
            return
        passed = {step.name for step in done}
        ready = [step for step in left if before(step) <= passed]
        reads = [step for step in ready if step.call not in writes]
        for step in reads[:1] or ready:
            yield from extend([*done, step], [other for other in left if other is not step])

    yield from extend([], list(steps))


@dataclass(frozen=True)
class Goals:
    """What counts as reached.

    Attributes
    ----------
    states
        Hash -> tables in canonical form, the oracle's own first.
    oracle
        Calls of the oracle's path in its written order.
    stages
        Canonical tables after each of the oracle's writes but the last: how half-done looks.
    """

    states: Mapping[str, Tables]
    oracle: tuple[Call, ...]
    stages: tuple[Tables, ...] = ()


def goals_of(
    task: GoalTask,
    new_state: Callable[[], EpisodeState],
    writes: frozenset[str],
    comparison: Comparison,
) -> Goals:
    """Goal states of a task.

    Raises
    ------
    InputError
        A written path fails on the database, or has more than `MOST_ORDERS` orders.
    """
    states: dict[str, Tables] = {}
    oracle: tuple[Call, ...] = ()
    for number, path in enumerate(task.paths):
        steps = [step for step in path if not step.offer]
        state = new_state()
        calls = run_steps(state, steps)
        if calls is None:
            raise InputError(
                f"task {task.id}: path {number + 1} fails: {_failure(steps, new_state)}"
            )
        if number == 0:
            oracle = tuple(calls)
        states |= _named(state, comparison)
        tried = list(islice(orders(steps, writes), MOST_ORDERS + 1))
        if len(tried) > MOST_ORDERS:
            raise InputError(f"task {task.id}: over {MOST_ORDERS} orders; say more with `after`")
        for order in tried:
            state = new_state()
            if run_steps(state, order) is not None:
                states |= _named(state, comparison)
    return Goals(states, oracle, _stages(oracle, new_state(), writes, comparison))


def _named(state: EpisodeState, comparison: Comparison) -> dict[str, Tables]:
    form = canonical(state.database.tables, comparison)
    return {form_hash(form): form}


def _stages(
    calls: Sequence[Call], state: EpisodeState, writes: frozenset[str], comparison: Comparison
) -> tuple[Tables, ...]:
    found = []
    for call in calls:
        if call.step.call in writes:
            state.call(call.step.call, call.arguments)
            found.append(canonical(state.database.tables, comparison))
    return tuple(found[:-1])


def _failure(steps: Sequence[Step], new_state: Callable[[], EpisodeState]) -> str:
    """Which step fails, and why."""
    state = new_state()
    results: dict[str, Any] = {}
    for step in steps:
        try:
            arguments = filled(step.args, results)
        except (KeyError, TypeError):
            return f"step {step.name} refers to a result that is not there"
        results[step.name] = state.call(step.call, arguments)
        if is_error(results[step.name]):
            return f"step {step.name}: {results[step.name]['error']}"
    return "no reason found"
