"""One paired study: people, several simulators on the same tasks, their bounds and verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from phantom_truth.counts import phantom_table
from phantom_truth.tasks import sample_tasks

from study.cells import Cell, people, simulator
from study.light import light_card, verdicts
from study.truth import Truth
from usi.extraction.profile import get_specs
from usi.options import RobustOptions
from usi.phantom import TaskSet, draw
from usi.scoring.robust.bounds import lower_upper, mean_score
from usi.scoring.robust.card_parts import outcome_numbers
from usi.scoring.robust.difficulty import Pool, pool_cutoffs
from usi.scoring.robust.reference import Reference, reference
from usi.scoring.robust.study import Study, study
from usi.scoring.robust.terms import PARTS

NAMES = ("index", *PARTS)
COLUMNS = ("truth", "raw", "corrected", "ceiling", "low", "high", "se")
REPLICATES = 1000
_SPREAD = 1_000_003


@dataclass(frozen=True)
class Row:
    """A simulator in one study.

    Attributes
    ----------
    values
        Shape (6, 7): `NAMES` by `COLUMNS`, points; NaN where a component is not assessed.
    gap
        Signed success gap: truth, low, high.
    verdict
        Verdict at tiers A, B, C.
    """

    simulator: str
    values: NDArray[np.float64]
    gap: tuple[float, float, float]
    verdict: tuple[str, str, str]


def task_seed(cell: Cell, number: int) -> int:
    """Seed of a study's tasks: other tasks in every study of every design."""
    return _SPREAD * (1 + number) + 31 * cell.tasks + 7 * cell.batches + cell.runs


def human_side(cell: Cell, number: int) -> tuple[TaskSet, Reference]:
    """Tasks and people of a study."""
    tasks = sample_tasks(cell.tasks, seed=task_seed(cell, number))
    plan = draw(people(), tasks, replicates=cell.batches, seed=(task_seed(cell, number), 1))
    frame = phantom_table(plan, "robust", side="human").frame
    return tasks, reference(frame, get_specs("robust"))


def scored(
    cell: Cell, number: int, name: str, tasks: TaskSet, ref: Reference, *, stream: int = 2
) -> Study:
    """A simulator of that study; all simulators share their random numbers."""
    plan = draw(
        simulator(name), tasks, replicates=cell.runs, seed=(task_seed(cell, number), stream)
    )
    frame = phantom_table(plan, "robust", side="simulated", simulator=name).frame
    pool = Pool("map", tasks.difficulty_map)
    return study(ref, frame, RobustOptions(replicates=REPLICATES), pool=pool)


def cuts_of(tasks: TaskSet) -> tuple[float, ...]:
    """Cut-offs of the difficulty bins of a study."""
    return pool_cutoffs(list(tasks.difficulty_map.values()), len(tasks))


def row_of(name: str, result: Study, truth: Truth, cuts: tuple[float, ...]) -> Row:
    """What is kept of a simulator's study."""
    values = np.full((len(NAMES), len(COLUMNS)), np.nan)
    true = truth.scores(result, cuts)
    scores, ceiling = dict(result.scores), dict(result.ceiling)
    if all(part in scores for part in PARTS):
        scores["index"] = mean_score(result.scores, PARTS, result.rule)
        ceiling["index"] = float(np.mean([ceiling[part] for part in PARTS]))
    for k, part in enumerate(NAMES):
        bounds = lower_upper(scores[part], result.rule) if part in scores else None
        if bounds is not None:
            s = scores[part]
            values[k] = (true[part], s.raw, s.corrected, ceiling[part], *bounds, s.se)
    gap = outcome_numbers(result).gap
    low, high = (np.nan if v is None else v for v in (gap.low, gap.high))
    verdict = verdicts(light_card(name, result))
    return Row(name, values, (truth.signed_gap, low, high), verdict)


def one_study(cell: Cell, number: int, truths: dict[str, Truth]) -> list[Row]:
    """All simulators of one paired study."""
    tasks, ref = human_side(cell, number)
    return [
        row_of(name, scored(cell, number, name, tasks, ref), truths[name], cuts_of(tasks))
        for name in cell.simulators
    ]
