"""Outcome and satisfaction of cases, by one rule for both sides."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import polars as pl

from usi.estimate import Estimate, not_assessed
from usi.extraction.spec import FeatureSpec
from usi.extraction.table import SessionTable
from usi.logs.behaviour import LABELS, sla_limits, with_sla_limits
from usi.reading import decimal_number
from usi.reasons import (
    FEW_RATED_CASES,
    NO_ENDED_CASE,
    SATISFACTION_CONSTANT,
    SATISFACTION_NOT_REAL,
    SATISFACTION_NOT_SIMULATED,
    Reason,
)
from usi.scoring.robust.bounds import tidy

CSAT = "csat"
LEVEL = "csat_level"
MIN_ANSWERS = 10
"""Rated cases of a side below which satisfaction is not assessed."""


@dataclass(frozen=True)
class Ruled:
    """Both sides with rewards by one rule.

    Attributes
    ----------
    human, simulator
        Session tables.
    rule
        ``flags`` (``sla_met`` or due dates of the logs) or ``reference-p75`` (cycle time up to
        the real log's third quartile of the bin, frozen).
    """

    human: SessionTable
    simulator: SessionTable
    rule: str


def ruled(human: SessionTable, simulator: SessionTable) -> Ruled:
    """In time by what the logs say; where a side says nothing, by the real log's limits on both."""
    known = [table.frame["reward"].count() for table in (human, simulator)]
    if all(known):
        return Ruled(human, simulator, "flags")
    blank = pl.lit(None, dtype=pl.Float64).alias("reward")
    sides = [
        SessionTable(t.frame.with_columns(blank), t.profile, t.lexicon, t.synthetic, t.settings)
        for t in (human, simulator)
    ]
    limits = sla_limits(sides[0])
    people, model = (with_sla_limits(side, limits) for side in sides)
    return Ruled(people, model, "reference-p75")


def label_variation(human: pl.DataFrame, simulator: pl.DataFrame) -> Estimate:
    """Total variation between how cases end: at once, reopened, late, cancelled."""
    shares = []
    for frame in (human, simulator):
        counts = dict(frame["outcome_label"].drop_nulls().value_counts().iter_rows())
        total = sum(counts.values())
        if not total:
            return not_assessed(NO_ENDED_CASE, unit="share")
        shares.append([counts.get(name, 0) / total for name in LABELS])
    variation = sum(abs(a - b) for a, b in zip(*shares, strict=True)) / 2
    return Estimate(value=tidy(variation), n=simulator.height, unit="share")


def label_counts(frame: pl.DataFrame) -> dict[str, int]:
    """Cases by how they ended."""
    counts = dict(frame["outcome_label"].drop_nulls().value_counts().iter_rows())
    return {name: int(counts.get(name, 0)) for name in LABELS} if counts else {}


def _level(text: str | None) -> float | None:
    if text is None:
        return None
    return decimal_number(str(json.loads(text).get(CSAT)))


def with_levels(frame: pl.DataFrame) -> pl.DataFrame:
    """Satisfaction as a number of its own; null where it is none."""
    values = [_level(text) for text in frame["survey"].to_list()]
    return frame.with_columns(pl.Series(LEVEL, values, dtype=pl.Float64))


def satisfaction(human: pl.DataFrame, simulator: pl.DataFrame) -> FeatureSpec | Reason:
    """Satisfaction as a feature over the people's range, or why there is none."""
    sides = [frame[LEVEL].drop_nulls() for frame in (human, simulator)]
    if not len(sides[0]):
        return SATISFACTION_NOT_REAL()
    if not len(sides[1]):
        return SATISFACTION_NOT_SIMULATED()
    if min(map(len, sides)) < MIN_ANSWERS:
        return FEW_RATED_CASES(least=MIN_ANSWERS)
    low, high = (float(np.float64(value)) for value in (sides[0].min(), sides[0].max()))  # type: ignore[arg-type]
    if low == high:
        return SATISFACTION_CONSTANT()
    return FeatureSpec(
        name=CSAT,
        dimension="none",
        kind="value",
        numerator=LEVEL,
        denominator="",
        unit="level",
        scored=False,
        scale="interval",
        span=(low, high),
        description="satisfaction of a case",
        source="own definition",
    )
