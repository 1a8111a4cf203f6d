"""Success by task: which tasks always or never succeed, and whether their failures agree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["always", "never", "mixed", "too few trials"]
FEW_TRIALS = 3
"""Fewer graded trials of a task than this say nothing about always or never."""


@dataclass(frozen=True)
class Seen:
    """What is kept of a session for its results."""

    task: str
    graded: bool
    success: int
    level: str | None
    label: str | None
    termination: str | None
    agent: str | None
    broken: frozenset[str] | None
    findings: tuple[tuple[str, str], ...] | None
    meta: Mapping[str, Any]


@dataclass(frozen=True)
class TaskResult:
    """One task over all its graded trials.

    Attributes
    ----------
    verdict
        ``always`` or ``never`` succeeding in at least `FEW_TRIALS` trials: a candidate for a task
        that is too plain, impossible or ambiguous.
    same_failure
        Share of the failed trials that failed in the same way (same findings), where findings are
        recorded; near 1 for a task that never succeeds, look at its goal before its users.
    """

    task: str
    difficulty: str | None
    trials: int
    successes: int
    verdict: Verdict
    same_failure: float | None


def task_results(kept: Sequence[Seen]) -> tuple[TaskResult, ...]:
    """Success of every task, by name."""
    by_task: dict[str, list[Seen]] = {}
    for one in kept:
        by_task.setdefault(one.task, []).append(one)
    return tuple(_task(task, by_task[task]) for task in sorted(by_task, key=_natural))


def _natural(task: str) -> list[tuple[int, str]]:
    """Order in which ``airline_9`` comes before ``airline_10``."""
    parts = re.findall(r"[0-9]+|[^0-9]+", task)
    return [(int(part), "") if part[0] in "0123456789" else (-1, part) for part in parts]


def _task(task: str, trials: Sequence[Seen]) -> TaskResult:
    successes, n = sum(one.success for one in trials), len(trials)
    verdict: Verdict = "mixed"
    if n < FEW_TRIALS:
        verdict = "too few trials"
    elif successes in (0, n):
        verdict = "always" if successes else "never"
    ways = Counter(one.findings for one in trials if not one.success and one.findings)
    same = max(ways.values()) / sum(ways.values()) if ways else None
    level = next((one.level for one in trials if one.level), None)
    return TaskResult(task, level, n, successes, verdict, same)
