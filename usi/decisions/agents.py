"""Does the simulator change which agent wins? Agents ranked under people and under simulation.

Two rankings of the same agents differ by chance, too. So every statement stands next to what a
perfect simulator would show with as many data: both sides drawn from people's rates. A permutation
test says whether the differences between agents change at all; a difference between two agents
counts on a side only where its bounds leave out 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from usi.decisions.bounds import ALPHA, quantile
from usi.decisions.outcomes import (
    UNREAD,
    FloatArray,
    Outcomes,
    percentile_bounds,
    task_weights,
)
from usi.errors import NotScorable
from usi.estimate import Estimate, unscorable
from usi.reasons import ALL_TIE

REPLICATES = 2000
MIN_AGENTS = 3
POWER = 0.8416212335729143
"""Normal quantile of 80 % power."""


@dataclass(frozen=True)
class Flip:
    """Two agents under both users.

    Attributes
    ----------
    reference_difference, other_difference
        Success of the first minus success of the second, with bounds (point ± 1.645 SE).
    change
        other minus reference: how the simulator changes the difference, with bounds.
    probability
        Share of resampled tasks that order the two differently under the two users.
    by_chance
        The same order differing for a perfect simulator with as many data.
    flips
        Whether both differences leave out 0, on opposite sides.
    """

    first: str
    second: str
    reference_difference: Estimate
    other_difference: Estimate
    change: Estimate
    probability: float
    by_chance: float
    flips: bool


@dataclass(frozen=True)
class Top:
    """The k best agents under both users.

    Attributes
    ----------
    reference, other
        Their names, best first.
    probability
        Share of resampled tasks in which the two sets differ.
    by_chance
        The same of a perfect simulator with as many data.
    differ
        Whether an agent of the one set and an agent of the other surely flip.
    """

    k: int
    reference: tuple[str, ...]
    other: tuple[str, ...]
    probability: float
    by_chance: float
    differ: bool


@dataclass(frozen=True)
class Missing:
    """Sessions of one agent under one user that have no outcome, out of all."""

    side: str
    agent: str
    without: int
    sessions: int


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
        Kendall tau-b of the two rankings (-1 to 1). Bounds: pairs whose order is sure on both sides
        by simultaneous bounds count as they are, all others as either; they hold for agents that
        are equal, too.
    tau_by_chance
        What a perfect simulator with as many data would show: mean, and its 5th to 95th percentile.
    p_value
        Of changes of the differences between agents at least as large, for the same user on both
        sides (permutation test).
    flips
        Each pair of agents; sure flips first, then by how much the difference changes.
    tops
        The winner, and the best k.
    missing
        Sessions without an outcome.
    winner_needs
        Tasks with people that would tell their two best agents apart with 80 % power, and the
        sessions of each agent at as many trials a task; ``None`` where the two are equal.
    notes
        What a reader must know.
    """

    tasks: int
    reference: dict[str, float]
    other: dict[str, float]
    gaps: dict[str, Estimate]
    tau: Estimate
    tau_by_chance: Estimate
    p_value: float
    flips: tuple[Flip, ...]
    tops: tuple[Top, ...]
    missing: tuple[Missing, ...]
    winner_needs: tuple[int, int] | None
    notes: tuple[str, ...] = ()


def taus(first: FloatArray, second: FloatArray) -> FloatArray:
    """Kendall's tau-b of each pair of rows; NaN where one side is constant.

    >>> taus(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]])).round(3).tolist()
    [0.333]
    """
    at = np.triu_indices(first.shape[1], 1)
    a, b = (np.sign(side[:, at[0]] - side[:, at[1]]) for side in (first, second))
    untied = np.sqrt(np.abs(a).sum(axis=1) * np.abs(b).sum(axis=1))
    found: FloatArray = np.divide(
        (a * b).sum(axis=1), untied, out=np.full(len(a), np.nan), where=untied > 0
    )
    return found


def _counts(
    side: Mapping[str, Outcomes], agents: list[str], tasks: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Successes and trials, shape (tasks, agents)."""
    trials = [[side[agent].trials[task] for agent in agents] for task in tasks]
    won = np.array([[sum(t.success for t in own) for own in row] for row in trials])
    return won, np.array([[len(own) for own in row] for row in trials])


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
        Fewer than three agents on both sides, fewer than two shared tasks, or an agent that is
        another one on the other side, by its fingerprint.
    """
    agents = sorted(set(reference) & set(other))
    if len(agents) < MIN_AGENTS:
        raise NotScorable(
            f"{len(agents)} agents are on both sides ({', '.join(agents) or 'none'}); "
            f"ranking needs at least {MIN_AGENTS}: give each agent's files under the same name"
        )
    _require_same_agents(reference, other, agents)
    shared = set.intersection(
        *(set(side[agent].trials) for side in (reference, other) for agent in agents)
    )
    tasks = sorted(shared)
    if len(tasks) < 2:
        raise NotScorable(f"{len(tasks)} tasks were run by every agent on both sides; need 2")
    (won_1, n_1), (won_2, n_2) = (_counts(side, agents, tasks) for side in (reference, other))
    first, second = won_1 / n_1, won_2 / n_2
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
    null_first, null_second = _perfect(won_1, n_1, n_2, replicates, seed)
    tau = float(taus(point_first[None], point_second[None])[0])
    chance = taus(null_first, null_second)
    chance = chance[np.isfinite(chance)]
    flips = _flips(agents, (first, second), (drawn_first, drawn_second), (null_first, null_second))
    absent = _missing(reference, other, agents)
    needs = _needs(point_first, first, n_1)
    return AgentRanking(
        tasks=len(tasks),
        reference=dict(zip(agents, point_first.tolist(), strict=True)),
        other=dict(zip(agents, point_second.tolist(), strict=True)),
        gaps=gaps,
        tau=_tau(tau, first, second, drawn_first, drawn_second),
        tau_by_chance=_by_chance(chance),
        p_value=_p_value(won_1, n_1, won_2, n_2, replicates, seed),
        flips=flips,
        tops=tuple(
            _top(k, agents, (point_first, point_second), (drawn_first, drawn_second),
                 (null_first, null_second), flips)
            for k in range(1, min(4, len(agents)))
        ),
        missing=absent,
        winner_needs=needs,
        notes=_warned(absent, reference, other, agents),
    )  # fmt: skip


def _require_same_agents(
    reference: Mapping[str, Outcomes], other: Mapping[str, Outcomes], agents: list[str]
) -> None:
    for agent in agents:
        one, two = reference[agent].agents, other[agent].agents
        if one and two and one != two:
            raise NotScorable(
                f"{agent} is {', '.join(one)} with the reference and {', '.join(two)} with the "
                "simulator: a change of the winner could be the agent's. Run the same agent, rule "
                "book and harness version with both"
            )


def _perfect(
    won: np.ndarray, n_1: np.ndarray, n_2: np.ndarray, replicates: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Success of every agent on both sides where both are the people, shape (replicates, agents).

    The rates are people's: those of agents and of tasks, each drawn to their mean by the part of
    their variance that is noise, since what people show of differences is partly chance.
    """
    rng = np.random.default_rng([seed, 0xA6E7])
    share = won / n_1
    grand = share.mean()
    noise = grand * (1 - grand) / n_1
    agents = grand + _shrunk(share.mean(axis=0) - grand, float(noise.mean()) / len(share))
    tasks = _shrunk(share.mean(axis=1) - grand, float(noise.mean()) / share.shape[1])
    rates = np.clip(agents[None, :] + tasks[:, None], 0.01, 0.99)
    first, second = (rng.binomial(n, rates, size=(replicates, *n.shape)) / n for n in (n_1, n_2))
    return first.mean(axis=1), second.mean(axis=1)


def _shrunk(effects: FloatArray, noise: float) -> FloatArray:
    """Effects scaled so that their variance is what is left without the noise."""
    variance = float(np.square(effects).sum()) / max(1, len(effects) - 1)
    return effects * (math.sqrt(max(0.0, 1 - noise / variance)) if variance > 0 else 0.0)


def _p_value(
    won_1: np.ndarray,
    n_1: np.ndarray,
    won_2: np.ndarray,
    n_2: np.ndarray,
    replicates: int,
    seed: int,
) -> float:
    """P of changes of the differences at least this large, by a permutation test.

    With the gaps g_a of the agents the statistic is Σ (g_a - mean g)². Where both users are the
    same, the trials of a task and an agent are exchangeable: they are dealt anew to the two sides.
    """
    rng = np.random.default_rng([seed, 0xDEA1])
    pooled = won_1 + won_2
    dealt = rng.hypergeometric(pooled, n_1 + n_2 - pooled, n_1, size=(replicates, *pooled.shape))

    def spread(first: np.ndarray, second: np.ndarray) -> FloatArray:
        gaps = (second / n_2 - first / n_1).mean(axis=-2)
        found: FloatArray = np.square(gaps - gaps.mean(axis=-1, keepdims=True)).sum(axis=-1)
        return found

    own = spread(won_1, won_2)
    at_least = int((spread(dealt, pooled - dealt) >= own - 1e-12).sum())
    return (1 + at_least) / (1 + replicates)


def _by_chance(chance: FloatArray) -> Estimate:
    if not len(chance):
        return unscorable(ALL_TIE, unit="tau-b")
    low, high = percentile_bounds(chance)
    return Estimate(value=float(chance.mean()), low=low, high=high, unit="tau-b")


def _pairs(points: FloatArray) -> FloatArray:
    """Differences of every two agents, first minus second, shape (..., pairs)."""
    at = np.triu_indices(points.shape[-1], 1)
    difference: FloatArray = points[..., at[0]] - points[..., at[1]]
    return difference


def _errors(by_task: FloatArray) -> FloatArray:
    """Standard error of the mean over tasks of each column."""
    error: FloatArray = by_task.std(axis=0, ddof=1) / math.sqrt(len(by_task))
    return error


def _tau(
    point: float,
    first: FloatArray,
    second: FloatArray,
    drawn_first: FloatArray,
    drawn_second: FloatArray,
) -> Estimate:
    """Tau with bounds from simultaneous bounds of all pairs on both sides."""
    n = first.shape[1]
    if not np.isfinite(point):
        return unscorable(ALL_TIE, n=n, unit="tau-b")
    both = np.hstack([_pairs(first), _pairs(second)])
    drawn = np.hstack([_pairs(drawn_first), _pairs(drawn_second)])
    centre, errors = both.mean(axis=0), _errors(both)
    t = np.divide(np.abs(drawn - centre), errors, out=np.zeros_like(drawn), where=errors > 0)
    critical = float(np.quantile(t.max(axis=1), 1 - 2 * ALPHA))
    sure = np.where(np.abs(centre) > np.maximum(critical * errors, 1e-12), np.sign(centre), 0.0)
    one, two = np.split(sure, 2)
    agree, against, pairs = (one * two > 0).sum(), (one * two < 0).sum(), len(one)
    low, high = (2 * agree - pairs) / pairs, (pairs - 2 * against) / pairs
    # tau-b leaves pairs out that are tied, so that its own value may lie beyond
    return Estimate(
        value=point, low=min(float(low), point), high=max(float(high), point), n=n, unit="tau-b"
    )


def _bounded(difference: FloatArray, at: int, n: int) -> Estimate:
    """Mean of a difference by task, ± 1.645 standard errors."""
    value, reach = float(difference[:, at].mean()), quantile(ALPHA) * float(_errors(difference)[at])
    return Estimate(value=value, low=value - reach, high=value + reach, n=n, unit="share")


def _leaves_out_zero(estimate: Estimate) -> bool:
    low, high = estimate.low or 0.0, estimate.high or 0.0
    return low > 0 or high < 0


def _flips(
    agents: list[str],
    by_task: tuple[FloatArray, FloatArray],
    drawn: tuple[FloatArray, FloatArray],
    null: tuple[FloatArray, FloatArray],
) -> tuple[Flip, ...]:
    one, two = (_pairs(side) for side in by_task)
    signs = np.sign(_pairs(drawn[0])) * np.sign(_pairs(drawn[1]))
    chance = np.sign(_pairs(null[0])) * np.sign(_pairs(null[1]))
    found = []
    for at, (a, b) in enumerate(combinations(agents, 2)):
        left, right = (_bounded(side, at, len(one)) for side in (one, two))
        apart = (left.value or 0.0) * (right.value or 0.0) < 0
        found.append(
            Flip(
                first=a,
                second=b,
                reference_difference=left,
                other_difference=right,
                change=_bounded(two - one, at, len(one)),
                probability=float((signs[:, at] < 0).mean()),
                by_chance=float((chance[:, at] < 0).mean()),
                flips=apart and _leaves_out_zero(left) and _leaves_out_zero(right),
            )
        )
    found.sort(
        key=lambda flip: (not flip.flips, -abs(flip.change.value or 0.0), flip.first, flip.second)
    )
    return tuple(found)


def _best(points: FloatArray, k: int) -> np.ndarray:
    """Whether each agent is among the k best of its row; ties by order."""
    order = np.argsort(-points, axis=1, kind="stable")[:, :k]
    chosen = np.zeros(points.shape, dtype=bool)
    np.put_along_axis(chosen, order, values=True, axis=1)
    return chosen


def _top(
    k: int,
    agents: list[str],
    points: tuple[FloatArray, FloatArray],
    drawn: tuple[FloatArray, FloatArray],
    null: tuple[FloatArray, FloatArray],
    flips: tuple[Flip, ...],
) -> Top:
    named = [
        tuple(agents[i] for i in np.argsort(-side, kind="stable")[:k].tolist()) for side in points
    ]
    only = [set(one) - set(two) for one, two in (named, named[::-1])]
    sure = any(
        flip.flips and all({flip.first, flip.second} & names for names in only) for flip in flips
    )
    differ = [(_best(one, k) != _best(two, k)).any(axis=1).mean() for one, two in (drawn, null)]
    return Top(k, named[0], named[1], float(differ[0]), float(differ[1]), sure)


def _missing(
    reference: Mapping[str, Outcomes], other: Mapping[str, Outcomes], agents: list[str]
) -> tuple[Missing, ...]:
    found = []
    for side, outcomes in (("reference", reference), ("simulated", other)):
        for agent in agents:
            own = outcomes[agent]
            without = sum(n for reason, n in own.left_out.items() if reason != UNREAD)
            graded = sum(len(trials) for trials in own.trials.values())
            found.append(Missing(side, agent, without, without + graded))
    return tuple(found)


def _warned(
    missing: tuple[Missing, ...],
    reference: Mapping[str, Outcomes],
    other: Mapping[str, Outcomes],
    agents: list[str],
) -> tuple[str, ...]:
    """Sessions without an outcome, and whether the winner rests on them."""
    notes = [
        f"{one.side}, {one.agent}: {one.without} of {one.sessions} sessions have no outcome and "
        "are left out"
        for one in missing
        if one.without
    ]
    for side, outcomes in (("reference", reference), ("simulated", other)):
        shares = {agent: float(np.mean(list(outcomes[agent].means().values()))) for agent in agents}
        own = {one.agent: one for one in missing if one.side == side}
        failed = {
            agent: share * (1 - own[agent].without / own[agent].sessions)
            for agent, share in shares.items()
        }
        best, then = (max(sorted(of), key=lambda a: of[a]) for of in (shares, failed))
        if best != then:
            notes.append(
                f"{side}: {best} wins only as long as sessions without an outcome are left out; if "
                f"they failed, {then} does"
            )
    return tuple(notes)


def _needs(point: FloatArray, by_task: FloatArray, trials: np.ndarray) -> tuple[int, int] | None:
    """Tasks with people, and sessions an agent, that tell the two best apart with 80 % power.

    With the difference d of the two and its standard error SE on n tasks, n ((1.645 + 0.842) SE
    / d)^2.
    """
    best, second = np.argsort(-point, kind="stable")[:2].tolist()
    difference = by_task[:, best] - by_task[:, second]
    d = float(difference.mean())
    if d <= 0:
        return None
    se = float(difference.std(ddof=1)) / math.sqrt(len(difference))
    tasks = math.ceil(len(difference) * ((quantile(ALPHA) + POWER) * se / d) ** 2)
    return tasks, math.ceil(tasks * float(trials.mean()))
