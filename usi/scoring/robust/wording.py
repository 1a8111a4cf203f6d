"""Hashed words of the sessions of one side, as sparse matrices (`usi.extraction.content`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.extraction.content import HEARD, PAIR, SAID, hashes_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Hashes = NDArray[np.uint32]

FEWEST_EXCHANGES = 3
"""Exchanges (agent message, reply) that a session needs before its replies can be compared with
its other messages."""


@dataclass(frozen=True)
class Turns:
    """Sets of hashed words of turns or messages, joined.

    Attributes
    ----------
    numbers
        Shape (words,).
    sizes
        Words of each turn, shape (turns,).
    """

    numbers: Hashes
    sizes: Index

    @classmethod
    def of(cls, column: pl.Series) -> Turns:
        """The turns of a column of lists of lists, null rows without any."""
        turns = column.drop_nulls()
        turns = turns.filter(turns.list.len() > 0).explode()
        numbers = turns.filter(turns.list.len() > 0).explode().to_numpy().astype(np.uint32)
        return cls(numbers, turns.list.len().to_numpy().astype(np.int64))

    def counts(self, owner: Index, rows: int, bits: int, *, keep: Any = None) -> csr_array:
        """How many turns of each owner have each word, columns folded to ``2**bits``.

        Parameters
        ----------
        owner
            Row of each turn, shape (turns,); -1 leaves the turn out.
        keep
            Which of `numbers` count; all where ``None``.
        """
        from scipy.sparse import csr_array

        row = np.repeat(owner, self.sizes)
        inside = row >= 0 if keep is None else (row >= 0) & keep
        column = (self.numbers[inside] & np.uint32((1 << bits) - 1)).astype(np.int64)
        found = csr_array((np.ones(len(column)), (row[inside], column)), shape=(rows, 1 << bits))
        found.sum_duplicates()
        return found


@dataclass(frozen=True)
class Wording:
    """Wording of the sessions of one side.

    Attributes
    ----------
    said, heard
        Each user turn, and the agent's message before it.
    session
        Session of each turn, shape (turns,), not falling.
    unit, split
        Index of the task (-1 = not compared) and of the batch or run of each session, shape
        (sessions,).
    """

    said: Turns
    heard: Turns
    session: Index
    unit: Index
    split: Index

    @classmethod
    def of(cls, frame: pl.DataFrame, unit: Index, split: Index) -> Wording | None:
        """Wording of a session table; ``None`` where it carries none."""
        if SAID not in frame.columns or not frame[SAID].count():
            return None
        turns = frame[SAID].list.len().fill_null(0).to_numpy().astype(np.int64)
        owner = np.repeat(np.arange(frame.height), turns)
        return cls(Turns.of(frame[SAID]), Turns.of(frame[HEARD]), owner, unit, split)

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return len(self.unit)

    def exchanges(self) -> NDArray[np.bool_]:
        """Turns that answer a message, in compared sessions with at least three such turns."""
        answered = (self.heard.sizes > 0) & (self.said.sizes > 0) & (self.unit[self.session] >= 0)
        many = np.bincount(self.session[answered], minlength=self.sessions) >= FEWEST_EXCHANGES
        return answered & many[self.session]


@cache
def stop_words() -> Hashes:
    """Numbers of English words without content of their own, and of the question mark."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    # \w+ leaves the halves of contractions.
    halves = ("don", "didn", "doesn", "isn", "won", "wasn", "ll", "ve", "re", "?")
    return hashes_of((*ENGLISH_STOP_WORDS, *halves))


def content_words(turns: Turns) -> NDArray[np.bool_]:
    """Which numbers are single words with content of their own."""
    return (turns.numbers < PAIR) & ~np.isin(turns.numbers, stop_words())


def inverse_frequency(counts: csr_array) -> Array:
    """``log((1 + rows) / (1 + rows with the word)) + 1``, shape (columns,)."""
    rows, columns = counts.shape
    shown = np.bincount(counts.indices, minlength=columns)
    return np.asarray(np.log((1 + rows) / (1 + shown)) + 1, dtype=np.float64)


def weighted(counts: csr_array, idf: Array) -> csr_array:
    """Rows ``(1 + log count) idf`` of unit length; empty rows stay 0."""
    found = counts.copy()
    found.data = (1 + np.log(found.data)) * idf[found.indices]
    return unit_length(found)


def unit_length(rows: csr_array) -> csr_array:
    """Rows divided by their Euclidean length; empty rows stay 0."""
    found = rows.copy()
    owner = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    length = np.sqrt(np.bincount(owner, weights=found.data**2, minlength=found.shape[0]))
    found.data = found.data / length[owner]
    return found
