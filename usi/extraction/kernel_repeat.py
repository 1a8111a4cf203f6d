"""Sessions in which some word trigram stands more often than a limit.

Words are reduced to fingerprints and trigrams thrown into buckets, by numpy over the whole
block. Equal trigrams always share a bucket, so only a session with an overfull bucket can
qualify; such a session is then counted exactly.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from usi.extraction.kernel import Bools, Flat

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
