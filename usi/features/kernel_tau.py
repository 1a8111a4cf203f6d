"""Counting the published 19 features by session (profile ``tau-usi``)."""

from __future__ import annotations

import numpy as np

from usi.features.clean_tau import gather
from usi.features.kernel import Flat, Gathered, Ints
from usi.features.kernel_project import wide_turns
from usi.features.kernel_repeat import repeated_trigram
from usi.features.lexicon import load_lexicon
from usi.features.profile import Profile
from usi.features.spec import FeatureSpec

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

PROFILE = Profile(
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
