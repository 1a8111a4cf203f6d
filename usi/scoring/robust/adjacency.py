"""Turn adjacency R: does a reply answer the message before it?

A model of "this reply answers this message" is learned on people: true pairs of a session against
the same replies with other messages of the session. R compares how often a simulator's true pair
is preferred with how often people's is. Plain likeness of words would reward users who echo.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from usi.scoring.robust.tracking import Ratio, all_and_replicates, ratio
from usi.scoring.robust.wording import Wording, inverse_frequency, weighted

Array = NDArray[np.float64]
Index = NDArray[np.int64]

GRAM_BITS = 13
"""Words and pairs of words are folded to so many bits."""
DIMENSIONS = 24
"""Length of the vector of a message or a reply."""
PENALTY = 0.1
"""Ridge penalty a training pair, in units of the standardised products."""
FOLDS = 5
FEWEST_SESSIONS = 30
"""Sessions of three exchanges and more that each side needs."""
LEAST_PREFERENCE = 0.02
"""How far above 1/2 people's preference must surely lie before it is a yardstick."""
_TIE = 1e-9


@dataclass(frozen=True)
class Exchanges:
    """Vectors of the exchanges of one side.

    Attributes
    ----------
    message, reply
        Shape (exchanges, dimensions).
    session, unit
        Session and task of each, shape (exchanges,), sessions together.
    """

    message: Array
    reply: Array
    session: Index
    unit: Index

    def blocks(self) -> list[slice]:
        """The exchanges of each session."""
        edges = np.flatnonzero(np.diff(self.session)) + 1
        bounds = np.concatenate([[0], edges, [len(self.session)]]).astype(int)
        return [slice(a, b) for a, b in pairwise(bounds.tolist()) if b > a]


@dataclass(frozen=True)
class AdjacencyModel:
    """What answers what among people, cross-fitted by task.

    Attributes
    ----------
    idf, basis
        Weight of each folded word or pair, and the singular vectors, shape (columns, dimensions).
    forms
        Bilinear forms, shape (1 + folds, folds, dimensions, dimensions): a reply u fits a message a
        by ``u' M a``. ``forms[0, k]`` is learned on the tasks outside of fold k and judges those of
        fold k; ``forms[1 + j, k]`` is learned without fold j, too.
    people
        Preferences and exchanges of people by task, shape (units, 2 + folds): with ``forms[0]``,
        number of exchanges, with the forms learned without each fold.
    sessions
        People's sessions of three exchanges and more.
    """

    idf: Array
    basis: Array
    forms: Array
    people: Array
    sessions: int

    @classmethod
    def fit(cls, human: Wording, units: int) -> AdjacencyModel | None:
        """Learn on people; ``None`` where too few sessions have three exchanges.

        Vectors are the leading singular vectors of ``(1 + log n) idf`` of words and pairs of words.
        The form minimises the squared distance from 1 of the preference of the true pair over two
        false ones (the messages one and two exchanges later, the session closed to a ring), with
        a ridge penalty: one matrix product for all folds.
        """
        from sklearn.utils.extmath import randomized_svd

        chosen = human.exchanges()
        sessions = len(np.unique(human.session[chosen]))
        if sessions < FEWEST_SESSIONS:
            return None
        message, reply = _grams(human, chosen)
        from scipy.sparse import vstack

        both = vstack([message, reply], format="csr")
        idf = inverse_frequency(both)
        _, _, components = randomized_svd(weighted(both, idf), DIMENSIONS, n_iter=4, random_state=0)
        nobody = np.zeros((0, 2 + FOLDS))
        empty = np.zeros((1 + FOLDS, FOLDS, DIMENSIONS, DIMENSIONS))
        own = cls(idf, components.T, empty, nobody, sessions).exchanges(human)
        forms = _forms(own)
        fitted = cls(idf, components.T, forms, nobody, sessions)
        return cls(idf, components.T, forms, fitted.by_unit(own, units), sessions)

    def exchanges(self, side: Wording) -> Exchanges:
        """Vectors of the exchanges of a side."""
        chosen = side.exchanges()
        message, reply = _grams(side, chosen)
        session = side.session[chosen]
        return Exchanges(
            np.asarray(weighted(message, self.idf) @ self.basis),
            np.asarray(weighted(reply, self.idf) @ self.basis),
            session,
            side.unit[session],
        )

    def preferences(self, own: Exchanges, sets: int = 1) -> Array:
        """Share of a session's other messages that a reply fits less well than its own.

        Ties count half. With the first `sets` sets of forms; shape (sets, exchanges).
        """
        found = np.zeros((sets, len(own.session)))
        for at in own.blocks():
            forms = self.forms[:sets, own.unit[at.start] % FOLDS]
            fit = own.reply[at] @ forms @ own.message[at].T
            true = np.diagonal(fit, axis1=1, axis2=2)[:, :, None]
            better, same = true > fit + _TIE, np.abs(true - fit) <= _TIE
            n = fit.shape[1]
            found[:, at] = (better.sum(axis=2) + 0.5 * (same.sum(axis=2) - 1)) / (n - 1)
        return found

    def by_unit(self, own: Exchanges, units: int) -> Array:
        """Sums by task, as `people`."""
        won = self.preferences(own, 1 + FOLDS)
        sums = [np.bincount(own.unit, weights=row, minlength=units) for row in won]
        count = np.bincount(own.unit, minlength=units).astype(np.float64)
        return np.column_stack([sums[0], count, *sums[1:]])

    def session_preference(self, side: Wording) -> Array:
        """Mean preference of each session, NaN with fewer than three exchanges."""
        own = self.exchanges(side)
        found = np.full(side.sessions, np.nan)
        won = np.bincount(own.session, weights=self.preferences(own)[0], minlength=side.sessions)
        count = np.bincount(own.session, minlength=side.sessions)
        np.divide(won, count, out=found, where=count > 0)
        return found


def _grams(side: Wording, chosen: NDArray[np.bool_]):  # type: ignore[no-untyped-def]
    at = np.cumsum(chosen) - 1
    owner = np.where(chosen, at, -1)
    rows = int(chosen.sum())
    return (
        side.heard.counts(owner, rows, GRAM_BITS),
        side.said.counts(owner, rows, GRAM_BITS),
    )


def _forms(own: Exchanges) -> Array:
    """Bilinear forms by ridge regression on standardised products; see `AdjacencyModel.forms`."""
    n = len(own.session)
    first = np.zeros(n, dtype=np.int64)
    length = np.zeros(n, dtype=np.int64)
    for at in own.blocks():
        first[at], length[at] = at.start, at.stop - at.start
    place = np.arange(n) - first
    apart = [own.message - own.message[first + (place + k) % length] for k in (1, 2)]
    products = np.concatenate(
        [(own.reply[:, :, None] * d[:, None, :]).reshape(n, -1) for d in apart]
    )
    scale = np.sqrt((products**2).mean(axis=0))
    scale[scale == 0] = 1.0
    products /= scale
    fold = np.tile(own.unit % FOLDS, len(apart))
    parts = [products[fold == k] for k in range(FOLDS)]
    squares = np.stack([part.T @ part for part in parts])
    sums = np.stack([part.sum(axis=0) for part in parts])
    sizes = np.array([len(part) for part in parts])

    def form(*left_out: int) -> Array:
        used = [k for k in range(FOLDS) if k not in left_out]
        penalty = PENALTY * max(1, sizes[used].sum())
        left = squares[used].sum(axis=0) + penalty * np.eye(len(scale))
        weights: Array = np.linalg.solve(left, sums[used].sum(axis=0)) / scale
        return weights.reshape(DIMENSIONS, DIMENSIONS)

    pairs = {frozenset((j, k)): form(j, k) for j in range(FOLDS) for k in range(j + 1)}
    full = np.stack([pairs[frozenset((k,))] for k in range(FOLDS)])
    without = [np.stack([pairs[frozenset((j, k))] for k in range(FOLDS)]) for j in range(FOLDS)]
    return np.stack([full, *without])


def _learning_variance(theirs: Array, people: Array) -> float | None:
    """Delete-one-fold jackknife variance of R over the people that the forms are learned on.

    ``None`` where people's replies fit no better than others once a fold is left out.
    """
    t, h = theirs.sum(axis=0), people.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (t[2:] / t[1] - 0.5) / (h[2:] / h[1] - 0.5)
    if not np.isfinite(r).all():
        return None
    return float((FOLDS - 1) / FOLDS * ((r - r.mean()) ** 2).sum())


def turn_adjacency(
    human: AdjacencyModel,
    simulator: Wording,
    clusters: tuple[Index, Index],
    *,
    paired: bool,
    replicates: int,
    seed: int,
) -> Ratio | None:
    """R: (share of true pairs preferred - 1/2) of the simulator over the same of people.

    Parameters
    ----------
    human
        The people's model.
    simulator
        Wording of the simulator's sessions.
    clusters
        Cluster of each unit of people and of the simulator; the same units in a paired design.
    paired
        Whether both sides share their bootstrap draws.

    Returns
    -------
    Ratio or None
        ``None`` where people's own replies fit their messages no better than others.
    """
    own = human.exchanges(simulator)
    found = human.by_unit(own, len(clusters[1]))
    theirs, people_sums = found[:, :2], human.people[:, :2]
    if paired:
        both = np.hstack([theirs, people_sums])
        drawn = all_and_replicates(both, clusters[0], replicates, seed)
        s, h = drawn[:, :2], drawn[:, 2:]
    else:
        s = all_and_replicates(theirs, clusters[1], replicates, seed, stream=1)
        h = all_and_replicates(people_sums, clusters[0], replicates, seed, stream=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        value, people = s[:, 0] / s[:, 1] - 0.5, h[:, 0] / h[:, 1] - 0.5
    if np.quantile(people[1:], 0.05) < LEAST_PREFERENCE:
        return None
    made = ratio(value, people, int((theirs[:, 1] > 0).sum()))
    learning = _learning_variance(found, human.people)
    return None if made is None or learning is None else made.widened(learning)
