"""Features of the scorecard, out of a study."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed, unscorable
from usi.features.languages import without_lists
from usi.features.spec import HARNESS, FeatureSpec
from usi.score.robust.bounds import folded_spread, maybe, signed_estimate, spread, tidy
from usi.score.robust.icc import icc1
from usi.score.robust.interval import apart
from usi.score.robust.left_out import no_gaps
from usi.score.robust.scorable import LANGUAGE, PAIRED_ONLY, no_lists
from usi.score.robust.study import Study
from usi.score.robust.sums import SideSums
from usi.score.robust.terms import ROOT, relative
from usi.score.robust.values import natural
from usi.score.scorecard import FeatureScore

Array = NDArray[np.float64]
NO_RELATIVE_GAP = "an interval scale has no relative gap"


def _feature_score(
    spec: FeatureSpec, point: float, draws: Array, bias: float, result: Study, silent: str | None
) -> Estimate:
    verdict = result.reference.verdicts[spec.name]
    if silent is not None:
        return not_assessed(silent)
    if spec.scope == "paired" and not result.design.paired:
        return not_assessed(PAIRED_ONLY)
    if verdict.reason is not None:
        told = not_assessed if verdict.reason.startswith(LANGUAGE) else unscorable
        return told(verdict.reason)
    missing = without_lists(result.frame) if spec.lexical else ()
    if missing and not np.isfinite(point):
        return not_assessed(no_lists(missing))
    if not np.isfinite(point):
        return unscorable("neither side shows it in what is compared")
    raw = 100 * (1 - abs(point))
    sd = 100 * folded_spread(np.abs(draws), draws) * result.rule.inflate
    reach = result.rule.quantile * sd
    return Estimate(
        value=tidy(raw),
        low=maybe(max(0.0, raw - reach)),
        high=maybe(min(100.0, raw + 100 * bias + reach)),
        n=int(result.simulator.sessions.sum()),
    )


def features(result: Study) -> dict[str, FeatureScore]:
    """Every feature of the profile: both sides, gap, score or why there is none, ICC.

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
            note=HARNESS if spec.harness else None,
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
                unit="share", n=counts[1], reason="neither side shows it",
            ),
            icc=icc1(*(column[:, k] for column in batches)),
            human_hits=result.reference.verdicts[spec.name].hits,
            simulator_hits=int(hits[k]),
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
) -> tuple[str | None, str | None]:
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


def _value(mean: float, n: int, unit: str, who: str, why: str | None) -> Estimate:
    if not np.isfinite(mean):
        return not_assessed(why or f"no session of {who} has a value", unit=unit, n=n)
    return Estimate(value=tidy(mean), n=n, unit=unit)
