"""The human side: which sessions count, in which order, and what they decide alone.

Which sessions of a file are compared: some runs or batches, halves, or those with a value.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.errors import NotScorable, UsageError
from usi.extraction.content import CONTENT_COLUMNS
from usi.extraction.language_packs import without_lists
from usi.extraction.latency import LATENCY_COLUMNS
from usi.extraction.spec import FeatureSpec
from usi.options import RobustOptions
from usi.scoring.columns import CONTENT
from usi.scoring.robust.design import require_column
from usi.scoring.robust.distribution import Grid, grids
from usi.scoring.robust.scorable import (
    POOL,
    Scorable,
    frozen_verdicts,
    pool_spec,
    pooled_verdicts,
    pools_of,
    scorability,
    scored_values,
    session_values,
    with_languages,
    with_pools,
)

Array = NDArray[np.float64]


def canonical(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in an order that does not depend on files: by keys, then by every other column.

    Rows that agree in all of these give the same numbers in any order. `seq` is left out; times
    between turns come behind, so that no score depends on whether there were time stamps.
    """
    keys = [c for c in ("task", "run", "batch", "session_id", "trial") if c in frame.columns]
    rest = sorted(
        (c for c in frame.columns if c not in (*keys, "seq", *CONTENT_COLUMNS)),
        key=lambda c: (c == CONTENT, c in LATENCY_COLUMNS, c),
    )
    return frame.sort([*keys, *rest], nulls_last=True, maintain_order=True)


def scorable_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Sessions that count: status ok, a user turn, kept; in canonical order."""
    kept = pl.col("keep").fill_null(True)
    return canonical(frame.filter((pl.col("status") == "ok") & kept))


def only_runs(frame: pl.DataFrame, column: str, labels: Sequence[str], flag: str) -> pl.DataFrame:
    """Rows of the named batches or runs: by trial or batch of the file, else by resolved key.

    Raises
    ------
    UsageError
        Where a label does not occur.
    """
    if not labels:
        return frame
    filled = [c for c in ("trial", "batch_id") if c in frame and frame[c].count()]
    named = filled[0] if filled else column
    found = frame[named].cast(pl.String)
    have = set(found.drop_nulls())
    missing = [label for label in labels if label not in have]
    if missing:
        raise UsageError(
            f"{flag}: no run {', '.join(missing)}; there are {', '.join(sorted(have))}"
        )
    return frame.filter(found.is_in(list(labels)).fill_null(False))


@dataclass(frozen=True)
class Reference:
    """What the humans alone decide: their sessions, and which features are scored.

    Attributes
    ----------
    frame
        Their sessions that count, in canonical order.
    values
        Natural feature values, shape (sessions, features), NaN = undefined.
    specs
        Features of the profile, and behind them the pools of rare marks.
    verdicts
        Feature -> whether it can be scored.
    pools
        Pool -> the features that it counts together.
    grids
        Feature -> the cells that its distributions are compared in, of those that can be scored.
    frozen
        Whether the corpus fixed that once, in its manifest.
    aggregated
        Whether the sessions are stand-ins with the people's values
        (`usi.scoring.robust.aggregated`).
    """

    frame: pl.DataFrame
    values: Array
    specs: tuple[FeatureSpec, ...]
    verdicts: dict[str, Scorable]
    pools: dict[str, tuple[str, ...]]
    grids: dict[str, Grid]
    frozen: bool = False
    aggregated: bool = False

    @property
    def declared(self) -> tuple[FeatureSpec, ...]:
        """Features of the profile, without pools."""
        return tuple(spec for spec in self.specs if spec.name not in self.pools)

    def values_of(self, frame: pl.DataFrame) -> Array:
        """Natural values of other sessions, with the columns of the pools."""
        own = self.declared
        return with_pools(session_values(frame, own), own, self.pools)


def reference(
    frame: pl.DataFrame,
    specs: Sequence[FeatureSpec],
    *,
    frozen: Collection[str] | None = None,
    like: Reference | None = None,
    by_means: bool = False,
) -> Reference:
    """Prepare the human side.

    Parameters
    ----------
    frame
        Session table with keys.
    specs
        Features of the profile.
    frozen
        Names of the features (and pools) that the corpus fixed once; ``None`` = by these sessions.
    like
        Which features are scored, and which are pooled, is decided by this reference.
    by_means
        Compare means instead of distributions (operational logs).

    Raises
    ------
    NotScorable
        Where no human session counts.
    """
    rows = scorable_rows(frame)
    if not rows.height:
        raise NotScorable("no human session has a user turn and is kept: there is no reference")
    values = session_values(rows, specs)
    verdicts = with_languages(scorability(values, specs), specs, without_lists(rows))
    pools = pools_of(values, specs, verdicts, frozen) if like is None else like.pools
    full = (*specs, *(pool_spec(name.removeprefix(POOL)) for name in pools))
    values = with_pools(values, specs, pools)
    verdicts = pooled_verdicts(values, full, verdicts, pools)
    if frozen is not None:
        verdicts = frozen_verdicts(verdicts, frozen)
    if like is not None:
        verdicts = {
            name: replace(own, reason=like.verdicts[name].reason, rare=like.verdicts[name].rare)
            for name, own in verdicts.items()
        }
    cells = grids(scored_values(values, full), full, verdicts, by_means=by_means)
    return Reference(rows, values, full, verdicts, pools, cells, frozen is not None)


HALVES = ("odd", "even")


def chosen(frame: pl.DataFrame, own: RobustOptions, *, human: bool) -> pl.DataFrame:
    """Rows of one side that the options keep.

    Parameters
    ----------
    frame
        Session table of the side, with keys.
    own
        ``human_runs`` and ``human_where`` choose people, ``sim_runs`` and
        ``sim_where`` the simulator's sessions. ``odd`` and ``even`` are every other session
        of each task (the first, third, ... are odd) in the order of their ids.

    Raises
    ------
    UsageError
        Where a label, a column or a value does not occur.
    """
    where, labels = (own.human_where, own.human_runs) if human else (own.sim_where, own.sim_runs)
    flag, column = ("--human", "batch") if human else ("--sim", "run")
    for condition in where:
        frame = _with_value(frame, condition, f"{flag}-where")
    if labels and set(labels) <= set(HALVES):
        return _halves(frame, labels)
    return only_runs(frame, column, labels, f"{flag}-runs")


def _with_value(frame: pl.DataFrame, condition: str, flag: str) -> pl.DataFrame:
    column, _, value = condition.partition("=")
    require_column(frame, column, flag)
    found = frame[column].cast(pl.String)
    kept = frame.filter((found == value).fill_null(False))
    if not kept.height:
        have = sorted(found.drop_nulls().unique())
        shown = ", ".join(have[:12]) + (" ..." if len(have) > 12 else "")
        raise UsageError(f"{flag}: no session has {column} = {value}; there are {shown}")
    return kept


def _halves(frame: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """Every other session of each task, counted over those that can be scored.

    Ids alone order the sessions of a task: runs are known of one side and batches of the other, and
    the halves of one file must be the same whichever side it stands on.
    """
    ordered = canonical(frame).sort("task", "session_id", nulls_last=True, maintain_order=True)
    counts = (pl.col("status") == "ok") & pl.col("keep").fill_null(True)
    place = pl.int_range(1, pl.len() + 1).over("task", counts) % 2
    return ordered.filter(place.is_in([int(label == "odd") for label in labels]))
