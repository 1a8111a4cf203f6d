"""One unpaired study: other tasks on the two sides, success compared within declared strata."""

from __future__ import annotations

import numpy as np
import polars as pl
from phantom_truth.counts import phantom_table
from phantom_truth.tasks import sample_tasks

from study.cells import Cell, people, simulator
from study.paired import REPLICATES, Row, row_of, task_seed
from study.truth import Truth
from usi.extraction.profile import get_specs
from usi.options import RobustOptions
from usi.phantom import PhantomSpec, TaskSet, draw
from usi.scoring.robust.difficulty import CUTOFFS, interval_labels
from usi.scoring.robust.reference import reference
from usi.scoring.robust.study import study

STRATA = CUTOFFS[1:3]
"""Hard, middle and easy tasks: a difficulty known beforehand."""


def side(
    spec: PhantomSpec, tasks: TaskSet, sessions: int, seed: tuple[int, int], name: str
) -> pl.DataFrame:
    """Sessions of one side, with the stratum of their task."""
    plan = draw(spec, tasks, replicates=sessions, seed=seed)
    human = name == "people"
    table = phantom_table(
        plan,
        "robust",
        side="human" if human else "simulated",
        simulator="" if human else name,
    )
    labels = np.array(interval_labels(STRATA))
    place = np.searchsorted(np.asarray(STRATA), tasks.difficulty, side="right")
    return table.frame.with_columns(stratum=pl.Series(labels[place][plan.task]))


def one_study(cell: Cell, number: int, truths: dict[str, Truth]) -> list[Row]:
    """All simulators of one unpaired study."""
    seed = task_seed(cell, number) + 500_009
    theirs, ours = (sample_tasks(cell.tasks, seed=2 * seed + k) for k in (0, 1))
    ref = reference(side(people(), theirs, cell.batches, (seed, 1), "people"), get_specs("robust"))
    options = RobustOptions(replicates=REPLICATES, design="unpaired", strata="stratum")
    rows = []
    for name in cell.simulators:
        frame = side(simulator(name), ours, cell.runs, (seed, 2), name)
        rows.append(row_of(name, study(ref, frame, options), truths[name], STRATA))
    return rows
