"""Outcome of a case: solved in time or not, and how it ended; open cases are censored."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from usi.features.table import SessionTable

LABELS = ("resolved_first_time", "reopened", "sla_missed", "cancelled")
_QUANTILE = 0.75
MIN_CASES = 10
"""A bin of fewer cases takes the limit of the whole log."""


def outcome_columns() -> tuple[pl.Expr, pl.Expr]:
    """``reward`` (1 in time, 0 late, null unknown or open) and ``outcome_label`` of counted cases.

    The flag ``sla_met`` counts, else ``resolved_at`` (or else the last resolved or closed event)
    against ``due_at``. Cancelled and open cases have no reward; cancelled ones have a label.
    """
    ended = pl.col("last_class").is_in(["resolved", "closed"])
    moment = pl.coalesce("resolved_at", "done_at")
    met = pl.coalesce(pl.col("sla_met"), moment <= pl.col("due_at"))
    reward = pl.when(ended).then(met.cast(pl.Float64))
    return reward, _label(reward)


def _label(reward: pl.Expr) -> pl.Expr:
    ended = pl.col("last_class").is_in(["resolved", "closed"])
    return (
        pl.when(pl.col("last_class") == "cancelled")
        .then(pl.lit("cancelled"))
        .when(ended & (pl.col("reopened") == 1))
        .then(pl.lit("reopened"))
        .when(ended & (reward == 0))
        .then(pl.lit("sla_missed"))
        .when(ended)
        .then(pl.lit("resolved_first_time"))
    )


def sla_limits(reference: SessionTable) -> dict[str, int]:
    """Third quartile of the cycle time of ended cases by bin, in microseconds, frozen.

    The key ``""`` is the limit of all bins together, and of bins of fewer than `MIN_CASES`.
    """
    frame = reference.frame.filter(pl.col("last_class").is_in(["resolved", "closed"]))
    limits: dict[str, int] = {}
    value = pl.col("cycle_us").quantile(_QUANTILE, interpolation="linear").round().cast(pl.Int64)
    for name, count, limit in frame.group_by("bin").agg(pl.len(), value).iter_rows():
        if name is not None and count >= MIN_CASES:
            limits[name] = int(limit)
    whole = frame.select(value).item()
    return {**dict(sorted(limits.items())), **({} if whole is None else {"": int(whole)})}


def with_sla_limits(table: SessionTable, limits: dict[str, int]) -> SessionTable:
    """A table whose ended cases have a reward by the reference's limits, where none is known.

    Use it on both sides, and only where the reference itself has no ``sla_met`` or ``due_at``.
    """
    if not limits:
        return table
    ended = pl.col("last_class").is_in(["resolved", "closed"])
    names = [name for name in limits if name]
    limit = (
        pl.col("bin")
        .replace_strict(names, [limits[n] for n in names], default=None, return_dtype=pl.Int64)
        .fill_null(limits.get(""))
    )
    reward = pl.coalesce(
        "reward", pl.when(ended).then((pl.col("cycle_us") <= limit).cast(pl.Float64))
    )
    frame = table.frame.with_columns(reward.alias("reward"))
    return replace(table, frame=frame.with_columns(_label(pl.col("reward")).alias("outcome_label")))
