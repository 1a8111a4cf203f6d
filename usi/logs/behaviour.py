"""Outcome of a case: solved in time or not, and how it ended; open cases are censored.

What the requester of a case does: events of their own, and asking before the desk has come back.

A log tells that only where it says who made an event (role ``actor``). An event is the requester's
where its actor is a word for requesters (`REQUESTERS` and those declared), or the requester's name.

Where a case went: changes of group, ping-pong, escalation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl

from usi.extraction.table import SessionTable
from usi.logs.feature_options import CLASSES, REQUESTERS, Pattern, TraceOptions

_CODE = {name: code for code, name in enumerate(CLASSES)}
_DESK = [_CODE[name] for name in ("queue", "work", "wait_other")]
"""The next move is the desk's, or a third party's: nobody waits for the requester."""
_ENDED = [_CODE[name] for name in ("resolved", "closed", "cancelled")]


def with_requester(
    steps: pl.DataFrame, roles: Collection[str], options: TraceOptions
) -> pl.DataFrame:
    """Add ``comes`` and ``asks`` to events that know their neighbours.

    Parameters
    ----------
    steps
        Events of whole cases with ``same`` (the event before is of the same case) and, where there
        are classes, ``class``.
    roles
        Roles that the log has; nothing is added without ``actor``.

    Returns
    -------
    pl.DataFrame
        ``comes``: a run of the requester's events begins here, after the opening. ``asks``: it
        does so while the last event of somebody else left the case with the desk, and does not
        end it. So the opening, an answer to a wait, a reopening and a withdrawal are no
        follow-ups, and several events in a row are one.
    """
    if "actor" not in roles:
        return steps
    words = {word.lower() for word in (*REQUESTERS, *options.requester_actors)}
    actor = pl.col("actor").str.strip_chars()
    own = actor.str.to_lowercase().is_in(sorted(words))
    if "requester" in roles:
        name = pl.col("requester").drop_nulls().first().over("case").str.strip_chars()
        own = own | (actor == name).fill_null(False)
    frame = steps.with_columns(own.fill_null(False).alias("own"))
    comes = pl.col("same") & pl.col("own") & ~pl.col("own").shift(1).fill_null(False)
    added = [comes.alias("comes")]
    if "class" in frame.columns:
        desk = pl.col("class").shift(1).is_in(_DESK) & ~pl.col("class").is_in(_ENDED)
        added.append((comes & desk.fill_null(False)).alias("asks"))
    return frame.with_columns(added)


def requester_columns(columns: Collection[str]) -> list[pl.Expr]:
    """``requester_events`` and ``followed_up`` of a case, as far as events have the columns."""
    found = []
    if "comes" in columns:
        found.append(pl.col("comes").sum().cast(pl.Int64).alias("requester_events"))
    if "asks" in columns:
        found.append(pl.col("asks").any().cast(pl.Int64).alias("followed_up"))
    return found


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
