"""The real log against itself: by random halves, and by what one wants to generalise over.

Random halves are optimistic: they share weeks, teams and sites. A site against the other sites,
or a month against the other months, is what another real desk would score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.errors import NotScorable
from usi.estimate import Estimate
from usi.score.robust.bounds import tidy
from usi.score.robust.floors import FLOOR_REPLICATES
from usi.score.robust.options import MIN_SIMULATOR_SESSIONS, RobustOptions
from usi.score.robust.reference import Reference
from usi.score.robust.study import study
from usi.score.robust.subgroups import part_of

HALVES = "random halves"
UNITS = ("month", "site", "team")
DRAWS = 5
MOST_VALUES = 8
"""Values of a unit that are compared with the rest, the largest."""
LARGE_SHARE = 0.02
"""Share of the cases that a value needs."""


@dataclass(frozen=True)
class RealAgainstReal:
    """Scores of the real log against itself.

    Attributes
    ----------
    parts
        Kind of split -> component -> scores, one a split.
    """

    parts: Mapping[str, Mapping[str, tuple[float, ...]]]

    def estimate(self, kind: str, component: str) -> Estimate | None:
        """Mean over splits, lowest and highest as bounds."""
        values = self.parts.get(kind, {}).get(component)
        if not values:
            return None
        return Estimate(
            value=tidy(float(np.mean(values))),
            low=tidy(min(values)),
            high=tidy(max(values)),
            n=len(values),
        )

    def lines(self, titles: Mapping[str, str]) -> list[str]:
        """One sentence a kind of split."""
        found = []
        for kind, own in self.parts.items():
            shown = []
            for name, values in own.items():
                mean = f"{titles.get(name, name)} {np.mean(values):.1f}"
                shown.append(mean + (f" ({min(values):.1f} to {max(values):.1f})"))
            count = max((len(values) for values in own.values()), default=0)
            how = f"{count} draws" if kind == HALVES else f"{count} values, each against the rest"
            if shown:
                found.append(f"real against real by {kind} ({how}): {', '.join(shown)}")
        return found


def real_against_real(ref: Reference, own: RobustOptions) -> RealAgainstReal:
    """Compare the real log with itself in every way that it allows."""
    quick = replace(own, replicates=FLOOR_REPLICATES, subgroups=())
    n = ref.frame.height
    masks: dict[str, list[NDArray[np.bool_]]] = {HALVES: []}
    if n >= 2 * MIN_SIMULATOR_SESSIONS:
        for draw in range(DRAWS):
            order = np.random.default_rng([own.seed, 0x4A1F, draw]).permutation(n)
            mask = np.zeros(n, dtype=bool)
            mask[order[: n // 2]] = True
            masks[HALVES].append(mask)
    for unit in dict.fromkeys((*UNITS, own.cluster)):
        if unit not in ref.frame.columns or unit in ("week", "task", "session_id"):
            continue
        column = ref.frame[unit].cast(pl.String)
        masks[unit] = [(column == v).fill_null(False).to_numpy() for v in _large(column)]
    parts = {kind: _scores(ref, quick, splits) for kind, splits in masks.items()}
    return RealAgainstReal({kind: found for kind, found in parts.items() if found})


def _large(column: pl.Series) -> list[str]:
    counts = column.drop_nulls().value_counts().rows()
    least = max(MIN_SIMULATOR_SESSIONS, LARGE_SHARE * len(column))
    large = sorted(
        ((n, v) for v, n in counts if n >= least and len(column) - n >= least),
        key=lambda pair: (-pair[0], pair[1]),
    )
    chosen = [value for _, value in large[:MOST_VALUES]]
    return chosen if len(chosen) > 1 else []


def _scores(
    ref: Reference, own: RobustOptions, masks: list[NDArray[np.bool_]]
) -> dict[str, tuple[float, ...]]:
    found: dict[str, list[float]] = {}
    for mask in masks:
        try:
            result = study(part_of(ref, ~mask), ref.frame.filter(pl.Series(mask)), own)
        except NotScorable:
            continue
        for name, score in result.scores.items():
            found.setdefault(name, []).append(score.raw)
    return {name: tuple(values) for name, values in found.items()}
