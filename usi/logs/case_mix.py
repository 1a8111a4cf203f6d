"""Standardisation: the simulator's cases, weighted to the mix of cases that people had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

MIX_COLUMNS = ("priority", "category")
BIN_COLUMNS = ("priority", "impact")
WEIGHT = "mix_weight"
MIN_STRATUM = 10
"""Cases of each side below which a stratum is joined with the other small ones."""
_OTHER = "other"


def common_columns(
    human: pl.DataFrame, simulator: pl.DataFrame, names: Sequence[str]
) -> tuple[str, ...]:
    """Those of the columns that have a value on both sides."""
    return tuple(
        name for name in names if all(f[name].null_count() < f.height for f in (human, simulator))
    )


def key(names: Sequence[str]) -> pl.Expr:
    """One text for the values of some columns, ``?`` for a missing one."""
    if not names:
        return pl.lit("all cases")
    return pl.concat_str([pl.col(name).fill_null("?") for name in names], separator=" / ")


@dataclass(frozen=True)
class Mix:
    """What was standardised.

    Attributes
    ----------
    columns
        Columns whose joint values are the strata; empty: nothing was.
    weight
        One weight a case of the simulator, mean 1 over those that count, shape (cases,).
    covered
        Share of the people's cases in strata that the simulator has.
    effective
        Cases that the weighted ones are worth (Kish): (Σ w)² / Σ w².
    """

    columns: tuple[str, ...]
    weight: NDArray[np.float64]
    covered: float
    effective: float


def standardised(human: pl.DataFrame, simulator: pl.DataFrame, *, wanted: bool) -> Mix:
    """Weights w = p_people(stratum) / p_simulator(stratum).

    Strata with fewer than `MIN_STRATUM` cases on a side are one stratum. What only people have
    stays out of the weights (`covered` says how much); what only the simulator has weighs 0.
    """
    n = simulator.height
    names = common_columns(human, simulator, MIX_COLUMNS) if wanted else ()
    if not names:
        return Mix((), np.ones(n), 1.0, float(n))
    sides = [frame.select(key(names).alias("s"))["s"] for frame in (human, simulator)]
    counts = [dict(side.value_counts().iter_rows()) for side in sides]
    large = {s for s in counts[0] if min(c.get(s, 0) for c in counts) >= MIN_STRATUM}
    merged = [side.replace_strict({s: s for s in large}, default=_OTHER) for side in sides]
    ours, theirs = (dict(side.value_counts().iter_rows()) for side in merged)
    both = {s for s in ours if theirs.get(s)}
    if not both:
        return Mix((), np.ones(n), 0.0, float(n))
    total = sum(ours[s] for s in both)
    used = sum(theirs[s] for s in both)
    ratio = {s: (ours[s] / total) / (theirs[s] / used) for s in both}
    weight = np.array([ratio.get(s, 0.0) for s in merged[1].to_list()])
    effective = float(weight.sum() ** 2 / np.square(weight).sum())
    return Mix(names, weight, total / human.height, effective)
