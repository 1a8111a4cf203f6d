"""The grade of an episode: reward, label, findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from usi.simulate.domains.difference import triage
from usi.simulate.domains.goals import Goals
from usi.simulate.domains.kit import Tables
from usi.simulate.domains.speech import refuses, said
from usi.simulate.domains.state import form_hash
from usi.simulate.domains.tasks import GoalTask
from usi.simulate.domains.trajectory import Trajectory, texts
from usi.simulate.protocol import Finding, Grade, Label, Violation


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


def _outputs(task: GoalTask, spoken: Sequence[str]) -> Iterator[Finding]:
    for wanted in task.outputs:
        if not any(said(form, text) for form in wanted for text in spoken):
            yield Finding("missing_output", f"the user was not told {' or '.join(wanted)}")
    for secret in task.never_said:
        if any(said(secret, text) for text in spoken):
            yield Finding("forbidden_output", f"the user was told {secret}")


def _label(
    task: GoalTask,
    findings: Sequence[Finding],
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
