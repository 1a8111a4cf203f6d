"""Which task a participant gets next: the least filled cell, strata balanced, no task twice."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Availability = Literal["free", "held", "none"]


@dataclass(frozen=True)
class Cells:
    """All cells of a study and which are taken.

    A cell is a task in a batch. It is taken while a talk fills or holds it.

    Attributes
    ----------
    strata
        Task -> its stratum, such as ``easy``, in the order of the study.
    batches
        Batches are numbered from 1 to this.
    taken
        Task -> batches that are filled or held.
    filled
        How many of the taken cells hold a talk that ended.
    """

    strata: Mapping[str, str]
    batches: int
    taken: Mapping[str, Collection[int]]
    filled: int = 0

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.strata) * self.batches

    def free(self, task: str) -> list[int]:
        """Batches in which a task is still free, ascending."""
        taken = self.taken.get(task, ())
        return [batch for batch in range(1, self.batches + 1) if batch not in taken]


def choose_cell(
    cells: Cells, had: Collection[str], *, seed: int, person: str
) -> tuple[str, int] | None:
    """The next task and batch of a participant; ``None`` where none is free for them.

    Parameters
    ----------
    cells
        As they are now.
    had
        Tasks that the participant was ever given: none is given twice.
    seed, person
        Decide between tasks that are equally urgent.

    Notes
    -----
    Tasks are compared by the number of their taken batches, then by the share of taken cells of
    their stratum, then by how often the participant had that stratum. So at any time, as long as
    nobody leaves, two tasks differ by one batch at most, and the shares of two strata by no more
    than one cell of the smaller one.
    """
    size, taken = stratum_counts(cells)
    own = Counter(cells.strata[task] for task in had if task in cells.strata)
    best: tuple[tuple[float, float, int, str], str, int] | None = None
    for task, stratum in cells.strata.items():
        if task in had:
            continue
        free = cells.free(task)
        if not free:
            continue
        key = (
            float(cells.batches - len(free)),
            taken[stratum] / size[stratum],
            own[stratum],
            _place(seed, person, task),
        )
        if best is None or key < best[0]:
            best = (key, task, free[0])
    return None if best is None else (best[1], best[2])


def availability(cells: Cells, had: Collection[str], ended: Mapping[str, int]) -> Availability:
    """Whether a participant can get another task: now, perhaps later, or never.

    Parameters
    ----------
    cells, had
        As in `choose_cell`.
    ended
        Task -> number of its cells that are filled for good; the other taken ones may come back.
    """
    others = [task for task in cells.strata if task not in had]
    if any(cells.free(task) for task in others):
        return "free"
    return "held" if any(ended.get(task, 0) < cells.batches for task in others) else "none"


def stratum_counts(cells: Cells) -> tuple[Counter[str], Counter[str]]:
    """Cells of each stratum, and how many of them are taken."""
    size: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for task, stratum in cells.strata.items():
        size[stratum] += cells.batches
        taken[stratum] += cells.batches - len(cells.free(task))
    return size, taken


def stratum_of(difficulty: str, domain: str, by: Sequence[str]) -> str:
    """Label of a stratum.

    >>> stratum_of("easy", "desk", ("domain", "difficulty"))
    'desk easy'
    """
    names = {"difficulty": difficulty, "domain": domain}
    return " ".join(names[part] for part in by) or "all"


def _place(seed: int, person: str, task: str) -> str:
    return hashlib.sha256(f"{seed}|{person}|{task}".encode()).hexdigest()
