"""What a domain's ``tools.py`` is written with: tool marks, database, errors, free text."""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

Record = dict[str, Any]
Tables = dict[str, dict[str, Record]]
"""Table name -> record id -> record; every value is a JSON value."""

FREE_TEXT = "wording is free, never graded"
FreeText = Annotated[str, FREE_TEXT]
"""Type of an argument whose wording is not graded; store it in a field that `ignored` names."""

F = TypeVar("F", bound=Callable[..., Any])


class ToolError(Exception):
    """A tool refuses; the agent sees the text as ``{"error": text}`` and nothing has changed."""


def read(function: F) -> F:
    """Mark a function as a tool that only looks. Its first parameter is the `Database`."""
    function.__usi_tool__ = "read"  # type: ignore[attr-defined]
    return function


def write(function: F) -> F:
    """Mark a function as a tool that changes the database, so that the user confirms it first."""
    function.__usi_tool__ = "write"  # type: ignore[attr-defined]
    return function


def copied(value: Any) -> Any:
    """An independent copy of a JSON value."""
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list) else value


class Database:
    """Tables of one episode and its fixed time; there is no clock.

    Attributes
    ----------
    tables
        See `Tables`; a tool may change records in place.
    now
        ISO 8601 date and time that every episode takes place at, from ``domain.toml``.
    """

    def __init__(self, tables: Tables, now: str) -> None:
        self.tables, self.now = tables, now

    def copy(self) -> Database:
        """An independent copy."""
        # In memory only; many times as fast as copying in Python, and every write needs a copy.
        return Database(marshal.loads(marshal.dumps(self.tables)), self.now)

    def table(self, name: str) -> dict[str, Record]:
        """All records of a table."""
        return self.tables[name]

    def get(self, table: str, record_id: str) -> Record:
        """One record.

        Raises
        ------
        ToolError
            Where there is none of this id.
        """
        try:
            return self.tables[table][record_id]
        except KeyError:
            kind = table.removesuffix("s").replace("_", " ")
            raise ToolError(f"there is no {kind} {record_id!r}") from None

    def insert(self, table: str, prefix: str, record: Mapping[str, Any]) -> str:
        """Add a record under the next free number and give its id (``INC0041`` after INC0040)."""
        pattern = re.compile(rf"{re.escape(prefix)}(\d+)")
        found = [match for key in self.tables[table] if (match := pattern.fullmatch(key))]
        width = max((len(match[1]) for match in found), default=4)
        number = max((int(match[1]) for match in found), default=0) + 1
        record_id = f"{prefix}{number:0{width}d}"
        self.tables[table][record_id] = dict(record)
        return record_id

    def where(self, table: str, **fields: Any) -> dict[str, Record]:
        """Records whose fields have these values, by id."""
        return {
            key: record
            for key, record in self.tables[table].items()
            if all(record.get(name) == value for name, value in fields.items())
        }
