"""Where a case went: changes of group, ping-pong, escalation."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from usi.features.trace_options import Pattern, TraceOptions

_BLANK = "\x00blank"


def group_sequence(
    steps: pl.DataFrame, roles: Collection[str], options: TraceOptions
) -> list[pl.DataFrame]:
    """Changes of group and ping-pong by case; what the log can't tell is left out.

    Ping-pong is looked for in the chosen field. Where that is the group and the log has none,
    the resource takes its place, in columns of its own name.
    """
    found: list[pl.DataFrame] = []
    if "group" in roles:
        runs = collapsed(steps, "group", blank=options.missing_group == "value")
        changes = runs.group_by("case", maintain_order=True).agg(
            (pl.len().cast(pl.Int64) - 1).alias("changes")
        )
        found.append(changes)
    wanted = options.ping_pong_field
    if wanted in roles or wanted == "activity":
        blank = wanted == "group" and options.missing_group == "value"
        counts = returns(collapsed(steps, wanted, blank=blank), options.ping_pong_pattern)
        found.append(counts.select("case", (pl.col("n") > 0).cast(pl.Int64).alias("bounced"),
                                   pl.col("n").alias("bounces")))  # fmt: skip
    elif wanted == "group" and "resource" in roles:
        counts = returns(collapsed(steps, "resource", blank=False), options.ping_pong_pattern)
        found.append(
            counts.select("case", (pl.col("n") > 0).cast(pl.Int64).alias("bounced_resource"))
        )
    return found


def collapsed(steps: pl.DataFrame, column: str, *, blank: bool) -> pl.DataFrame:
    """``case`` and ``value``: the column without immediate repeats; blanks left out or a value."""
    values = steps.select("case", pl.col(column).alias("value"))
    if blank:
        values = values.with_columns(pl.col("value").fill_null(_BLANK))
    else:
        values = values.filter(pl.col("value").is_not_null())
    again = (pl.col("case") == pl.col("case").shift(1)) & (
        pl.col("value") == pl.col("value").shift(1)
    )
    return values.filter(~again.fill_null(False))


def returns(runs: pl.DataFrame, pattern: Pattern) -> pl.DataFrame:
    """How often the pattern occurs in each case: ``case``, ``n`` (overlaps count).

    ``aba``: places i with G_i = G_{i+2}. ``abab``: places with G_i = G_{i+2} and
    G_{i+1} = G_{i+3}. ``revisit``: places whose value stood before.
    """
    case, value = pl.col("case"), pl.col("value")
    if pattern == "revisit":
        hit = ~pl.struct("case", "value").is_first_distinct()
    else:
        hit = (case == case.shift(2)) & (value == value.shift(2))
        if pattern == "abab":
            hit = hit & (case == case.shift(3)) & (value.shift(1) == value.shift(3))
    counted = runs.with_columns(hit.fill_null(False).alias("hit"))
    return counted.group_by("case", maintain_order=True).agg(
        pl.col("hit").sum().cast(pl.Int64).alias("n")
    )


def escalations(
    steps: pl.DataFrame, roles: Collection[str], options: TraceOptions
) -> list[pl.DataFrame]:
    """Whether the level ever rises or falls; the priority stands in for rises without levels."""
    if "level" in roles:
        ranks = _ranks(steps["level"], options.level_order, rises=True)
    elif "priority" in roles:
        ranks = _ranks(steps["priority"], options.priority_order, rises=False)
    else:
        return []
    known = steps.select("case", ranks.alias("rank")).drop_nulls("rank")
    move = pl.when(pl.col("case") == pl.col("case").shift(1)).then(
        pl.col("rank") - pl.col("rank").shift(1)
    )
    wanted = [("escalated", pl.col("move") > 0)]
    if "level" in roles:
        wanted.append(("deescalated", pl.col("move") < 0))
    return [
        known.with_columns(move.alias("move"))
        .group_by("case", maintain_order=True)
        .agg(hit.fill_null(False).any().cast(pl.Int64).alias(name) for name, hit in wanted)
    ]


def _ranks(values: pl.Series, order: Sequence[str], *, rises: bool) -> pl.Series:
    """Numbers that rise with the level or the urgency; null where a value has no place."""
    if order:
        places = list(range(len(order)))
        return values.replace_strict(list(order), places, default=None, return_dtype=pl.Int64)
    number = values.str.extract(r"(\d+)").cast(pl.Int64, strict=False)
    return number if rises else -number
