"""Components, index and features of the scorecard, out of a study.

Features of the scorecard, out of a study.

The outcome part of a scorecard: success on both sides, by difficulty bin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

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
    tidy,
)
from usi.scoring.robust.left_out import no_gaps
from usi.scoring.robust.perceived import wilson
from usi.scoring.robust.scorable import natural, no_lists
from usi.scoring.robust.study import Study
from usi.scoring.robust.sums import SideSums
from usi.scoring.robust.terms import PARTS, ROOT, apart, relative
from usi.scoring.robust.thresholds import MIN_SIMULATOR_SESSIONS
from usi.scoring.scorecard import Component, FeatureScore, Index, OutcomeBin

Array = NDArray[np.float64]
NO_DISTANCES: Mapping[str, Mapping[str, Estimate]] = MappingProxyType({})


def _feature_score(
    spec: FeatureSpec, point: float, draws: Array, bias: float, result: Study, silent: Reason | None
) -> Estimate:
    verdict = result.reference.verdicts[spec.name]
    if silent is not None:
        return not_assessed(silent)
    if spec.scope == "paired" and not result.design.paired:
        return not_assessed(PAIRED_ONLY)
    if verdict.reason is not None:
        told = not_assessed if verdict.reason.is_a(NO_WORD_LISTS) else unscorable
        return told(verdict.reason)
    missing = without_lists(result.frame) if spec.lexical else ()
    if missing and not np.isfinite(point):
        return not_assessed(no_lists(missing))
    if not np.isfinite(point):
        return unscorable(NEITHER_COMPARED)
    raw = 100 * (1 - abs(point))
    sd = 100 * folded_spread(np.abs(draws), draws) * result.rule.inflate
    reach = result.rule.quantile * sd
    return Estimate(
        value=tidy(raw),
        low=maybe(max(0.0, raw - reach)),
        high=maybe(min(100.0, raw + 100 * bias + reach)),
        n=int(result.simulator.sessions.sum()),
    )


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
        far = apart(data, spec.name) if spec.scale == "interval" else None
        if spec.scale == "interval":
            x = float("nan") if far is None else far.point
            relative_draws = np.empty(0) if far is None else far.replicates
        slope = 0.5 if spec.scale == "ratio" else (1 / (a + b) if a + b > 0 else float("nan"))
        se = float(data.se[k])
        gap = np.exp(a) - np.exp(b) if spec.scale == "ratio" else a - b
        gap_se = spread(gaps) if spec.scale == "ratio" and len(gaps) else se
        counts = int(n_h[k]), int(n_s[k])
        whys = _unstamped(spec, counts, result)
        silent = whys[0] or whys[1]
        if silent:  # the design knows no mean where one side has no value; a side still has its own
            a, b = _own_mean(result.simulator, k), _own_mean(human, k)
        found[spec.name] = FeatureScore(
            dimension=spec.dimension,
            unit=spec.unit,
            scored=spec.scored and spec.name in _scored_names(result),
            note=HARNESS() if spec.harness else None,
            human=_value(natural(b, spec), counts[0], spec.unit, "people", whys[0]),
            simulator=_value(natural(a, spec), counts[1], spec.unit, "the simulator", whys[1]),
            score=_feature_score(
                spec, x, relative_draws, ROOT * (far.se if far else se * slope), result, silent
            ),
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
    if terms.replicates is not None:
        draws = np.nansum(terms.replicates, axis=1)
    # tasks lie in one bin each, so the errors of the bins are independent
    se = float(np.sqrt(np.square(terms.se).sum()))
    return OutcomeNumbers(
        gap=signed_estimate(gap, draws, se, rule, unit="share", n=n),
        human=Estimate(value=tidy(float(weight @ h)), n=int(side.outcomes.sum()), unit="share"),
        simulator=Estimate(value=tidy(float(weight @ s)), n=n, unit="share"),
        offset=Estimate(value=tidy(float(np.abs(terms.point).sum()) - abs(gap)), n=n, unit="share"),
        bins=tuple(_bin(result, k) for k in range(len(data.bins))),
        icc=icc,
    )


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
        Component (and ``"index"``) -> best degenerate user.
    """

    ranges: Ranges
    floors: Mapping[str, float]


def _component(score: Score, result: Study, name: str, extras: Extras, n: int) -> dict[str, object]:
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
        "floor": maybe(extras.floors.get(name)),
        "batch_range": (tidy(ends[0]), tidy(ends[1])) if ends else None,
    }


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
                features_scored=len(selection.scored) if selection else None,
                features_declared=declared,
                decides_fail=decides,
            )
            continue
        detail = outcome_detail(result) if name == "outcome" else {}
        parts[name] = Component(
            **_component(result.scores[name], result, name, extras, n),
            ceiling_at_n=maybe(result.ceiling.get(name)),
            features_scored=len(result.terms[name].names) if selection else None,
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
        ceiling = tidy(float(np.mean([result.ceiling[name] for name in PARTS])))
    return Index(
        **_component(score, result, "index", extras, n),
        ceiling_at_n=ceiling,
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
