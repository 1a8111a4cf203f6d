"""What the scorecard says of one survey item."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed
from usi.score.robust.agreement import alpha_of
from usi.score.robust.bounds import maybe, spread, tidy
from usi.score.robust.options import Z
from usi.score.robust.survey_tables import ItemNumbers, ItemTables
from usi.score.scorecard import SurveyItem

Array = NDArray[np.float64]


def percentiles(point: float, draws: Array, *, unit: str, n: int, reason: str) -> Estimate:
    """A number with its 5th and 95th bootstrap percentile."""
    if not np.isfinite(point):
        return not_assessed(reason, unit=unit, n=n)
    known = draws[~np.isnan(draws)]
    low, high = (None, None)
    if len(known) > 1:
        low, high = (tidy(float(v)) for v in np.quantile(known, [0.05, 0.95]))
    return Estimate(value=tidy(point), low=low, high=high, n=n, unit=unit)


def _alpha(tables: ItemTables) -> Estimate:
    k = tables.item.size
    joint = tables.table.sum(axis=0).reshape(k, k)
    # every task weighs 1; scale back to the number of pairs for the small-sample factor
    joint = joint * (tables.pairs / max(joint.sum(), 1e-300))
    metric = "nominal" if tables.item.scale == "nominal" else "ordinal"
    value = alpha_of(joint + joint.T, metric=metric)  # type: ignore[arg-type]
    if not np.isfinite(value):
        return not_assessed("answers do not vary", unit="alpha", n=tables.pairs)
    return Estimate(value=tidy(value), n=tables.pairs, unit="alpha")


def _skill(numbers: ItemNumbers, n: int) -> Estimate:
    mae, constant = float(numbers.mae[0]), float(numbers.constant[0])
    if not (np.isfinite(mae) and np.isfinite(constant)) or constant <= 0:
        return not_assessed("a constant answer makes no error", unit="skill", n=n)
    return Estimate(value=tidy(1 - mae / constant), n=n, unit="skill")


def item_card(
    tables: ItemTables,
    point: ItemNumbers,
    draws: Mapping[str, Array],
    own: ItemTables | None,
    own_point: ItemNumbers | None,
    own_draws: Array,
) -> SurveyItem:
    """Put an item together; `own` are two people in the same design, `own_draws` their kappas."""
    n, item = tables.pairs, tables.item
    human_kappa = human_skill = None
    if own is not None and own_point is not None and own.pairs:
        value = float(own_point.kappa[0])
        human_kappa = percentiles(
            value, own_draws, unit="kappa", n=own.pairs, reason="answers do not vary"
        )
        human_skill = _skill(own_point, own.pairs)
    mae_se = spread(draws["mae"])
    mae = float(point.mae[0])
    reach = Z * mae_se
    wasserstein = float(
        np.abs(
            np.cumsum(tables.marginal / tables.marginal.sum() - tables.humans / tables.humans.sum())
        )[:-1].sum()
    ) / max(1, item.size - 1)
    return SurveyItem(
        item=item.name,
        mae=Estimate(
            value=tidy(mae),
            low=maybe(max(0.0, mae - reach)),
            high=maybe(min(1.0, mae + reach)),
            n=n,
            unit="share",
        ),
        bias=percentiles(
            float(point.bias[0]), draws["bias"], unit="share", n=n, reason="no answer"
        ),
        kappa=percentiles(
            float(point.kappa[0]), draws["kappa"], unit="kappa", n=n, reason="answers do not vary"
        ),
        alpha=_alpha(tables),
        human_kappa=human_kappa,
        skill=_skill(point, n),
        human_skill=human_skill,
        answered=Estimate(value=tidy(float(point.answered[0])), n=n, unit="share"),
        worst_case=Estimate(value=tidy(float(point.worst[0])), n=n, unit="share"),
        wasserstein=Estimate(value=tidy(wasserstein), n=n, unit="share"),
        human_distribution=dict(zip(item.texts, map(int, tables.humans), strict=True)),
        simulator_distribution=dict(zip(item.texts, map(int, tables.marginal), strict=True)),
    )
