"""Which turns count for which feature, and which characters make them count.

The marks come from the profile's own counting, given every turn as a session of its own, so a
report can't show another definition than the one that was scored. The sums over turns are those
of the session table (a test holds it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from usi.extraction.kernel import Flat, Gathered, Ints, project
from usi.extraction.lexicon import load_lexicon
from usi.extraction.profile import FeatureProfile
from usi.extraction.robust.turns import RobustExtra
from usi.extraction.robust.words import repeated_turns
from usi.extraction.word_lists import load_word_lists
from usi.records import Session, Side, Turn

TAU_LISTS = (
    "politeness", "ack", "uncertainty", "certainty", "emotion", "accusation", "pivot",
    "pushback", "clarify", "info", "id_confuse", "id_tokens",
)  # fmt: skip
ROBUST_LISTS = {
    **{
        name: ("robust1", name)
        for name in (
            "politeness", "ack", "role_confusion", "uncertainty", "lack_of_information",
            "certainty", "emotion", "accusation", "pivot", "pushback", "clarify", "request",
            "dash",
        )
    },
    "info": ("robust1", "info_question"),
    "comma": ("style1", "comma"),
    "several_sentences": ("style1", "several_sentences"),
}  # fmt: skip
IDENTIFIER = r"[0-9A-Za-z#@._+-]*[0-9D@][0-9A-Za-z#@._+-]*"
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Private characters: projected text is ASCII, so they can't stand in it."""


@dataclass(frozen=True)
class MarkedTurn:
    """A turn as it was counted.

    Attributes
    ----------
    message
        Its place in ``session.turns``.
    text
        After the profile's cleaning.
    counts
        Column of the session table -> what this turn adds to it (0 left out).
    """

    message: int
    text: str
    counts: dict[str, int]


def mark_sessions(
    sessions: Sequence[Session], profile: FeatureProfile, source: Side
) -> list[tuple[MarkedTurn, ...]]:
    """Turns of each session with what they add to the columns of the session table.

    Columns that only a whole session has (sums of squares, trigrams over turns) are not there.
    """
    conversations = [session.turns if session.status == "ok" else () for session in sessions]
    gathered = profile.gather(conversations, source)
    places = _places(conversations, profile, source)
    flat = Flat.build(gathered.turns, gathered.user_turns)
    single = _one_by_one(gathered)
    alone = Flat.build(gathered.turns, single.user_turns)
    columns: dict[str, Ints] = dict(profile.count(alone, single))
    columns["words"] = alone.words
    if "repeated" in columns:
        columns["repeated"] = repeated_turns(flat).astype(np.int64)
    kept = {
        name: values
        for name, values in columns.items()
        if not name.startswith(("rep_", "trigram")) and name not in ("repeat", "shortest")
    }
    marked, at = [], 0
    for place in places:
        rows = range(at, at + len(place))
        at += len(place)
        marked.append(
            tuple(
                MarkedTurn(
                    message,
                    gathered.turns[row],
                    {name: int(values[row]) for name, values in kept.items() if values[row]},
                )
                for message, row in zip(place, rows, strict=True)
            )
        )
    return marked


def _places(
    conversations: Sequence[Sequence[Turn]], profile: FeatureProfile, source: Side
) -> list[list[int]]:
    """Places of the messages that the profile keeps as turns of the user."""
    single = [
        (index, place, (turn,))
        for index, conversation in enumerate(conversations)
        for place, turn in enumerate(conversation)
        if turn.role == "user"
    ]
    kept = profile.gather([turn for _, _, turn in single], source).user_turns
    places: list[list[int]] = [[] for _ in conversations]
    for (index, place, _), turns in zip(single, kept.tolist(), strict=True):
        if turns:
            places[index].append(place)
    return places


def _one_by_one(gathered: Gathered) -> Gathered:
    """The same turns, each as a session of its own; what the agent said before stays known."""
    ones = np.ones(len(gathered.turns), dtype=np.int64)
    extra = gathered.extra
    if isinstance(extra, RobustExtra):
        none = np.zeros((len(ones), extra.repairs.shape[1]), dtype=np.int64)
        extra = replace(extra, repairs=none)
    return replace(gathered, user_turns=ones, messages=ones, extra=extra)


def spans(
    texts: Sequence[str], column: str, profile: FeatureProfile
) -> list[tuple[tuple[int, int], ...]]:
    """Character ranges that make each text count for a column; the whole text without a list."""
    pattern, mask = _patterns(column, profile)
    if pattern is None:
        return [((0, len(text)),) for text in texts]
    projected = project([text.lower() for text in texts])
    frame = pl.DataFrame({"text": pl.Series(projected, dtype=pl.String)})
    marks = frame.select(
        pl.col("text").str.replace_all(pattern, f"{_OPEN}${{0}}{_CLOSE}").alias("hit"),
        (
            pl.lit("")
            if mask is None
            else pl.col("text").str.replace_all(mask, f"{_OPEN}${{0}}{_CLOSE}")
        ).alias("mask"),
    )
    found: list[tuple[tuple[int, int], ...]] = []
    for text, flat, hit, masked in zip(
        texts, projected, marks["hit"].to_list(), marks["mask"].to_list(), strict=True
    ):
        if len(flat) != len(text):  # lower-casing made it longer: places are not known
            found.append(((0, len(text)),))
            continue
        hits, hidden = _ranges(hit), _ranges(masked)
        free = [r for r in hits if not any(a <= r[0] and r[1] <= b for a, b in hidden)]
        found.append(tuple(free or hits or [(0, len(text))]))
    return found


def _patterns(column: str, profile: FeatureProfile) -> tuple[str | None, str | None]:
    if profile.name == "tau-usi":
        if column not in TAU_LISTS:
            return None, None
        return load_lexicon("tau19")[column].pattern(), None
    if column == "identifiers":
        return IDENTIFIER, None
    if column in ROBUST_LISTS:
        stem, name = ROBUST_LISTS[column]
        if column == "dash":  # its list holds characters beyond ASCII, which projection hides
            return "\x01", None
        lists = load_word_lists(stem)
        return lists.pattern(name), lists.mask(name)
    return None, None


def _ranges(marked: str) -> list[tuple[int, int]]:
    """Where the private brackets stood, in places of the text without them."""
    found, start, at = [], 0, 0
    for char in marked:
        if char == _OPEN:
            start = at
        elif char == _CLOSE:
            if at > start:
                found.append((start, at))
        else:
            at += 1
    return found
