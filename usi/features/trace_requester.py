"""What the requester of a case does: events of their own, and asking before the desk has come back.

A log tells that only where it says who made an event (role ``actor``). An event is the requester's
where its actor is a word for requesters (`REQUESTERS` and those declared), or the requester's name.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from usi.features.trace_options import CLASSES, REQUESTERS, TraceOptions

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
