"""Which features are scored: decided by the people alone, before any simulator is looked at.

One number a session and feature, from the integer columns of the session table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.extraction.profile import get_feature_profile
from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.extraction.table import derive
from usi.reasons import (
    COUNTED_IN_POOL,
    FEW_FEATURES,
    FEW_FEATURES_UNPAIRED,
    FEW_HUMAN_HITS,
    FEW_HUMAN_MISSES,
    JOINED_POOL,
    NO_HUMAN_VALUE,
    NO_WORD_LISTS,
    NOT_BY_MEANS,
    NOT_IN_SET,
    PEOPLE_CONSTANT,
    Reason,
)
from usi.scoring.robust.thresholds import MIN_HUMAN_HITS, RARE_HITS

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
        Feature name -> verdict. A feature without variance, or with fewer than 30 sessions that
        show its counted pole, is not scored by itself.
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
            rare = spec.pole == "as_is" and hits < RARE_HITS
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


POOL = "rare_"
"""What the name of a pool of rare marks begins with; the dimension follows."""


def pool_spec(dimension: str) -> FeatureSpec:
    """The rare marks of a dimension as one feature: the sum of their rates.

    It is the share of turns with any of them where no turn has two.
    """
    if dimension not in DIMENSIONS:
        raise ValueError(f"no pool of {dimension!r}")
    return FeatureSpec(
        name=POOL + dimension,
        dimension=dimension,  # type: ignore[arg-type]
        kind="rate",
        numerator="",
        denominator="user_turns",
        unit="marks a user turn",
        lexical=True,
        description="rare marks of the dimension, counted together",
        source="own definition",
    )


def with_pool_specs(profile: str, pools: Iterable[str]) -> tuple[FeatureSpec, ...]:
    """Features of a profile, and behind them those of the pools."""
    return (
        *get_feature_profile(profile).specs,
        *(pool_spec(name.removeprefix(POOL)) for name in pools),
    )


def poolable(spec: FeatureSpec) -> bool:
    """Whether a feature is counted with others where it is rare: a scored rate of marks."""
    return (
        spec.kind == "rate"
        and (spec.lexical or spec.tripwire)
        and spec.scored
        and spec.pole == "as_is"
        and spec.dimension in DIMENSIONS
    )


def pools_of(
    values: Array,
    specs: Sequence[FeatureSpec],
    verdicts: Mapping[str, Scorable],
    frozen: Collection[str] | None = None,
) -> dict[str, tuple[str, ...]]:
    """Rare marks that are counted together: pool -> its members, in the order of the profile.

    The marks of a dimension that too few human sessions show make up its pool. While too few
    show any of them, the rarest mark that is scored by itself joins. A pool that never gets
    there is left out.

    Parameters
    ----------
    values
        The people's values, shape (sessions, features).
    specs, verdicts
        Features in the order of the columns, and what people say about each.
    frozen
        Names of the features (and pools) that a corpus scores, fixed once.
    """
    place = {spec.name: k for k, spec in enumerate(specs)}
    found = {}
    for dimension in DIMENSIONS:
        marks = [
            s.name
            for s in specs
            if s.dimension == dimension
            and poolable(s)
            and verdicts[s.name].sessions
            and not (s.tripwire and verdicts[s.name].rare)  # those have a test of their own
        ]
        if frozen is not None:
            members = [name for name in marks if name not in frozen]
            if POOL + dimension in frozen and members:
                found[POOL + dimension] = tuple(members)
            continue
        members = [name for name in marks if verdicts[name].hits < MIN_HUMAN_HITS]
        alone = sorted((n for n in marks if n not in members), key=lambda n: verdicts[n].hits)
        while members and alone and _shown(values, place, members) < MIN_HUMAN_HITS:
            members.append(alone.pop(0))
        if members and _shown(values, place, members) >= MIN_HUMAN_HITS:
            found[POOL + dimension] = tuple(name for name in marks if name in members)
    return found


def _shown(values: Array, place: Mapping[str, int], members: Sequence[str]) -> int:
    columns = [place[name] for name in members]
    return int((np.nansum(values[:, columns], axis=1) > 0).sum())


def with_pools(
    values: Array, specs: Sequence[FeatureSpec], pools: Mapping[str, Sequence[str]]
) -> Array:
    """Values with a column for every pool behind them: the sum of its members' rates."""
    place = {spec.name: k for k, spec in enumerate(specs)}
    columns = [values[:, [place[n] for n in own]].sum(axis=1) for own in pools.values()]
    return np.column_stack([values, *columns])


def pooled_verdicts(
    values: Array,
    specs: Sequence[FeatureSpec],
    verdicts: Mapping[str, Scorable],
    pools: Mapping[str, Sequence[str]],
) -> dict[str, Scorable]:
    """Verdicts with those of the pools; what is counted in a pool is not scored by itself.

    Parameters
    ----------
    values, specs
        With the columns and features of the pools.
    """
    result = dict(verdicts)
    extra = [spec for spec in specs if spec.name in pools]
    columns = [k for k, spec in enumerate(specs) if spec.name in pools]
    result |= scorability(values[:, columns], extra)
    for pool, members in pools.items():
        for name in members:
            own = result[name]
            reason = (
                COUNTED_IN_POOL(pool=pool, hits=own.hits, least=MIN_HUMAN_HITS)
                if own.hits < MIN_HUMAN_HITS
                else JOINED_POOL(pool=pool)
            )
            result[name] = replace(own, reason=reason)
    return result


@dataclass(frozen=True)
class Selection:
    """Features of a dimension that enter its score.

    Attributes
    ----------
    scored
        Names, in the order of the profile; pools of rare marks behind them.
    declared
        How many features the dimension has.
    reason
        Why the dimension is not assessed, ``None`` where it is.
    members
        Pool -> how many features it counts together.
    """

    scored: tuple[str, ...]
    declared: int
    reason: Reason | None
    members: Mapping[str, int] = field(default_factory=dict)

    def features(self, names: Sequence[str]) -> int:
        """How many features of the dimension stand behind these names."""
        return sum(self.members.get(name, 1) for name in names)


STYLE = "style"
"""How somebody writes: a score of its own, and no term of the index."""


def select_style(
    specs: Sequence[FeatureSpec], verdicts: Mapping[str, Scorable], *, paired: bool
) -> Selection:
    """Style features that can be scored; half of them, and at least two, must be represented."""
    own = [spec for spec in specs if spec.dimension == STYLE and not spec.harness]
    scored = tuple(spec.name for spec in own if verdicts[spec.name].reason is None)
    if len(scored) >= 2 and 2 * len(scored) >= len(own):
        return Selection(scored, len(own), None)
    few = FEW_FEATURES if paired else FEW_FEATURES_UNPAIRED
    return Selection(scored, len(own), few(scored=len(scored), declared=len(own)))


def select(
    specs: Sequence[FeatureSpec],
    verdicts: Mapping[str, Scorable],
    *,
    paired: bool,
    pools: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Selection]:
    """Features of every dimension; half of its own, and at least two, must be represented.

    Parameters
    ----------
    specs, verdicts
        Features of the profile and its pools, and whether each can be scored.
    paired
        Whether both sides did the same tasks.
    pools
        Pool -> its members.
    """
    members = {name: len(own) for name, own in (pools or {}).items()}
    result = {}
    for dimension in DIMENSIONS:
        own = [s for s in specs if s.dimension == dimension and s.scored and not s.harness]
        declared = sum(spec.name not in members for spec in own)
        scored = tuple(
            spec.name
            for spec in own
            if verdicts[spec.name].reason is None and (paired or spec.scope == "any")
        )
        found = Selection(scored, declared, None, members)
        behind = found.features(scored)
        if behind < 2 or 2 * behind < declared:
            few = FEW_FEATURES if paired else FEW_FEATURES_UNPAIRED
            found = replace(found, reason=few(scored=behind, declared=declared))
        result[dimension] = found
    return result
