"""What a population's values and scores truly are: expectations, no estimates.

Rates, words and identifiers follow by Gauss-Hermite sums (`usi.phantom.population`); outcome by
the same over the difficulties of the frozen map. What is not linear in a session's counts (the
variation of words, the share of the first two turns, geometric means) is taken from one fixed
reference draw of `REFERENCE_SESSIONS` sessions on as many new tasks, the same random numbers for
every spec; its Monte-Carlo error on a Dice score is below 0.2 points. The super-population has
endlessly many tasks with difficulties of the frozen map.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from phantom_truth.counts import count_frame
from phantom_truth.tasks import sample_tasks
from usi.phantom.drawn_sessions import draw
from usi.phantom.population import FloatArray, Population, hermite, resolve
from usi.phantom.spec import MARK_NAMES, PhantomSpec
from usi.phantom.tasks import published_difficulty
from usi.phantom.wording import FRAGMENTS, LOOP
from usi.phantom.wording import STOCK as STOCK_TEXT

REFERENCE_SESSIONS = 100_000
_BLOCK = 20_000
_SEED = 20_260_311


def mark_rates(population: Population) -> dict[str, FloatArray]:
    """Mark -> rate in a long turn given Z, precedence of the question classes applied."""
    rates = {name: population.given_z(name) for name in MARK_NAMES}
    rates["clarify"] = rates["clarify"] * (1 - rates["pushback"])
    rates["info"] = rates["info"] * (1 - rates["pushback"]) * (1 - population.given_z("clarify"))
    return rates


def _session_flag(population: Population, name: str) -> float:
    """P(at least one turn of a session holds the mark)."""
    inner = hermite()[1]
    intercept = population.intercepts[name]
    if intercept == -math.inf:
        return 0.0
    q = population.conditional(population.spec.rate(name), intercept)  # (Z, rest)
    short = population.conditional(population.spec.rate("short"), population.intercepts["short"])
    long = (1 - short) * (1 - population.given_z("stock"))[:, None]  # (Z, rest of short)
    none_later = 1 - q[:, :, None] * long[:, None, :]
    none = np.zeros_like(none_later)
    power = np.ones_like(none_later)
    for weight in population.turns_pmf[1:]:  # N = 1, 2, ...
        none += weight * power
        power = power * none_later
    none *= (1 - q)[:, :, None]
    return 1 - population.expect(np.einsum("zqs,q,s->z", none, inner, inner))


def exact_values(spec: PhantomSpec) -> dict[str, float]:
    """Expected session values of everything that has a closed sum, by phantom name.

    Returns
    -------
    dict
        Rates (share of user turns) of every mark and kind of turn, ``request``,
        ``uncertainty_or_lack``; of sessions: ``role_session``, ``repeat``; ``words_per_turn``,
        ``opening_words``, ``long_tokens`` (a turn), ``turns`` and ``success``.
    """
    p = resolve(spec)
    m, later = p.first_share, 1 - p.first_share
    rates = mark_rates(p)
    values = {name: p.expect(p.long_share * rate) for name, rate in rates.items()}
    short = p.given_z("short")
    values["short"] = later * p.expect(short)
    values["ack"] = later * p.expect(short * p.given_z("ack"))
    values["stock"] = later * p.expect((1 - short) * p.given_z("stock"))
    values["casual"] = spec.rate("casual").mean
    values["request"] = values["info"] * spec.request_share
    either = 1 - (1 - rates["uncertainty"]) * (1 - rates["lack"])
    values["uncertainty_or_lack"] = p.expect(p.long_share * either)
    values["role_session"] = _session_flag(p, "role")
    values["repeat"] = p.expect(p.given_z("repeat"))

    loop = values["repeat"] * len(LOOP.split())
    in_marks = {name: FRAGMENTS[name].words for name in MARK_NAMES}
    first, rest = p.filler_mean(spec.opening), p.filler_mean(1.0)
    one, two, three = spec.short_words
    few = (one + 2 * two + 3 * three) / (one + two + three)
    values["opening_words"] = loop + p.expect(
        first + sum(rates[name] * words for name, words in in_marks.items())
    )
    values["words_per_turn"] = (
        p.expect(m * first + later * p.long_later * rest)
        + sum(values[name] * words for name, words in in_marks.items())
        + (values["short"] - values["ack"]) * few
        + values["ack"]
        + values["stock"] * len(STOCK_TEXT.split())
        + m * loop
    )
    values["long_tokens"] = values["identifier"] + spec.long_words * p.expect(
        m * (first - 1) + later * p.long_later * (rest - 1)
    )
    values["turns"] = p.mean_turns
    pool = np.array([value for _, value in published_difficulty()])
    values["success"] = float(p.success_by_difficulty(pool, p.intercepts["success"]).mean())
    return values


_EXACT: Mapping[str, Mapping[str, str]] = {
    "tau-usi": {
        "politeness_rate": "politeness",
        "short_msg_rate": "short",
        "formality_rate": "dash",
        "ack_only_rate": "ack",
        "repeat_rate": "repeat",
        "id_confuse_rate": "role_session",
        "id_density": "long_tokens",
        "user_words_per_turn": "words_per_turn",
        "opening_words": "opening_words",
        "uncertainty_rate": "uncertainty_or_lack",
        "certainty_rate": "certainty",
        "pushback_q_rate": "pushback",
        "clarify_q_rate": "clarify",
        "info_q_rate": "info",
        "emotion_rate": "emotion",
        "accusation_rate": "accusation",
        "pivot_rate": "pivot",
    },
    "robust": {
        "short_turn": "short",
        "ack_only": "ack",
        "role_confusion": "role",
        "turns_per_session": "turns",
        "identifiers": "identifier",
        "info_question": "info",
        "lack_of_information": "lack",
        "several_sentences": "several",
    }
    | {
        name: name
        for name in (
            "politeness",
            "dash",
            "words_per_turn",
            "opening_words",
            "uncertainty",
            "certainty",
            "pushback",
            "clarify",
            "emotion",
            "accusation",
            "pivot",
            "request",
            "casual",
            "comma",
        )
    },
}
"""Feature of a profile -> key of `exact_values`; other features come from the reference draw."""


@lru_cache(maxsize=32)
def reference_values(spec: PhantomSpec, profile: str) -> dict[str, NDArray[np.float32]]:
    """Feature -> its value in every session of the fixed reference draw (NaN = undefined).

    Two populations share tasks and random numbers, so equal ones have equal values.
    """
    from usi.extraction.profile import get_feature_profile
    from usi.extraction.table import derive

    found = get_feature_profile(profile)
    parts: dict[str, list[NDArray[np.float32]]] = {}
    for block in range(REFERENCE_SESSIONS // _BLOCK):
        tasks = sample_tasks(_BLOCK, seed=_SEED + block)
        plan = draw(spec, tasks, replicates=1, seed=(_SEED, block))
        frame = count_frame(plan, profile, side="human")
        values = derive(frame, found.specs, without_denominator=found.without_denominator)
        for name in values.columns:
            column = values[name].to_numpy().astype(np.float32)
            parts.setdefault(name, []).append(column)
    return {name: np.concatenate(own) for name, own in parts.items()}


@lru_cache(maxsize=512)
def reference_means(spec: PhantomSpec, profile: str) -> dict[str, tuple[float, float]]:
    """Feature -> (mean, mean of the logs of positive values) over the fixed reference draw.

    A feature without planned values is not in it; without positive values the second is NaN.
    """
    result: dict[str, tuple[float, float]] = {}
    for name, values in reference_values(spec, profile).items():
        column = values[~np.isnan(values)].astype(np.float64)
        positive = column[column > 0]
        if len(column):
            log = float(np.log(positive).mean()) if len(positive) else math.nan
            result[name] = (float(column.mean()), log)
    return result


def true_rates(spec: PhantomSpec, profile: str = "tau-usi") -> dict[str, float]:
    """Expected session value of every feature of a profile.

    Parameters
    ----------
    spec
        The population.
    profile
        Name of the profile; features and their order are those of its registry.

    Returns
    -------
    dict
        Feature name -> population mean over sessions (rates 0 to 1, words, counts). A feature
        without planned values (``trigram_share`` of ``robust``) is not in it.

    Examples
    --------
    >>> from usi.phantom import load_spec
    >>> round(true_rates(load_spec("human"))["politeness_rate"], 6)
    0.153
    """
    from usi.extraction.profile import get_specs

    exact, known = exact_values(spec), _EXACT.get(profile.partition("@")[0], {})
    values: dict[str, float] = {}
    for feature in get_specs(profile):
        if feature.name in known:
            values[feature.name] = exact[known[feature.name]]
        elif feature.name in (means := reference_means(spec, profile)):
            values[feature.name] = means[feature.name][0]
    return values
