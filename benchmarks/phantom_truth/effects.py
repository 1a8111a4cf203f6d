"""What every planned turn counts for, in both profiles."""

from __future__ import annotations

import numpy as np

from usi.errors import unknown_name
from usi.phantom.drawn_sessions import ACK, MARK, STOCK, BoolArray, DrawnSessions, IntArray
from usi.phantom.wording import ACKS, FRAGMENTS, LOOP
from usi.phantom.wording import STOCK as STOCK_TEXT

_MARK_WORDS = np.array([FRAGMENTS[name].words for name in MARK], dtype=np.int64)
_LOOP_WORDS = len(LOOP.split())
_STOCK_WORDS = len(STOCK_TEXT.split())
_REPEATS = 10
"""A trigram that occurs more often than this makes a session repetitive (published)."""


def per_session(
    plan: DrawnSessions, values: np.ndarray[tuple[int], np.dtype[np.generic]]
) -> IntArray:
    """(sessions,) sums of (turns,) values."""
    return np.asarray(np.add.reduceat(values.astype(np.int64), plan.start), dtype=np.int64)


def turn_words(plan: DrawnSessions) -> IntArray:
    """(turns,) words of every turn."""
    words = plan.filler + plan.marks @ _MARK_WORDS
    words[plan.kind == STOCK] = _STOCK_WORDS
    words[plan.start[plan.repeat]] += _LOOP_WORDS
    return np.asarray(words, dtype=np.int64)


def core_counts(plan: DrawnSessions) -> dict[str, IntArray]:
    """The integer sums that both profiles have."""
    words = turn_words(plan)
    second = np.minimum(plan.turns, 2) - 1
    return {
        "n_turns": 2 * plan.turns,
        "user_turns": plan.turns,
        "words": per_session(plan, words),
        "words_sq": per_session(plan, words * words),
        "words_first": words[plan.start],
        "words_first_two": words[plan.start] + second * words[plan.start + second],
    }


def tau_usi_counts(plan: DrawnSessions) -> dict[str, IntArray]:
    """Count columns of the profile ``tau-usi``."""
    marks = {name: plan.marks[:, column] for name, column in MARK.items()}
    words = turn_words(plan)
    tokens = plan.long_words + marks["identifier"]
    stock = per_session(plan, plan.kind == STOCK)
    role = per_session(plan, marks["role"])
    repeat = plan.repeat | (stock > _REPEATS) | _fragment_loops(plan)

    def count(flags: np.ndarray[tuple[int], np.dtype[np.generic]]) -> IntArray:
        return per_session(plan, flags)

    return {
        "politeness": count(marks["politeness"]),
        "short": count(words <= 3),
        "dash": count(marks["dash"]),
        "ack": count(plan.kind == ACK),
        "repeat": repeat.astype(np.int64),
        "id_confuse": (role > 0).astype(np.int64),
        "id_tokens": count(tokens),
        "uncertainty": count(marks["uncertainty"] | marks["lack"]),
        "certainty": count(marks["certainty"]),
        "pushback": count(marks["pushback"]),
        "clarify": count(marks["clarify"]),
        "info": count(marks["info"]),
        "emotion": count(marks["emotion"]),
        "accusation": count(marks["accusation"]),
        "pivot": count(marks["pivot"]),
    }


def _fragment_loops(plan: DrawnSessions) -> BoolArray:
    """Sessions in which one wording of three or more words stands in too many turns."""
    found = np.zeros(len(plan), dtype=np.bool_)
    if not (plan.turns > _REPEATS).any():
        return found
    info = plan.marks[:, MARK["info"]]
    for name, fragment in FRAGMENTS.items():
        if fragment.words < 3:
            continue
        if name in ("info", "request"):
            has = info & (plan.request == (name == "request"))
        else:
            has = plan.marks[:, MARK[name]]
        which = plan.wording % len(fragment.wordings)
        for wording in range(len(fragment.wordings)):
            found |= per_session(plan, has & (which == wording)) > _REPEATS
    return found


def _shortest(plan: DrawnSessions, words: IntArray) -> IntArray:
    """(sessions,) the ceil(N / 10)-th smallest number of words of a session's N turns."""
    ordered = words[np.lexsort((words, plan.session))]
    return np.asarray(ordered[plan.start + (plan.turns + 9) // 10 - 1], dtype=np.int64)


def _later(plan: DrawnSessions, flags: BoolArray) -> IntArray:
    """(sessions,) flagged turns that are not the first flagged one of their session."""
    return np.maximum(per_session(plan, flags) - 1, 0)


def _has_long_word(plan: DrawnSessions) -> BoolArray:
    """(turns,) whether a turn holds a word of four or more letters (all counted for echo)."""
    silent = ("dash", "several", "comma", "identifier")
    speaking = [column for name, column in MARK.items() if name not in silent]
    found = (plan.long_words > 0) | plan.marks[:, speaking].any(axis=1) | (plan.kind == STOCK)
    long = np.array([len(word) >= 4 for word in ACKS])
    found = np.where(plan.kind == ACK, long[plan.wording % len(ACKS)], found)
    return np.asarray(found, dtype=np.bool_)  # no other short turn has one


def robust_counts(plan: DrawnSessions, *, stopped: bool = True) -> dict[str, IntArray | None]:
    """Count columns of the profile ``robust``.

    ``trigrams_repeated`` depends on the filler words and is null: it belongs to no dimension and
    has no planned value. Every column not named here is 0 in a phantom.
    """
    marks = {name: plan.marks[:, column] for name, column in MARK.items()}
    words = turn_words(plan)
    info = marks["info"]
    flags = {
        "politeness": marks["politeness"],
        "short": words <= 3,
        "dash": marks["dash"],
        "ack": plan.kind == ACK,
        "role_confusion": marks["role"],
        "identifiers": marks["identifier"],
        "uncertainty": marks["uncertainty"],
        "lack_of_information": marks["lack"],
        "certainty": marks["certainty"],
        "pushback": marks["pushback"],
        "clarify": marks["clarify"],
        "info": info,
        "request": plan.request,
        "emotion": marks["emotion"],
        "accusation": marks["accusation"],
        "pivot": marks["pivot"],
        "frustration": marks["emotion"] | marks["accusation"] | marks["pushback"],
        "casual": plan.casual,
        "several_sentences": marks["several"],
        "comma": marks["comma"],
    }
    counts: dict[str, IntArray | None] = {
        name: per_session(plan, values) for name, values in flags.items()
    }
    counts["repeated"] = _later(plan, plan.kind == STOCK)
    counts["trigrams"] = per_session(plan, np.maximum(words - 2, 0))
    counts["trigrams_repeated"] = None
    counts["trigram_flag"] = tau_usi_counts(plan)["repeat"]
    counts["echo_units"] = 1_000_000 * per_session(plan, _has_long_word(plan))
    counts["shortest"] = _shortest(plan, words)
    counts["rep_no_turn_stop"] = np.full(len(plan), int(stopped), dtype=np.int64)
    return counts


def profile_counts(plan: DrawnSessions, profile: str) -> dict[str, IntArray | None]:
    """Count columns of a profile; ``None`` is a column without planned values."""
    from usi.extraction.profile import PROFILES, get_feature_profile

    if profile == "tau-usi":
        return dict(tau_usi_counts(plan))
    if profile.partition("@")[0] != "robust":
        raise unknown_name("profile", profile, PROFILES)
    known = robust_counts(plan)
    zero = np.zeros(len(plan), dtype=np.int64)
    return {name: known.get(name, zero) for name in get_feature_profile(profile).columns}
