"""What files hold, without scoring anything: the work of ``usi validate``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from usi.errors import InputError, InputErrors

if TYPE_CHECKING:
    from usi.load import LoadOptions

MAX_REASON = 200
MAX_SHOWN = 1000
"""Problems listed for one input; the rest is counted."""


@dataclass
class Found:
    """What one argument of the command line holds."""

    input: str
    format: str | None = None
    simulator: str | None = None
    files: int = 0
    sessions: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    domains: dict[str, int] = field(default_factory=dict)
    tasks: int = 0
    without_task: int = 0
    trials: int = 0
    messages: int = 0
    user_turns: int = 0
    user_actions: int = 0
    rewards: dict[str, int] = field(default_factory=dict)
    surveys: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    problem_count: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def inspect(path: str, options: LoadOptions) -> Found:
    """Read one input to its end and count; problems are collected, never raised."""
    from usi.load import open_sessions

    found = Found(input=path)
    stream = None
    try:
        stream = open_sessions([path], options=options)
        found.simulator = stream.label
        _count(found, stream)
    except InputErrors as error:
        _keep(found, error.problems)
    except InputError as error:
        _keep(found, [error])
    if stream is not None:
        notes = stream.notes
        found.format, found.files = notes.layout, len(notes.files)
        found.left_out = dict(sorted(notes.left_out.items()))
        found.remarks += notes.remarks
        found.problem_count += notes.more_problems
    return found


def _count(found: Found, sessions: Any) -> None:
    statuses: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    domains: Counter[str] = Counter()
    rewards: Counter[str] = Counter()
    tasks: set[tuple[str, str]] = set()
    trials: dict[str, set[str | None]] = {}
    for session in sessions:
        found.sessions += 1
        statuses[session.status] += 1
        if session.status_reason:
            reasons[session.status_reason[:MAX_REASON]] += 1
        domains[session.domain] += 1
        reward = session.outcome.reward
        rewards["none" if reward is None else f"{reward:g}"] += 1
        if session.task_id is None:
            found.without_task += 1
        else:
            tasks.add((session.domain, session.task_id))
        if session.trial is not None:
            trials.setdefault(session.trial, set()).add(session.task_id)
        found.surveys += session.survey is not None
        found.messages += len(session.turns)
        for turn in session.turns:
            if turn.is_action:
                found.user_actions += 1
            elif turn.role == "user":
                found.user_turns += 1
    found.tasks, found.trials = len(tasks), len(trials)
    if len(trials) > 1 and all(len(inside) == 1 for inside in trials.values()):
        found.remarks.append("every trial occurs with one task only, so this is read as one run")
    found.statuses = dict(sorted(statuses.items()))
    found.reasons = dict(sorted(reasons.items()))
    found.domains = dict(sorted(domains.items()))
    found.rewards = dict(sorted(rewards.items()))


def _keep(found: Found, problems: Sequence[InputError]) -> None:
    found.problem_count += len(problems)
    for problem in problems[:MAX_SHOWN]:
        found.problems.append(
            {
                "file": problem.file,
                "row": problem.row,
                "field": problem.field,
                "message": problem.message,
            }
        )
