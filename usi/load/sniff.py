"""Choosing the format by what a file holds, never by its name."""

from __future__ import annotations

from typing import Any

from usi.errors import InputError, UsiError, unknown_name
from usi.load import odyssim, star, table, tau2, tau_usi, taubench, usi_jsonl
from usi.load.jsonstream import Cursor
from usi.load.options import LoadOptions
from usi.load.registry import OWN, registry
from usi.load.sample import LOOKED_AT, Sample
from usi.load.source import Source

FORMATS: tuple[str, ...] = tuple(module.NAME for module in OWN)
"""Formats of usi itself; `usi.load.registry.registry` has those of installed packages, too."""
SURVEYS = "surveys"
"""Not a format of sessions: a ``survey_comparable_*`` file, which belongs to ``--surveys``."""


def sniff(source: Source, options: LoadOptions) -> str:
    """Name of the format of one file (or `SURVEYS`).

    Raises
    ------
    InputError
        Empty, not UTF-8, no JSON, or JSON of no known shape.
    UsageError
        ``options.format`` is no format.
    """
    if options.format is not None:
        found = registry()
        if options.format not in found.readers:
            error = unknown_name("format", options.format, list(found.readers))
            if found.broken:
                raise type(error)(
                    f"{error}. Plug-ins that can't be used: {'; '.join(found.broken)}"
                )
            raise error
        return options.format
    sample = Sample(source, options)
    name = recognise(source, options, sample)
    if name is None:
        raise InputError(
            "not recognised as any format of transcripts. Known: "
            f"{', '.join(registry().readers)}. Choose one with --format, or see docs/formats.md"
            + "".join(f"\n{text}" for text in (*sample.complaints, *registry().broken)),
            file=source.name,
        )
    return name


def recognise(source: Source, options: LoadOptions, sample: Sample | None = None) -> str | None:
    """Name of the format, or ``None`` where the content is JSON of no known shape."""
    if source.layout is not None:
        return source.layout
    source.check_not_empty()
    sample = sample or Sample(source, options)
    found = registry()
    for name, reader in found.readers.items():
        if name not in found.plugins and name not in _BY_SHAPE and reader.recognise(sample):
            return name
    if sample.first in (b"[", b"{"):
        return _by_shape(source, options) or _of_plugin(sample)
    plugin = _of_plugin(sample)
    if plugin is not None:
        return plugin
    if table.looks_like_table(sample):
        raise table.unnamed_columns(sample)
    with source.open() as stream:
        cursor = Cursor(stream, file=source.name, max_record=options.max_record)
        cursor.row = 1
        cursor.raw()
    raise InputError(
        "not a file of transcripts: it begins with neither { nor [, and is no table", row=1,
        file=source.name,
    )  # fmt: skip


_BY_SHAPE = frozenset(
    (tau_usi.NAME, taubench.NAME, tau2.NAME, odyssim.NAME, star.NAME, usi_jsonl.NAME)
)
"""Formats that are told by walking through the file, since their marks may come late."""


def _of_plugin(sample: Sample) -> str | None:
    """The plug-in that knows the file; they are asked last, so that none changes an old reading."""
    found = registry()
    for name in sorted(found.plugins):
        if found.readers[name].recognise(sample):
            return name
    return None


def _by_shape(source: Source, options: LoadOptions) -> str | None:
    with source.open() as stream:
        cursor = Cursor(stream, file=source.name, max_record=options.max_record)
        return _of_array(cursor) if cursor.peek() == b"[" else _of_object(cursor)


def _of_array(cursor: Cursor) -> str | None:
    for row in cursor.elements():
        element = cursor.value()
        if isinstance(element, dict):
            if "traj" in element:
                return taubench.NAME
            if found := _of_session(element):
                return found
            if "role" in element:
                return usi_jsonl.NAME
        if row >= LOOKED_AT:
            break
    return None


def _of_session(record: dict[str, Any]) -> str | None:
    """Format of a record that holds one session."""
    if "messages" in record and "reward_info" in record:
        return tau2.NAME
    if "messages" in record or "conversation" in record:
        return usi_jsonl.NAME
    return None


def _of_object(cursor: Cursor) -> str | None:
    keys: dict[str, Any] = {}
    for looked, key in enumerate(cursor.members()):
        keys[key] = None
        if key == "simulations" or {"info", "tasks"} <= keys.keys() or key == "simulation_index":
            return tau2.NAME
        if keys.keys() >= star.MARKS:
            return star.NAME
        if key == "results" and cursor.peek() == b"[":
            found = _of_results(cursor)
            if found:
                return found
            continue
        opening = cursor.peek()
        if opening == b"{" and looked < LOOKED_AT and key not in ("metadata", "survey", "info"):
            value = cursor.value()
            if isinstance(value, dict) and "conversation" in value:
                return tau_usi.NAME
            if isinstance(value, dict) and "survey" in value and "messages" not in keys:
                return SURVEYS
        else:
            cursor.skip()
    return _of_session(keys)


def _of_results(cursor: Cursor) -> str | None:
    """Format of a ``results`` array, whose first elements decide."""
    for row in cursor.elements():
        if row > LOOKED_AT:
            cursor.raw()
            continue
        element = cursor.value()
        if isinstance(element, dict):
            if "traj" in element:
                return taubench.NAME
            if "conversation" in element or "chat" in element:
                return odyssim.NAME
    return None


def describe(source: Source, options: LoadOptions) -> str:
    """What a file is, in a word, for the message about a folder of mixed things."""
    try:
        return recognise(source, options) or "not recognised"
    except UsiError as error:
        return f"not readable ({error.message if isinstance(error, InputError) else error})"
