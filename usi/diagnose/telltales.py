"""Tell-tales: words and pairs of words that give a simulator away, and those it never says.

Log-odds with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008, Political Analysis
16, 372-403), on sessions that show a term, so that one talkative session counts once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.extraction.content import Names
from usi.scoring.robust.wording import Wording

PRIOR_WEIGHT = 0.1
"""Weight of the prior: the pooled counts of both sides, times this."""
FEWEST_SESSIONS = 10
"""Sessions of a side that must show a term: no single person's words are shown."""
ALPHA = 0.01
"""Chance that any term is shown where the two sides say the same (Bonferroni over the terms)."""
MOST = 10


@dataclass(frozen=True)
class Term:
    """A word or pair of words.

    Attributes
    ----------
    text
        As lower-case words.
    z
        Log-odds of the simulator against people over its standard error.
    simulator_sessions, human_sessions
        Sessions that show it.
    """

    text: str
    z: float
    simulator_sessions: int
    human_sessions: int


def session_counts(side: Wording) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Terms of a side, sorted, and how many compared sessions show each."""
    owner = np.repeat(side.session, side.said.sizes)
    inside = side.unit[owner] >= 0
    both = (owner[inside].astype(np.uint64) << np.uint64(32)) | side.said.numbers[inside]
    shown = (np.unique(both) & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    terms, counts = np.unique(shown, return_counts=True)
    return terms, counts.astype(np.int64)


def log_odds(simulator: NDArray[np.int64], human: NDArray[np.int64]) -> NDArray[np.float64]:
    """Standardised log-odds of every term, shape (terms,); above 0 = the simulator's.

    With y_w the sessions of a side that show term w, n their sum over terms, a_w = `PRIOR_WEIGHT`
    times the sessions of both sides that show it, a_0 the sum of a_w:
    ``d_w = log((y_w + a_w) / (n + a_0 - y_w - a_w))`` of the simulator minus the same of people,
    over ``sqrt(1 / (y_w + a_w) + 1 / (y'_w + a_w))``.
    """
    prior = PRIOR_WEIGHT * (simulator + human)
    total = prior.sum()

    def odds(y: NDArray[np.int64]) -> NDArray[np.float64]:
        shown = y + prior
        return np.asarray(np.log(shown / (y.sum() + total - shown)), dtype=np.float64)

    error = np.sqrt(1 / (simulator + prior) + 1 / (human + prior))
    return np.asarray((odds(simulator) - odds(human)) / error, dtype=np.float64)


def telltales(
    human: Wording, simulator: Wording, names: Names, *, most: int = MOST
) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Terms that surely differ between the sides, most telling first.

    Parameters
    ----------
    human, simulator
        Wording of the compared sessions.
    names
        Words behind the numbers.
    most
        Terms of each kind.

    Returns
    -------
    said, not_said
        Terms that the simulator says more often than people, and less often. A pair is left out
        where one of its words is listed with as many sessions.
    """
    (mine, y), (theirs, x) = session_counts(simulator), session_counts(human)
    terms = np.union1d(mine, theirs)
    if not len(terms):
        return (), ()
    simulated, people = np.zeros(len(terms), np.int64), np.zeros(len(terms), np.int64)
    simulated[np.searchsorted(terms, mine)] = y
    people[np.searchsorted(terms, theirs)] = x
    z = log_odds(simulated, people)
    from scipy.special import ndtri

    limit = -float(ndtri(ALPHA / (2 * len(terms))))
    return (
        _top(terms, z, simulated, people, simulated, names, limit, most),
        _top(terms, -z, simulated, people, people, names, limit, most),
    )


def _top(
    terms: NDArray[np.uint32],
    score: NDArray[np.float64],
    simulated: NDArray[np.int64],
    people: NDArray[np.int64],
    own: NDArray[np.int64],
    names: Names,
    limit: float,
    most: int,
) -> tuple[Term, ...]:
    candidates = np.flatnonzero((score > limit) & (own >= FEWEST_SESSIONS))
    named = [(k, names.term(int(terms[k]))) for k in candidates.tolist()]
    ranked = sorted(((k, text) for k, text in named if text), key=lambda p: (-score[p[0]], p[1]))
    chosen: list[tuple[int, str]] = []
    for k, text in ranked:
        words = set(text.split())
        # A pair says no more than its word where the word hardly stands without it, or the other
        # way round.
        repeats = any(
            (words < set(other.split()) or set(other.split()) < words)
            and min(own[k], own[j]) >= 0.8 * max(own[k], own[j])
            for j, other in chosen
        )
        if not repeats:
            chosen.append((k, text))
        if len(chosen) == most:
            break
    return tuple(
        Term(text, float(abs(score[k])), int(simulated[k]), int(people[k])) for k, text in chosen
    )
