"""Agreement on the survey, without imputation: an answer that is not there does not count.

The score is 100 (1 - MAE) on ranks / (K - 1). A constant answer reaches what published
simulators reach, so kappa and alpha stand beside it, with the people's own in the same design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed
from usi.score.robust.bootstrap import weight_chunks
from usi.score.robust.bounds import Interval, maybe, spread, tidy
from usi.score.robust.instrument import Item
from usi.score.robust.options import MIN_ANSWERED, SurveyDesign
from usi.score.robust.survey_items import item_card, percentiles
from usi.score.robust.survey_pairs import Pairs
from usi.score.robust.survey_tables import (
    ItemNumbers,
    item_numbers,
    item_tables,
    mean_of_items,
)
from usi.score.scorecard import Component, SurveyItem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SurveyResult:
    """What the scorecard says about the survey."""

    component: Component
    items: tuple[SurveyItem, ...]
    kappa: Estimate
    human_kappa: Estimate
    bias: Estimate
    answered: Estimate
    design: SurveyDesign
    warning: str | None = None


def survey_agreement(
    pairs: Pairs,
    items: Sequence[Item],
    *,
    units: int,
    cluster: NDArray[np.int64],
    design: SurveyDesign,
    own: Pairs | None,
    rule: Interval,
    replicates: int,
    seed: int,
) -> SurveyResult:
    """Score a respondent's answers against the people's.

    Parameters
    ----------
    pairs
        Pairs of a person's and the respondent's answers.
    items
        Items that people answered.
    units, cluster
        Number of tasks, and the cluster of each: the same draws as for the components.
    design
        ``"same-transcript"`` or ``"same-task"``.
    own
        Pairs of two people in the same design, ``None`` where there are none.
    rule
        How the standard error becomes bounds.
    replicates, seed
        Bootstrap.
    """
    tables = item_tables(pairs, items, units)
    theirs = item_tables(own, items, units) if own is not None and len(own.unit) else None
    used = [k for k, t in enumerate(tables) if t.pairs]
    clusters = int(cluster.max()) + 1 if len(cluster) else 0
    one = np.ones((1, units))
    points = {k: item_numbers(tables[k], one) for k in used}
    human_points = {k: item_numbers(theirs[k], one) for k in used} if theirs else {}
    draws: dict[int, list[ItemNumbers]] = {k: [] for k in used}
    human_draws: dict[int, list[ItemNumbers]] = {k: [] for k in used}
    if clusters >= 2:
        for _, weights in weight_chunks(clusters, replicates, seed=seed):
            own_weights = weights if clusters == units else weights[:, cluster]
            for k in used:
                draws[k].append(item_numbers(tables[k], own_weights))
                if theirs:
                    human_draws[k].append(item_numbers(theirs[k], own_weights))
    replicated = {k: _fields(draws[k], ("mae", "bias", "kappa")) for k in used}
    human_replicated = {k: _fields(human_draws[k], ("kappa",)) for k in used}
    cards = tuple(
        item_card(
            tables[k],
            points[k],
            replicated[k],
            theirs[k] if theirs else None,
            human_points.get(k),
            human_replicated[k]["kappa"],
        )
        for k in used
    )
    asked = [k for k, t in enumerate(tables) if t.asked.any()]
    n = int((np.bincount(pairs.unit, minlength=units) > 0).sum()) if len(pairs.unit) else 0
    answered = not_assessed("people answered no item", unit="share", n=n)
    if asked:
        shares = [float(item_numbers(tables[k], one).answered[0]) for k in asked]
        answered = Estimate(value=tidy(float(np.mean(shares))), n=n, unit="share")
    empty = not_assessed("no valid answer on both sides", unit="kappa", n=n)
    if not used or clusters < 2:
        reason = "no valid answer on both sides" if not used else "one task alone: no bounds"
        return SurveyResult(
            Component(value=None, status="not_assessed", reason=reason),
            cards,
            empty,
            empty,
            not_assessed(reason, unit="share"),
            answered,
            design,
        )
    mae = float(mean_of_items([points[k].mae for k in used])[0])
    mae_draws = mean_of_items([replicated[k]["mae"] for k in used])
    se = spread(mae_draws) * 100 * rule.inflate
    ceiling = None
    if human_points:
        ceiling = maybe(100 * (1 - float(mean_of_items([p.mae for p in human_points.values()])[0])))
    worst = float(mean_of_items([points[k].worst for k in used])[0])
    raw = 100 * (1 - mae)
    component = Component(
        value=tidy(raw),
        low=maybe(max(0.0, raw - rule.quantile * se)),
        high=maybe(min(100.0, raw + rule.quantile * se)),
        corrected=tidy(raw),
        se=maybe(se),
        maxbias=0.0,
        df=rule.df,
        ceiling_at_n=ceiling,
        n=n,
        detail={"worst_case": Estimate(value=tidy(100 * (1 - worst)), n=n)},
    )
    rated = [k for k in used if np.isfinite(points[k].kappa[0])]
    kappa = _overall(rated, points, replicated, "kappa", n, "answers do not vary")
    signed = [k for k in used if items[k].scale == "ordinal"]
    bias = _overall(signed, points, replicated, "bias", n, "no ordinal item", unit="share")
    missing_own = (
        "no second person rated the same transcript"
        if design == "same-transcript"
        else "needs a task that people rated in two batches"
    )
    human_kappa = not_assessed(missing_own, unit="kappa")
    common = [k for k in rated if k in human_points and np.isfinite(human_points[k].kappa[0])]
    if common and own is not None:
        n_own = len(np.unique(own.unit))
        human_kappa = _overall(common, human_points, human_replicated, "kappa", n_own, missing_own)
    warning = None
    if answered.value is not None and answered.value < MIN_ANSWERED:
        warning = (
            f"{100 * answered.value:.1f} % of the survey items are answered; under "
            f"{100 * MIN_ANSWERED:.0f} % the survey key is INCONCLUSIVE"
        )
    return SurveyResult(component, cards, kappa, human_kappa, bias, answered, design, warning)


def _fields(draws: Sequence[ItemNumbers], names: Sequence[str]) -> dict[str, Array]:
    """Replicates of some numbers of one item, each of shape (replicates,)."""
    return {
        name: np.concatenate([getattr(d, name) for d in draws]) if draws else np.empty(0)
        for name in names
    }


def _overall(
    keys: Sequence[int],
    points: Mapping[int, ItemNumbers],
    replicated: Mapping[int, Mapping[str, Array]],
    field: str,
    n: int,
    reason: str,
    unit: str = "kappa",
) -> Estimate:
    if not keys:
        return not_assessed(reason, unit=unit, n=n)
    point = float(mean_of_items([getattr(points[k], field) for k in keys])[0])
    return percentiles(
        point, mean_of_items([replicated[k][field] for k in keys]), unit=unit, n=n, reason=reason
    )
