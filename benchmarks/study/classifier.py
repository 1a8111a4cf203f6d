"""One study of what means cannot see: two-sample tests and the spread of sessions."""

from __future__ import annotations

from dataclasses import dataclass

from phantom_truth.counts import phantom_table
from phantom_truth.tasks import sample_tasks

from study.cells import Cell, people, simulator
from study.paired import task_seed
from study.truth import Truth
from usi.diagnose.diagnosis import CLASSIFIERS, compared_specs, is_collapsed, sample_of
from usi.diagnose.distances import feature_distances, spread_index
from usi.diagnose.two_sample import two_sample_test
from usi.phantom import draw


@dataclass(frozen=True)
class Seen:
    """A simulator before the classifiers; NaN where there was no test."""

    simulator: str
    auc: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]
    p: dict[str, float]
    spread: float
    collapsed: bool


def one_study(cell: Cell, number: int, truths: dict[str, Truth]) -> list[Seen]:
    """All simulators of one study, fast mode, 300 sessions a side."""
    seed = task_seed(cell, number) + 900_007
    tasks = sample_tasks(cell.tasks, seed=seed)
    specs = compared_specs("robust", "paired")
    nan = float("nan")
    plan = draw(people(), tasks, replicates=cell.batches, seed=(seed, 1))
    human = sample_of(phantom_table(plan, "robust", side="human").frame, specs)
    rows = []
    for name in cell.simulators:
        plan = draw(simulator(name), tasks, replicates=cell.runs, seed=(seed, 2))
        table = phantom_table(plan, "robust", side="simulated", simulator=name)
        sample = sample_of(table.frame, specs)
        tests = tuple(
            two_sample_test(human, sample, classifier=kind, seed=7) for kind in CLASSIFIERS
        )
        distances = {
            feature: feature_distances(human.values[:, k], sample.values[:, k])
            for k, feature in enumerate(human.names)
        }
        spread = spread_index(distances)
        rows.append(
            Seen(
                simulator=name,
                auc={t.classifier: nan if t.auc.value is None else t.auc.value for t in tests},
                low={t.classifier: nan if t.auc.low is None else t.auc.low for t in tests},
                high={t.classifier: nan if t.auc.high is None else t.auc.high for t in tests},
                p={t.classifier: nan if t.p_value is None else t.p_value for t in tests},
                spread=nan if spread.value is None else spread.value,
                collapsed=is_collapsed(spread, tests),
            )
        )
    return rows
