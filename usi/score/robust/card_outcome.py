"""The outcome part of a scorecard: success on both sides, by difficulty bin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from usi.estimate import Estimate, not_assessed
from usi.score.robust.bounds import maybe, signed_estimate, tidy
from usi.score.robust.icc import icc1
from usi.score.robust.perceived import wilson
from usi.score.robust.study import Study
from usi.score.scorecard import OutcomeBin


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
        reason = result.reasons.get("outcome", "no outcomes")
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
            reason="no outcome on both sides in this bin",
        ),
    )


def _rate(rate: float, n: int) -> Estimate:
    """A success rate with a Wilson interval (sessions as independent)."""
    if not np.isfinite(rate) or not n:
        return not_assessed("no outcome in this bin", unit="share", n=n)
    low, high = wilson(round(rate * n), n)
    return Estimate(
        value=tidy(rate),
        low=maybe(min(low, rate)),
        high=maybe(max(high, rate)),
        n=n,
        unit="share",
    )
