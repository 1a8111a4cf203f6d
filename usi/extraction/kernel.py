r"""The fast kernel: many turns in one column, pattern hits by turn, integer sums by session.

Every profile uses it: gather the cleaned user turns of a block of sessions, flatten them
(`Flat.build`), search them (`Flat.hits`, `Flat.matches`), and add up by session
(`Flat.per_session`). Searches run in polars' regex engine over the ASCII projection of the
lower-cased text, in time linear in its length.

Projecting lower-cased text to ASCII, one character to one character.

After ``str.lower()`` the letters A to Z are free, so they can carry what ASCII lacks: other
decimal digits become ``D``, other word characters ``A``, other white space TAB, all else
``\x01``. Any engine with ASCII semantics then finds exactly what Python's `re` finds with its
Unicode ``\b \w \d \s`` and character counts; lone surrogates need no special case.

Sessions in which some word trigram stands more often than a limit.

Words are reduced to fingerprints and trigrams thrown into buckets, by numpy over the whole
block. Equal trigrams always share a bucket, so only a session with an overfull bucket can
qualify; such a session is then counted exactly.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl


@cache
def projection_table() -> npt.NDArray[np.uint8]:
    """ASCII code of every code point, shape (0x110000,), by Python's own classes."""
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    table = np.full(len(everything), 0x01, dtype=np.uint8)
    for pattern, code in ((r"\w+", "A"), (r"\d+", "D"), (r"\s+", "\t")):
        for found in re.finditer(pattern, everything):
            table[found.start() : found.end()] = ord(code)
    table[:128] = np.arange(128, dtype=np.uint8)
    return table


def project(lowers: Sequence[str]) -> list[str]:
    """Projection of each lower-cased text; lengths in characters are kept.

    >>> project(["café \u0663", "plain"])
    ['cafA D', 'plain']
    """
    wide = wide_turns(lowers)
    projected = list(lowers)
    if not wide:
        return projected
    joined = "".join([lowers[index] for index in wide])
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    flat = projection_table()[codes].tobytes().decode("ascii")
    at = 0
    for index in wide:
        end = at + len(lowers[index])
        projected[index] = flat[at:end]
        at = end
    return projected


def wide_turns(texts: Sequence[str]) -> list[int]:
    """Indices of the texts that hold a character beyond ASCII."""
    if "".join(texts).isascii():
        return []
    return [index for index, text in enumerate(texts) if not text.isascii()]


Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_BLANK = np.zeros(256, dtype=np.bool_)
_BLANK[[*range(0x09, 0x0E), *range(0x1C, 0x21)]] = True
"""White space of projected text, as Python's ``str.split`` has it."""


@dataclass(frozen=True)
class Gathered:
    """Cleaned user turns of a block of sessions.

    Attributes
    ----------
    turns
        All turns in order, cleaned by the profile, case as typed.
    user_turns
        How many of them belong to each session, shape (sessions,); 0 is allowed.
    messages
        Kept messages of any role of each session, shape (sessions,).
    extra
        What else the profile's own counting needs.
    """

    turns: list[str]
    user_turns: Ints
    messages: Ints
    extra: Any = None


@dataclass(frozen=True)
class Flat:
    """Turns of a block, flattened; arrays by turn have shape (turns,).

    Attributes
    ----------
    turns
        Cleaned turns, case as typed.
    lowers
        The same lower-cased (an expansion such as that of U+0130 makes them longer).
    text
        ASCII projection of ``lowers``.
    ends
        Index after the last turn of each session, shape (sessions,).
    data
        Projection of all turns in one buffer, each ended by a newline.
    word_starts, word_ends
        Byte positions in ``data`` of every word, shape (words,).
    word_offsets
        First word of each turn, and the number of all words at the end, shape (turns + 1,).
    """

    turns: list[str]
    lowers: list[str]
    text: pl.Series
    ends: Ints
    data: npt.NDArray[np.uint8]
    word_starts: Ints
    word_ends: Ints
    word_offsets: Ints

    @classmethod
    def build(cls, turns: list[str], user_turns: Ints) -> Flat:
        """Flatten a block; ``user_turns`` holds the number of turns of each session."""
        lowers = [turn.lower() for turn in turns]
        projected = project(lowers)
        joined = "\n".join((*projected, "")).encode("ascii")
        data = np.frombuffer(joined, dtype=np.uint8)
        blank = np.empty(len(data) + 1, dtype=np.bool_)
        blank[0] = True
        np.take(_BLANK, data, out=blank[1:])
        # A word starts where blank turns into text, and ends where text turns into blank.
        edges = np.flatnonzero(blank[1:] != blank[:-1])
        starts, stops = edges[0::2], edges[1::2]
        lengths = np.fromiter(map(len, projected), dtype=np.int64, count=len(projected))
        turn_starts = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths + 1, out=turn_starts[1:])
        return cls(
            turns=turns,
            lowers=lowers,
            text=pl.Series("text", projected, dtype=pl.String),
            ends=np.cumsum(user_turns, dtype=np.int64),
            data=data,
            word_starts=starts,
            word_ends=stops,
            word_offsets=np.searchsorted(starts, turn_starts),
        )

    @property
    def starts(self) -> Ints:
        """Index of the first turn of each session, shape (sessions,)."""
        starts = np.zeros_like(self.ends)
        starts[1:] = self.ends[:-1]
        return starts

    @property
    def words(self) -> Ints:
        """Words of each turn, shape (turns,)."""
        return np.diff(self.word_offsets)

    def hits(self, patterns: Mapping[str, str], *, rare: Sequence[str] = ()) -> dict[str, Bools]:
        """Whether each pattern occurs, by turn.

        Parameters
        ----------
        patterns
            Compiled patterns (`Entry.pattern`) by name.
        rare
            Names among them that few turns match: these are looked for together first, and one
            by one only in the turns where any of them occurs. It changes no result.

        Returns
        -------
        dict of str to array of bool, shape (turns,)
        """
        often = {name: pattern for name, pattern in patterns.items() if name not in rare}
        together = {"": "|".join(patterns[name] for name in rare)} if rare else {}
        found = _search(self.text, {**often, **together})
        if rare:
            turns = np.flatnonzero(found.pop(""))
            few = _search(self.text.gather(turns), {name: patterns[name] for name in rare})
            for name, values in few.items():
                found[name] = np.zeros(len(self.text), dtype=np.bool_)
                found[name][turns] = values
        return found

    def matches(self, pattern: str) -> Ints:
        """Number of non-overlapping matches, by turn."""
        return self.text.str.count_matches(pattern).cast(pl.Int64).to_numpy()

    def per_session(self, values: npt.NDArray[Any]) -> Ints:
        """Sums by session of integer or boolean values by turn, shape (sessions,)."""
        sums = np.zeros(len(values) + 1, dtype=np.int64)
        np.cumsum(values, out=sums[1:])
        return sums[self.ends] - sums[self.starts]


def _search(text: pl.Series, patterns: Mapping[str, str]) -> dict[str, Bools]:
    frame = pl.DataFrame({"text": text}).select(
        pl.col("text").str.contains(pattern).alias(name) for name, pattern in patterns.items()
    )
    return {name: frame[name].to_numpy() for name in patterns}


def core_counts(flat: Flat, gathered: Gathered) -> dict[str, Ints]:
    """Columns that both profiles have (`usi.extraction.spec.CORE_COUNTS`), by session.

    Sums are plain 64-bit integers, so they merge and do not depend on order.
    """
    words = flat.words
    return {
        "n_turns": gathered.messages,
        "user_turns": gathered.user_turns,
        "words": flat.per_session(words),
        "words_sq": flat.per_session(words * words),
        "words_first": _first(flat, words, 1),
        "words_first_two": _first(flat, words, 2),
    }


def _first(flat: Flat, words: Ints, how_many: int) -> Ints:
    sums = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum(words, out=sums[1:])
    starts = flat.starts
    return sums[np.minimum(starts + how_many, flat.ends)] - sums[starts]


_MIX = tuple(np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))


def repeated_trigram(flat: Flat, limit: int = 10) -> Bools:
    """Whether any trigram of lower-cased words occurs more than ``limit`` times.

    Trigrams do not span turns; counts run over all user turns of the session together.

    Returns
    -------
    array of bool, shape (sessions,)
    """
    result = np.zeros(len(flat.ends), dtype=np.bool_)
    words = flat.words
    trigrams = flat.per_session(np.maximum(words - 2, 0))
    if not (trigrams > limit).any():
        return result
    # A trigram starts at every word but the last two of its turn.
    starts = np.ones(len(flat.word_starts), dtype=np.bool_)
    ends = flat.word_offsets[1:]
    starts[ends[words >= 1] - 1] = False
    starts[ends[words >= 2] - 2] = False
    first = np.flatnonzero(starts)
    word = _fingerprints(flat)
    key = word[first] * _MIX[0] + word[first + 1] * _MIX[1] + word[first + 2] * _MIX[2]
    # Each session has a table of its own, of a power of two and at least two buckets a trigram;
    # with too few trigrams one bucket does, since it can't overflow.
    bits = np.frexp(np.where(trigrams > limit, trigrams, 0).astype(np.float64))[1]
    width = np.left_shift(np.int64(1), bits + (bits > 0))
    base = np.cumsum(width) - width
    bucket = (key >> np.uint64(33)).astype(np.int64) & np.repeat(width - 1, trigrams)
    bucket += np.repeat(base, trigrams)
    full = np.flatnonzero(np.bincount(bucket) > limit)
    for index in np.unique(np.searchsorted(base + width, full, side="right")):
        result[index] = _exact(flat, int(index), limit)
    return result


def _fingerprints(flat: Flat) -> npt.NDArray[np.uint64]:
    """A number a word, equal for equal words: its first and last eight bytes and its length."""
    padded = np.zeros(len(flat.data) + 16, dtype=np.uint8)
    padded[8:-8] = flat.data
    # Eight bytes from any position on, read as one number.
    eight = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    length = flat.word_ends - flat.word_starts
    unused = (np.maximum(8 - length, 0) * 8).astype(np.uint64)  # bits that belong to others
    many = length > 0
    head = np.where(many, eight[flat.word_starts + 8] << unused, 0)
    tail = np.where(many, eight[flat.word_ends] >> unused, 0)
    mixed = (head ^ (head >> np.uint64(29))) * _MIX[1] + tail * _MIX[2] + length.astype(np.uint64)
    keys: npt.NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return keys


def _exact(flat: Flat, session: int, limit: int) -> bool:
    counts: Counter[tuple[str, str, str]] = Counter()
    for turn in range(int(flat.starts[session]), int(flat.ends[session])):
        words = flat.lowers[turn].split()
        counts.update(zip(words, words[1:], words[2:], strict=False))
    return any(count > limit for count in counts.values())
