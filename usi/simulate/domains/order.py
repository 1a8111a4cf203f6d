"""Partial orders of a task's steps, held against what the agent called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from usi.simulate.domains.goals import filled, references
from usi.simulate.domains.schema import Tool
from usi.simulate.domains.tasks import GoalTask, Step
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
