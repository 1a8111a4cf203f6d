"""Cases as records, for whoever wants to look at single tickets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from usi.logs.tables import FIELD
from usi.records import Case, Event

_OWN = ("activity", "timestamp", "start", "resource", "group", "level", "site", "row")


def iter_cases(frame: pl.DataFrame, *, simulator: str = "") -> Iterator[Case]:
    """Cases of a frame of `usi.logs.CaseStore.frames`, in its order.

    Parameters
    ----------
    frame
        Whole cases, sorted by case.
    simulator
        Label of the candidate; empty for people.
    """
    others = [name for name in frame.columns if name not in (*_OWN, "case", "case_id")]
    events: list[Event] = []
    last: str | None = None
    for row in frame.iter_rows(named=True):
        if last is not None and row["case_id"] != last:
            yield Case(case_id=last, events=tuple(events), simulator=simulator)
            events = []
        last = row["case_id"]
        own: dict[str, Any] = {name: row[name] for name in _OWN if name in row}
        fields = {n.removeprefix(FIELD): row[n] for n in others if row[n] is not None}
        events.append(Event(**own, fields=fields))
    if last is not None:
        yield Case(case_id=last, events=tuple(events), simulator=simulator)
