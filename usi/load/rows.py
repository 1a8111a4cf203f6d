"""From rows of messages to sessions, whatever table they stand in."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from usi.load.columns import Columns
from usi.load.context import Context
from usi.load.fields import BadField, number, survey_of
from usi.load.roles import SYNONYMS
from usi.load.times import moment, stamp_of
from usi.load.usi_jsonl import session_of
from usi.records import Session

Row = Mapping[str, Any]
_TEXT_FIELDS = {
    "domain": "domain", "simulator": "simulator", "outcome": "outcome",
    "termination": "termination", "status": "status", "status_reason": "status_reason",
    "participant": "participant", "agent": "agent", "layout": "layout",
}  # fmt: skip
_APART = ("trial", "batch", "simulator")
_VARIES = "field: differs within a session, the first value counts"


def sessions_of_rows(
    rows: Iterable[tuple[int, Row]], columns: Columns, context: Context
) -> Iterator[Session]:
    """Sessions in the order of their first rows; messages in the order of the table or column.

    Rows of a session need not lie together. A row with neither role nor text is a session in
    which nothing was said.
    """
    of = columns.of
    groups: dict[tuple[str, ...], list[tuple[int, Row]]] = {}
    latest: dict[str, tuple[str, ...]] = {}
    for place, row in rows:
        own = text_cell(row.get(of["session"]))
        if own is None:
            context.notes.add_problem(
                BadField(of["session"], "is empty: no session is named").at(
                    context.source.name, place
                )
            )
            continue
        told = tuple(text_cell(row.get(of[k])) or "" for k in _APART if k in of)
        # Identity may stand in the first row of a session alone.
        key = latest[own] if own in latest and not any(told) else (own, *told)
        latest[own] = key
        groups.setdefault(key, []).append((place, row))
    for group in groups.values():
        session = context.build(lambda g=group: _session(g, of, context), group[0][0])  # type: ignore[misc]
        if session is not None:
            yield session


def text_cell(value: Any) -> str | None:
    """A cell as text; an empty one, null and NaN are ``None``; 3.0 is ``3``."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    text = str(value)
    return text if text.strip() else None


def _session(
    group: list[tuple[int, Row]], of: Mapping[str, str], context: Context
) -> Session | None:
    place, first = group[0]
    ordered = _ordered(group, of, context)
    record: dict[str, Any] = {
        "id": text_cell(first[of["session"]]),
        "layout": "table",
        "messages": [m for _, row in ordered if (m := _message(row, of, context)) is not None],
    }
    for meaning in of:
        if meaning in ("session", "role", "text", "name", "order", "time"):
            continue
        values = {text_cell(row.get(of[meaning])) for _, row in group} - {None}
        if len(values) > 1:
            context.guess(_VARIES)
        cell = next(
            (found for _, row in group if (found := text_cell(row.get(of[meaning]))) is not None),
            None,
        )
        if cell is not None:
            _put(record, meaning, cell, of[meaning])
    return session_of(record, place, context)


def _ordered(
    group: list[tuple[int, Row]], of: Mapping[str, str], context: Context
) -> list[tuple[int, Row]]:
    """Rows by the column of the order, else of the time, where every row has it; else as they
    stand."""
    column = of.get("order", of.get("time"))
    if column is None:
        return group
    cells = [text_cell(row.get(column)) for _, row in group]
    if any(cell is None for cell in cells):
        return group
    numbers = [_as_number(str(cell)) for cell in cells]
    keys: list[Any] = cells if any(found is None for found in numbers) else numbers
    if column == of.get("time") and keys is cells:
        keys = _moments([row.get(column) for _, row in group]) or cells
    order = sorted(range(len(group)), key=lambda i: keys[i])
    if order != list(range(len(group))):
        context.guess("session: rows were put in the order of their column")
    return [group[i] for i in order]


def _moments(cells: list[Any]) -> list[datetime] | None:
    """Cells as moments, where all are and they can be compared."""
    found = [moment(cell) for cell in cells]
    known = [when for when in found if when is not None]
    alike = len({when.tzinfo is None for when in known}) == 1
    return known if len(known) == len(found) and alike else None


def _as_number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _message(row: Row, of: Mapping[str, str], context: Context) -> dict[str, Any] | None:
    found = text_cell(row.get(of["role"]))
    content = row.get(of["text"])
    if isinstance(content, float) and math.isnan(content):
        content = None
    if found is None and text_cell(content) is None:
        return None
    name = text_cell(row.get(of["name"])) if "name" in of else None
    if found is None:
        context.leave_out("message: names no role")
        return None
    if context.is_chosen(found, name):
        role: str | None = found
    else:
        role = SYNONYMS.get(found.strip().lower())
    if role in ("system", "tool"):
        context.leave_out(
            {"system": "message: system prompt", "tool": "message: tool result"}[role]
        )
        return None
    if role is None:
        if context.options.user_role is None and context.options.user_speaker is None:
            raise BadField(
                of["role"],
                f"{found!r:.60} is neither a user nor an agent by its name; say who the user is "
                "with --user-role",
            )
        role = "assistant"
    if content is not None and not isinstance(content, str):
        content = str(content)
    message: dict[str, Any] = {"role": role, "content": content}
    if name is not None:
        message["name"] = name
    if "time" in of:
        message["time"] = stamp_of(row.get(of["time"]), context)
    return message


def _put(record: dict[str, Any], meaning: str, cell: str, column: str) -> None:
    if meaning in _TEXT_FIELDS:
        record[_TEXT_FIELDS[meaning]] = cell
    elif meaning in ("task", "trial"):
        record["task_id" if meaning == "task" else "trial"] = cell
    elif meaning == "batch":
        if not cell.isdecimal():
            raise BadField(column, f"a batch must be a whole number from 1, not {cell!r:.40}")
        record["batch"] = int(cell)
    elif meaning == "reward":
        record["reward"] = _reward(cell, column)
    elif meaning == "survey":
        record["survey"] = _json(cell, column)
        survey_of(record["survey"])
    elif meaning == "keep":
        record["keep"] = _truth(cell, column)
    elif meaning == "error_tags":
        record["error_tags"] = [] if cell == "none" else cell.split(",")


def _truth(cell: str, column: str) -> Any:
    words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    if cell.strip().lower() not in words:
        raise BadField(column, f"must be true or false, not {cell!r:.40}")
    return words[cell.strip().lower()]


def _reward(cell: str, column: str) -> float | None:
    words = {"true": 1.0, "yes": 1.0, "success": 1.0, "false": 0.0, "no": 0.0, "failure": 0.0}
    if cell.strip().lower() in words:
        return words[cell.strip().lower()]
    try:
        return number(float(cell), column)
    except ValueError:
        raise BadField(
            column, f"a reward must be a number, true or false, not {cell!r:.40}"
        ) from None


def _json(cell: str, column: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        raise BadField(column, "a survey must be a JSON object {item: answer}") from None
