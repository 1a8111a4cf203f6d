"""Signs that a simulator hits the human rates without behaving like people.

Words can be sprinkled until every rate agrees. People, though, are polite when helped and cross
when something failed (context lift), and differ from each other more than coin tosses would
(overdispersion). A simulator that falls below the human 99 % band in both is suspected of
gaming.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from usi.diagnose.sample import FloatArray
from usi.estimate import Estimate, not_assessed

MIN_HITS = 30
"""Hits a side below which a ratio of rates says nothing (as for single-feature thresholds)."""
BAND = (0.005, 0.995)
REPLICATES = 500


@dataclass(frozen=True)
class RateCounts:
    """Counts of one rate feature a session, in any fixed order of sessions.

    Attributes
    ----------
    hits, turns
        (sessions,) user turns that match, and user turns.
    context_hits, context_turns
        The same, restricted to turns that answer an agent message in which the agent helped or
        failed; ``None`` where the table does not hold them.
    clusters
        (sessions,) the resampled unit.
    """

    hits: FloatArray
    turns: FloatArray
    clusters: np.ndarray[tuple[int], np.dtype[np.str_]]
    context_hits: FloatArray | None = None
    context_turns: FloatArray | None = None


def overdispersion(hits: FloatArray, turns: FloatArray) -> float | None:
    """Pearson dispersion of conversation rates over binomial: 1 = coin tosses, people more.

    ``sum (k - n p)^2 / (n p (1 - p)) / (m - 1)`` over the m sessions with n > 0 turns.
    ``None`` where the pooled rate p is 0 or 1 or hits are fewer than `MIN_HITS`.
    """
    seen = turns > 0
    k, n = hits[seen], turns[seen]
    if len(n) < 2 or k.sum() < MIN_HITS or k.sum() == n.sum():
        return None
    p = k.sum() / n.sum()
    return float((((k - n * p) ** 2) / (n * p * (1 - p))).sum() / (len(n) - 1))


def context_lift(
    hits: FloatArray, turns: FloatArray, context_hits: FloatArray, context_turns: FloatArray
) -> float | None:
    """P(hit given that the agent has just helped or failed) / P(hit otherwise).

    ``None`` where either side has no turns, or fewer than `MIN_HITS` hits in all, or no hit
    outside the context.
    """
    inside, n_inside = context_hits.sum(), context_turns.sum()
    outside, n_outside = hits.sum() - inside, turns.sum() - n_inside
    if hits.sum() < MIN_HITS or n_inside <= 0 or n_outside <= 0 or outside <= 0:
        return None
    return float((inside / n_inside) / (outside / n_outside))


def _band(
    counts: RateCounts, statistic: Callable[[RateCounts], float | None], seed: int
) -> tuple[float, float] | None:
    """The human 99 % band of a statistic, by resampling clusters."""
    names, at = np.unique(counts.clusters, return_inverse=True)
    members = [np.flatnonzero(at == i) for i in range(len(names))]
    rng = np.random.default_rng([seed, 0x6A])
    values = []
    for _ in range(REPLICATES):
        rows = np.concatenate([members[i] for i in rng.integers(0, len(names), len(names))])
        value = statistic(_take(counts, rows))
        if value is not None:
            values.append(value)
    if len(values) < REPLICATES // 2:
        return None
    low, high = np.quantile(values, BAND)
    return float(low), float(high)


def _take(counts: RateCounts, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> RateCounts:
    return RateCounts(
        counts.hits[rows],
        counts.turns[rows],
        counts.clusters[rows],
        None if counts.context_hits is None else counts.context_hits[rows],
        None if counts.context_turns is None else counts.context_turns[rows],
    )


def _dispersion(counts: RateCounts) -> float | None:
    return overdispersion(counts.hits, counts.turns)


def _lift(counts: RateCounts) -> float | None:
    if counts.context_hits is None or counts.context_turns is None:
        return None
    return context_lift(counts.hits, counts.turns, counts.context_hits, counts.context_turns)


DETECTORS: dict[str, Callable[[RateCounts], float | None]] = {
    "overdispersion": _dispersion,
    "context_lift": _lift,
}


def detect(human: RateCounts, simulated: RateCounts, *, seed: int = 7) -> dict[str, Estimate]:
    """Both detectors for one rate feature.

    Returns
    -------
    dict
        By detector: the simulator's value, with `low` and `high` the **human** 99 % band
        (by cluster bootstrap), unit "ratio"; not_assessed where either side has fewer than
        30 hits or the table lacks what is needed.
    """
    found = {}
    for name, statistic in DETECTORS.items():
        value, people = statistic(simulated), statistic(human)
        band = None if value is None or people is None else _band(human, statistic, seed)
        if value is None or band is None:
            found[name] = not_assessed(
                f"needs {MIN_HITS} hits on each side and turns in and out of the context",
                unit="ratio",
            )
        else:
            found[name] = Estimate(
                value=value, low=band[0], high=band[1], n=len(simulated.hits), unit="ratio"
            )
    return found


def suspected(detectors: dict[str, Estimate]) -> bool:
    """Whether both detectors lie below the human band (sprinkled words lower both)."""
    below = [
        part.value is not None and part.low is not None and part.value < part.low
        for part in detectors.values()
    ]
    return len(below) >= len(DETECTORS) and all(below)
