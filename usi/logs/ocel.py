"""OCEL 2.0 flattened on one object type: one case an object, one row an event and object.

An event of several objects of the type is repeated, one of none is dropped; both are counted.
Attributes of the object join the event as they stood at its time (the latest value not later).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from usi.errors import InputError, unknown_name
from usi.loading.notes import InputFile
from usi.loading.source import Source
from usi.logs.notes import LogNotes
from usi.logs.ocel_files import Event, Object, read_ocel
from usi.logs.tables import BLOCK_ROWS, Block, LogFormat


def _text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)


def _sortable(time: str) -> str:
    """ISO times of one spelling sort as text; a missing time stands before all."""
    return time.replace("Z", "+00:00")


def _histories(found: Object) -> dict[str, tuple[list[str], list[Any]]]:
    histories: dict[str, tuple[list[str], list[Any]]] = {}
    for item in sorted(found.attributes, key=lambda value: _sortable(value.time)):
        times, values = histories.setdefault(item.name, ([], []))
        times.append(_sortable(item.time))
        values.append(item.value)
    return histories


def ocel_blocks(
    source: Source, layout: LogFormat, wanted: Sequence[str], notes: LogNotes, file: InputFile
) -> Iterator[Block]:
    """Rows with ``case_id``, ``activity``, ``timestamp`` and the wanted attributes.

    Raises
    ------
    InputError
        For no OCEL, one beyond `MAX_BYTES`, or no object type where there are several.
    UsageError
        For an object type that does not occur.
    """
    log = read_ocel(source, file)
    types = Counter(item.type for item in log.objects)
    chosen = layout.object_type
    if chosen is None and len(types) == 1:
        chosen = next(iter(types))
    if chosen is None:
        listed = ", ".join(f"{name} ({count})" for name, count in sorted(types.items()))
        raise InputError(
            f"has several object types: {listed}. Choose the one that is a case: object_type under "
            "[read]; usi logs suggest takes --object-type",
            file=source.name,
        )
    if chosen not in types:
        raise unknown_name("object type", chosen, sorted(types))
    histories = {item.id: _histories(item) for item in log.objects if item.type == chosen}
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    for number, event in enumerate(log.events, 1):
        owners = list(dict.fromkeys(link.object_id for link in event.relationships
                                    if link.object_id in histories))  # fmt: skip
        notes.flattened_drops += not owners
        notes.flattened_duplicates += max(0, len(owners) - 1)
        own = {item.name: item.value for item in event.attributes}
        for owner in owners:
            rows.append(_row(owner, event, own, histories[owner], wanted, layout.missing))
            numbers.append(number)
        if len(rows) >= BLOCK_ROWS:
            yield _frame(rows, wanted), pl.Series(numbers, dtype=pl.Int64)
            rows, numbers = [], []
    if rows:
        yield _frame(rows, wanted), pl.Series(numbers, dtype=pl.Int64)


def _row(
    owner: str,
    event: Event,
    own: dict[str, Any],
    history: dict[str, tuple[list[str], list[Any]]],
    wanted: Sequence[str],
    missing: Sequence[str],
) -> dict[str, str | None]:
    at = _sortable(event.time)
    row: dict[str, str | None] = {}
    for name in wanted:
        if name == "case_id":
            value: Any = owner
        elif name == "activity":
            value = event.type
        elif name == "timestamp":
            value = event.time
        elif name in own:
            value = own[name]
        elif name in history:
            times, values = history[name]
            place = bisect_right(times, at)
            value = values[place - 1] if place else None
        else:
            value = None
        text = _text(value)
        row[name] = None if text in missing else text
    return row


def _frame(rows: list[dict[str, str | None]], wanted: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(wanted, pl.String))
