"""A plan: tasks for a power by number of runs, and what a given design can show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from usi.errors import UsageError
from usi.gate.bounds import ALPHA
from usi.gate.criteria import Criteria
from usi.gate.pick import Picked
from usi.gate.power import (
    CLOSED_FORMS,
    SUCCESS_VARIANCE,
    Noise,
    PartPower,
    joint_power,
    part_powers,
    runs_for_all,
    tasks_for_all,
    tasks_for_score,
)

RUNS: tuple[int, ...] = (1, 2, 3, 5, 10, 20)
BATCHES: tuple[int, ...] = (1, 3)
SESSIONS_FOR_TIER_A = 300


@dataclass(frozen=True)
class TradeLine:
    """Tasks that are needed with this many runs; ``None`` = no number of tasks does.

    Attributes
    ----------
    runs
        Runs of the simulator.
    index_near, index_far
        For the index alone, near the ceiling and far from it.
    all_parts
        For all parts of the criteria together.
    by_batches
        The same for other numbers of human batches.
    """

    runs: int
    index_near: int | None
    index_far: int | None
    all_parts: int | None
    by_batches: dict[int, int | None]


@dataclass(frozen=True)
class Plan:
    """A plan for one criteria.

    Attributes
    ----------
    criteria, truth, wanted, batches
        What was asked.
    trade
        Tasks by number of runs.
    tasks, runs, power, joint
        A given design and its power, where one was given.
    picked
        Tasks to check with people first.
    """

    criteria: str
    truth: float
    wanted: float
    batches: int
    trade: tuple[TradeLine, ...]
    source: str
    notes: tuple[str, ...]
    tasks: int | None = None
    runs: int | None = None
    power: tuple[PartPower, ...] | None = None
    joint: float | None = None
    picked: tuple[Picked, ...] = ()


def _has_c2st(criteria: Criteria) -> bool:
    return criteria.c2st_max is not None and criteria.c2st_max < 1


def make_plan(
    criteria: Criteria, *, truth: float = 100.0, power: float = 0.8, batches: int = 3,
    tasks: int | None = None, runs: int | None = None, noises: Mapping[str, Noise] | None = None,
    variance: float = SUCCESS_VARIANCE, source: str = "closed forms of the published study",
    picked: Sequence[Picked] = (),
) -> Plan:  # fmt: skip
    """Plan a study for criteria.

    Parameters
    ----------
    truth
        True score of the simulator in every part, in points.
    power
        Wanted chance of PASS.
    batches
        Human batches at hand.
    tasks, runs
        A design to judge; tasks alone: how many runs they need is said.
    noises, variance, source
        Noise of the parts and within-task success variance, and where they come from.

    Raises
    ------
    UsageError
        For values out of range, or a design given by half.
    """
    if not 0 < truth <= 100:
        raise UsageError("--truth is a score in points, above 0 and at most 100")
    if not 0.5 <= power < 1:
        raise UsageError("--power lies between 0.5 and 1, such as 0.8")
    if runs is not None and tasks is None:
        raise UsageError("--runs judges a design: give --tasks as well")
    noises = CLOSED_FORMS if noises is None else noises
    minimum = criteria.minimum.index
    lines = []
    for r in RUNS:
        near = far = None
        if minimum is not None and "index" in noises:
            near, far = (
                tasks_for_score(
                    noises["index"], truth=truth, minimum=minimum, batches=batches, runs=r,
                    power=power, near_ceiling=ceiling, alpha=ALPHA / criteria.family_size,
                )
                for ceiling in (True, False)
            )  # fmt: skip
        every = {}
        for m in sorted({*BATCHES, batches}):
            need = tasks_for_all(
                criteria, noises, truth=truth, batches=m, runs=r, power=power, variance=variance
            )
            if need is not None and _has_c2st(criteria):
                need = max(need, math.ceil(SESSIONS_FOR_TIER_A / min(m, r)))
            every[m] = need
        lines.append(TradeLine(r, near, far, every[batches], every))
    parts = joint = None
    extra = []
    if tasks is not None and runs is None:
        runs = runs_for_all(
            criteria, noises, truth=truth, tasks=tasks, batches=batches, power=power,
            variance=variance,
        )  # fmt: skip
        extra = [
            f"{tasks} tasks x {batches} batches: {runs} runs do."
            if runs
            else f"{tasks} tasks x {batches} batches: no number of runs does; add batches or tasks."
        ]
    if tasks is not None and runs is not None:
        parts = part_powers(
            criteria, noises, truth=truth, tasks=tasks, batches=batches, runs=runs,
            variance=variance,
        )  # fmt: skip
        joint = joint_power(parts)
    return Plan(
        criteria=criteria.label,
        truth=truth,
        wanted=power,
        batches=batches,
        trade=tuple(lines),
        source=source,
        notes=(*extra, *_notes(criteria, source, noises, truth, tasks, runs)),
        tasks=tasks,
        runs=runs,
        power=parts,
        joint=joint,
        picked=tuple(picked),
    )


def regression_margins(sessions: int) -> tuple[float, float]:
    """(smallest margin, margin for 80 % power) of the regression gate at tasks x runs sessions.

    1.45 S with S about 115 / sqrt(tasks x runs), and about 165 / sqrt(tasks x runs).
    """
    return 1.45 * 115 / math.sqrt(sessions), 165 / math.sqrt(sessions)


def _notes(
    criteria: Criteria, source: str, noises: Mapping[str, Noise], truth: float,
    tasks: int | None, runs: int | None,
) -> tuple[str, ...]:  # fmt: skip
    notes = [f"Noise from {source}; an approximation: trust the order of magnitude."]
    left = [name for name, _ in criteria.minimum.items() if name not in noises]
    if left:
        notes.append(f"No noise is known for {', '.join(left)}: not planned for.")
    if _has_c2st(criteria):
        notes.append(
            f"The two-sample key asks for {SESSIONS_FOR_TIER_A} sessions a side (tasks x runs, and "
            "tasks x batches), and in effect for a true score of about 95."
        )
    if truth >= 100:
        notes.append(
            "A perfect simulator, which is the least that a study must be able to pass; for a "
            "simulator of true score 95, add --truth 95."
        )
    if tasks is not None and runs is not None:
        least, good = regression_margins(tasks * runs)
        notes.append(
            f"Regression gate at {tasks} x {runs} sessions: smallest margin about {least:.1f} "
            f"points; 80 % power when nothing changed at about {max(least, good):.1f}, too."
        )
    return tuple(notes)
