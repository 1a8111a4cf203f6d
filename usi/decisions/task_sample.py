"""A stratified subset of tasks: so many from each difficulty bin as its share of all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from usi.errors import UsageError
from usi.scoring.robust.difficulty import CUTOFFS, interval_labels


@dataclass(frozen=True)
class Picked:
    """A task that was picked, its difficulty (success rate) and the bin that it stands for."""

    task: str
    difficulty: float
    bin: str


def pick_tasks(
    difficulty: Mapping[str, float], number: int, *, seed: int = 7
) -> tuple[Picked, ...]:
    """Pick tasks in proportion to the difficulty bins (largest remainders).

    Parameters
    ----------
    difficulty
        Task -> success rate in [0, 1].
    number
        How many to pick.
    seed
        Which tasks of a bin are taken; the order of `difficulty` does not matter.

    Raises
    ------
    UsageError
        Where there are fewer tasks than asked for.
    """
    if not 1 <= number <= len(difficulty):
        raise UsageError(f"--pick {number}: there are {len(difficulty)} tasks to pick from")
    labels = interval_labels(CUTOFFS)
    bins: dict[int, list[str]] = {}
    for task, rate in difficulty.items():
        bins.setdefault(sum(rate >= cut for cut in CUTOFFS), []).append(task)
    quota = {k: number * len(tasks) / len(difficulty) for k, tasks in bins.items()}
    taken = {k: int(q) for k, q in quota.items()}
    rest = number - sum(taken.values())
    for k in sorted(quota, key=lambda k: (taken[k] - quota[k], k))[:rest]:
        taken[k] += 1
    found = []
    for k in sorted(bins):
        order = sorted(bins[k], key=lambda task: _place(seed, task))
        found += [Picked(task, difficulty[task], labels[k]) for task in sorted(order[: taken[k]])]
    return tuple(found)


def _place(seed: int, task: str) -> tuple[str, str]:
    return hashlib.sha256(f"{seed}:{task}".encode()).hexdigest(), task
