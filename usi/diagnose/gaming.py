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
import numpy.typing as npt

from usi.diagnose.sample import FloatArray
from usi.estimate import Estimate, not_assessed
from usi.reasons import FEW_HITS
from usi.rounding import rounded
from usi.scoring.robust.bootstrap import weight_chunks

MIN_HITS = 30
"""Hits a side below which a ratio of rates says nothing (as for single-feature thresholds)."""
BAND = (0.005, 0.995)
REPLICATES = 500
STREAM = 0x6A
"""Key of the bootstrap's generator, apart from those of the scores."""


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


@dataclass(frozen=True)
class Totals:
    """Sums over sessions, one row a weighting: shape (replicates,) each."""

    sessions: FloatArray
    hits: FloatArray
    turns: FloatArray
    squares: FloatArray  # sum of hits^2 / turns
    context_hits: FloatArray
    context_turns: FloatArray

    @classmethod
    def of(cls, counts: RateCounts) -> Totals:
        """The sums of all sessions, each once: one row."""
        return cls(*_columns(counts).sum(axis=0)[:, None])


def _columns(counts: RateCounts) -> FloatArray:
    """(sessions, 6) what `Totals` sums; sessions without turns add nothing."""
    seen = counts.turns > 0
    turns = np.where(seen, counts.turns, 1.0)
    none = np.full(len(counts.turns), np.nan)
    return np.column_stack(
        [
            seen.astype(np.float64),
            counts.hits * seen,
            counts.turns * seen,
            counts.hits**2 / turns * seen,
            none if counts.context_hits is None else counts.context_hits,
            none if counts.context_turns is None else counts.context_turns,
        ]
    )


def _ratio(top: FloatArray, bottom: FloatArray, enough: npt.NDArray[np.bool_] | bool) -> FloatArray:
    valid = np.isfinite(top) & np.isfinite(bottom) & (bottom > 0) & enough
    return np.asarray(
        np.divide(top, bottom, out=np.full(top.shape, np.nan), where=valid), dtype=np.float64
    )


def overdispersion(t: Totals) -> FloatArray:
    """Pearson dispersion of the rates of sessions over the binomial: 1 = coin tosses, people more.

    ``sum (k - n p)^2 / (n p (1 - p)) / (m - 1)`` over the m sessions with n > 0 turns and k hits,
    p the pooled rate. NaN where p is 0 or 1, or hits are fewer than `MIN_HITS`.

    Examples
    --------
    >>> counts = RateCounts(np.array([0.0, 40.0]), np.array([40.0, 40.0]), np.array(["a", "b"]))
    >>> overdispersion(Totals.of(counts))
    array([80.])
    """
    p = _ratio(t.hits, t.turns, True)
    chi_square = t.squares - 2 * p * t.hits + p * p * t.turns
    degrees = p * (1 - p) * (t.sessions - 1)
    return _ratio(chi_square, degrees, (t.hits >= MIN_HITS) & (t.sessions >= 2))


def context_lift(t: Totals) -> FloatArray:
    """P(hit given that the agent has just helped or failed) / P(hit otherwise); 1 = no difference.

    NaN where either side has no turns, there are fewer than `MIN_HITS` hits in all, or no hit
    outside the context.

    Examples
    --------
    20 of 40 turns in the context are hits, and 20 of the 80 others:

    >>> one = [np.array([x]) for x in (40.0, 120.0)] + [np.array(["a"])]
    >>> context_lift(Totals.of(RateCounts(*one, np.array([20.0]), np.array([40.0]))))
    array([2.])
    """
    inside = _ratio(t.context_hits, t.context_turns, True)
    outside = _ratio(t.hits - t.context_hits, t.turns - t.context_turns, True)
    return _ratio(inside, outside, t.hits >= MIN_HITS)


DETECTORS: dict[str, Callable[[Totals], FloatArray]] = {
    "overdispersion": overdispersion,
    "context_lift": context_lift,
}


def _value(found: FloatArray) -> float | None:
    return float(found[0]) if np.isfinite(found[0]) else None


def _bands(counts: RateCounts, seed: int) -> dict[str, tuple[float, float]]:
    """The human 99 % band of each detector, by resampling clusters."""
    names, at = np.unique(counts.clusters, return_inverse=True)
    columns = _columns(counts)
    sums = np.stack([np.bincount(at, weights=c, minlength=len(names)) for c in columns.T])
    drawn = np.concatenate(
        [w @ sums.T for _, w in weight_chunks(len(names), REPLICATES, seed=seed, stream=STREAM)]
    )
    bands = {}
    for name, statistic in DETECTORS.items():
        values = statistic(Totals(*drawn.T))
        values = values[np.isfinite(values)]
        if len(values) >= REPLICATES // 2:
            low, high = np.quantile(values, BAND)
            bands[name] = (float(low), float(high))
    return bands


def detect(human: RateCounts, simulated: RateCounts, *, seed: int = 7) -> dict[str, Estimate]:
    """Both detectors for one rate feature.

    Returns
    -------
    dict
        By detector: the simulator's value, with `low` and `high` the **human** 99 % band
        (by cluster bootstrap), unit "ratio"; not_assessed where either side has fewer than
        30 hits or the table lacks what is needed.
    """
    bands = _bands(human, seed)
    found = {}
    for name, statistic in DETECTORS.items():
        value, people = _value(statistic(Totals.of(simulated))), _value(statistic(Totals.of(human)))
        band = bands.get(name)
        if value is None or people is None or band is None:
            found[name] = not_assessed(FEW_HITS, least=MIN_HITS, unit="ratio")
        else:
            found[name] = Estimate(
                value=rounded(value),
                low=rounded(band[0]),
                high=rounded(band[1]),
                n=len(simulated.hits),
                unit="ratio",
            )
    return found


def suspected(detectors: dict[str, Estimate]) -> bool:
    """Whether both detectors lie below the human band (sprinkled words lower both)."""
    below = [
        part.value is not None and part.low is not None and part.value < part.low
        for part in detectors.values()
    ]
    return len(below) >= len(DETECTORS) and all(below)
