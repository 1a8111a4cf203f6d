"""Rates of requesters from the session table of an event log (`usi logs features`)."""

from __future__ import annotations

from pathlib import Path

from usi.errors import NotScorable, UsageError
from usi.features.table import SessionTable
from usi.simulate.users.requester import Rates


def rates_of_table(path: str | Path) -> Rates:
    """Shares of the cases that wait for the user and that are opened again.

    A log does not tell who asks for news, so `follow_up` is 0; give it beside the table.

    Parameters
    ----------
    path
        A ``.sessions.parquet`` of the profile ``log``.

    Raises
    ------
    UsageError
        For a table of another profile.
    NotScorable
        Where the log shows neither.
    """
    table = SessionTable.read(path)
    if table.profile != "log":
        raise UsageError(
            f"{path} is a session table of the profile {table.profile!r}; make one of a log with "
            "usi logs features LOG --side human -o NAME.sessions.parquet"
        )
    shares = {}
    for name, column in (("waiting", "waits_user"), ("reopening", "reopened")):
        values = table.frame[column].drop_nulls().to_list()
        if values:
            shares[name] = sum(value > 0 for value in values) / len(values)
    if not shares:
        raise NotScorable(f"{path}: the log shows neither waiting for users nor reopening")
    return Rates(**shares)
