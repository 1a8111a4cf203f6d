"""Counts over the words of turns: identifiers, repeats, echo, shortest turn.

Everything is a whole number by turn or session. Where a turn holds text beyond ASCII the exact
characters decide, never their projection.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from usi.extraction.kernel import Bools, Flat, Ints
from usi.extraction.robust.turns import RobustExtra

ECHO_UNIT = 1_000_000
"""A share of echoed words is kept as whole millionths (rounded down), so that sums are exact."""
REPEAT_WORDS = 4
"""A turn of fewer words than this may be said twice (yes, no thanks)."""

# A token is a run of word characters and the marks that stand inside identifiers.
_TOKEN = r"[0-9A-Z_a-z#@.+:$'-]*[0-9D@][0-9A-Z_a-z#@.+:$'-]*"
_EDGE = ".:+'-"
_MAIL = r"[0-9A-Z_a-z]@[0-9A-Z_a-z][^@]*\.[0-9A-Z_a-z]"
_HASH = r"#[0-9A-Z_a-z-]*[0-9D]"
_UNDERSCORE = r"[0-9A-Za-z]_[0-9A-Za-z]"
_MIXED = r"\A[0-9A-Za-z]{5,}\z"
_TWO_DIGITS = r"[0-9D][^0-9D]*[0-9D]"
_MEASURE = (
    r"\A[0-9D]+(?:st|nd|rd|th|s|am|pm|lbs?|kg|mg|g|mb|gb|tb|ml|cm|mm|km|m|ft|in|inch|hz|khz|mhz|ghz"
    r"|w|mah|h|hrs?|hours?|mins?|minutes?|days?|k|p|x|usd|eur|est|pst|utc|gmt)\z"
)
_DIGITS = r"\A[0-9D]{4,}\z"
_YEAR = r"\A(?:19|20)[0-9]{2}\z"

_LONG_WORD = "[a-zA]{4,}"
_LONG_WORD_PYTHON = re.compile(r"[^\W\d_]{4,}")


def identifiers(text: pl.Series) -> Ints:
    r"""Number of identifiers of each turn, shape (turns,).

    A token counts once, if it is an e-mail address; or holds ``#`` with a digit behind it; or an
    underscore between word characters and a digit; or consists of 5 or more letters and digits
    with a letter and two digits (no measure such as ``100th`` or ``128gb``); or of 4 or more
    digits (no year 1900 to 2099).
    """
    tokens = (
        pl.DataFrame({"turn": np.arange(len(text)), "token": text})
        .lazy()
        .filter(pl.col("token").str.contains("[0-9D@]"))
        .with_columns(pl.col("token").str.extract_all(_TOKEN))
        .explode("token")
        .with_columns(pl.col("token").str.strip_chars(_EDGE))
    )
    token = pl.col("token").str
    digit = token.contains("[0-9D]")
    wanted = (
        token.contains(_MAIL)
        | token.contains(_HASH)
        | (token.contains(_UNDERSCORE) & digit)
        | (
            token.contains(_MIXED)
            & token.contains("[A-CE-Za-z]")
            & token.contains(_TWO_DIGITS)
            & ~token.contains(_MEASURE)
        )
        | (token.contains(_DIGITS) & ~token.contains(_YEAR))
    )
    turns = tokens.filter(wanted).select("turn").collect()["turn"].to_numpy()
    return np.bincount(turns, minlength=len(text)).astype(np.int64)


def repeated_turns(flat: Flat) -> Bools:
    """Turns of at least `REPEAT_WORDS` words that repeat an earlier turn, shape (turns,).

    Words are compared lower-cased and as typed, whatever white space stands between them.
    """
    repeated = np.zeros(len(flat.turns), dtype=np.bool_)
    long_enough = (flat.words >= REPEAT_WORDS).tolist()
    for start, end in zip(flat.starts.tolist(), flat.ends.tolist(), strict=True):
        seen: set[str] = set()
        for turn in range(start, end):
            if not long_enough[turn]:
                continue
            key = flat.lowers[turn]
            if "\n" in key:
                key = key.replace("\n", " ")
            if key in seen:
                repeated[turn] = True
            seen.add(key)
    return repeated


def trigram_repeats(flat: Flat) -> tuple[Ints, Ints]:
    """Word trigrams of each session, and how many of them stood before in it.

    Trigrams do not span turns; words are lower-cased, as typed.
    """
    words = flat.words
    total = flat.per_session(np.maximum(words - 2, 0))
    codes = _word_codes(flat)
    turn_session = np.repeat(np.arange(len(flat.ends)), flat.ends - flat.starts)
    word_turn = np.repeat(np.arange(len(words)), words)
    index = np.arange(len(word_turn))
    first = index[index + 2 < flat.word_offsets[word_turn + 1]] if len(index) else index
    distinct = (
        pl.DataFrame(
            {
                "session": turn_session[word_turn[first]],
                "pair": (codes[first].astype(np.uint64) << np.uint64(32))
                | codes[first + 1].astype(np.uint64),
                "third": codes[first + 2],
            }
        )
        .unique()
        .get_column("session")
        .to_numpy()
    )
    unique = np.bincount(distinct, minlength=len(flat.ends)).astype(np.int64)
    return total, total - unique


def _word_codes(flat: Flat) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """A number a word, equal exactly for equal lower-cased words, shape (words,)."""
    words = [word for turn in flat.lowers for word in turn.split()]
    book: dict[str, int] = {}
    codes = [book.setdefault(word, len(book)) for word in words]
    return np.array(codes, dtype=np.uint32)


def shortest_turn(flat: Flat) -> Ints:
    """10th percentile of words a turn by session: the ceil(N/10)-th smallest of N turns.

    That is the inverse of the empirical distribution (definition 1 of Hyndman and Fan 1996);
    with up to ten turns it is the shortest one.
    """
    words = flat.words
    session = np.repeat(np.arange(len(flat.ends)), flat.ends - flat.starts)
    ordered = words[np.lexsort((words, session))]
    n = flat.ends - flat.starts
    rank = np.maximum((n + 9) // 10, 1) - 1
    out = np.zeros(len(n), dtype=np.int64)
    some = n > 0
    out[some] = ordered[flat.starts[some] + rank[some]]
    return out


def echo_shares(flat: Flat, extra: RobustExtra) -> tuple[Ints, Bools]:
    """Share of a turn's long words that stand in the agent's last message, in millionths.

    Long words have 4 letters or more; each occurrence in the turn counts. Turns without a long
    word or without an agent message before them are not counted.

    Returns
    -------
    shares, counted
        Both of shape (turns,).
    """
    n = len(flat.turns)
    plain = np.fromiter(map(str.isascii, flat.lowers), dtype=np.bool_, count=n)
    agents = [text.lower() for text in extra.agents]
    agent_plain = np.fromiter(map(str.isascii, agents), dtype=np.bool_, count=len(agents))
    has_agent = extra.agent_of >= 0
    fast = plain & has_agent
    fast[fast] = agent_plain[extra.agent_of[fast]]
    long_words = np.zeros(n, dtype=np.int64)
    echoed = np.zeros(n, dtype=np.int64)
    if fast.any():
        _echo_fast(flat, agents, extra.agent_of, np.flatnonzero(fast), long_words, echoed)
    for turn in np.flatnonzero(has_agent & ~fast).tolist():
        words = _LONG_WORD_PYTHON.findall(flat.lowers[turn])
        if words:
            known = set(_LONG_WORD_PYTHON.findall(agents[extra.agent_of[turn]]))
            long_words[turn] = len(words)
            echoed[turn] = sum(word in known for word in words)
    counted = long_words > 0
    return echoed * ECHO_UNIT // np.maximum(long_words, 1), counted


def _echo_fast(
    flat: Flat, agents: list[str], agent_of: Ints, turns: Ints, long_words: Ints, echoed: Ints
) -> None:
    """Fill ``long_words`` and ``echoed`` for turns that, like their agent message, are ASCII."""
    used, index = np.unique(agent_of[turns], return_inverse=True)
    said = (
        pl.DataFrame({"agent": np.arange(len(used)), "word": [agents[i] for i in used.tolist()]})
        .lazy()
        .with_columns(pl.col("word").str.extract_all("[a-z]{4,}"))
        .explode("word")
    )
    typed = (
        pl.DataFrame({"turn": turns, "agent": index, "word": flat.text.gather(turns)})
        .lazy()
        .with_columns(pl.col("word").str.extract_all("[a-z]{4,}"))
        .explode("word")
        .filter(pl.col("word").is_not_null())
    )
    typed_frame = typed.collect()
    long_words += np.bincount(typed_frame["turn"].to_numpy(), minlength=len(long_words))
    hit = typed_frame.lazy().join(said, on=["agent", "word"], how="semi").collect()
    echoed += np.bincount(hit["turn"].to_numpy(), minlength=len(echoed))


__all__ = [
    "ECHO_UNIT",
    "echo_shares",
    "identifiers",
    "repeated_turns",
    "shortest_turn",
    "trigram_repeats",
]
