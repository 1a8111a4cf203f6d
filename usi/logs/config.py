"""Configuration of a log in TOML: presets, and files that stand on a preset or by themselves.

``[read]`` and ``[columns]`` say how files are read, ``[fields]`` which are tracked, ``[classes]``
what an activity is, ``[features]`` and ``[calendar]`` how features are computed.
"""

from __future__ import annotations

import codecs
import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from usi.errors import InputError, UsageError, unknown_name
from usi.logs.tables import ROLES, Column, LogFormat
from usi.logs.times import check_zone
from usi.reading import naming, read_toml

_TABLES = ("read", "columns", "events", "fields", "classes", "features", "calendar")
_TOP = ("name", "version", "title", "source", "preset", *_TABLES)
_READ = tuple(
    item.name
    for item in fields(LogFormat)
    if item.name not in ("columns", "name", "tracked", "required", "events")
)
_LISTS = ("missing", "lifecycle")
_CHOICES = {
    "date_order": ("day-first", "month-first"),
    "epoch": ("s", "ms", "us"),
    "rows": ("event", "update"),
}


@dataclass(frozen=True)
class LogConfig:
    """A configuration, its reading part understood.

    Attributes
    ----------
    name, version
        Of the preset or file.
    layout
        How files are read.
    classes
        Activity -> class, as written; ``None`` where there is no such table.
    features, calendar
        The tables as written; `usi.logs.feature_options` reads them.
    file
        The preset or file, for messages.
    patterns
        Side -> pattern of its times, where the sides have one each.
    """

    name: str
    version: str
    layout: LogFormat
    classes: Mapping[str, str] | None = None
    features: Mapping[str, Any] = field(default_factory=dict)
    calendar: Mapping[str, Any] | None = None
    file: str = ""
    patterns: Mapping[str, str] = field(default_factory=dict)

    def layout_of(self, side: str) -> LogFormat:
        """How files of one side are read: people's and simulated logs may write times apart."""
        own = self.patterns.get(side)
        return self.layout if own is None else replace(self.layout, timestamp_pattern=own)

    @property
    def tag(self) -> str:
        """Name, version and a digest of what numbers rest on, such as ``servicenow@1#ab12``.

        These are the classes, the tracked and required fields, the kind of rows and the zone;
        where a column stands in a file does not matter.
        """
        own = self.layout
        content = repr(
            (
                own.tracked,
                own.required,
                own.rows,
                own.timezone,
                sorted((self.classes or {}).items()),
                *([sorted(own.events)] if own.events else []),
                *([("lifecycle", own.lifecycle)] if own.lifecycle else []),
            )
        )
        return f"{self.name}@{self.version}#{hashlib.sha256(content.encode()).hexdigest()[:4]}"


@cache
def preset_names() -> tuple[str, ...]:
    """Names of the shipped configurations."""
    folder = files("usi.logs").joinpath("presets")
    names = [path.name for path in folder.iterdir() if path.name.endswith(".toml")]
    return tuple(sorted(name.removesuffix(".toml") for name in names))


def with_columns(
    config: LogConfig,
    *,
    case: str | None = None,
    activity: str | None = None,
    time: str | None = None,
    timezone: str | None = None,
) -> LogConfig:
    """A configuration with columns and a zone that were named in place of its own."""
    layout = config.layout
    named = {"case_id": case, "activity": activity, "timestamp": time}
    given = {role: Column((name,)) for role, name in named.items() if name is not None}
    if given:
        events = {} if {"activity", "timestamp"} & given.keys() else layout.events
        layout = replace(layout, columns={**layout.columns, **given}, events=events)
    if timezone is not None:
        layout = replace(layout, timezone=timezone)
    return replace(config, layout=layout)


def load_config(which: str | Path) -> LogConfig:
    """A preset by name, or a TOML file by path (it may stand on a preset: ``preset = "..."``).

    Raises
    ------
    UsageError
        For an unknown preset or key, with near matches.
    InputError
        For a file that is no TOML, or a value of the wrong type.
    """
    name = str(which)
    if name in preset_names():
        return parse_config(_preset(name), name)
    path = Path(which)
    if path.suffix != ".toml" and not path.exists():
        raise unknown_name("log preset", name, preset_names())
    return parse_config(read_toml(path), name)


def _preset(name: str) -> dict[str, Any]:
    path = files("usi.logs").joinpath("presets", f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def parse_config(table: Mapping[str, Any], file: str) -> LogConfig:
    """Understand a configuration that was read; ``file`` is named in errors."""
    with naming(file):
        return _parsed(table, file)


def _parsed(table: Mapping[str, Any], file: str) -> LogConfig:
    for key in table:
        if key not in _TOP:
            raise unknown_name("key of a log configuration", key, _TOP)
    for key in _TABLES:
        if not isinstance(table.get(key, {}), Mapping):
            raise InputError("must be a table", file=file, field=key)
    base = table.get("preset")
    if base is not None:
        if not isinstance(base, str) or base not in preset_names():
            raise unknown_name("log preset", str(base), preset_names())
        below = _preset(str(base))
        table = {
            **below,
            **{k: v for k, v in table.items() if k not in _TABLES and k != "preset"},
            **{k: {**below.get(k, {}), **table.get(k, {})} for k in _TABLES
               if k in below or k in table},
        }  # fmt: skip
    _check_names(table, file)
    name = str(table.get("name") or Path(file).name.removesuffix(".toml"))
    read = dict(table.get("read", {}))
    patterns: dict[str, str] = {}
    if isinstance(read.get("timestamp_pattern"), Mapping):
        patterns = _patterns(read.pop("timestamp_pattern"), file)
    for key, value in read.items():
        _check_read(key, value, file)
    for key in _LISTS:
        read[key] = _strings(read.get(key, []), file, f"read.{key}")
    read["lifecycle"] = tuple(text.strip().lower() for text in read["lifecycle"])
    tracked = table.get("fields", {})
    for key in tracked:
        if key not in ("tracked", "required"):
            raise unknown_name("key under [fields]", key, ("tracked", "required"))
    layout = LogFormat(
        columns=_columns(table.get("columns", {}), file),
        name=name,
        tracked=_strings(tracked.get("tracked", []), file, "fields.tracked"),
        required=_strings(tracked.get("required", []), file, "fields.required"),
        events=_events(table.get("events", {}), file),
        **read,
    )
    classes = table.get("classes")
    if classes is not None and not all(isinstance(value, str) for value in classes.values()):
        raise InputError("every activity has one class, a text", file=file, field="classes")
    return LogConfig(
        name=name,
        version=str(table.get("version", "1")),
        layout=layout,
        classes=classes,
        features=table.get("features", {}),
        calendar=table.get("calendar"),
        file=file,
        patterns=patterns,
    )


def _patterns(table: Mapping[str, Any], file: str) -> dict[str, str]:
    for side, value in table.items():
        if side not in ("human", "simulated"):
            raise unknown_name("side under read.timestamp_pattern", side, ("human", "simulated"))
        _check_read("timestamp_pattern", value, file)
    return dict(table)


def _events(table: Mapping[str, Any], file: str) -> dict[str, tuple[str, ...]]:
    """Activities of a table with a row a case, each with the columns that may hold its time."""
    return {
        activity: _strings([names] if isinstance(names, str) else names, file, f"events.{activity}")
        for activity, names in table.items()
    }


def _check_names(table: Mapping[str, Any], file: str) -> None:
    for key in ("name", "version", "title", "source"):
        if not isinstance(table.get(key, ""), str | int) or isinstance(table.get(key), bool):
            raise InputError("must be text", file=file, field=key)


def _check_read(key: str, value: Any, file: str) -> None:
    """Refuse a value under [read] that is no text, or not one that can be used."""
    field = f"read.{key}"
    if key not in _READ:
        raise unknown_name("key under [read]", key, _READ)
    if key in _LISTS:
        return
    if not isinstance(value, str):
        raise InputError("must be text", file=file, field=field)
    if key in _CHOICES and value not in _CHOICES[key]:
        raise unknown_name(f"value of {key}", value, _CHOICES[key])
    if key in ("delimiter", "quote"):
        wanted = (0, 1) if key == "quote" else (1,)
        if len(value) not in wanted or not value.isascii() or value in ("\r", "\n", "\0"):
            raise InputError(
                f"must be one ASCII character, not {value!r:.40}", file=file, field=field
            )
    if key == "timezone":
        check_zone(value)
    if key == "encoding":
        try:
            known = codecs.lookup(value)
        except (LookupError, ValueError):
            raise InputError(
                f"{value!r:.40} is not a known encoding", file=file, field=field
            ) from None
        if not getattr(known, "_is_text_encoding", True):
            raise InputError(f"{value!r:.40} is not an encoding of text", file=file, field=field)
    if key == "timestamp_pattern" and "%" not in value:
        raise InputError(
            "must be a strptime pattern such as %Y-%m-%d %H:%M", file=file, field=field
        )


def _strings(value: Any, file: str, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError("must be a list of texts", file=file, field=where)
    return tuple(value)


def _columns(table: Mapping[str, Any], file: str) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for role, value in table.items():
        if role not in ROLES:
            raise unknown_name("role of a column", role, ROLES)
        where = f"columns.{role}"
        given = value if isinstance(value, Mapping) else {"names": value}
        names = given.get("names")
        texts = _strings([names] if isinstance(names, str) else names, file, where)
        extra = set(given) - {"names", "pattern", "default"}
        if extra:
            raise unknown_name(
                f"key under {where}", sorted(extra)[0], ("names", "pattern", "default")
            )
        for key in ("pattern", "default"):
            if not isinstance(given.get(key), str | None):
                raise InputError("must be text", file=file, field=f"{where}.{key}")
        columns[role] = Column(texts, given.get("pattern"), given.get("default"))
        pattern = columns[role].pattern
        if pattern is not None:
            _check_pattern(pattern, where)
    return columns


def _check_pattern(pattern: str, where: str) -> None:
    import polars as pl

    try:
        pl.Series(["x"]).str.extract(pattern)
    except (pl.exceptions.ComputeError, pl.exceptions.PolarsError) as error:
        raise UsageError(f"{where}: {pattern!r} is no pattern with a group: {error}") from None
