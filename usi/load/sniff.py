"""Choosing the format by what a file holds, never by its name."""

from __future__ import annotations

from typing import Any

from usi.errors import InputError, UsiError, unknown_name
from usi.load import abredial, odyssim, star, tau2, tau_usi, taubench, usi_jsonl
from usi.load.jsonstream import Cursor
from usi.load.options import LoadOptions
from usi.load.source import Source

READERS = {
    reader.NAME: reader.read
    for reader in (tau_usi, taubench, tau2, odyssim, star, abredial, usi_jsonl)
}
FORMATS = tuple(READERS)
SURVEYS = "surveys"
"""Not a format of sessions: a ``survey_comparable_*`` file, which belongs to ``--surveys``."""
LOOKED_AT = 20
"""Elements or members that are looked at before a file is called unknown."""


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
        if options.format not in READERS:
            raise unknown_name("format", options.format, FORMATS)
        return options.format
    found = recognise(source, options)
    if found is None:
        raise InputError(
            "not recognised as any format of transcripts. Known: "
            f"{', '.join(FORMATS)}. Choose one with --format, or see docs/formats.md",
            file=source.name,
        )
    return found


def recognise(source: Source, options: LoadOptions) -> str | None:
    """Name of the format, or ``None`` where the content is JSON of no known shape."""
    source.check_not_empty()
    if abredial.is_abredial(source):
        return abredial.NAME
    with source.open() as stream:
        cursor = Cursor(stream, file=source.name, max_record=options.max_record)
        first = cursor.peek()
        if first == b"[":
            return _of_array(cursor)
        if first == b"{":
            return _of_object(cursor)
        cursor.row = 1
        cursor.raw()
    raise InputError(
        "not a file of transcripts: it begins with neither { nor [", file=source.name, row=1
    )


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
