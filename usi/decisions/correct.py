"""Agent success that a human would have seen: the simulator's, corrected by the tasks with people.

``H_h + lambda (S_all - S_h)``: unbiased whatever the simulator's bias, since the simulator only
enters by the difference between all tasks and the tasks with people. lambda is the slope of human
on simulated success over those tasks (a control variate; prediction-powered inference, Angelopoulos
et al. 2023), clipped to [0, 1], so that an unrelated simulator gains and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from usi.decisions.outcomes import FloatArray, Outcomes, percentile_bounds, task_weights
from usi.errors import NotScorable
from usi.estimate import Estimate

REPLICATES = 2000
MIN_TASKS = 10


@dataclass(frozen=True)
class CorrectedSuccess:
    """Corrected agent success and what it is made of; shares, bounds at 90 %.

    Attributes
    ----------
    corrected, humans_alone
        The two estimates of success over all tasks, with percentile bounds.
    sd_corrected, sd_humans_alone
        Bootstrap standard deviations: whether the simulator helped.
    weight
        lambda, 0 (the simulator tells nothing about the task) to 1.
    simulator_on_human_tasks, simulator_on_all_tasks
        S_h and S_all.
    """

    label: str
    corrected: Estimate
    humans_alone: Estimate
    sd_corrected: float
    sd_humans_alone: float
    weight: float
    simulator_on_human_tasks: float
    simulator_on_all_tasks: float
    human_tasks: int
    all_tasks: int


def _estimate(
    weights: FloatArray, human: FloatArray, sim: FloatArray, has: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Corrected success, humans alone and lambda for each row of `weights`."""
    w_h = weights * has
    total = w_h.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        h = (w_h @ human) / total
        s = (w_h @ sim) / total
        covariance = (w_h @ (human * sim)) / total - h * s
        variance = (w_h @ (sim * sim)) / total - s * s
        slope = np.where(variance > 1e-12, covariance / np.maximum(variance, 1e-12), 0.0)
    weight = np.clip(slope, 0.0, 1.0)
    s_all = (weights @ sim) / weights.sum(axis=1)
    return h + weight * (s_all - s), h, weight


def corrected_success(
    simulator: Outcomes, human: Outcomes, *, replicates: int = REPLICATES, seed: int = 7
) -> CorrectedSuccess:
    """Success over all of the simulator's tasks as people would have seen it.

    Parameters
    ----------
    simulator
        Outcomes of the agent with the simulated user on all tasks.
    human
        Outcomes of the same agent with people on some of these tasks.

    Raises
    ------
    NotScorable
        Fewer than ten tasks with people, or tasks with people that the simulator never ran.
    """
    sim_means, human_means = simulator.means(), human.means()
    missing = sorted(set(human_means) - set(sim_means))
    if missing:
        raise NotScorable(
            f"{len(missing)} tasks with people were not run by {simulator.label} "
            f"({', '.join(missing[:3])} ...): run the simulator on every task that people did"
        )
    if len(human_means) < MIN_TASKS:
        raise NotScorable(
            f"{len(human_means)} tasks with people; at least {MIN_TASKS} are needed to correct"
        )
    tasks = sorted(sim_means)
    sim = np.array([sim_means[task] for task in tasks])
    has = np.array([float(task in human_means) for task in tasks])
    people = np.array([human_means.get(task, 0.0) for task in tasks])
    point, alone, weight = _estimate(np.ones((1, len(tasks))), people, sim, has)
    drawn, drawn_alone, _ = _estimate(task_weights(len(tasks), replicates, seed), people, sim, has)
    drawn, drawn_alone = drawn[np.isfinite(drawn)], drawn_alone[np.isfinite(drawn_alone)]

    def estimate(value: float, values: FloatArray, n: int) -> Estimate:
        low, high = percentile_bounds(values)
        return Estimate(value=value, low=low, high=high, n=n, unit="share")

    return CorrectedSuccess(
        label=simulator.label,
        corrected=estimate(float(point[0]), drawn, len(tasks)),
        humans_alone=estimate(float(alone[0]), drawn_alone, len(human_means)),
        sd_corrected=float(drawn.std(ddof=1)),
        sd_humans_alone=float(drawn_alone.std(ddof=1)),
        weight=float(weight[0]),
        simulator_on_human_tasks=float((sim * has).sum() / has.sum()),
        simulator_on_all_tasks=float(sim.mean()),
        human_tasks=len(human_means),
        all_tasks=len(tasks),
    )
