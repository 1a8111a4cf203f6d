"""pass^k, unbiased, and how much of its fall is the simulated user's noise.

pass^k is the chance that k trials of a task all succeed (Yao et al. 2024, arXiv 2406.12045); the
unbiased estimator is the analogue of pass@k of Chen et al. 2021 (arXiv 2107.03374). It belongs to
agent AND user: a design of user seeds crossed with agent seeds tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from usi.decisions.outcomes import FloatArray, Outcomes, percentile_bounds, task_weights
from usi.estimate import Estimate, not_assessed
from usi.reasons import (
    FEW_AGENT_SEEDS,
    FEW_OF_BOTH_SEEDS,
    FEW_SEEDS,
    FEW_TRIALS,
    FEW_USER_SEEDS,
    NO_TASK_TRIALS,
    SUCCESS_FIXED,
)

REPLICATES = 2000
MANY_TASKS = 4096
"""Tasks above which bounds are drawn by the values that tasks have."""


def pass_hat_k(successes: int, trials: int, k: int) -> float:
    """Unbiased estimate of p^k for one task: ``C(c, k) / C(n, k)``.

    >>> pass_hat_k(3, 4, 2)
    0.5

    Raises
    ------
    ValueError
        Where fewer than k trials were run: the estimator does not exist.
    """
    if not 0 < k <= trials or not 0 <= successes <= trials:
        raise ValueError(f"pass^{k} needs at least {k} trials and 0 <= successes <= trials")
    return comb(successes, k) / comb(trials, k)


def _with_bounds(per_task: FloatArray, replicates: int, seed: int) -> Estimate:
    n = len(per_task)
    if n < 2:
        return Estimate(value=float(per_task.mean()), n=n, unit="share")
    low, high = percentile_bounds(_replicated_means(per_task, replicates, seed))
    return Estimate(value=float(per_task.mean()), low=low, high=high, n=n, unit="share")


def _replicated_means(per_task: FloatArray, replicates: int, seed: int) -> FloatArray:
    """Means over tasks drawn with replacement, shape (replicates,).

    Of many tasks only how many have each value is drawn, which is the same distribution: pass^k
    takes few values, and weights of every task would fill the memory.
    """
    n = len(per_task)
    if n <= MANY_TASKS:
        return np.asarray(task_weights(n, replicates, seed) @ per_task / n)
    values, tasks = np.unique(per_task, return_counts=True)
    drawn = np.random.default_rng([seed, n]).multinomial(n, tasks / n, size=replicates)
    return np.asarray(drawn @ values / n)


@dataclass(frozen=True)
class PassK:
    """pass^k for several k, with the crossed analysis where seeds are recorded.

    Attributes
    ----------
    values
        k -> estimate, or not_assessed where any task has fewer than k trials.
    enough
        k -> the same over only the tasks that have k trials (n tells how many), where that
        differs.
    trials_range
        Fewest and most graded trials of a task.
    note
        What a reader must know about agent and simulator variance.
    """

    label: str
    values: dict[int, Estimate]
    enough: dict[int, Estimate]
    trials_range: tuple[int, int]
    tasks: int
    left_out: dict[str, int]
    note: str
    crossed: Crossed | None = None


@dataclass(frozen=True)
class Crossed:
    """Same-script against cross-script pass^k of a users x agents design.

    Attributes
    ----------
    same, cross, drop
        k -> estimate; drop = same - cross, the part of the fall that goes with the user's seed.
    user_share
        Share of the within-task variance of success that lies between user seeds (one-way
        analysis of variance pooled over tasks, 0 to 1).
    """

    users: int
    agents: int
    same: dict[int, Estimate]
    cross: dict[int, Estimate]
    drop: dict[int, Estimate]
    user_share: Estimate


def elementary_symmetric(values: FloatArray, k: int) -> FloatArray:
    """Elementary symmetric polynomial e_k of each row of `values`, an (n, u) array."""
    sums = np.zeros((len(values), k + 1))
    sums[:, 0] = 1.0
    for column in values.T:
        sums[:, 1:] = sums[:, 1:] + sums[:, :-1] * column[:, None]
    return np.asarray(sums[:, k], dtype=np.float64)


def _crossed_grid(outcomes: Outcomes) -> FloatArray | str:
    """(tasks, users, agents) successes, or the reason why the design is not crossed."""
    grid, shape = [], None
    for task, trials in outcomes.trials.items():
        cells: dict[tuple[str, str], int] = {}
        for trial in trials:
            if trial.user_seed is None or trial.agent_seed is None:
                return "user and agent seeds are not recorded for every session"
            if (trial.user_seed, trial.agent_seed) in cells:
                return f"task {task} holds a pair of user and agent seed twice"
            cells[trial.user_seed, trial.agent_seed] = trial.success
        users = sorted({user for user, _ in cells})
        agents = sorted({agent for _, agent in cells})
        if len(cells) != len(users) * len(agents):
            return f"task {task} lacks some pairs of user and agent seed"
        if shape not in (None, (len(users), len(agents))):
            return "tasks differ in their numbers of user and agent seeds"
        shape = (len(users), len(agents))
        grid.append([[cells[user, agent] for agent in agents] for user in users])
    return np.array(grid, dtype=np.float64)


def _user_share(grid: FloatArray) -> Estimate:
    """One-way random-effects share of user seeds in the within-task variance."""
    tasks, users, agents = grid.shape
    if users < 2 or agents < 2:
        return not_assessed(FEW_SEEDS, unit="share", n=tasks)
    means = grid.mean(axis=2)
    between = agents * means.var(axis=1, ddof=1).mean()
    within = ((grid - means[:, :, None]) ** 2).sum() / (tasks * users * (agents - 1))
    user_variance = max(0.0, (between - within) / agents)
    if user_variance + within == 0:
        return not_assessed(SUCCESS_FIXED, unit="share", n=tasks)
    return Estimate(value=user_variance / (user_variance + within), n=tasks, unit="share")


def crossed_pass_k(
    grid: FloatArray, ks: tuple[int, ...], *, replicates: int = REPLICATES, seed: int = 7
) -> Crossed:
    """Split the fall of pass^k into what goes with the user's seed and the rest.

    Parameters
    ----------
    grid
        (tasks, users, agents) successes, 0 or 1.
    ks
        Values of k; k above the number of users or agents is not_assessed.

    Returns
    -------
    Crossed
        ``same`` = mean over tasks and users of C(c_tu, k) / C(A, k); ``cross`` = mean over
        tasks of e_k(p_t1 ... p_tU) / C(U, k), both unbiased; their difference is at least 0 in
        expectation (Jensen). Bounds: percentiles of the task bootstrap.
    """
    _, users, agents = grid.shape
    counts = grid.sum(axis=2)
    same: dict[int, Estimate] = {}
    cross: dict[int, Estimate] = {}
    drop: dict[int, Estimate] = {}
    for k in ks:
        if k > agents:
            same[k] = not_assessed(FEW_AGENT_SEEDS, k=k, have=agents)
        else:
            table = np.array([pass_hat_k(c, agents, k) for c in range(agents + 1)])
            per_same = table[counts.astype(int)].mean(axis=1)
            same[k] = _with_bounds(per_same, replicates, seed)
        if k > users:
            cross[k] = not_assessed(FEW_USER_SEEDS, k=k, have=users)
        else:
            per_cross = elementary_symmetric(counts / agents, k) / comb(users, k)
            cross[k] = _with_bounds(per_cross, replicates, seed)
        if same[k].ok and cross[k].ok:
            drop[k] = _with_bounds(per_same - per_cross, replicates, seed)
        else:
            drop[k] = not_assessed(FEW_OF_BOTH_SEEDS, k=k)
    return Crossed(users, agents, same, cross, drop, _user_share(grid))


def pass_k(
    outcomes: Outcomes, ks: tuple[int, ...], *, replicates: int = REPLICATES, seed: int = 7
) -> PassK:
    """pass^k of one agent-user pair over its tasks.

    Where any task has fewer than k graded trials the value is undefined (k is never shrunk);
    the value over the tasks that do have k trials stands beside it.
    """
    counts = [(sum(t.success for t in ts), len(ts)) for ts in outcomes.trials.values()]
    values: dict[int, Estimate] = {}
    enough: dict[int, Estimate] = {}
    for k in ks:
        able = [(c, n) for c, n in counts if n >= k]
        if not able:
            values[k] = not_assessed(NO_TASK_TRIALS, k=k, unit="share", n=0)
            continue
        part = _with_bounds(np.array([pass_hat_k(c, n, k) for c, n in able]), replicates, seed)
        if len(able) == len(counts):
            values[k] = part
        else:
            values[k] = not_assessed(
                FEW_TRIALS,
                few=len(counts) - len(able),
                tasks=len(counts),
                k=k,
                unit="share",
                n=len(counts),
            )
            enough[k] = part
    grid = _crossed_grid(outcomes)
    if isinstance(grid, str):
        note = f"pass^k mixes agent and simulator variance: {grid}."
        crossed = None
    else:
        note = (
            "The drop goes with the user's seed. Call it the user's doing only where a replay "
            "with the same seed repeats the user's turns: a seed does not pin a model's replies."
        )
        crossed = crossed_pass_k(grid, ks, replicates=replicates, seed=seed)
    sizes = [n for _, n in counts]
    return PassK(
        outcomes.label,
        values,
        enough,
        (min(sizes), max(sizes)),
        len(counts),
        outcomes.left_out,
        note,
        crossed,
    )
