"""Components, index and features of the scorecard, out of a study.

Features of the scorecard, out of a study.

The outcome part of a scorecard: success on both sides, by difficulty bin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed, unscorable
from usi.extraction.language_packs import without_lists
from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.reasons import (
    BIN_EMPTY,
    BIN_ONE_SIDED,
    COMPONENT_MISSING,
    COMPONENT_NOT_ASSESSED,
    COMPONENTS_MISSING,
    FEW_SIMULATOR_SESSIONS,
    HARNESS,
    NEITHER_COMPARED,
    NEITHER_SHOWS,
    NO_OUTCOMES,
    NO_RELATIVE_GAP,
    NO_VALUE,
    NO_WORD_LISTS,
    NOT_ASSESSED,
    PAIRED_ONLY,
    POOLED,
    Reason,
)
from usi.scoring.robust.batches import icc1
from usi.scoring.robust.bounds import (
    Score,
    folded_spread,
    lower_upper,
    maybe,
    mean_score,
    signed_estimate,
    spread,
    standard_error,
    tidy,
)
from usi.scoring.robust.left_out import no_gaps
from usi.scoring.robust.perceived import wilson
from usi.scoring.robust.scorable import natural, no_lists
from usi.scoring.robust.study import Study
from usi.scoring.robust.sums import SideSums
from usi.scoring.robust.terms import PARTS, ROOT, Distance, Terms, distance, relative
from usi.scoring.robust.thresholds import MIN_SIMULATOR_SESSIONS
from usi.scoring.scorecard import Component, FeatureScore, Index, OutcomeBin

Array = NDArray[np.float64]
NO_DISTANCES: Mapping[str, Mapping[str, Estimate]] = MappingProxyType({})


def _feature_score(
    spec: FeatureSpec, found: Distance | None, result: Study, silent: Reason | None
) -> Estimate:
    """D of one feature with its bounds, or why there is none."""
    verdict = result.reference.verdicts[spec.name]
    if silent is not None:
        return not_assessed(silent)
    if spec.scope == "paired" and not result.design.paired:
        return not_assessed(PAIRED_ONLY)
    if verdict.reason is not None:
        told = not_assessed if verdict.reason.is_a(NO_WORD_LISTS) else unscorable
        return told(verdict.reason)
    missing = without_lists(result.frame) if spec.lexical else ()
    if found is None or not np.isfinite(found.point):
        return not_assessed(no_lists(missing)) if missing else unscorable(NEITHER_COMPARED)
    effects = None if result.people is None else result.people.effects(found.slope[:, None])
    sd = 100 * standard_error(folded_spread(found.folded, found.held), result.rule, effects)
    raw, reach = 100 * (1 - found.point), result.rule.quantile * sd
    return Estimate(
        value=tidy(raw),
        low=maybe(max(0.0, raw - reach)),
        high=maybe(min(100.0, raw + 100 * ROOT * found.noise + reach)),
        n=int(result.simulator.sessions.sum()),
    )


def _means(spec: FeatureSpec, gap: float, score: Estimate) -> Estimate:
    """Dice of the means (geometric ones on a ratio scale), beside a score of distributions."""
    if not score.ok or (spec.must_show and not np.isfinite(gap)):
        return score
    if spec.scale == "interval":
        return not_assessed(NO_RELATIVE_GAP)
    return Estimate(value=tidy(100 * (1 - abs(gap))), n=score.n)


def features(
    result: Study, distances: Mapping[str, Mapping[str, Estimate]] = NO_DISTANCES
) -> dict[str, FeatureScore]:
    """Every feature of the profile: both sides, gap, score or why there is none, ICC, distances.

    Values and gaps are on the natural pole (what the name says), simulator minus human.
    """
    data, human = result.data, result.human
    n_h, n_s = human.counts.sum(axis=0), result.simulator.counts.sum(axis=0)
    hits = result.simulator.hits.sum(axis=0)
    batches = (
        human.per_unit(human.sums),
        human.per_unit(human.squares),
        human.per_unit(human.counts),
    )
    found: dict[str, FeatureScore] = {}
    pools = result.reference.pools
    for k, spec in enumerate(result.reference.specs):
        ratio = np.array(spec.scale == "ratio")
        sign = -1.0 if spec.pole == "complement" else 1.0
        a, b = float(data.simulator[k]), float(data.human[k])
        x = float(relative(np.array(a), np.array(b), ratio))
        gaps = relative_draws = np.empty(0)
        if data.replicates is not None:
            ra, rb = data.replicates.simulator[:, k], data.replicates.human[:, k]
            relative_draws = relative(ra, rb, ratio)
            gaps = np.exp(ra) - np.exp(rb) if spec.scale == "ratio" else ra - rb
        slope = 0.5 if spec.scale == "ratio" else (1 / (a + b) if a + b > 0 else float("nan"))
        se = float(data.se[k])
        gap = np.exp(a) - np.exp(b) if spec.scale == "ratio" else a - b
        gap_se = spread(gaps) if spec.scale == "ratio" and len(gaps) else se
        counts = int(n_h[k]), int(n_s[k])
        whys = _unstamped(spec, counts, result)
        silent = whys[0] or whys[1]
        if silent:  # the design knows no mean where one side has no value; a side still has its own
            a, b = _own_mean(result.simulator, k), _own_mean(human, k)
        score = _feature_score(spec, distance(data, spec), result, silent)
        found[spec.name] = FeatureScore(
            dimension=spec.dimension,
            unit=spec.unit,
            scored=spec.scored and spec.name in _scored_names(result),
            note=note_of(spec, pools),
            human=_value(natural(b, spec), counts[0], spec.unit, "people", whys[0]),
            simulator=_value(natural(a, spec), counts[1], spec.unit, "the simulator", whys[1]),
            score=score,
            means=_means(spec, x, score),
            gap=not_assessed(silent, unit=spec.unit) if silent
            else signed_estimate(
                sign * gap, sign * gaps, gap_se, result.rule, unit=spec.unit, n=counts[1]
            ),
            relative_gap=not_assessed(silent or NO_RELATIVE_GAP, unit="share")
            if silent or spec.scale == "interval"
            else signed_estimate(
                sign * x, sign * relative_draws, se * slope, result.rule,
                unit="share", n=counts[1], reason=NEITHER_SHOWS(),
            ),
            icc=icc1(*(column[:, k] for column in batches)),
            human_hits=result.reference.verdicts[spec.name].hits,
            simulator_hits=int(hits[k]),
            distance=dict(distances.get(spec.name, {})),
        )  # fmt: skip
    return found


def note_of(spec: FeatureSpec, pools: Mapping[str, Sequence[str]]) -> Reason | None:
    """What a reader must know of a feature by its kind; ``None`` for most."""
    if spec.name in pools:
        return POOLED(members=", ".join(pools[spec.name]))
    return HARNESS() if spec.harness else None


def _scored_names(result: Study) -> set[str]:
    return {
        name
        for component, terms in result.terms.items()
        if component != "outcome"
        for name in terms.names
    }


def _unstamped(
    spec: FeatureSpec, counts: tuple[int, int], result: Study
) -> tuple[Reason | None, Reason | None]:
    """Why people and simulator have no value of a feature that rests on time stamps."""
    frames = result.reference.frame, result.frame
    people, model = (
        no_gaps(frame) if spec.harness and not n else None
        for frame, n in zip(frames, counts, strict=True)
    )
    return people, model


def _own_mean(side: SideSums, column: int) -> float:
    """Mean over all sessions of one side; NaN without a value."""
    n = float(side.counts[:, column].sum())
    return float(side.sums[:, column].sum()) / n if n else float("nan")


def _value(mean: float, n: int, unit: str, who: str, why: Reason | None) -> Estimate:
    if not np.isfinite(mean):
        return not_assessed(why or NO_VALUE(who=who), unit=unit, n=n)
    return Estimate(value=tidy(mean), n=n, unit=unit)


@dataclass(frozen=True)
class OutcomeNumbers:
    """What the card says of success.

    Attributes
    ----------
    gap
        Signed success gap, simulator - human; above 0 = easy mode.
    human, simulator
        Success of both sides over the same bin weights.
    offset
        ECE - abs(gap): what a mean hides (easier on hard tasks, harder on easy ones).
    bins
        One line a bin; an empty bin has no value.
    icc
        Success as a property of the task.
    """

    gap: Estimate
    human: Estimate
    simulator: Estimate
    offset: Estimate
    bins: tuple[OutcomeBin, ...]
    icc: Estimate


def outcome_numbers(result: Study) -> OutcomeNumbers:
    """Success gap, rates and bins of a study."""
    side = result.human
    per = side.per_unit(side.success), side.per_unit(side.success), side.per_unit(side.outcomes)
    icc = icc1(*per)  # 0 and 1 equal their squares
    if result.success.reason is not None:  # then the people's outcomes were set aside, too
        icc = not_assessed(result.success.reason, unit=icc.unit)
    terms = result.terms.get("outcome")
    if terms is None:
        reason = result.reasons.get("outcome") or NO_OUTCOMES()
        none = not_assessed(reason, unit="share")
        return OutcomeNumbers(none, none, none, none, (), icc)
    data, rule = result.data, result.rule
    columns = data.bin_columns
    keep = [data.bins.index(name) for name in terms.names]
    weight = data.weight[keep] / data.weight[keep].sum()
    s, h = data.simulator[columns][keep], data.human[columns][keep]
    n = int(result.simulator.outcomes.sum())
    gap = float(terms.point.sum())
    draws = np.empty(0)
    if terms.signed is not None:
        draws = np.nansum(terms.signed, axis=1)
    se = _gap_error(result, terms, draws)
    return OutcomeNumbers(
        gap=signed_estimate(gap, draws, se, rule, unit="share", n=n),
        human=Estimate(value=tidy(float(weight @ h)), n=int(side.outcomes.sum()), unit="share"),
        simulator=Estimate(value=tidy(float(weight @ s)), n=n, unit="share"),
        offset=Estimate(value=tidy(float(np.abs(terms.point).sum()) - abs(gap)), n=n, unit="share"),
        bins=tuple(_bin(result, k) for k in range(len(data.bins))),
        icc=icc,
    )


def _gap_error(result: Study, terms: Terms, draws: Array) -> float:
    """Standard error of the signed success gap: of the replicates, and what few people add."""
    columns = result.data.bin_columns
    slope = np.zeros((len(result.data.human), 1))
    keep = [result.data.bins.index(name) for name in terms.names]
    weight = result.data.weight[keep] / result.data.weight[keep].sum()
    slope[np.array(keep) + columns.start, 0] = -weight
    effects = None if result.people is None else result.people.effects(slope)
    return standard_error(spread(draws), result.rule, effects)


def _bin(result: Study, k: int) -> OutcomeBin:
    data = result.data
    column = len(data.features) + k
    s, h = float(data.simulator[column]), float(data.human[column])
    human, simulator = result.human, result.simulator
    in_bin = human.per_unit_bin(human.outcomes)[:, k]
    if result.on_simulator:
        runs = simulator.per_unit_bin(simulator.outcomes)[:, k]
    else:
        runs = simulator.per_unit(simulator.outcomes) * (in_bin > 0)
    if result.design.paired:
        tasks = int(((in_bin > 0) & (runs > 0)).sum())
    else:
        tasks = int(min((in_bin > 0).sum(), (runs > 0).sum()))
    n_h, n_s = int(in_bin.sum()), int(runs.sum())
    draws = np.empty(0)
    if data.replicates is not None:
        r = data.replicates
        draws = r.simulator[:, column] - r.human[:, column]
    return OutcomeBin(
        label=data.bins[k],
        tasks=tasks,
        human=_rate(h, n_h),
        simulator=_rate(s, n_s),
        gap=signed_estimate(
            s - h,
            draws,
            float(data.se[column]),
            result.rule,
            unit="share",
            n=tasks,
            reason=BIN_ONE_SIDED(),
        ),
    )


def _rate(rate: float, n: int) -> Estimate:
    """A success rate with a Wilson interval (sessions as independent)."""
    if not np.isfinite(rate) or not n:
        return not_assessed(BIN_EMPTY, unit="share", n=n)
    low, high = wilson(round(rate * n), n)
    return Estimate(
        value=tidy(rate),
        low=maybe(min(low, rate)),
        high=maybe(max(high, rate)),
        n=n,
        unit="share",
    )


FOLLOWS_SCRIPT = ("clarification", "reaction")
"""Dimensions that follow the task script: in unpaired designs they never decide FAIL."""

Ranges = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Extras:
    """Numbers of the components that come from elsewhere.

    Attributes
    ----------
    ranges
        Component (and ``"index"``) -> lowest and highest value with one human batch left out.
    floors
        Component -> score of the best degenerate user.
    floor_user
        Which one it is; ``None`` where none is known.
    """

    ranges: Ranges
    floors: Mapping[str, float]
    floor_user: str | None = None


def _floor(extras: Extras, name: str, ceiling: float | None) -> dict[str, object]:
    """The floor, where it lies below the ceiling; else the component tells the two not apart."""
    floor = extras.floors.get(name)
    if floor is None or (ceiling is not None and floor >= ceiling):
        return {}
    return {"floor": tidy(floor), "floor_user": extras.floor_user}


def _component(
    score: Score, result: Study, name: str, extras: Extras, n: int, ceiling: float | None
) -> dict[str, object]:
    bounds = lower_upper(score, result.rule)
    ends = extras.ranges.get(name)
    return {
        "value": tidy(score.raw),
        "low": maybe(bounds[0]) if bounds else None,
        "high": maybe(bounds[1]) if bounds else None,
        "n": n,
        "corrected": maybe(score.corrected),
        "se": maybe(score.se),
        "maxbias": maybe(score.maxbias),
        "df": result.rule.df,
        **_floor(extras, name, ceiling),
        "batch_range": (tidy(ends[0]), tidy(ends[1])) if ends else None,
        "ceiling_at_n": maybe(ceiling),
    }


def style_score(result: Study, extras: Extras) -> Component:
    """Mean D of the style features with its bounds, or why there is none."""
    own, n = result.style, int(result.simulator.sessions.sum())
    sizes: dict[str, Any] = {
        "features_scored": len(own.selection.scored),
        "features_declared": own.selection.declared,
    }
    if own.score is None:
        reason = own.reason or NOT_ASSESSED()
        return Component(value=None, status="not_assessed", reason=reason, n=n, **sizes)
    return Component(**_component(own.score, result, "style", extras, n, own.ceiling), **sizes)


def components(result: Study, extras: Extras) -> dict[str, Component]:
    """The five components of USI-R; one that can't be assessed says why."""
    n = int(result.simulator.sessions.sum())
    parts: dict[str, Component] = {}
    for name in PARTS:
        selection = result.selections.get(name)
        decides = result.design.paired or name not in FOLLOWS_SCRIPT
        declared = selection.declared if selection else None
        if name not in result.scores:
            parts[name] = Component(
                value=None,
                status="not_assessed",
                reason=result.reasons.get(name) or NOT_ASSESSED(),
                n=n,
                features_scored=selection.features(selection.scored) if selection else None,
                features_declared=declared,
                decides_fail=decides,
            )
            continue
        detail = outcome_detail(result) if name == "outcome" else {}
        parts[name] = Component(
            **_component(result.scores[name], result, name, extras, n, result.ceiling.get(name)),
            features_scored=selection.features(result.terms[name].names) if selection else None,
            features_declared=declared,
            decides_fail=decides,
            detail=detail,
        )
    return parts


def index_of(result: Study, extras: Extras) -> Index:
    """USI-R: the mean of the five components, or which of them is missing.

    ``detail["behaviour"]`` is the mean of the four dimensions with its bounds, which exists also
    where the outcome can't be assessed; ``detail["assessed"]`` is the mean of whatever could be
    assessed. Neither is an index.
    """
    n = int(result.simulator.sessions.sum())
    detail = {"behaviour": behaviour(result)}
    if result.ceiling.keys() >= set(DIMENSIONS):
        value = float(np.mean([result.ceiling[d] for d in DIMENSIONS]))
        detail["behaviour_ceiling_at_n"] = Estimate(value=tidy(value), n=n)
    detail |= _assessed(result, n)
    missing = [name for name in PARTS if name not in result.scores]
    reason: Reason | None = None
    if n < MIN_SIMULATOR_SESSIONS:
        reason = FEW_SIMULATOR_SESSIONS(have=n, least=MIN_SIMULATOR_SESSIONS)
    elif missing:
        reason = _missing(missing, result)
    if reason:
        return Index(
            value=None,
            status="not_assessed",
            reason=reason,
            name="USI-R",
            terms=0,
            terms_possible=len(PARTS),
            n=n,
            detail=detail,
        )
    score = mean_score(result.scores, PARTS, result.rule)
    ceiling = None
    if result.ceiling.keys() >= set(PARTS):
        ceiling = float(np.mean([result.ceiling[name] for name in PARTS]))
    return Index(
        **_component(score, result, "index", extras, n, ceiling),
        name="USI-R",
        terms=len(PARTS),
        terms_possible=len(PARTS),
        detail=detail,
    )


def _missing(names: Sequence[str], result: Study) -> Reason:
    """Why the index lacks components: each of them with its own reason."""
    own = [
        COMPONENT_MISSING(component=name, cause=result.reasons.get(name) or NOT_ASSESSED())
        for name in names
    ]
    return (
        own[0]
        if len(own) == 1
        else COMPONENTS_MISSING(missing="; ".join(map(str, own)), cause=own[0])
    )


def _assessed(result: Study, n: int) -> dict[str, Estimate]:
    """Mean of the components that are assessed, and their ceiling."""
    names = tuple(name for name in PARTS if name in result.scores)
    if not names:
        return {}
    found = {"assessed": _mean_estimate(result, names, n)}
    if result.ceiling.keys() >= set(names):
        value = float(np.mean([result.ceiling[name] for name in names]))
        found["assessed_ceiling_at_n"] = Estimate(value=tidy(value), n=n)
    return found


def behaviour(result: Study) -> Estimate:
    """Mean of the four dimensions with bounds; not assessed where one of them is not."""
    n = int(result.simulator.sessions.sum())
    missing = [name for name in DIMENSIONS if name not in result.scores]
    if missing:
        return not_assessed(COMPONENT_NOT_ASSESSED, component=missing[0], n=n)
    return _mean_estimate(result, DIMENSIONS, n)


def _mean_estimate(result: Study, names: tuple[str, ...], n: int) -> Estimate:
    score = mean_score(result.scores, names, result.rule)
    bounds = lower_upper(score, result.rule)
    return Estimate(
        value=tidy(score.raw),
        low=maybe(bounds[0]) if bounds else None,
        high=maybe(bounds[1]) if bounds else None,
        n=n,
    )


def outcome_detail(result: Study) -> dict[str, Estimate]:
    """ECE as a share, and the five-way labels where both sides have them."""
    terms = result.terms["outcome"]
    tasks = len(result.human.units)
    detail = {
        "ece": Estimate(value=tidy(float(np.abs(terms.point).sum())), n=tasks, unit="share"),
        "ece_corrected": Estimate(
            value=tidy(max(0.0, 1 - terms.corrected / 100)), n=tasks, unit="share"
        ),
    }
    return detail | label_detail(result)


def label_detail(result: Study) -> dict[str, Estimate]:
    """Total variation of the five labels over bins, and the stratum of correct refusals.

    Total variation of a bin: half the sum over labels of the absolute difference of shares;
    bins weigh by their human sessions with a label. Bounds as for a score: its noise pushes it
    up, by at most sqrt(2/π) Σ w/2 se.
    """
    from usi.scoring.robust.outcome import LABELS, REFUSAL

    data = result.data
    s, h, se = (data.label_block(m) for m in (data.simulator, data.human, data.se))
    keep = ~np.isnan(s - h).any(axis=1) if len(s) else np.zeros(0, dtype=bool)
    if not keep.any():
        return {}
    mass = result.human.per_unit_bin(result.human.labelled).sum(axis=0)[keep]
    weight = mass / mass.sum()
    gap, se = (s - h)[keep], np.nan_to_num(se[keep])
    tv = float(weight @ np.abs(gap).sum(axis=1) / 2)
    bias = ROOT * float(weight @ se.sum(axis=1) / 2)
    n = int(mass.sum())
    low = high = None
    refusal = LABELS.index(REFUSAL)
    refusal_draws = np.empty(0)
    if data.replicates is not None:
        r = data.replicates
        draws = (data.label_block(r.simulator) - data.label_block(r.human))[:, keep]
        sd = spread(np.abs(draws).sum(axis=2) @ weight / 2) * result.rule.inflate
        if np.isfinite(sd):
            reach = result.rule.quantile * sd
            low, high = tidy(max(0.0, tv - bias - reach)), tidy(min(1.0, tv + reach))
        refusal_draws = draws[:, :, refusal] @ weight
    refusal_se = float(np.sqrt(np.sum((weight * se[:, refusal]) ** 2)))
    return {
        "label_total_variation": Estimate(value=tidy(tv), low=low, high=high, n=n, unit="share"),
        "correct_refusal_gap": signed_estimate(
            float(weight @ gap[:, refusal]), refusal_draws, refusal_se, result.rule,
            unit="share", n=n,
        ),
    }  # fmt: skip
