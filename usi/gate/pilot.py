"""Noise of a study from a pilot: a scorecard with bounds, or human sessions alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from usi.errors import NotScorable, UsageError
from usi.gate.bounds import bounded
from usi.gate.criteria import GATED
from usi.gate.power import CLOSED_FORMS, SUCCESS_VARIANCE, Noise
from usi.score.scorecard import Scorecard, SimulatorCard

if TYPE_CHECKING:
    import polars as pl

ROOT = math.sqrt(2 / math.pi)
SPREAD = math.sqrt(1 - 2 / math.pi)
"""Standard deviation of |Z| for a standard normal Z."""


@dataclass(frozen=True)
class Pilot:
    """Noise of the parts, within-task variance of success, and a sentence on their source."""

    noises: dict[str, Noise]
    variance: float
    source: str


def pilot_of_card(card: Scorecard, simulator: SimulatorCard) -> Pilot:
    """Noise from a scorecard: ceilings give the biases, bounds the standard errors.

    The share of the variance that runs don't lower is not on a scorecard; it is taken as that of
    the closed forms.

    Raises
    ------
    UsageError
        Where the scorecard has no bounds.
    """
    x = 1 / max(1, card.human.n.batches or 1) + 1 / max(1, simulator.n.runs or 1)
    root = math.sqrt(max(1, simulator.n.tasks))
    noises = {}
    for name in ("index", *GATED):
        part = simulator.index if name == "index" else simulator.components.get(name)
        bound = bounded(part) if part is not None else None
        if part is None or bound is None:
            continue
        ceiling = 100.0 - part.ceiling_at_n if part.ceiling_at_n is not None else bound.maxbias
        form = CLOSED_FORMS[name]
        whole = math.sqrt(form.task**2 + form.session**2 * x)
        scale = bound.se * root / whole
        noises[name] = Noise(
            bias=max(0.0, ceiling) * root / math.sqrt(x),
            task=form.task * scale,
            session=form.session * scale,
        )
    if not noises:
        raise UsageError("the pilot scorecard has no bounds: score it with --profile robust")
    gap, variance = simulator.success_gap, SUCCESS_VARIANCE
    if gap is not None and gap.low is not None and gap.high is not None:
        se = (gap.high - gap.low) / (2 * 1.6448536269514722)
        variance = se**2 * root**2 / x
    return Pilot(noises, variance, f"the pilot scorecard ({simulator.name})")


def pilot_of_sessions(frame: pl.DataFrame, profile: str = "robust") -> Pilot:
    """Noise from human sessions alone, by the closed forms of independent sessions.

    A feature of coefficient of variation CV (within a task) costs a perfect simulator
    ``100 CV sqrt(x / (2 π n))`` points; a dimension is the mean of its features.

    Parameters
    ----------
    frame
        Session table rows of people, with keys.

    Raises
    ------
    NotScorable
        Where no dimension can be scored.
    """
    from usi.features.registry import get_specs
    from usi.score.robust.options import RobustOptions
    from usi.score.robust.outcomes import binary
    from usi.score.robust.reference import reference
    from usi.score.robust.scorable import select
    from usi.score.robust.values import scored_values

    specs = get_specs(profile)
    ref = reference(frame, specs)
    names = [spec.name for spec in specs]
    values = scored_values(ref.values, specs)
    tasks = [str(task) for task in ref.frame["task"].to_list()]
    noises = {}
    for dimension, chosen in select(specs, ref.verdicts, paired=True).items():
        if chosen.reason is not None:
            continue
        scales = []
        for name in chosen.scored:
            k = names.index(name)
            sd = math.sqrt(within_variance(values[:, k], tasks))
            # |a - b| / (a + b), or tanh of half the difference of logarithms
            scales.append(sd / 2 if specs[k].scale == "ratio" else sd / (2 * _mean(values[:, k])))
        bias = 100 * ROOT * float(np.mean(scales))
        session = 100 * SPREAD * math.sqrt(sum(s * s for s in scales)) / len(scales)
        noises[dimension] = Noise(bias=bias, task=0.0, session=session, ratio=1.2)
    if not noises:
        raise NotScorable("the pilot holds too few human sessions for any dimension")
    success = binary(ref.frame, RobustOptions().reward_threshold or 1.0)
    known = bool((~np.isnan(success)).any())
    variance = within_variance(success, tasks) if known else SUCCESS_VARIANCE
    if known:
        factor = math.sqrt(variance / SUCCESS_VARIANCE)
        form = CLOSED_FORMS["outcome"]
        noises["outcome"] = Noise(
            form.bias * factor, form.task * factor, form.session * factor, form.ratio
        )
    noises["index"] = _index(noises)
    return Pilot(noises, variance, f"{ref.frame.height} sessions of the pilot's people")


def _mean(values: np.ndarray) -> float:
    return float(np.nanmean(values))


def within_variance(values: np.ndarray, groups: list[str]) -> float:
    """Mean within-group variance; over all values where no group has two of them."""
    known = ~np.isnan(values)
    own: dict[str, list[float]] = {}
    for value, group, there in zip(values.tolist(), groups, known.tolist(), strict=True):
        if there:
            own.setdefault(group, []).append(value)
    total = sum((len(v) - 1) * float(np.var(v, ddof=1)) for v in own.values() if len(v) > 1)
    df = sum(len(v) - 1 for v in own.values())
    if df > 0:
        return total / df
    kept = values[known]
    return float(np.var(kept, ddof=1)) if len(kept) > 1 else 0.0


def _index(noises: Mapping[str, Noise]) -> Noise:
    """Noise of the mean of the parts, as if independent."""
    n = len(noises)
    return Noise(
        bias=sum(part.bias for part in noises.values()) / n,
        task=math.sqrt(sum(part.task**2 for part in noises.values())) / n,
        session=math.sqrt(sum(part.session**2 for part in noises.values())) / n,
        ratio=1.2,
    )
