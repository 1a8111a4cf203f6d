"""Which features are scored: decided by the people alone, before any simulator is looked at.

One number a session and feature, from the integer columns of the session table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.extraction.table import derive
from usi.reasons import (
    FEW_FEATURES,
    FEW_FEATURES_UNPAIRED,
    FEW_HUMAN_HITS,
    FEW_HUMAN_MISSES,
    NO_HUMAN_VALUE,
    NO_WORD_LISTS,
    NOT_BY_MEANS,
    NOT_IN_SET,
    PEOPLE_CONSTANT,
    Reason,
)
from usi.scoring.robust.thresholds import MIN_HUMAN_HITS

Array = NDArray[np.float64]


def session_values(frame: pl.DataFrame, specs: Sequence[FeatureSpec]) -> Array:
    """Natural values of every session and feature, from the integers of the session table.

    Parameters
    ----------
    frame
        Session table rows with the count columns of `specs`.
    specs
        Features, in the order of the columns of the result.

    Returns
    -------
    array of shape (sessions, features)
        NaN where a value is undefined (a denominator of 0); NaN never leaves this room.
    """
    if not specs:
        return np.empty((frame.height, 0))
    columns = derive(frame, specs, without_denominator=None)
    return columns.cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(np.float64)


def scored_values(values: Array, specs: Sequence[FeatureSpec]) -> Array:
    """Values on the scale that is averaged: the counted pole, logarithms on a ratio scale.

    A duration that is not above 0 has no logarithm and counts as undefined.
    """
    result = values.copy()
    for column, spec in enumerate(specs):
        if spec.scale == "ratio":
            positive = result[:, column] > 0
            logs = np.full(len(result), np.nan)
            logs[positive] = np.log(result[positive, column])
            result[:, column] = logs
        elif spec.pole == "complement":
            result[:, column] = 1.0 - result[:, column]
    return result


def natural(mean: float, spec: FeatureSpec) -> float:
    """Undo `scored_values` for a mean: natural pole, geometric mean on a ratio scale."""
    if spec.scale == "ratio":
        return float(np.exp(mean))
    return 1.0 - mean if spec.pole == "complement" else mean


@dataclass(frozen=True)
class Scorable:
    """What the human sessions say about one feature.

    Attributes
    ----------
    reason
        Why it can't be scored, ``None`` where it can. `NO_WORD_LISTS` where word lists are
        missing: then the feature is not assessed.
    hits
        Human sessions that show it (natural value above 0).
    sessions
        Human sessions in which it is defined.
    rare
        Whether it is unscorable because people hardly ever show it.
    """

    reason: Reason | None
    hits: int
    sessions: int
    rare: bool


def scorability(values: Array, specs: Sequence[FeatureSpec]) -> dict[str, Scorable]:
    """Judge every feature by all human sessions of the corpus.

    Parameters
    ----------
    values
        Natural values, shape (sessions, features), NaN = undefined.
    specs
        Features, in the order of the columns.

    Returns
    -------
    dict
        Feature name -> verdict. A feature without variance, or with fewer than 10 sessions that
        show its counted pole, is not scored.
    """
    counted = scored_values(values, specs)
    result = {}
    for column, spec in enumerate(specs):
        known = ~np.isnan(counted[:, column])
        scale, plain = counted[known, column], values[known, column]
        shown = int((plain > 0).sum())
        anywhere = spec.scale != "amount"  # no zero to be above
        hits = int(known.sum()) if anywhere else int((scale > 0).sum())
        reason: Reason | None = None
        rare = False
        if not known.any():
            reason = NO_HUMAN_VALUE()
        elif spec.scale == "interval" and spec.span is None:
            reason = NOT_BY_MEANS()
        elif hits < MIN_HUMAN_HITS:
            few = FEW_HUMAN_MISSES if spec.pole == "complement" else FEW_HUMAN_HITS
            reason = few(hits=hits, least=MIN_HUMAN_HITS)
            rare = spec.pole == "as_is"
        elif float(scale.max()) == float(scale.min()):
            reason = PEOPLE_CONSTANT()
        result[spec.name] = Scorable(reason, shown, int(known.sum()), rare)
    return result


def with_languages(
    verdicts: Mapping[str, Scorable], specs: Sequence[FeatureSpec], missing: Sequence[str]
) -> dict[str, Scorable]:
    """Verdicts that name the language where no word list reads any of the people."""
    lexical = {spec.name for spec in specs if spec.lexical}
    return {
        name: replace(own, reason=no_lists(missing), rare=False)
        if missing and name in lexical and not own.sessions
        else own
        for name, own in verdicts.items()
    }


def no_lists(languages: Sequence[str]) -> Reason:
    """The reason for languages without word lists."""
    return NO_WORD_LISTS(languages=", ".join(languages))


def frozen_verdicts(
    verdicts: Mapping[str, Scorable], frozen: Collection[str]
) -> dict[str, Scorable]:
    """Verdicts by a set that was fixed once for the corpus, whatever these sessions say.

    A feature of the set that no session has a value for still can't be scored. What is scored is
    no tripwire; what the set leaves out stays one where people hardly ever show it.
    """
    result = {}
    for name, own in verdicts.items():
        if name not in frozen:
            reason = own.reason or NOT_IN_SET()
            result[name] = replace(own, reason=reason)
        elif own.sessions:
            result[name] = replace(own, reason=None, rare=False)
        else:
            result[name] = own
    return result


@dataclass(frozen=True)
class Selection:
    """Features of a dimension that enter its score.

    Attributes
    ----------
    scored
        Names, in the order of the profile.
    declared
        How many features the dimension has.
    reason
        Why the dimension is not assessed, ``None`` where it is.
    """

    scored: tuple[str, ...]
    declared: int
    reason: Reason | None


def select(
    specs: Sequence[FeatureSpec], verdicts: dict[str, Scorable], *, paired: bool
) -> dict[str, Selection]:
    """Features of every dimension; it needs at least half of its own, and at least two."""
    result = {}
    for dimension in DIMENSIONS:
        own = [s for s in specs if s.dimension == dimension and s.scored and not s.harness]
        scored = tuple(
            spec.name
            for spec in own
            if verdicts[spec.name].reason is None and (paired or spec.scope == "any")
        )
        reason = None
        if len(scored) < 2 or 2 * len(scored) < len(own):
            few = FEW_FEATURES if paired else FEW_FEATURES_UNPAIRED
            reason = few(scored=len(scored), declared=len(own))
        result[dimension] = Selection(scored, len(own), reason)
    return result
