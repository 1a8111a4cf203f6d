"""The grade of an episode: reward, label, findings.

Failure triage: what lies between the final database and the nearest goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from usi.simulate.domains.goals import Goals
from usi.simulate.domains.kit import Record, Tables
from usi.simulate.domains.speech import refuses, said
from usi.simulate.domains.state import form_hash
from usi.simulate.domains.tasks import GoalTask
from usi.simulate.domains.trajectory import Trajectory, texts
from usi.simulate.protocol import Grade, Label, Mismatch, Violation


def triage(
    start: Tables, final: Tables, goals: Iterable[Tables], stages: Sequence[Tables] = ()
) -> tuple[Mismatch, ...]:
    """Findings against the goal that needs the fewest.

    Parameters
    ----------
    start, final, goals
        Tables in canonical form.
    stages
        The same after each write on the way to a goal: a new record that is as it was at a stage
        lacks a later write, and has no wrong argument.

    Returns
    -------
    tuple of Mismatch
        ``missing_write``: the goal changes it, the episode did not. ``extra_write``: the episode
        changed it, the goal does not. ``wrong_argument``: both changed it, differently. New
        records are paired by likeness, since their ids follow the order of creation.
    """
    return min((_against(start, final, goal, stages) for goal in goals), key=len)


def _against(
    start: Tables, final: Tables, goal: Tables, stages: Sequence[Tables]
) -> tuple[Mismatch, ...]:
    found: list[Mismatch] = []
    for table in sorted(start):
        base, ended, wanted = start[table], final.get(table, {}), goal.get(table, {})
        for key in sorted(base):
            found += _changed(f"{table} {key}", base[key], ended.get(key), wanted.get(key))
        found += _created(table, base, ended, wanted, [stage.get(table, {}) for stage in stages])
    return tuple(found)


def _changed(
    where: str, base: Record, ended: Record | None, wanted: Record | None
) -> list[Mismatch]:
    if ended == wanted:
        return []
    if ended is None:
        return [Mismatch("extra_write", f"{where} is gone")]
    if wanted is None:
        return [Mismatch("missing_write", f"{where} is still there")]
    kinds: dict[str, list[str]] = {}
    for field in sorted(base.keys() | ended.keys() | wanted.keys()):
        was, now, goal = base.get(field), ended.get(field), wanted.get(field)
        if now == goal:
            continue
        kind = "missing_write" if now == was else "extra_write" if goal == was else "wrong_argument"
        kinds.setdefault(kind, []).append(f"{field} is {now!r}, not {goal!r}")
    return [Mismatch(kind, f"{where}: {'; '.join(why)}") for kind, why in kinds.items()]  # type: ignore[arg-type]


def _created(
    table: str,
    base: Mapping[str, Any],
    ended: Mapping[str, Any],
    wanted: Mapping[str, Any],
    stages: Sequence[Mapping[str, Any]],
) -> list[Mismatch]:
    made = {key: record for key, record in ended.items() if key not in base}
    due = {key: record for key, record in wanted.items() if key not in base}
    found: list[Mismatch] = []
    pairs = sorted(
        (_unlike(record, goal), key, other)
        for key, record in made.items()
        for other, goal in due.items()
    )
    for _, key, other in pairs:
        if key not in made or other not in due:
            continue
        record, goal = made.pop(key), due.pop(other)
        wrong = [
            f"{field} is {record.get(field)!r}, not {goal.get(field)!r}"
            for field in sorted(record.keys() | goal.keys())
            if record.get(field) != goal.get(field)
        ]
        if wrong and any(stage.get(other) == record for stage in stages):
            found.append(Mismatch("missing_write", f"{table} {key}: {'; '.join(wrong)}"))
        elif wrong:
            found.append(Mismatch("wrong_argument", f"{table} {key}: {'; '.join(wrong)}"))
        elif key != other:
            found.append(Mismatch("wrong_argument", f"{table} {key} should be {other}"))
    found += [Mismatch("extra_write", f"{table} {key} was created") for key in sorted(made)]
    found += [Mismatch("missing_write", f"{table} {key} was not created") for key in sorted(due)]
    return found


def _unlike(record: Record, goal: Record) -> int:
    return sum(record.get(field) != goal.get(field) for field in record.keys() | goal.keys())


def grade_episode(
    task: GoalTask,
    goals: Goals,
    start: Tables,
    final: Tables,
    trajectory: Trajectory,
    broken: tuple[Violation, ...],
) -> Grade:
    """Grade one episode: reward = (the final database is a goal) x (outputs were told).

    Parameters
    ----------
    start, final
        Tables before and after, in canonical form.
    broken
        What trajectory checks found; it never changes the reward.

    Notes
    -----
    Labels. ``full``: reward 1. ``correct_refusal``: reward 1 where the task is to be refused.
    ``wrong_refusal``: nothing was changed, something was due, and the agent says it won't.
    ``partial``: something due was done or told, and nothing wrong. ``failure``: all the rest.
    """
    spoken = texts(trajectory.messages, "assistant")
    outputs = tuple(_outputs(task, spoken))
    reached = form_hash(final) in goals.states
    reward = int(reached and not outputs)
    if reward:
        return Grade(1, "correct_refusal" if task.refusal else "full", broken)
    wanted = goals.states.values()
    states = () if reached else triage(start, final, wanted, goals.stages)
    findings = (*states, *outputs)
    told = len(task.outputs) > sum(finding.kind == "missing_output" for finding in outputs)
    progress = (final != start and start not in wanted) or (told and reached)
    return Grade(0, _label(task, findings, final == start, progress, spoken), broken, findings)


def _outputs(task: GoalTask, spoken: Sequence[str]) -> Iterator[Mismatch]:
    for wanted in task.outputs:
        if not any(said(form, text) for form in wanted for text in spoken):
            yield Mismatch("missing_output", f"the user was not told {' or '.join(wanted)}")
    for secret in task.never_said:
        if any(said(secret, text) for text in spoken):
            yield Mismatch("forbidden_output", f"the user was told {secret}")


def _label(
    task: GoalTask,
    findings: Sequence[Mismatch],
    untouched: bool,
    progress: bool,
    spoken: Sequence[str],
) -> Label:
    only_missing = all(f.kind in ("missing_write", "missing_output") for f in findings)
    if task.refusal:
        return "failure"
    if untouched and only_missing and any(map(refuses, spoken)):
        return "wrong_refusal"
    return "partial" if progress and only_missing else "failure"
