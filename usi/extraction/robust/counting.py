"""Counting the features of the profile `robust` by session."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import polars as pl

from usi.extraction.kernel import Bools, Flat, Gathered, Ints, project, repeated_trigram
from usi.extraction.language import ENGLISH
from usi.extraction.language_packs import Pack, load_pack
from usi.extraction.latency import LATENCY_COLUMNS
from usi.extraction.robust.turns import REPAIR_COLUMNS, RobustExtra
from usi.extraction.robust.words import (
    ECHO_UNIT,
    echo_shares,
    identifiers,
    repeated_turns,
    shortest_turn,
    trigram_repeats,
)
from usi.extraction.word_lists import MASK, WordLists, load_word_lists

SHORT_WORDS = 3
"""A turn of at most so many words is short."""
TRIGRAM_LIMIT = 10
"""A word trigram that stands more often than this makes the published repeat mark."""
_ROBUST = (
    "politeness",
    "ack",
    "role_confusion",
    "uncertainty",
    "lack_of_information",
    "certainty",
    "emotion",
    "accusation",
    "pivot",
)
_CASUAL = ("contraction", "disfluency", "misspelling")
_STYLE = ("several_sentences", "comma")
_FRUSTRATION = ("emotion", "accusation", "pushback")

COLUMNS: tuple[str, ...] = (
    "politeness",
    "short",
    "dash",
    "ack",
    "repeated",
    "trigrams",
    "trigrams_repeated",
    "trigram_flag",
    "role_confusion",
    "identifiers",
    "uncertainty",
    "lack_of_information",
    "certainty",
    "pushback",
    "clarify",
    "info",
    "request",
    "emotion",
    "accusation",
    "pivot",
    "casual",
    "echo",
    "echo_units",
    "several_sentences",
    "comma",
    "shortest",
    "frustration",
    "helped_turns",
    "helped_politeness",
    "failed_turns",
    "failed_frustration",
    *LATENCY_COLUMNS,
    *REPAIR_COLUMNS,
)
"""Integer columns of the profile, in order; turns a session unless said.

``repeated`` turns that repeat an earlier one, ``trigrams`` word trigrams, ``trigrams_repeated``
those that stood before in the session, ``trigram_flag`` 1 where one stands more than ten times,
``identifiers`` tokens, ``echo`` sum of shares in millionths, ``echo_units`` a million for each
turn that has a share, ``shortest`` 10th percentile of words a turn, ``frustration`` turns with a
word of negative feeling, blame or pushback, ``helped_turns`` and ``failed_turns`` turns that answer
an agent message in which the agent helped or failed, and courtesy or frustration among these;
then the times between turns (`LATENCY_COLUMNS`) and the repairs (`REPAIR_COLUMNS`).
"""


LEXICAL_COLUMNS = frozenset(
    {*_ROBUST, "pushback", "clarify", "info", "request", "casual", "frustration", "helped_turns",
     "helped_politeness", "failed_turns", "failed_frustration"}
)  # fmt: skip
"""Columns that word lists fill."""
WORD_COLUMNS = frozenset(
    {"words", "words_sq", "words_first", "words_first_two", "short", "repeated", "trigrams",
     "trigrams_repeated", "trigram_flag", "echo", "echo_units", "shortest"}
)  # fmt: skip
"""Columns that counting words fills."""


def count(flat: Flat, gathered: Gathered, *, pack: Pack | None = None) -> Mapping[str, Ints]:
    """Integer columns of the profile, each of shape (sessions,); `pack` has the word lists."""
    extra = gathered.extra
    if not isinstance(extra, RobustExtra):
        raise TypeError("the profile robust counts what its own gather has gathered")
    pack = pack or load_pack(ENGLISH)
    robust, style = pack.robust, pack.style
    text = flat.text
    by_turn = hits(text, robust, (*_ROBUST, "pushback", "clarify", "info_question", "request"))
    by_turn["clarify"] = by_turn["clarify"] & ~by_turn["pushback"]
    asked = by_turn["pushback"] | by_turn["clarify"]
    by_turn["info"] = by_turn.pop("info_question") & ~asked
    by_turn["request"] = by_turn["request"] & by_turn["info"]
    by_turn["short"] = flat.words <= SHORT_WORDS
    by_turn["dash"] = _by_turn(flat, dashed)
    style_hits = hits(text, style, (*_CASUAL, *_STYLE))
    by_turn["casual"] = (
        _by_turn(flat, lambda turn: turn[0].islower() or turn[-1].isalnum())
        | style_hits["contraction"]
        | style_hits["disfluency"]
        | style_hits["misspelling"]
    )
    by_turn |= {name: style_hits[name] for name in _STYLE}
    by_turn["frustration"] = np.logical_or.reduce([by_turn[name] for name in _FRUSTRATION])
    helped, failed = _agent_acts(extra, pack.context)
    by_turn |= {
        "helped_turns": helped,
        "helped_politeness": helped & by_turn["politeness"],
        "failed_turns": failed,
        "failed_frustration": failed & by_turn["frustration"],
    }
    columns = {name: flat.per_session(values) for name, values in by_turn.items()}
    columns["repeated"] = flat.per_session(repeated_turns(flat))
    columns["identifiers"] = flat.per_session(identifiers(text))
    shares, counted = echo_shares(flat, extra)
    columns["echo"] = flat.per_session(shares)
    columns["echo_units"] = flat.per_session(counted) * ECHO_UNIT
    columns["trigrams"], columns["trigrams_repeated"] = trigram_repeats(flat)
    columns["trigram_flag"] = repeated_trigram(flat, TRIGRAM_LIMIT).astype(np.int64)
    columns["shortest"] = shortest_turn(flat)
    gaps = extra.latency
    for name in LATENCY_COLUMNS:
        by_gap = getattr(gaps, name.removeprefix("latency_")) if gaps else None
        columns[name] = np.zeros_like(flat.ends) if by_gap is None else flat.per_session(by_gap)
    for i, name in enumerate(REPAIR_COLUMNS):
        columns[name] = extra.repairs[:, i]
    return columns


def _agent_acts(extra: RobustExtra, lists: WordLists) -> tuple[Bools, Bools]:
    """Turns that answer a message in which the agent helped, or failed (which goes first)."""
    said = pl.Series("text", project([text.lower() for text in extra.agents]), dtype=pl.String)
    found = hits(said, lists, ("helped", "failed"))
    # A last entry stands for "no agent message before": agent_of is -1 there.
    failed = np.append(found["failed"], False)
    helped = np.append(found["helped"], False) & ~failed
    return helped[extra.agent_of], failed[extra.agent_of]


def hits(text: pl.Series, lists: WordLists, names: tuple[str, ...]) -> dict[str, Bools]:
    """Whether each definition holds, by turn: found, and still found once spans are masked."""
    frame = pl.DataFrame({"text": text})
    found = frame.select(
        pl.col("text").str.contains(lists.pattern(name)).alias(name) for name in names
    )
    out: dict[str, Bools] = {}
    for name in names:
        hit = found[name].to_numpy().copy()
        mask = lists.mask(name)
        if mask is not None and hit.any():
            rest = text.filter(found[name]).str.replace_all(mask, MASK)
            hit[hit] = rest.str.contains(lists.pattern(name)).to_numpy()
        out[name] = hit
    return out


@cache
def _dash_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    entry = load_word_lists("robust1")["dash"]
    return re.compile("|".join(entry.free)), re.compile("|".join(entry.unless_free))


def dashed(turn: str) -> bool:
    """An em dash, or an en dash that is no range of numbers."""
    if turn.isascii():
        return False
    dash, number_range = _dash_patterns()
    return bool(dash.search(turn)) and dash.search(number_range.sub(MASK, turn)) is not None


def _by_turn(flat: Flat, holds: Callable[[str], bool]) -> Bools:
    return np.fromiter(map(holds, flat.turns), dtype=np.bool_, count=len(flat.turns))
