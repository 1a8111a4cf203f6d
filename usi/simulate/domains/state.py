"""The database of one episode: running tools on it, its canonical form and its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from usi.simulate.domains.kit import Database, Record, Tables, ToolError, copied
from usi.simulate.domains.tasks import Tool


@dataclass(frozen=True)
class Comparison:
    """What two databases are compared without.

    Attributes
    ----------
    ignored
        ``table.field`` whose content is not graded (wording, notes), or a whole ``table``.
    unordered
        ``table.field`` whose list is a set.
    """

    ignored: frozenset[str] = frozenset()
    unordered: frozenset[str] = frozenset()

    def fields(self, kind: Literal["ignored", "unordered"], table: str) -> frozenset[str]:
        """Fields of a table that are ignored or unordered."""
        names = self.ignored if kind == "ignored" else self.unordered
        return frozenset(n.partition(".")[2] for n in names if n.startswith(f"{table}."))


class EpisodeState:
    """Tools over a database. A call that goes wrong changes nothing.

    Reads are trusted not to change records (``usi domain check`` verifies that); writes act on a
    copy that is kept only where they succeed.

    Parameters
    ----------
    database
        Copied, so that episodes never share records.
    tools
        By name.
    """

    def __init__(self, database: Database, tools: Mapping[str, Tool]) -> None:
        self.database, self._tools = database.copy(), tools

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a tool: a JSON value, or ``{"error": text}``."""
        tool = self._tools.get(name)
        if tool is None:
            return {"error": f"there is no tool {name!r}"}
        trial = self.database.copy() if tool.write else self.database
        try:
            result = tool.function(trial, **tool.checked(arguments))
        except ToolError as error:
            return {"error": str(error)}
        except Exception as error:  # noqa: BLE001  (a defect of somebody's tool ends no run)
            return {"error": f"the tool {name} failed: {type(error).__name__}"}
        if tool.write:
            self.database = trial
        return copied(result)


def is_error(result: Any) -> bool:
    """Whether a tool's result says that it did nothing."""
    return isinstance(result, dict) and set(result) == {"error"}


def canonical(tables: Tables, comparison: Comparison) -> Tables:
    """Tables as they are compared: ignored fields left out, sets sorted, 1.0 as 1."""
    return {
        name: _table(
            table, comparison.fields("ignored", name), comparison.fields("unordered", name)
        )
        for name, table in tables.items()
        if name not in comparison.ignored
    }


def _table(
    table: dict[str, Record], ignored: frozenset[str], unordered: frozenset[str]
) -> dict[str, Record]:
    return {
        key: {
            field: value if type(value) in _PLAIN else _value(value, field in unordered)
            for field, value in record.items()
            if field not in ignored
        }
        for key, record in table.items()
    }


_PLAIN = (str, int, bool, type(None))
"""Types whose values are compared as they are."""


def _value(value: Any, unordered: bool = False) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _value(part) for key, part in value.items()}
    if isinstance(value, list):
        parts = [_value(part) for part in value]
        return sorted(parts, key=_text) if unordered else parts
    return value


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def state_hash(tables: Tables, comparison: Comparison | None = None) -> str:
    """SHA-256 (hex) of the canonical form; the order of keys and records does not matter."""
    return form_hash(canonical(tables, comparison or Comparison()))


def form_hash(form: Tables) -> str:
    """The same of tables that are in canonical form already."""
    return hashlib.sha256(_text(form).encode()).hexdigest()
