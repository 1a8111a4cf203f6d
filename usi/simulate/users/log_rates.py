"""Rates of requesters from the session table of an event log (`usi logs features`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from usi.errors import UsageError
from usi.extraction.table import SessionTable


@dataclass(frozen=True)
class LogRates:
    """What a log tells of its requesters.

    Attributes
    ----------
    shares
        Rate -> share in 0 to 1.
    unknown
        Rate -> why the log can't tell it.
    """

    shares: dict[str, float] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


def rates_of_table(path: str | Path) -> LogRates:
    """Shares of the cases in which requesters do what a scripted one can do.

    ``waiting``: of all cases, those that wait for the user. ``reopening``: of the cases that were
    ever resolved or closed, those opened again. ``follow_up``: of all cases, those in which the
    requester comes back unasked while the case is with the desk
    (`usi.logs.behaviour`); a log in which requesters never act after the opening does
    not tell, since it may just not record them.

    Parameters
    ----------
    path
        A ``.sessions.parquet`` of the profile ``log``.

    Raises
    ------
    UsageError
        For a table of another profile.
    """
    table = SessionTable.read(path)
    if table.profile != "log":
        raise UsageError(
            f"{path} is a session table of the profile {table.profile!r}; make one of a log with "
            "usi logs features LOG --side human -o NAME.sessions.parquet"
        )
    frame, found = table.frame, LogRates()
    _add(found, "waiting", frame["waits_user"], "no activity is of the class wait_user")
    ended = pl.col("last_class").is_in(["resolved", "closed"]) | (pl.col("reopened") == 1)
    known = pl.col("last_class").is_null()  # without classes a flag alone tells of reopenings
    cases = frame.filter(ended | known)
    _add(found, "reopening", cases["reopened"], "no case is resolved or closed")
    if frame["requester_events"].null_count() == len(frame):
        why = "no column says who made an event (role actor)"
    elif not frame["requester_events"].sum():
        why = "no event after the opening is the requester's"
    else:
        why = "activities have no classes"
    told = bool(frame["requester_events"].sum())
    _add(found, "follow_up", frame["followed_up"] if told else None, why)
    return found


def _add(found: LogRates, name: str, values: pl.Series | None, why: str) -> None:
    told = pl.Series([], dtype=pl.Int64) if values is None else values.drop_nulls()
    if len(told):
        found.shares[name] = int((told > 0).sum()) / len(told)
    else:
        found.unknown[name] = why
