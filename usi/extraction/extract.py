"""From sessions to the rows of the session table, block by block.

Blocks keep memory constant; every number is an integer of one session, so rows do not depend on
where a block ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from usi.errors import UsageError
from usi.extraction.content import (
    CONTENT_COLUMNS,
    Choice,
    Names,
    content_columns,
    priority,
    thinned,
)
from usi.extraction.kernel import Flat, Gathered, Ints, core_counts
from usi.extraction.language import ENGLISH, known_code, language_of
from usi.extraction.language_packs import pack_languages, reason_of, word_lists_of
from usi.extraction.profile import FeatureProfile, get_feature_profile
from usi.extraction.segment import can_segment, needs_segmenting, segmented
from usi.extraction.spec import CORE_COUNTS, IDENTITY_SCHEMA
from usi.extraction.table import SessionTable, table_schema
from usi.records import MISSING, SIDES, Session, Side

BLOCK = 4096
"""Sessions a block, where nobody says otherwise: larger is a little faster and takes memory."""
BLOCK_CHARACTERS = 12 * 2**20
"""A block ends early at about so many characters, whatever the number of its sessions."""
_CONTENT = attrgetter("content")


def extract(
    sessions: Iterable[Session],
    *,
    profile: str,
    side: Side,
    source: Side | None = None,
    block: int = BLOCK,
    language: str | None = None,
    names: Names | None = None,
    words: bool = True,
) -> Iterator[pl.DataFrame]:
    """Compute the session table of a stream of sessions, one frame a block, in input order.

    Parameters
    ----------
    sessions
        Read once, never held longer than a block.
    profile
        Name in `usi.extraction.profile.PROFILES`.
    side
        What the sessions are in the comparison: the human reference or a candidate.
    source
        Whose cleaning applies; by default that of ``side``.
    block
        Sessions a frame, at least 1. It changes no number.
    language
        Language of sessions that declare none.
    names
        Takes the words behind the numbers, where the profile keeps hashed words.
    words
        Whether hashed words are kept, where the profile has them.

    Yields
    ------
    pl.DataFrame
        Columns `IDENTITY_SCHEMA`, `CORE_COUNTS`, then the profile's own. Counts are null unless
        the status is ``ok``; the key columns task, run and batch are null.

    Raises
    ------
    UsageError
        For an unknown profile, side or source, or a block below 1.
    """
    own = TableOptions(profile=profile, side=side, source=source, language=language, words=words)
    kept = [Kept(Choice(), names) if words else None]
    return (frames[0] for frames in _blocks(sessions, [own], block, kept))


@dataclass
class Kept:
    """Which words of the sessions are kept: the sessions, and the words behind the numbers."""

    choice: Choice
    names: Names | None


def extract_table(
    sessions: Iterable[Session],
    *,
    profile: str,
    side: Side,
    source: Side | None = None,
    block: int = BLOCK,
    language: str | None = None,
    words: bool = True,
) -> SessionTable:
    """Compute the session table of sessions that fit into memory; parameters as `extract`."""
    own = TableOptions(profile=profile, side=side, source=source, language=language, words=words)
    return extract_tables(sessions, [own], block=block)[0]


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """One session table of a stream; see `extract`.

    Attributes
    ----------
    change
        What is made of the sessions of a block before they are counted, one for each.
    words
        Whether hashed words are kept, where the profile has them.

    Raises
    ------
    UsageError
        For an unknown profile, side or source.
    """

    profile: str
    side: Side
    source: Side | None = None
    language: str | None = None
    change: Callable[[Iterable[Session]], Iterator[Session]] | None = None
    words: bool = True

    def __post_init__(self) -> None:
        get_feature_profile(self.profile)
        for name, value in (("side", self.side), ("source", self.cleaning)):
            if value not in SIDES:
                raise UsageError(f"{name} is {value!r}; it must be one of {', '.join(SIDES)}")
        known_code(self.language)

    @property
    def cleaning(self) -> Side:
        """Whose cleaning applies."""
        return self.source or self.side


def extract_tables(
    sessions: Iterable[Session], tables: Sequence[TableOptions], *, block: int = BLOCK
) -> list[SessionTable]:
    """Compute several session tables of one stream, which is read once.

    Parameters
    ----------
    sessions
        Held no longer than a block.
    tables
        One or more; the tables have their order.
    block
        As in `extract`.
    """
    kept = [Kept(Choice(), Names()) if own.words else None for own in tables]
    blocks = list(_blocks(sessions, tables, block, kept))
    found = []
    for place, own in enumerate(tables):
        profile = get_feature_profile(own.profile)
        frames = [frames[place] for frames in blocks]
        frame = pl.concat(frames) if frames else pl.DataFrame(schema=table_schema(profile))
        words = kept[place]
        found.append(
            SessionTable(
                frame=frame if words is None else thinned(frame),
                profile=profile.name,
                lexicon=profile.lexicon,
                names=Names() if words is None or words.names is None else words.names,
            )
        )
    return found


def _blocks(
    sessions: Iterable[Session],
    tables: Sequence[TableOptions],
    block: int,
    kept: Sequence[Kept | None],
) -> Iterator[list[pl.DataFrame]]:
    """The frames of every table, block by block; a wrong block is refused at once."""
    if block < 1:
        raise UsageError(f"a block holds at least 1 session, not {block}")
    return _frames(_chunks(sessions, block), tables, kept)


def _frames(
    chunks: Iterable[list[Session]],
    tables: Sequence[TableOptions],
    kept: Sequence[Kept | None],
) -> Iterator[list[pl.DataFrame]]:
    profiles = [get_feature_profile(own.profile) for own in tables]
    languages = [known_code(own.language) for own in tables]
    seq = 0
    for chunk in chunks:
        frames = []
        for own, profile, language, words in zip(tables, profiles, languages, kept, strict=True):
            counted = chunk if own.change is None else list(own.change(chunk))
            frames.append(_frame(counted, profile, own.side, own.cleaning, seq, language, words))
        yield frames
        seq += len(chunk)


def _chunks(sessions: Iterable[Session], block: int) -> Iterator[list[Session]]:
    """Sessions in lists of at most `block`, which end early where the texts are long."""
    chunk: list[Session] = []
    characters = 0
    for session in sessions:
        chunk.append(session)
        characters += _size(session)
        if len(chunk) == block or characters >= BLOCK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _size(session: Session) -> int:
    try:
        return sum(map(len, map(_CONTENT, session.turns)))
    except TypeError:  # some content is no text
        return sum(len(turn.content) for turn in session.turns if type(turn.content) is str)


def _frame(
    sessions: Sequence[Session],
    profile: FeatureProfile,
    side: Side,
    source: Side,
    seq: int,
    language: str | None,
    kept: Kept | None,
) -> pl.DataFrame:
    columns = _identity(sessions, side, seq)
    if profile.for_language is None:
        numbers, spoke = _numbers(sessions, profile, source, kept)
    else:
        codes = [language_of(session, language) or ENGLISH for session in sessions]
        numbers, spoke, reasons = _by_language(sessions, profile, source, codes, kept)
        columns["language"] = _series("language", codes, pl.String())
        lists = {code: word_lists_of(code) for code in set(codes)}
        columns["word_lists"] = _series("word_lists", [lists[c] for c in codes], pl.String())
        if any(reasons):
            columns["status_reason"] = _with_reasons(columns["status_reason"], reasons)
    columns["status"] = pl.Series(
        "status",
        [
            session.status if session.status != "ok" or user_turns else "no_user_turn"
            for session, user_turns in zip(sessions, spoke.tolist(), strict=True)
        ],
        dtype=pl.String,
    )
    frame = pl.DataFrame([columns[name] for name in IDENTITY_SCHEMA])
    if not spoke.all():
        mask = pl.Series(spoke)
        numbers = numbers.with_columns(
            pl.when(mask).then(pl.exclude(profile.always)).otherwise(None)
        )
    return frame.hstack(numbers)


def _numbers(
    sessions: Sequence[Session],
    profile: FeatureProfile,
    source: Side,
    kept: Kept | None,
    language: str = ENGLISH,
) -> tuple[pl.DataFrame, npt.NDArray[np.bool_]]:
    """Counts and words of sessions, and which of them have a turn of the user."""
    conversations = [session.turns if session.status == "ok" else () for session in sessions]
    gathered = profile.gather(conversations, source)
    if needs_segmenting(language):
        gathered = replace(gathered, turns=segmented(gathered.turns, language))
    flat = Flat.build(gathered.turns, gathered.user_turns)
    counts: dict[str, Any] = {**core_counts(flat, gathered), **profile.count(flat, gathered)}
    if profile.heard is not None:
        counts |= _words(sessions, gathered, *profile.heard(gathered), kept)
    names = (*CORE_COUNTS, *profile.columns)
    return pl.DataFrame({name: counts[name] for name in names}), gathered.user_turns > 0


def _words(
    sessions: Sequence[Session],
    gathered: Gathered,
    agents: Sequence[str],
    agent_of: Ints,
    kept: Kept | None,
) -> dict[str, pl.Series]:
    """Hashed words of those sessions that are chosen to keep theirs."""
    if kept is None:
        nothing = [None] * len(sessions)
        return {n: pl.Series(n, nothing, dtype=dtype) for n, dtype in CONTENT_COLUMNS.items()}
    mask = np.array(
        [kept.choice.see(priority(s.task_id, s.session_id)) for s in sessions], dtype=np.bool_
    )
    return content_columns(gathered.turns, gathered.user_turns, agents, agent_of, mask, kept.names)


def _by_language(
    sessions: Sequence[Session],
    profile: FeatureProfile,
    source: Side,
    codes: Sequence[str],
    kept: Kept | None,
) -> tuple[pl.DataFrame, npt.NDArray[np.bool_], list[str | None]]:
    """As `_numbers`, every session with the word lists of its language, if there are any."""
    found = sorted(set(codes))
    if found in ([], [ENGLISH]) or profile.for_language is None:
        return *_numbers(sessions, profile, source, kept), []
    frames, places = [], []
    spoke = np.zeros(len(sessions), dtype=np.bool_)
    reasons: list[str | None] = [None] * len(sessions)
    for code in found:
        at = [i for i, own in enumerate(codes) if own == code]
        words = not needs_segmenting(code) or can_segment(code)
        chosen = profile.for_language(code)
        numbers, talked = _numbers([sessions[i] for i in at], chosen, source, kept, code)
        lists = code == ENGLISH or code in pack_languages()
        empty = (frozenset() if lists else profile.lexical_columns) | (
            frozenset() if words else profile.word_columns
        )
        if empty:
            numbers = numbers.with_columns(
                pl.lit(None, numbers.schema[name]).alias(name) for name in sorted(empty)
            )
        frames.append(numbers)
        places += at
        spoke[at] = talked
        for i in at:
            reasons[i] = reason_of(code, words=words)
    order = pl.Series("place", places)
    joined = pl.concat(frames).with_columns(order).sort("place").drop("place")
    return joined, spoke, reasons


def _with_reasons(own: pl.Series, reasons: Sequence[str | None]) -> pl.Series:
    """What the harness says of a session goes before what its language says."""
    values = [a if a is not None else b for a, b in zip(own.to_list(), reasons, strict=True)]
    return _series("status_reason", values, pl.String())


def _identity(sessions: Sequence[Session], side: Side, seq: int) -> dict[str, pl.Series]:
    n = len(sessions)
    nothing = [None] * n
    values: dict[str, Any] = {
        "seq": np.arange(seq, seq + n, dtype=np.int64),
        "session_id": [s.session_id for s in sessions],
        "side": [side] * n,
        "simulator": [s.simulator for s in sessions],
        "domain": [s.domain for s in sessions],
        "task_id": [s.task_id for s in sessions],
        "trial": [s.trial for s in sessions],
        "batch_id": [s.batch for s in sessions],
        "layout": [s.layout for s in sessions],
        "task": nothing,
        "run": nothing,
        "batch": nothing,
        "participant": [s.participant for s in sessions],
        "agent": [s.agent for s in sessions],
        "status": nothing,
        "status_reason": [s.status_reason for s in sessions],
        "language": nothing,
        "word_lists": nothing,
        "keep": [s.keep is MISSING or bool(s.keep) for s in sessions],
        "keep_is_false": [s.keep is False for s in sessions],
        "reward": [s.outcome.reward for s in sessions],
        "outcome_label": [s.outcome.label for s in sessions],
        "termination": [s.outcome.termination for s in sessions],
        "survey": [_survey(s) for s in sessions],
        "error_tags": [None if s.error_tags is None else ",".join(s.error_tags) for s in sessions],
    }
    return {name: _series(name, values[name], dtype) for name, dtype in IDENTITY_SCHEMA.items()}


def _series(name: str, values: Any, dtype: pl.DataType) -> pl.Series:
    try:
        return pl.Series(name, values, dtype=dtype)
    except UnicodeEncodeError:  # a lone surrogate in a name; shown as an escape
        shown = [
            value if value is None else value.encode("utf-8", "backslashreplace").decode()
            for value in values
        ]
        return pl.Series(name, shown, dtype=dtype)


def _survey(session: Session) -> str | None:
    if session.survey is None:
        return None
    return json.dumps({a.item: a.answer for a in session.survey}, sort_keys=True)
