"""Sums by task: what comparing, ranking and regression need of a scoring, without any text.

One row for each side, simulator, task and batch or run: sessions, rewards, and the sum of every
count column and feature value. It stands beside the scorecard as ``NAME.tasks.parquet``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from usi.extraction.spec import IDENTITY_SCHEMA
from usi.extraction.table import VALUE_KEYS, SessionTable
from usi.scoring.columns import CONTENT
from usi.scoring.published.calibration import BIN_LABELS, bin_of

KEYS: tuple[str, ...] = ("side", "simulator", "domain", "task", "batch", "run")
NOT_A_SESSION = ("failed", "infrastructure_error")
VALUE_PREFIX, SPOKEN_PREFIX = "value:", "n:"


def task_sums(
    tables: Sequence[SessionTable], difficulty: Mapping[str, float] | None = None
) -> pl.DataFrame:
    """Sums by side, simulator, task and batch or run.

    Parameters
    ----------
    tables
        Session tables of one profile with keys, both sides.
    difficulty
        Task -> success rate, for the column ``bin``.

    Returns
    -------
    pl.DataFrame
        `KEYS`; ``sessions`` (kept, not failed), ``spoken`` (with a user turn), ``rewarded``,
        ``reward`` (sum), ``success`` (rewards above 0); each count column summed under its own
        name; each feature as ``value:NAME`` (sum of raw values) and ``n:NAME`` (how many); and
        ``bin``. Sorted by `KEYS`.
    """
    frames = [_sums(table) for table in tables]
    rates = difficulty or {}
    joined = pl.concat(frames).sort(*KEYS, nulls_last=True)
    bins = [
        BIN_LABELS[bin_of(rates[task])] if task in rates else None
        for task in joined["task"].to_list()
    ]
    return joined.with_columns(pl.Series("bin", bins, dtype=pl.String))


def _sums(table: SessionTable) -> pl.DataFrame:
    values = table.values().drop(VALUE_KEYS)
    known = {*IDENTITY_SCHEMA, CONTENT}
    counts = [name for name in table.frame.columns if name not in known]
    frame = table.frame.with_columns(values.select(pl.all().name.prefix(VALUE_PREFIX)))
    kept = frame.filter(~pl.col("status").is_in(NOT_A_SESSION) & pl.col("keep").fill_null(True))
    # Sums of floats in one order, so that the bytes do not depend on the order of a file.
    last = [CONTENT] if CONTENT in kept.columns else []
    kept = kept.sort(*KEYS, "session_id", "reward", *counts, *last, nulls_last=True)
    return kept.group_by(KEYS, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("sessions"),
        (pl.col("status") == "ok").sum().cast(pl.Int64).alias("spoken"),
        pl.col("reward").is_not_null().sum().cast(pl.Int64).alias("rewarded"),
        pl.col("reward").sum(),
        (pl.col("reward") > 0).sum().cast(pl.Int64).alias("success"),
        pl.col(counts).sum(),
        *(pl.col(VALUE_PREFIX + name).sum() for name in values.columns),
        *(
            pl.col(VALUE_PREFIX + name).count().cast(pl.Int64).alias(SPOKEN_PREFIX + name)
            for name in values.columns
        ),
    )
