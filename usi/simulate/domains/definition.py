"""``domain.toml``: what a domain is called, its fixed time, how states compare, its rules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from usi.errors import InputError, InputErrors
from usi.reading import held_to, read_json, read_toml
from usi.simulate.domains.kit import Tables
from usi.simulate.domains.rules import Rule
from usi.simulate.domains.state import Comparison

FILE = "domain.toml"


class Compare(BaseModel):
    """How states are compared; see `Comparison`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ignored: tuple[str, ...] = ()
    unordered: tuple[str, ...] = ()


class Definition(BaseModel):
    """The content of ``domain.toml``.

    Attributes
    ----------
    name, title
        Name of the sessions' domain, and what it is in one line.
    now
        Date and time of every episode, ISO 8601.
    version
        Raised whenever a grade may change.
    references
        ``table.field`` -> table whose ids the field holds (one id, a list of them, or null).
    rule
        Trajectory checks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    now: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$")
    version: int = 1
    compare: Compare = Compare()
    references: dict[str, str] = Field(default_factory=dict)
    rule: tuple[Rule, ...] = ()

    @field_validator("now")
    @classmethod
    def _is_a_moment(cls, value: str) -> str:
        datetime.fromisoformat(value)
        return value

    @property
    def comparison(self) -> Comparison:
        """As states take it."""
        return Comparison(frozenset(self.compare.ignored), frozenset(self.compare.unordered))


def read_definition(folder: Path, shown: str) -> Definition:
    """Read ``domain.toml``.

    Raises
    ------
    InputErrors
        With every field that is wrong.
    """
    file = f"{shown}/{FILE}"
    if not (folder / FILE).is_file():
        raise InputError(
            f"there is no {FILE}: a domain is a folder with {FILE}, tables/, tools.py, "
            "policy.md and tasks/",
            file=shown,
        )
    return held_to(Definition, read_toml(folder / FILE, shown=file), file)


def read_tables(folder: Path, shown: str, references: dict[str, str]) -> Tables:
    """Read ``tables/*.json`` and check that references hold.

    Raises
    ------
    InputErrors
        For every table that is no object of objects, and every id that is not there.
    """
    tables: Tables = {}
    problems: list[InputError] = []
    for path in sorted((folder / "tables").glob("*.json")):
        file = f"{shown}/tables/{path.name}"
        try:
            value = read_json(path, shown=file)
        except InputError as error:
            problems.append(error)
            continue
        if not isinstance(value, dict) or not all(isinstance(r, dict) for r in value.values()):
            problems.append(InputError("must be an object of id -> record", file=file))
            continue
        tables[path.stem] = value
    if not problems and not tables:
        problems.append(InputError("there are no tables (tables/*.json)", file=shown))
    if problems:
        raise InputErrors(problems)
    for name, target in references.items():
        table, _, field = name.partition(".")
        known = table in tables and (not tables[table] or _has(tables[table], field))
        if not known or target not in tables:
            problems.append(
                InputError(
                    f"{name} -> {target}: there is no such table or field",
                    file=f"{shown}/{FILE}",
                    field="references",
                )
            )
            continue
        for key, record in tables[table].items():
            value = record.get(field)
            for one in value if isinstance(value, list) else [value]:
                if one is not None and not (isinstance(one, str) and one in tables[target]):
                    problems.append(
                        InputError(
                            f"{key}: {one!r} is not in {target}",
                            file=f"{shown}/tables/{table}.json",
                            field=field,
                        )
                    )
    if problems:
        raise InputErrors(problems)
    return tables


def _has(table: Mapping[str, Mapping[str, Any]], field: str) -> bool:
    return any(field in record for record in table.values())
