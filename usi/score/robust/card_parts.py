"""Components, index and features of the scorecard, out of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed
from usi.features.spec import DIMENSIONS
from usi.score.robust.bounds import (
    Score,
    lower_upper,
    maybe,
    mean_score,
    signed_estimate,
    spread,
    tidy,
)
from usi.score.robust.options import MIN_SIMULATOR_SESSIONS
from usi.score.robust.study import Study
from usi.score.robust.terms import PARTS, ROOT
from usi.score.scorecard import Component, Index

Array = NDArray[np.float64]
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
                reason=result.reasons.get(name, "not assessed"),
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
    reason = None
    if n < MIN_SIMULATOR_SESSIONS:
        reason = f"{n} simulator sessions, an index needs at least {MIN_SIMULATOR_SESSIONS}"
    elif missing:
        reason = "; ".join(
            f"{name} is not assessed ({result.reasons.get(name, 'no reason')})" for name in missing
        )
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
        return not_assessed(f"{missing[0]} is not assessed", n=n)
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
    from usi.score.robust.outcomes import LABELS, REFUSAL

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
