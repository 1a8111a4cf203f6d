"""Crossed designs: every user seed with every agent seed, for pass^k and script effects.

Success of task t with user script u and agent seed a is a coin of chance
``sigma(intercept + slope logit(difficulty) + task T_t + person U_tu)``: the person effect belongs
to the script, so the same script with another agent seed shares it.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from usi.errors import UsageError
from usi.phantom.population import hermite, resolve, sigmoid, success_offset
from usi.phantom.spec import RATE_NAMES, PhantomSpec
from usi.phantom.tasks import TaskSet


def draw_crossed(
    spec: PhantomSpec, tasks: TaskSet, *, users: int = 8, agents: int = 8, seed: int = 0
) -> pl.DataFrame:
    """Outcomes of a crossed design.

    Parameters
    ----------
    spec, tasks
        Population and tasks.
    users, agents
        Seeds of the user and of the agent, at least 1 each.

    Returns
    -------
    pl.DataFrame
        ``task, user_seed, agent_seed, reward``, one row a cell of the design.
    """
    if users < 1 or agents < 1:
        raise UsageError("a crossed design needs at least one user seed and one agent seed")
    rng = np.random.default_rng((seed, 51))
    rate, n = spec.rate("success"), len(tasks)
    logit = (
        resolve(spec).intercepts["success"]
        + spec.difficulty * success_offset(tasks.difficulty)
        + rate.task * tasks.effects[:, RATE_NAMES.index("success")]
    )
    script = logit[:, None] + rate.person * rng.standard_normal((n, users))
    reward = rng.random((n, users, agents)) < sigmoid(script)[:, :, None]
    task, user, agent = np.indices((n, users, agents)).reshape(3, -1)
    return pl.DataFrame(
        {
            "task": np.array(tasks.names)[task].tolist(),
            "user_seed": (user + 1).tolist(),
            "agent_seed": (agent + 1).tolist(),
            "reward": reward.reshape(-1).astype(np.float64).tolist(),
        }
    )


def true_pass_k(spec: PhantomSpec, tasks: TaskSet, k: int) -> tuple[float, float]:
    """(same script, cross script) pass^k of these very tasks, scripts averaged out.

    Same script: ``mean_t E_U[p_tU^k]``; cross script: ``mean_t E_U[p_tU]^k``.

    Examples
    --------
    >>> from usi.phantom import default_tasks, load_spec
    >>> same, cross = true_pass_k(load_spec("human"), default_tasks(50), 4)
    >>> same > cross
    True
    """
    if k < 1:
        raise UsageError(f"pass^k needs k of 1 or more, not {k}")
    x, w = hermite()
    rate = spec.rate("success")
    logit = (
        resolve(spec).intercepts["success"]
        + spec.difficulty * success_offset(tasks.difficulty)
        + rate.task * tasks.effects[:, RATE_NAMES.index("success")]
    )
    p = sigmoid(logit[:, None] + rate.person * x[None, :])
    return float((p**k @ w).mean()), float(((p @ w) ** k).mean())
