"""Rates of requesters from a session table of an event log."""

from __future__ import annotations

from pathlib import Path

from usi.simulate.users.requester import Rates


def rates_of_table(path: str | Path) -> Rates:
    """Waiting, reopening and follow-up of the cases of a table."""
    raise NotImplementedError
