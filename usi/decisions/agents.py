"""Does the simulator change which agent wins? Agents ranked under people and under simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from usi.decisions.outcomes import FloatArray, Outcomes, percentile_bounds, task_weights
from usi.errors import NotScorable
from usi.estimate import Estimate, unscorable
from usi.reasons import ALL_TIE

REPLICATES = 2000
MIN_AGENTS = 3


@dataclass(frozen=True)
class Flip:
    """Two agents: how often resampled tasks order them differently under the two users."""

    first: str
    second: str
    reference_difference: float
    other_difference: float
    probability: float


@dataclass(frozen=True)
class AgentRanking:
    """Agents under a reference (people, or one simulator) and under another user.

    Attributes
    ----------
    reference, other
        Success shares by agent.
    gaps
        other minus reference by agent, percentile bounds at 90 %.
    tau
        Kendall tau-b of the two rankings (-1 to 1), percentile bounds.
    flips
        Each pair of agents, most likely to flip first.
    """

    tasks: int
    reference: dict[str, float]
    other: dict[str, float]
    gaps: dict[str, Estimate]
    tau: Estimate
    flips: tuple[Flip, ...]


def _taus(first: FloatArray, second: FloatArray) -> FloatArray:
    """Kendall's tau-b of each pair of rows; rows where one side is constant are left out."""
    from scipy.stats import kendalltau

    moving = (np.ptp(first, axis=1) > 0) & (np.ptp(second, axis=1) > 0)
    pairs = zip(first[moving], second[moving], strict=True)
    return np.array([float(kendalltau(a, b).statistic) for a, b in pairs])


def _matrix(sides: Mapping[str, Outcomes], agents: list[str], tasks: list[str]) -> FloatArray:
    return np.array([[sides[agent].means()[task] for agent in agents] for task in tasks])


def rank_agents(
    reference: Mapping[str, Outcomes],
    other: Mapping[str, Outcomes],
    *,
    replicates: int = REPLICATES,
    seed: int = 7,
) -> AgentRanking:
    """Compare the ranking of agents under two kinds of user, on the tasks that all share.

    Raises
    ------
    NotScorable
        Fewer than three agents on both sides, or fewer than two shared tasks.
    """
    agents = sorted(set(reference) & set(other))
    if len(agents) < MIN_AGENTS:
        raise NotScorable(
            f"{len(agents)} agents are on both sides ({', '.join(agents) or 'none'}); "
            f"ranking needs at least {MIN_AGENTS}: give each agent's files under the same name"
        )
    shared = set.intersection(
        *(set(side[agent].trials) for side in (reference, other) for agent in agents)
    )
    tasks = sorted(shared)
    if len(tasks) < 2:
        raise NotScorable(f"{len(tasks)} tasks were run by every agent on both sides; need 2")
    first, second = _matrix(reference, agents, tasks), _matrix(other, agents, tasks)
    weights = task_weights(len(tasks), replicates, seed) / len(tasks)
    drawn_first, drawn_second = weights @ first, weights @ second
    point_first, point_second = first.mean(axis=0), second.mean(axis=0)
    gaps = {}
    for at, agent in enumerate(agents):
        low, high = percentile_bounds((drawn_second - drawn_first)[:, at])
        gaps[agent] = Estimate(
            value=float(point_second[at] - point_first[at]),
            low=low,
            high=high,
            n=len(tasks),
            unit="share",
        )
    taus = _taus(drawn_first, drawn_second)
    point = _taus(point_first[None], point_second[None])
    if len(point) and len(taus):
        low, high = percentile_bounds(taus)
        tau = Estimate(value=float(point[0]), low=low, high=high, n=len(agents), unit="tau-b")
    else:
        tau = unscorable(ALL_TIE, n=len(agents), unit="tau-b")
    flips = []
    for a, b in combinations(range(len(agents)), 2):
        signs = np.sign(drawn_first[:, a] - drawn_first[:, b]) * np.sign(
            drawn_second[:, a] - drawn_second[:, b]
        )
        flips.append(
            Flip(
                agents[a],
                agents[b],
                float(point_first[a] - point_first[b]),
                float(point_second[a] - point_second[b]),
                float((signs < 0).mean()),
            )
        )
    flips.sort(key=lambda flip: (-flip.probability, flip.first, flip.second))
    return AgentRanking(
        len(tasks),
        dict(zip(agents, point_first.tolist(), strict=True)),
        dict(zip(agents, point_second.tolist(), strict=True)),
        gaps,
        tau,
        tuple(flips),
    )
