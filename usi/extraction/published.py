"""Counting the published 19 features by session (profile ``tau-usi``).

Cleaning of the published metric: what is dropped, and how content becomes text.

It differs by source: people typed into a canvas with slash commands, simulators end with a stop
token (arXiv 2603.11245, public scorer). Oddities are kept: a null content is the word ``None``,
a list of parts its Python text.

Removing agent markup from a user turn, in one pass and linear time.

The published definition is a lazy regular expression; on tags that are never closed it looks to
the end of the text again and again. This scanner finds exactly what that expression finds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from usi.extraction.kernel import Flat, Gathered, Ints, repeated_trigram, wide_turns
from usi.extraction.lexicon import load_lexicon
from usi.extraction.profile import FeatureProfile
from usi.extraction.spec import FeatureSpec
from usi.records import MISSING, Side, Turn

_CALL = "<function="
_CLOSING = {"<|think|>": "<|/think|>", _CALL: "</function>", "<|tool|>": "<|/tool|>"}


def strip_markup(text: str) -> str:
    r"""Text without think, tool and function markup, whichever opens first, left to right.

    ``<|think|>...<|/think|>`` and ``<|tool|>...<|/tool|>`` go only where they are closed;
    ``<function=`` goes up to ``</function>``, else to the end of the text except one final
    newline (arXiv 2603.11245, public scorer).

    >>> strip_markup("a<|think|>b<|/think|>c<function=d\n")
    'ac\n'
    >>> strip_markup("<|think|>never closed")
    '<|think|>never closed'
    """
    # Next opening of each kind. A kind leaves when it has no opening left, or none that can
    # still be closed: what is not closed from here is not closed from further on either.
    following = {opening: text.find(opening) for opening in _CLOSING if opening in text}
    kept: list[str] = []
    position = 0  # all before it is dealt with
    while following:
        opening = min(following, key=following.__getitem__)
        start = following[opening]
        stop = _end(text, opening, start + len(opening))
        if stop < 0:
            del following[opening]
            continue
        kept.append(text[position:start])
        position = stop
        for kind in [kind for kind, place in following.items() if place < position]:
            place = text.find(kind, position)
            if place < 0:
                del following[kind]
            else:
                following[kind] = place
    kept.append(text[position:])
    return "".join(kept)


def _end(text: str, opening: str, start: int) -> int:
    """Where the markup ends whose opening ends at ``start``; -1 where it is not closed."""
    closing = _CLOSING[opening]
    found = text.find(closing, start)
    if found >= 0:
        return found + len(closing)
    if opening != _CALL:
        return -1
    return len(text) - text.endswith("\n")


_COMMANDS = ("\\tau ", "\\reward")
_CANVAS, _HIGHLIGHT, _SURVEY = "<|canvas|>", "<|highlight|>", "<|survey|>"
_HUMAN_STOP = "/stop"
_SIMULATED_STOP = "###STOP###"


def text_of(content: object) -> str:
    """Content as text: missing is empty, all else what Python's ``str`` makes of it."""
    return "" if content is MISSING else str(content)


def dropped_human(text: str) -> bool:
    """Whether a message of a human session is a command or belongs to the canvas."""
    return (
        text.strip() == _HUMAN_STOP
        or (text[:1] == "\\" and text.startswith(_COMMANDS))
        or ("<" in text and (_CANVAS in text or _HIGHLIGHT in text or _SURVEY in text))
    )


def dropped_simulated(text: str) -> bool:
    """Whether a message of a simulated session is the stop token alone."""
    return text.strip() == _SIMULATED_STOP


def gather(conversations: Sequence[Sequence[Turn]], source: Side) -> Gathered:
    """Cleaned user turns of a block of conversations; actions are no messages at all."""
    dropped = dropped_human if source == "human" else dropped_simulated
    turns: list[str] = []
    user_turns: list[int] = []
    messages: list[int] = []
    for conversation in conversations:
        kept = 0
        before = len(turns)
        for turn in conversation:
            content = turn.content
            user = turn.role == "user"
            if user and turn.tool_calls and turn.is_action:
                continue
            text = content if type(content) is str else text_of(content)
            if dropped(text):
                continue
            kept += 1
            if user:
                turns.append(strip_markup(text) if "<" in text else text)
        user_turns.append(len(turns) - before)
        messages.append(kept)
    return Gathered(turns, np.array(user_turns, dtype=np.int64), np.array(messages, dtype=np.int64))


SHORT_WORDS = 3
"""A turn of at most so many words is short."""
REPEAT_LIMIT = 10
"""A trigram must stand more often than this to count as repeated."""
_DASHES = ("\u2014", "\u2013")
_SOURCE = "arXiv 2603.11245"
_INDEPENDENT = ("politeness", "ack", "uncertainty", "certainty", "emotion", "accusation", "pivot")
_QUESTIONS = ("pushback", "clarify", "info")  # the first that matches takes the turn
_RARE = ("emotion", "accusation", "certainty", "pushback", "clarify", "id_confuse")
"""Searched together first; in real conversations about one turn in ten has any of them."""


def count(flat: Flat, gathered: Gathered) -> dict[str, Ints]:
    """Integer columns of the profile, each of shape (sessions,)."""
    lexicon = load_lexicon("tau19")
    searched = (*_INDEPENDENT, *_QUESTIONS, "id_confuse")
    hits = flat.hits({name: lexicon[name].pattern() for name in searched}, rare=_RARE)
    free = np.ones(len(flat.turns), dtype=np.bool_)
    for name in _QUESTIONS:
        hits[name] = hits[name] & free
        free = free & ~hits[name]
    dash = np.zeros(len(flat.turns), dtype=np.bool_)
    for index in wide_turns(flat.turns):
        dash[index] = any(mark in flat.turns[index] for mark in _DASHES)
    by_turn = {name: hits[name] for name in (*_INDEPENDENT, *_QUESTIONS)}
    by_turn["short"] = flat.words <= SHORT_WORDS
    by_turn["dash"] = dash
    columns = {name: flat.per_session(values) for name, values in by_turn.items()}
    columns["id_tokens"] = flat.per_session(flat.matches(lexicon["id_tokens"].pattern()))
    columns["id_confuse"] = (flat.per_session(hits["id_confuse"]) > 0).astype(np.int64)
    columns["repeat"] = repeated_trigram(flat, REPEAT_LIMIT).astype(np.int64)
    return columns


def _rate(name: str, dimension: str, column: str, description: str) -> FeatureSpec:
    return FeatureSpec(
        name=name,
        dimension=dimension,  # type: ignore[arg-type]
        kind="rate",
        numerator=column,
        denominator="user_turns",
        percent=True,
        description=description,
        source=_SOURCE,
    )


SPECS: tuple[FeatureSpec, ...] = (
    _rate("politeness_rate", "conversation", "politeness", "turns with a word of courtesy"),
    _rate("short_msg_rate", "conversation", "short", "turns of at most three words"),
    _rate("formality_rate", "conversation", "dash", "turns with an em or en dash"),
    _rate("ack_only_rate", "conversation", "ack", "turns that only acknowledge"),
    FeatureSpec(
        name="verbosity_cv",
        dimension="conversation",
        kind="cv",
        numerator="words_sq",
        denominator="words",
        unit="population standard deviation over mean of words a turn",
        description="spread of turn lengths; 0 with one turn or no words",
        source=_SOURCE,
    ),
    FeatureSpec(
        name="repeat_rate",
        dimension="conversation",
        kind="flag",
        numerator="repeat",
        denominator="",
        percent=True,
        unit="share of sessions",
        description="a word trigram stands more than ten times in the session",
        source=_SOURCE,
    ),
    FeatureSpec(
        name="id_confuse_rate",
        dimension="conversation",
        kind="flag",
        numerator="id_confuse",
        denominator="",
        percent=True,
        unit="share of sessions",
        description="the user speaks as the agent somewhere in the session",
        source=_SOURCE,
    ),
    FeatureSpec(
        name="info_frontload",
        dimension="information",
        kind="share",
        numerator="words_first_two",
        denominator="words",
        percent=True,
        unit="share of words",
        description="words of the first two turns; 0 without words",
        source=_SOURCE,
    ),
    FeatureSpec(
        name="id_density",
        dimension="information",
        kind="mean",
        numerator="id_tokens",
        denominator="user_turns",
        unit="tokens a turn",
        description="tokens shaped like an identifier (every run of six letters is one)",
        source=_SOURCE,
    ),
    FeatureSpec(
        name="user_words_per_turn",
        dimension="information",
        kind="mean",
        numerator="words",
        denominator="user_turns",
        unit="words a turn",
        description="length of a turn",
        source=_SOURCE,
    ),
    FeatureSpec(
        name="opening_words",
        dimension="information",
        kind="count",
        numerator="words_first",
        denominator="",
        unit="words",
        description="length of the first turn",
        source=_SOURCE,
    ),
    _rate("uncertainty_rate", "clarification", "uncertainty", "turns with a hedge"),
    _rate("certainty_rate", "clarification", "certainty", "turns with a word of certainty"),
    _rate("pushback_q_rate", "clarification", "pushback", "turns that push back"),
    _rate("clarify_q_rate", "clarification", "clarify", "turns that ask what was meant"),
    _rate("info_q_rate", "clarification", "info", "turns that ask for information"),
    _rate("emotion_rate", "reaction", "emotion", "turns with a word of negative feeling"),
    _rate("accusation_rate", "reaction", "accusation", "turns with a word of blame"),
    _rate("pivot_rate", "reaction", "pivot", "turns that change course"),
)

PROFILE = FeatureProfile(
    name="tau-usi",
    version="1",
    lexicon=load_lexicon("tau19").tag,
    specs=SPECS,
    columns=(
        "politeness",
        "short",
        "dash",
        "ack",
        "repeat",
        "id_confuse",
        "id_tokens",
        "uncertainty",
        "certainty",
        "pushback",
        "clarify",
        "info",
        "emotion",
        "accusation",
        "pivot",
    ),
    gather=gather,
    count=count,
    without_denominator=0.0,
)
