"""Counting the features of logs: events of whole cases -> one row a case.

Every column is a function of the events of its case alone, so rows do not depend on how a log
was cut into frames. Columns that the log can't tell are null.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.features.trace import COUNT_COLUMNS, FLOAT_COLUMNS, TEXT_COLUMNS
from usi.features.trace_options import CLASSES, ClassMap, TraceOptions
from usi.features.trace_requester import requester_columns, with_requester
from usi.features.trace_routing import escalations, group_sequence
from usi.features.values import MICROSECONDS_PER_HOUR
from usi.load.logs.columns import FIELD, Rows

Array = NDArray[np.float64]
_CODE = {name: code for code, name in enumerate(CLASSES)}
_BREAK = " | "


@dataclass(frozen=True)
class LogShape:
    """What a log can tell, and how its cells read.

    Attributes
    ----------
    roles, fields
        Roles and tracked columns that have values.
    required, tracked
        Columns asked for; where one is not among `fields`, what needs it is undefined.
    zone
        Declared zone, or ``None``.
    rows
        See `usi.load.logs.LogFormat`.
    """

    roles: frozenset[str]
    fields: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    tracked: tuple[str, ...] = ()
    zone: str | None = None
    rows: Rows = "event"


def count_cases(
    events: pl.DataFrame, shape: LogShape, classes: ClassMap | None, options: TraceOptions
) -> pl.DataFrame:
    """Count every case.

    Parameters
    ----------
    events
        A frame of whole cases, as `usi.load.logs.CaseStore.frames` gives them.
    shape, classes, options
        What the log can tell, what an activity is, and the choices.

    Returns
    -------
    pl.DataFrame
        ``case``, ``case_id``, the columns of the profile, and of the outcome ``sla_met``,
        ``due_at``, ``resolved_at``, ``csat``; one row a case in the order of ``case``.
    """
    steps = _steps(events, shape, classes, options)
    plain = steps.group_by("case", maintain_order=True).agg(
        *_basic(shape),
        *_classed(shape, classes),
        *_fields(shape, options),
        *_opening(shape),
        *requester_columns(steps.columns),
    )
    parts = [plain, _moments(steps)]
    result = pl.concat(parts, how="horizontal")
    for extra in (
        *group_sequence(steps, shape.roles, options),
        *escalations(steps, shape.roles, options),
    ):
        result = result.join(extra, on="case", how="left", maintain_order="left")
    return _finished(result, shape)


def _steps(
    events: pl.DataFrame, shape: LogShape, classes: ClassMap | None, options: TraceOptions
) -> pl.DataFrame:
    """Events with what follows from their neighbours."""
    wall = pl.col("timestamp")
    local = wall.dt.convert_time_zone(shape.zone or "UTC").dt.replace_time_zone(None)
    frame = events.with_columns(
        (pl.col("case") == pl.col("case").shift(1)).fill_null(False).alias("same"),
        local.to_physical().alias("wall"),
        wall.to_physical().alias("tick"),
        pl.col("activity").cast(pl.Categorical).to_physical().alias("act"),
        pl.int_range(pl.len(), dtype=pl.Int64).alias("at"),
    )
    walls = frame["wall"].to_numpy()
    if options.clock == "business":
        frame = frame.with_columns(pl.Series("tick", options.calendar.worked(walls)))
    if shape.zone is not None:
        off = ~options.calendar.is_open(walls)
        frame = frame.with_columns(pl.Series("off", off))
    next_same = pl.col("same").shift(-1).fill_null(False)
    frame = frame.with_columns(
        pl.when(next_same).then(pl.col("tick").shift(-1) - pl.col("tick")).alias("step"),
        (pl.col("same") & (pl.col("act") == pl.col("act").shift(1))).alias("loop"),
        pl.struct("case", "act").is_first_distinct().alias("fresh"),
        pl.col("tick").first().over("case").alias("tick_first"),
        pl.col("tick").last().over("case").alias("tick_last"),
    )
    if "resource" in shape.roles:  # null where one of the two is not known
        who = pl.col("resource")
        frame = frame.with_columns(pl.when("same").then(who != who.shift(1)).alias("moved"))
    if classes is not None:
        names = [name for name, _ in classes.classes]
        codes = [_CODE[value] for _, value in classes.classes]
        frame = frame.with_columns(
            pl.col("activity").replace_strict(names, codes, return_dtype=pl.Int8).alias("class")
        )
        waits = pl.col("class") == _CODE["wait_user"]
        frame = frame.with_columns(
            waits.alias("waits"),
            (waits & ~(pl.col("same") & waits.shift(1).fill_null(False))).alias("trip"),
            pl.col("class").is_in([_CODE["resolved"], _CODE["closed"]]).alias("done"),
        )
    frame = with_requester(frame, shape.roles, options)
    if shape.rows == "event":
        carried = [FIELD + name for name in shape.fields]
        carried += [name for name in ("priority", "level") if name in frame.columns]
        frame = frame.with_columns(pl.col(carried).forward_fill().over("case"))
    tracked = [pl.col(FIELD + name) for name in shape.tracked if name in shape.fields]
    if tracked:
        changes = [
            (pl.col("same") & cell.ne_missing(cell.shift(1))).cast(pl.Int64) for cell in tracked
        ]
        frame = frame.with_columns(pl.sum_horizontal(changes).alias("changed"))
    return frame


def _basic(shape: LogShape) -> list[pl.Expr]:
    early = 4 * (pl.col("tick") - pl.col("tick_first")) <= pl.col("tick_last") - pl.col(
        "tick_first"
    )
    usable = (pl.len() >= 3) & (pl.col("tick_last").first() > pl.col("tick_first").first())
    known = [
        pl.col("case_id").first(),
        pl.len().cast(pl.Int64).alias("events"),
        (pl.len().cast(pl.Int64) - 1).alias("pairs"),
        pl.col("loop").sum().cast(pl.Int64).alias("self_loops"),
        (pl.len().cast(pl.Int64) - pl.col("fresh").sum()).alias("repeats"),
        (pl.col("step") == 0).sum().cast(pl.Int64).alias("zero_gaps"),
        (pl.col("step") > 0).sum().cast(pl.Int64).alias("gaps"),
        pl.when(usable).then(early.sum()).otherwise(0).cast(pl.Int64).alias("front_events"),
        pl.when(usable).then(pl.len()).otherwise(0).cast(pl.Int64).alias("front_of"),
        (pl.col("tick_last").first() - pl.col("tick_first").first()).alias("cycle_us"),
        pl.col("timestamp").first().to_physical().alias("start_us"),
        pl.col("timestamp").last().to_physical().alias("end_us"),
        pl.col("wall").first().alias("wall_first"),
    ]
    if shape.zone is not None:
        known.append(pl.col("off").sum().cast(pl.Int64).alias("off_hours"))
    if "resource" in shape.roles:
        known += [
            pl.col("moved").is_not_null().sum().cast(pl.Int64).alias("known_pairs"),
            pl.col("moved").sum().cast(pl.Int64).alias("handovers"),
        ]
    return known


def _classed(shape: LogShape, classes: ClassMap | None) -> list[pl.Expr]:
    """L3, reopenings, and how the case ended."""
    found: list[pl.Expr] = []
    if classes is not None:
        found.append(pl.col("class").last().alias("class_last"))
    if classes is not None and classes.has("wait_user"):
        waits, step = pl.col("waits"), pl.col("step").fill_null(0)
        spent = pl.when(waits).then(step).otherwise(0).sum()
        found += [
            waits.any().cast(pl.Int64).alias("waits_user"),
            waits.sum().cast(pl.Int64).alias("wait_user_events"),
            spent.alias("wait_user_us"),
            pl.when(waits.any()).then(spent).alias("wait_user_own_us"),
            pl.when(waits.any()).then((spent == 0).cast(pl.Int64)).alias("wait_user_zero"),
            pl.col("trip").sum().cast(pl.Int64).alias("wait_user_runs"),
        ]
    if classes is not None and classes.has("wait_other"):
        other = pl.col("class") == _CODE["wait_other"]
        found.append(other.any().cast(pl.Int64).alias("waits_other"))
    if classes is not None and classes.has("resolved", "closed"):
        done, at = pl.col("done"), pl.col("at")
        again = at.filter(~done).max() > at.filter(done).min()
        found += [
            again.fill_null(False).cast(pl.Int64).alias("reopened"),
            pl.col("timestamp").filter(done).last().alias("done_at"),
        ]
    elif "reopen_flag" in shape.roles:
        found.append(pl.col("reopen_flag").any().cast(pl.Int64).alias("reopened"))
    return found


def _fields(shape: LogShape, options: TraceOptions) -> list[pl.Expr]:
    """L2: what the ticket's fields held when."""
    have = set(shape.fields)
    found: list[pl.Expr] = []
    if shape.required and have >= set(shape.required):
        cells = [pl.col(FIELD + name) for name in shape.required]
        full = pl.all_horizontal([cell.is_not_null() for cell in cells])
        filled = pl.sum_horizontal([cell.is_not_null().cast(pl.Int64) for cell in cells])
        found += [
            filled.first().alias("required_filled"),
            pl.lit(len(cells), dtype=pl.Int64).first().alias("required_asked"),
            (~full.any()).cast(pl.Int64).alias("incomplete"),
            full.first().cast(pl.Int64).alias("full_at_once"),
            (pl.col("tick").filter(full).first() - pl.col("tick").first()).alias("full_info_us"),
        ]
    if shape.tracked and have >= set(shape.tracked):
        found.append(pl.col("changed").sum().alias("updates"))
    names = options.reclassified
    if names and have >= set(names):
        # Another value than the last known one; filling in a blank is no reclassification.
        moved = [
            (pl.col(FIELD + name).drop_nulls().n_unique() > 1).cast(pl.Boolean) for name in names
        ]
        found.append(pl.any_horizontal(moved).cast(pl.Int64).alias("reclassified"))
    return found


def _opening(shape: LogShape) -> list[pl.Expr]:
    """What the case was when it began, and what is known at its end."""
    first = {"priority", "impact", "category", "site", "requester"} & shape.roles
    last = {"sla_met", "due_at", "resolved_at", "csat"} & shape.roles
    found = [pl.col(name).drop_nulls().first() for name in sorted(first)]
    found += [pl.col(name).drop_nulls().last() for name in sorted(last)]
    if "group" in shape.roles:
        found.append(pl.col("group").drop_nulls().first().alias("team"))
    return found


def _moments(steps: pl.DataFrame) -> pl.DataFrame:
    """Sums of logarithms and burstiness, summed in the order of the events of a case alone."""
    starts = np.flatnonzero(~steps["same"].to_numpy())
    if not len(starts):
        return pl.DataFrame(schema=dict.fromkeys(FLOAT_COLUMNS, pl.Float64))
    step = steps["step"].fill_null(-1).to_numpy()
    there = step >= 0
    hours = np.where(there, step, 0) / MICROSECONDS_PER_HOUR
    logs = np.log(hours, out=np.zeros(len(hours)), where=hours > 0)
    n = np.add.reduceat(there.astype(np.int64), starts)
    many = np.maximum(n, 1)
    mean = np.add.reduceat(hours, starts) / many
    each = np.repeat(mean, np.diff(np.append(starts, len(step))))
    off = np.where(there, hours - each, 0.0)
    sd = np.sqrt(np.add.reduceat(off * off, starts) / many)
    total = sd + mean
    burst = np.divide(sd - mean, total, out=np.zeros(len(n)), where=total > 0)
    known = pl.Series((n >= 3) & (total > 0))
    frame = pl.DataFrame({"gap_log": np.add.reduceat(logs, starts), "burst": burst})
    return frame.with_columns(pl.when(known).then(pl.col("burst")).alias("burst"))


def _joined(*names: str) -> pl.Expr:
    known = pl.any_horizontal([pl.col(name).is_not_null() for name in names])
    return pl.when(known).then(
        pl.concat_str([pl.col(name).fill_null("?") for name in names], separator=_BREAK)
    )


def _finished(result: pl.DataFrame, shape: LogShape) -> pl.DataFrame:
    """Every column of the profile, null where the log can't tell."""
    kinds = {
        **dict.fromkeys(TEXT_COLUMNS, pl.String()),
        **dict.fromkeys(COUNT_COLUMNS, pl.Int64()),
        "class_last": pl.Int8(),
        "sla_met": pl.Boolean(),
        "due_at": pl.Datetime("us", "UTC"),
        "resolved_at": pl.Datetime("us", "UTC"),
        "done_at": pl.Datetime("us", "UTC"),
        "csat": pl.String(),
    }
    result = result.with_columns(
        pl.lit(None, dtype=kind).alias(name)
        for name, kind in kinds.items()
        if name not in result.columns
    )
    local = pl.col("wall_first").cast(pl.Datetime("us"))
    result = result.with_columns(
        local.dt.strftime("%G-W%V").alias("week"),
        local.dt.strftime("%Y-%m").alias("month"),
        _joined("priority", "category").alias("stratum"),
        _joined("priority", "impact").alias("bin"),
        pl.col("class_last")
        .replace_strict(list(range(len(CLASSES))), list(CLASSES), return_dtype=pl.String)
        .alias("last_class"),
    )
    return result
