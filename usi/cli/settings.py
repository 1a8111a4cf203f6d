"""Settings of a workspace: ``usi.toml``, or ``[tool.usi]`` in ``pyproject.toml``.

Command line over file over default. The keys are the options that `usi.options` declares, under
the same names. Unknown keys are errors with a suggestion, since a typing error that is silently
ignored is a wrong score.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin

from usi.errors import InputError, unknown_name
from usi.options import (
    DemoOptions,
    FeaturesOptions,
    LoadOptions,
    Option,
    ScoreChoices,
    ScoreOptions,
    declared,
    default_of,
    type_of,
)
from usi.reading import read_toml, table_at

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

G = TypeVar("G")

TABLES: dict[str, tuple[type[Any], ...]] = {
    "score": (ScoreChoices, ScoreOptions),
    "features": (FeaturesOptions, LoadOptions),
    "demo": (DemoOptions,),
    "load": (LoadOptions,),
}
"""Table -> groups of options whose keys it holds: ``[load]`` is of every verb that reads
transcripts, the others are of the verb of their name and go over it. ``[gate]`` holds criteria as
a criteria file does."""

USER = frozenset({"user_role", "user_speaker", "flip"})
"""One choice in three options: who names one of them takes the place of the others."""


def keys_of(table: str) -> dict[str, tuple[type[Any], Option]]:
    """Keys of a table: name -> the group that declares it, and the declaration."""
    return {
        name: (group, about)
        for group in TABLES[table]
        for name, about in declared(group).items()
        if about.key
    }


def tables_of(group: type[Any], table: str | None) -> list[str]:
    """Tables that say something of a group for the verb of a table, the lowest first."""
    found = ["load"] if issubclass(group, LoadOptions) else []
    return [*found, table] if table is not None and group in TABLES[table] else found


@dataclass(frozen=True)
class Settings:
    """What stands in the file: values by table and key, only of keys that are there."""

    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    gate: Mapping[str, Any] = field(default_factory=dict)

    def of(self, table: str) -> Mapping[str, Any]:
        """Values of a table."""
        return self.tables.get(table, {})


@dataclass(frozen=True)
class Workspace:
    """Where the settings were found; `file` is ``None`` where there are none."""

    root: Path
    file: Path | None
    settings: Settings

    def path(self, value: str) -> str:
        """A path of the settings file is relative to the file, not to the working folder."""
        if self.file is None or Path(value).is_absolute():
            return value
        beside = self.root / value
        return str(beside) if beside.exists() else value

    def values(self, group: type[Any], table: str | None) -> dict[str, Any]:
        """What the settings say of a group of options for the verb of a table."""
        found: dict[str, Any] = {}
        for name in tables_of(group, table):
            keys = keys_of(name)
            said = {
                key: self._value(keys[key][1], value)
                for key, value in self.settings.of(name).items()
                if key in declared(group)
            }
            found = over(found, said)
        return found

    def _value(self, about: Option, value: Any) -> Any:
        if isinstance(value, Path):
            return self.root / value
        if about.path and isinstance(value, str):
            return self.path(value)
        if about.parse is not None and isinstance(value, str):
            return about.parse(value)
        return value


def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Values of two layers, the upper one first."""
    kept = {k: v for k, v in below.items() if not (k in USER and USER & above.keys())}
    return {**kept, **above}


def filled(group: type[G], given: Mapping[str, Any], table: str | None = None) -> G:
    """A group of options: what was given over the settings over the defaults.

    Parameters
    ----------
    group
        A class of `usi.options`.
    given
        Values by name, from the command line.
    table
        Table of the settings that belongs to the verb.
    """
    if not tables_of(group, table):
        return group(**given)
    return group(**over(find_workspace().values(group, table), given))


def find_workspace(start: Path | None = None) -> Workspace:
    """Settings of the nearest folder upwards that has them; defaults where none has.

    Raises
    ------
    InputError
        For a file that is no TOML, a wrong type or an unknown key (with near matches).
    """
    start = Path.cwd() if start is None else start
    for folder in (start, *start.parents):
        own = folder / "usi.toml"
        if own.is_file():
            return Workspace(folder, own, _checked(_read(own), own.name))
        project = folder / "pyproject.toml"
        if project.is_file():
            table = table_at(_read(project), "tool", "usi")
            if table is not None:
                return Workspace(folder, project, _checked(table, project.name, "tool.usi."))
    return Workspace(start, None, Settings())


def _read(path: Path) -> dict[str, Any]:
    return read_toml(path, shown=path.name)


@cache
def _models() -> tuple[type[BaseModel], dict[str, type[BaseModel]]]:
    """What checks a file: the whole, and each table."""
    from pydantic import ConfigDict, create_model

    strict = ConfigDict(extra="forbid", frozen=True)
    tables: dict[str, type[BaseModel]] = {}
    for table in TABLES:
        fields: dict[str, Any] = {}
        for name, (group, about) in keys_of(table).items():
            hint = type_of(group, name)
            fields[name] = (hint | str if about.parse is not None else hint, None)
        tables[table] = create_model(f"{table}_table", __config__=strict, **fields)
    parts: dict[str, Any] = {name: (model, None) for name, model in tables.items()}
    whole = create_model("settings", __config__=strict, gate=(dict[str, Any], {}), **parts)
    return whole, tables


def _checked(table: Any, file: str, prefix: str = "") -> Settings:
    from pydantic import ValidationError

    whole, _ = _models()
    try:
        found = whole.model_validate(table)
    except ValidationError as error:
        raise _explained(error, file, prefix) from None
    said = {
        name: {key: getattr(part, key) for key in part.model_fields_set}
        for name in TABLES
        if (part := getattr(found, name)) is not None
    }
    return Settings(said, getattr(found, "gate"))  # noqa: B009  (made above)


def _explained(error: ValidationError, file: str, prefix: str) -> InputError:
    whole, tables = _models()
    lines = []
    for problem in error.errors(include_url=False):
        place = [str(part) for part in problem["loc"]]
        if problem["type"] == "extra_forbidden":
            model = whole if len(place) == 1 else tables[place[0]]
            unknown = unknown_name("key", place[-1], list(model.model_fields))
            lines.append(f"{prefix}{'.'.join(place)}: {unknown}")
        else:
            lines.append(f"{prefix}{'.'.join(place)}: {problem['msg']}")
    return InputError("; ".join(lines), file=file)


# ---------------------------------------------------------------------- the file that init writes

_HEAD = """\
# Settings of this workspace. The command line goes over this file, this file over the defaults.
# Unknown keys are errors. Paths are relative to this file. usi doctor lists what is set.
"""
_ABOUT = {"load": "of every verb that reads transcripts; a table of a verb goes over it"}
_GATE = """
[gate]  # criteria of usi gate, and of usi score --gate usi.toml
# tier = "B"
"""


def template() -> str:
    """A settings file with every key in a comment, each with its default or an example.

    The keys of ``[load]`` may stand in ``[score]`` and ``[features]``, too; they are written once.
    """
    shared = set(keys_of("load"))
    lines = [_HEAD]
    for table in ("load", *(name for name in TABLES if name != "load")):
        about = f"  # {_ABOUT[table]}" if table in _ABOUT else ""
        lines.append(f"[{table}]{about}")
        own = [name for name in keys_of(table) if table == "load" or name not in shared]
        lines += [_line(table, name) for name in own]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n" + _GATE


def _line(table: str, name: str) -> str:
    group, about = keys_of(table)[name]
    text = f"# {name} = {_example(group, name, about)}"
    return f"{text:30}  # {about.help}"


def _example(group: type[Any], name: str, about: Option) -> str:
    """The default as TOML, or what stands for a value in ``--help`` where there is none."""
    value, hint = default_of(group, name), type_of(group, name)
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    if isinstance(value, bool | float | str) and value != "":
        return json.dumps(value)
    if isinstance(value, int):
        return '"64MB"' if name == "max_record" else str(value)
    if get_origin(hint) is Literal:
        return json.dumps(get_args(hint)[0])
    if hint in (int, float):
        return "0"
    example = json.dumps(about.metavar or name.upper())
    return f"[{example}]" if get_origin(hint) is tuple and about.parse is None else example


def settings_made(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Every setting that a file makes: ``table.key``, and its value with what it means."""
    for table in TABLES:
        said = workspace.settings.of(table)
        for name, (_, about) in keys_of(table).items():
            if name in said:
                yield f"{table}.{name}", f"{_told(said[name])}: {about.help}"
    for name, value in workspace.settings.gate.items():
        yield f"gate.{name}", _told(value)


def _told(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
