"""The profile `robust@2`: its features, scope and poles.

Poles are fixed here, never taken from data: a rate counts the pole that is rarer among people.
Every scored rate stands as it is: under half of the turns of people in STAR, and in the
published reference (short turns .29 to .32; only the terse customers of MultiDoGO reach .62).
*casual* is the one that is not rarer (.55), and it is not scored.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import Literal

from usi.extraction.content import CONTENT_COLUMNS
from usi.extraction.language_packs import load_pack, pack_languages
from usi.extraction.profile import FeatureProfile
from usi.extraction.robust.counting import COLUMNS, LEXICAL_COLUMNS, WORD_COLUMNS, count
from usi.extraction.robust.turns import REPAIR_COLUMNS, gather, heard
from usi.extraction.spec import Dimension, FeatureSpec, Scope
from usi.extraction.word_lists import load_word_lists
from usi.reasons import HARNESS

_PUBLISHED = "arXiv 2603.11245"
_CHARACTERS = frozenset({"short_turn", "dash", "repeated_turn", "several_sentences", "comma"})
"""Rates that characters and repeats decide, not words of a language."""
_MENDED = "arXiv 2603.11245, mended: lexicons/robust1.toml"
_STYLE = "lexicons/style1.toml"


def _rate(
    name: str,
    dimension: Dimension,
    description: str,
    *,
    column: str = "",
    scope: Scope = "any",
    scored: bool = True,
    tripwire: bool = False,
    pole: Literal["as_is", "complement"] = "as_is",
    source: str = _MENDED,
) -> FeatureSpec:
    return FeatureSpec(
        name=name,
        dimension=dimension,
        kind="rate",
        numerator=column or name,
        denominator="user_turns",
        scope=scope,
        scored=scored,
        tripwire=tripwire,
        pole=pole,
        lexical=name not in _CHARACTERS,
        description=description,
        source=source,
    )


_CONVERSATION = (
    _rate("politeness", "conversation", "turns with a word of courtesy", source=_PUBLISHED),
    _rate("short_turn", "conversation", "turns of at most three words", column="short"),
    _rate(
        "dash",
        "conversation",
        "turns with an em dash, or an en dash that is no range of numbers",
        tripwire=True,
    ),
    _rate("ack_only", "conversation", "turns that only acknowledge", column="ack"),
    FeatureSpec(
        name="verbosity_cv",
        dimension="conversation",
        kind="cv",
        numerator="words_sq",
        denominator="words",
        unit="population standard deviation over mean of words a turn",
        description="spread of turn lengths; 0 with one turn",
        source=_PUBLISHED,
    ),
    _rate(
        "repeated_turn",
        "conversation",
        "turns of four or more words that repeat an earlier turn word for word",
        column="repeated",
    ),
    _rate(
        "role_confusion",
        "conversation",
        "turns in which the user speaks as the agent, or writes a tool call",
        tripwire=True,
    ),
    FeatureSpec(
        name="turns_per_session",
        dimension="conversation",
        kind="count",
        numerator="user_turns",
        denominator="",
        unit="user turns a session",
        scope="paired",
        description="number of user turns; follows the task",
        source="arXiv 2603.11245 computes n_turns and scores it nowhere",
    ),
)

_INFORMATION = (
    FeatureSpec(
        name="info_frontload",
        dimension="information",
        kind="share",
        numerator="words_first_two",
        denominator="words",
        unit="share of words",
        scope="paired",
        description="words of the first two turns; follows the task",
        source=_PUBLISHED,
    ),
    FeatureSpec(
        name="identifiers",
        dimension="information",
        kind="mean",
        numerator="identifiers",
        denominator="user_turns",
        unit="tokens a turn",
        scope="paired",
        description="e-mail addresses, #-numbers, ids and codes; follows the task",
        source="arXiv 2603.11245, mended: no plain long words, times, prices or years",
    ),
    FeatureSpec(
        name="words_per_turn",
        dimension="information",
        kind="mean",
        numerator="words",
        denominator="user_turns",
        unit="words a turn",
        description="length of a turn",
        source=_PUBLISHED,
    ),
    FeatureSpec(
        name="opening_words",
        dimension="information",
        kind="count",
        numerator="words_first",
        denominator="",
        unit="words",
        description="length of the first turn",
        source=_PUBLISHED,
    ),
)

_CLARIFICATION = (
    _rate("uncertainty", "clarification", "turns with a hedge"),
    _rate("certainty", "clarification", "turns with a word of certainty"),
    _rate("pushback", "clarification", "turns that push back"),
    _rate("clarify", "clarification", "turns that ask what the agent meant"),
    _rate(
        "info_question",
        "clarification",
        "turns with another question, by its mark or its form",
        column="info",
    ),
)

_REACTION = (
    _rate("emotion", "reaction", "turns with a word of negative feeling"),
    _rate("accusation", "reaction", "turns that blame the agent"),
    _rate("pivot", "reaction", "turns that change course"),
)

_BESIDE = (
    _rate(
        "lack_of_information",
        "none",
        "turns in which the user does not have, know or remember something; follows the task",
        scope="paired",
        scored=False,
    ),
    _rate("request", "none", "info questions that ask the agent to do something", scored=False),
    FeatureSpec(
        name="trigram_share",
        dimension="none",
        kind="share",
        numerator="trigrams_repeated",
        denominator="trigrams",
        unit="share of word trigrams",
        scope="paired",
        scored=False,
        description="word trigrams that stood before in the session; beside repeated_turn",
        source="arXiv 2603.11245 counts sessions with a trigram more than ten times",
    ),
)

_CHANNEL = "differs by channel and platform"
_STYLE_FEATURES = (
    _rate(
        "casual",
        "style",
        "turns typed casually: lower-case first letter, no end mark, dropped apostrophe, "
        f"disfluency or misspelling; {_CHANNEL}",
        scored=False,
        pole="complement",
        source=_STYLE,
    ),
    FeatureSpec(
        name="echo",
        dimension="style",
        kind="share",
        numerator="echo",
        denominator="echo_units",
        unit="share of words",
        scored=False,
        description="mean over turns of the share of words of four or more letters that stand in "
        f"the agent's last message; {_CHANNEL}",
        source="own definition",
    ),
    _rate(
        "several_sentences",
        "style",
        f"turns of two or more sentences or lines; {_CHANNEL}",
        scored=False,
        source=_STYLE,
    ),
    _rate(
        "comma",
        "style",
        f"turns with a comma between words; {_CHANNEL}",
        scored=False,
        source=_STYLE,
    ),
    FeatureSpec(
        name="shortest_turn",
        dimension="style",
        kind="count",
        numerator="shortest",
        denominator="",
        unit="words",
        scored=False,
        description="10th percentile of words a turn, the ceil(N/10)-th smallest of N turns; "
        f"{_CHANNEL}",
        source="own definition",
    ),
    FeatureSpec(
        name="user_latency",
        dimension="style",
        kind="geometric",
        numerator="latency_log",
        denominator="latency_units",
        unit="seconds",
        scored=False,
        scale="ratio",
        harness=True,
        description="geometric mean of the time from the agent's last message to the user's turn, "
        f"where both have a time stamp; of times above 0; {HARNESS()}; {_CHANNEL}",
        source="own definition",
    ),
)

SPECS: tuple[FeatureSpec, ...] = (
    *_CONVERSATION,
    *_INFORMATION,
    *_CLARIFICATION,
    *_REACTION,
    *_BESIDE,
    *_STYLE_FEATURES,
)


@cache
def _for_language(language: str) -> FeatureProfile:
    """The profile with the word lists of a language; as it is where it has none."""
    if language not in pack_languages():
        return PROFILE
    pack = load_pack(language)
    return replace(PROFILE, lexicon=pack.tag, count=partial(count, pack=pack))


PROFILE = FeatureProfile(
    name="robust",
    version="2",
    lexicon="+".join(load_word_lists(stem).tag for stem in ("robust1", "style1", "context1")),
    specs=SPECS,
    columns=(*COLUMNS, *CONTENT_COLUMNS),
    gather=gather,
    count=count,
    types=CONTENT_COLUMNS,
    heard=heard,
    always=REPAIR_COLUMNS,
    without_denominator=None,
    for_language=_for_language,
    lexical_columns=LEXICAL_COLUMNS,
    word_columns=WORD_COLUMNS,
)
