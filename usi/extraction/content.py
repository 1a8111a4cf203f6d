"""What the session table keeps of wording: hashed words of turns and messages.

Content tracking, turn adjacency, copies and tell-tale words need to know which words stand together
in a turn and in the message that it answers, not the text. A word, and a pair of
neighbouring words, becomes a 32-bit number; a turn becomes the sorted set of its numbers. Hashed
words can be guessed back (hash every word of a dictionary), so whoever hands a table on hands on
the words of its sessions, though not their order.

Every number is a function of one session, so tables merge whatever the partition was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappush, heapreplace
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import polars as pl

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint32]

SAID, HEARD = "said", "heard"
CONTENT_COLUMNS: dict[str, pl.DataType] = {
    SAID: pl.List(pl.List(pl.UInt32())),
    HEARD: pl.List(pl.List(pl.UInt32())),
}
"""Columns: numbers of each user turn, and of the agent's last message before it (empty where there
is none)."""

MOST_SESSIONS = 6000
"""Sessions of a table whose words are kept: memory does not grow with the size of a corpus, and
the numbers made of them are as sure as anyone needs long before."""

TOKEN = r"\w+|\?"
"""A word, or a question mark."""
PAIR = np.uint32(1 << 31)
"""Bit that marks the number of a pair of words; those of single words lie below it."""
_MASK = np.uint32((1 << 31) - 1)
_ODD = np.uint32(0x9E3779B1)


def word_hash(word: str) -> int:
    """Number of a lower-case word: CRC-32 of its UTF-8 bytes, without the top bit."""
    return crc32(word.encode("utf-8", "surrogatepass")) & 0x7FFFFFFF


def pair_hash(first: Hashes, second: Hashes) -> Hashes:
    """Numbers of pairs of words from the numbers of the two, order mattering."""
    with np.errstate(over="ignore"):
        mixed = (first * _ODD) ^ (second + (second << np.uint32(7)))
    return (mixed & _MASK) | PAIR


@dataclass
class Names:
    """Words behind numbers, kept in memory alone, for showing tell-tales.

    Attributes
    ----------
    words
        Number -> word.
    pairs
        Number of a pair -> numbers of its words.
    """

    words: dict[int, str] = field(default_factory=dict)
    pairs: dict[int, tuple[int, int]] = field(default_factory=dict)

    @staticmethod
    def joined(parts: Iterable[Names]) -> Names:
        """The words of several tables."""
        found = Names()
        for part in parts:
            found.words |= part.words
            found.pairs |= part.pairs
        return found

    def term(self, number: int) -> str | None:
        """The word or pair of words of a number, where it is known."""
        if number in self.words:
            return self.words[number]
        pair = self.pairs.get(number)
        if pair is None or not all(part in self.words for part in pair):
            return None
        return " ".join(self.words[part] for part in pair)


@dataclass(frozen=True)
class Tokens:
    """Numbers of the words of texts, in order.

    Attributes
    ----------
    numbers
        Shape (words,).
    text
        Index of the text of each word, shape (words,), not falling.
    """

    numbers: Hashes
    text: Ints

    @classmethod
    def of(cls, texts: Sequence[str], names: Names | None = None) -> Tokens:
        """Split texts into lower-case words and hash them; new words go into `names`."""
        found = pl.Series("text", texts, dtype=pl.String).str.to_lowercase().str.extract_all(TOKEN)
        counts = found.list.len().fill_null(0).to_numpy().astype(np.int64)
        flat = found.explode().drop_nulls()
        vocabulary = flat.unique()
        hashed = pl.Series([word_hash(word) for word in vocabulary.to_list()], dtype=pl.UInt32)
        numbers = flat.replace_strict(vocabulary, hashed, return_dtype=pl.UInt32).to_numpy()
        if names is not None:
            names.words.update(zip(hashed.to_list(), vocabulary.to_list(), strict=True))
        return cls(numbers, np.repeat(np.arange(len(counts)), counts))

    def sets(self, texts: int, names: Names | None = None) -> tuple[Hashes, Ints]:
        """Sorted sets of words and pairs of every text.

        Returns
        -------
        numbers, sizes
            Joined sets, and the size of each, shape (texts,).
        """
        near = np.flatnonzero(self.text[1:] == self.text[:-1])
        first, second = self.numbers[near], self.numbers[near + 1]
        pairs = pair_hash(first, second)
        if names is not None:
            new, at = np.unique(pairs, return_index=True)
            names.pairs.update(
                zip(
                    new.tolist(),
                    zip(first[at].tolist(), second[at].tolist(), strict=True),
                    strict=True,
                )
            )
        owner = np.concatenate([self.text, self.text[near]]).astype(np.uint64)
        both = (owner << np.uint64(32)) | np.concatenate([self.numbers, pairs])
        unique = np.unique(both)
        sizes = np.bincount((unique >> np.uint64(32)).astype(np.int64), minlength=texts)
        return (unique & np.uint64(0xFFFFFFFF)).astype(np.uint32), sizes


def priority(task_id: str | None, session_id: str) -> int:
    """Place of a session in the choice of those whose words are kept: low goes first.

    It depends on the task alone (of ids that end with a number, on what stands before it), so both
    sides of a comparison, and all parts of a table, keep the same tasks.
    """
    return word_hash(task_id if task_id is not None else _RUN.sub("", session_id))


_RUN = re.compile(r"_(ann)?\d+$")


@dataclass
class Choice:
    """Chooses the sessions whose words are kept, as they pass: those of the lowest `priority`.

    More than `MOST_SESSIONS` may pass before the limit has come down; `thinned` takes them out.
    """

    limit: int = MOST_SESSIONS
    _lowest: list[int] = field(default_factory=list)

    def see(self, place: int) -> bool:
        """Whether the words of a session at this place are kept for now."""
        if len(self._lowest) < self.limit:
            heappush(self._lowest, -place)
            return True
        if place < -self._lowest[0]:
            heapreplace(self._lowest, -place)
            return True
        return place == -self._lowest[0]


def thinned(frame: pl.DataFrame, limit: int = MOST_SESSIONS) -> pl.DataFrame:
    """A session table that holds the words of at most so many sessions (all of the last task)."""
    if SAID not in frame.columns or frame.height - frame[SAID].null_count() <= limit:
        return frame
    pairs = frame.select("task_id", "session_id").iter_rows()
    place = pl.Series([priority(task, session) for task, session in pairs], dtype=pl.Int64)
    worst = place.filter(frame[SAID].is_not_null()).sort()[limit - 1]
    return frame.with_columns(
        pl.when(place <= worst).then(pl.col(name)).otherwise(None).alias(name)
        for name in CONTENT_COLUMNS
    )


def nested(numbers: Hashes, sizes: Ints, per_session: Ints, name: str) -> pl.Series:
    """Sets by turn, turns by session, as one column of lists of lists."""
    import pyarrow as pa

    def whole(values: npt.NDArray[Any], kind: pa.DataType) -> pa.Array:
        # By its buffer: pyarrow imports pandas to look at a sequence of unknown kind.
        plain = np.ascontiguousarray(values)
        return pa.Array.from_buffers(kind, len(plain), [None, pa.py_buffer(plain)])

    inner = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    outer = np.concatenate([[0], np.cumsum(per_session)]).astype(np.int32)
    flat = whole(numbers, pa.from_numpy_dtype(numbers.dtype))
    turns = pa.ListArray.from_arrays(whole(inner, pa.int32()), flat)
    both = pa.ListArray.from_arrays(whole(outer, pa.int32()), turns)
    return pl.Series(name, both, dtype=CONTENT_COLUMNS[SAID])


def content_columns(
    turns: Sequence[str],
    user_turns: Ints,
    agents: Sequence[str],
    agent_of: Ints,
    kept: npt.NDArray[np.bool_],
    names: Names | None = None,
) -> dict[str, pl.Series]:
    """Columns of `CONTENT_COLUMNS` of a block of sessions, null where the words are not kept.

    Parameters
    ----------
    turns
        Cleaned user turns of all sessions in order.
    user_turns
        How many belong to each session, shape (sessions,).
    agents
        Messages of the agent.
    agent_of
        Index into `agents` of the message before each turn, -1 = none, shape (turns,).
    kept
        Sessions whose words are kept, shape (sessions,).
    names
        Takes the words behind the numbers of user turns.
    """
    inside = np.repeat(kept, user_turns)
    agent_of, turns_of = agent_of[inside], user_turns[kept]
    turns = [turn for turn, keep in zip(turns, inside.tolist(), strict=True) if keep]
    said = Tokens.of(turns, names)
    numbers, sizes = said.sets(len(turns), names)
    used, place = np.unique(agent_of, return_inverse=True)
    # A first, empty message stands for "none before".
    heard = Tokens.of(["" if k < 0 else agents[k] for k in used.tolist()])
    own, lengths = heard.sets(len(used))
    starts = np.cumsum(lengths) - lengths
    taken = lengths[place]
    within = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
    replied = own[np.repeat(starts[place], taken) + within]
    place_of = pl.Series(np.cumsum(kept) - 1)
    rows = pl.select(pl.when(pl.Series(kept)).then(place_of)).to_series()
    return {
        SAID: nested(numbers, sizes, turns_of, SAID).gather(rows),
        HEARD: nested(replied, taken, turns_of, HEARD).gather(rows),
    }


def hashes_of(words: Iterable[str]) -> Hashes:
    """Sorted numbers of words."""
    return np.unique(np.array([word_hash(word) for word in words], dtype=np.uint32))
