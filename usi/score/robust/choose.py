"""Which sessions of a file are compared: some runs or batches, halves, or those with a value."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from usi.errors import UsageError
from usi.score.robust.design import require_column
from usi.score.robust.options import RobustOptions
from usi.score.robust.reference import canonical, only_runs

HALVES = ("odd", "even")


def chosen(frame: pl.DataFrame, own: RobustOptions, *, human: bool) -> pl.DataFrame:
    """Rows of one side that the options keep.

    Parameters
    ----------
    frame
        Session table of the side, with keys.
    own
        ``human_runs`` and ``human_where`` choose people, ``simulator_runs`` and
        ``simulator_where`` the simulator's sessions. ``odd`` and ``even`` are every other session
        of each task (the first, third, ... are odd) in the order of their
        runs and ids.

    Raises
    ------
    UsageError
        Where a label, a column or a value does not occur.
    """
    where, labels = (
        (own.human_where, own.human_runs) if human else (own.simulator_where, own.simulator_runs)
    )
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
    """Every other session of each task, counted over those that can be scored."""
    counts = (pl.col("status") == "ok") & pl.col("keep").fill_null(True)
    place = pl.int_range(1, pl.len() + 1).over("task", counts) % 2
    return canonical(frame).filter(place.is_in([int(label == "odd") for label in labels]))
