"""The three files of OCEL 2.0 (JSON, XML, SQLite) as events, objects and what links them."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NoReturn
from xml.parsers import expat

import msgspec

from usi.errors import InputError
from usi.loading.notes import InputFile
from usi.loading.source import BUFFER, Source

MAX_BYTES = 2**30
"""OCEL is read whole; beyond this it must be flattened to CSV or Parquet first."""
SQLITE = b"SQLite format 3\x00"


class Value(msgspec.Struct):
    """An attribute; of an object, as it stands from a time on."""

    name: str
    value: Any = None
    time: str = ""


class Link(msgspec.Struct, rename="camel"):
    """An object that takes part in an event."""

    object_id: str


class Event(msgspec.Struct):
    """What happened, when, and to which objects."""

    id: str
    type: str
    time: str
    attributes: list[Value] = []
    relationships: list[Link] = []


class Object(msgspec.Struct):
    """A thing that events are about."""

    id: str
    type: str
    attributes: list[Value] = []


class Ocel(msgspec.Struct):
    """A whole log."""

    events: list[Event]
    objects: list[Object]


def ocel_kind(head: bytes) -> str | None:
    """Which of the three files the first bytes may be those of; ``None`` for any other file."""
    if head.startswith(SQLITE):
        return "ocel2-sqlite"
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        marks = (b'"objectTypes"', b'"eventTypes"', b'"objects"', b'"events"')
        return "ocel2-json" if any(mark in head for mark in marks) else None
    tags = (b"<object-types", b"<event-types", b"<objects>")
    if start.startswith(b"<") and b"<log" in head and any(tag in head for tag in tags):
        return "ocel2-xml"
    return None


def read_ocel(source: Source, file: InputFile) -> Ocel:
    """The log of a file, read whole.

    Raises
    ------
    InputError
        For a file beyond `MAX_BYTES`, or one that is not OCEL 2.0.
    """
    data = bytearray()
    with source.open() as stream:
        while block := stream.read(BUFFER):
            data += block
            if len(data) > MAX_BYTES:
                raise InputError(
                    "is larger than 1 GB, and OCEL is read whole: flatten it to CSV or Parquet "
                    "first, one row an event and object",
                    file=source.name,
                )
        file.sha256, file.bytes = stream.digest()
    kind = ocel_kind(bytes(data[:65_536]))
    if kind == "ocel2-sqlite":
        return _of_sqlite(bytes(data), source.name)
    if kind == "ocel2-xml":
        return _of_xml(bytes(data), source.name)
    try:
        return msgspec.json.decode(bytes(data).removeprefix(b"\xef\xbb\xbf"), type=Ocel)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not OCEL 2.0 JSON: {error}", file=source.name) from None


class _Tags:
    """Events and objects from the tags of OCEL 2.0 XML."""

    def __init__(self, file: str) -> None:
        self.log = Ocel([], [])
        self._file = file
        self._item: Event | Object | None = None
        self._value: Value | None = None
        self._words: list[str] = []
        self._path: list[str] = []

    def start(self, tag: str, given: dict[str, str]) -> None:
        above = self._path[-1] if self._path else ""
        self._path.append(tag)
        if tag == "event" and above == "events":
            own, kind, time = self._named(tag, len(self.log.events), given, "id", "type", "time")
            event = Event(own, kind, time)
            self._item = event
            self.log.events.append(event)
        elif tag == "object" and above == "objects" and self._item is None:
            own, kind = self._named(tag, len(self.log.objects), given, "id", "type")
            thing = Object(own, kind)
            self._item = thing
            self.log.objects.append(thing)
        elif tag == "attribute" and self._item is not None:
            self._value = Value(given.get("name", ""), time=given.get("time", ""))
            self._words = []
        elif tag in ("relationship", "object") and isinstance(self._item, Event):
            named = given.get("object-id")
            if named is not None:
                self._item.relationships.append(Link(named))

    def _named(self, tag: str, before: int, given: dict[str, str], *names: str) -> list[str]:
        missing = next((name for name in names if name not in given), None)
        if missing is not None:
            raise InputError(
                f"<{tag}> number {before + 1} has no {missing}", file=self._file, field=missing
            )
        return [given[name] for name in names]

    def words(self, text: str) -> None:
        if self._value is not None:
            self._words.append(text)

    def end(self, tag: str) -> None:
        self._path.pop()
        above = self._path[-1] if self._path else ""
        if tag == "attribute" and self._value is not None and self._item is not None:
            self._value.value = "".join(self._words)
            self._item.attributes.append(self._value)
            self._value = None
        elif (tag, above) in (("event", "events"), ("object", "objects")) and (
            isinstance(self._item, Event) is (tag == "event")
        ):
            self._item = None

    def doctype(self, *_: Any) -> NoReturn:
        raise InputError(
            "refused: it declares a document type, which OCEL does not have", file=self._file
        )


def _of_xml(data: bytes, name: str) -> Ocel:
    tags = _Tags(name)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = tags.start
    parser.EndElementHandler = tags.end
    parser.CharacterDataHandler = tags.words
    parser.StartDoctypeDeclHandler = tags.doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise InputError(
            f"is broken XML at line {error.lineno}: {expat.errors.messages[error.code]}", file=name
        ) from None
    return tags.log


def _of_sqlite(data: bytes, name: str) -> Ocel:
    """Tables of the standard: ``event``, ``object``, ``event_object``, and one a type."""
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as kept:
        kept.write(data)
        kept.flush()
        try:
            with closing(
                sqlite3.connect(f"file:{kept.name}?mode=ro&immutable=1", uri=True)
            ) as base:
                return _tables(base)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise InputError(f"is not OCEL 2.0 SQLite: {error}", file=name) from None


def _tables(base: sqlite3.Connection) -> Ocel:
    events: dict[str, Event] = {}
    for own, kind, row in _items(base, "event"):
        attributes = [Value(key, cell) for key, cell in row.items() if cell is not None]
        time = row.pop("ocel_time", None)
        attributes = [value for value in attributes if value.name != "ocel_time"]
        events[own] = Event(own, kind, "" if time is None else str(time), attributes)
    objects: dict[str, Object] = {}
    for own, kind, row in _items(base, "object"):
        found = objects.setdefault(own, Object(own, kind))
        time, changed = str(row.pop("ocel_time", "") or ""), row.pop("ocel_changed_field", None)
        found.attributes += [
            Value(key, cell, time)
            for key, cell in row.items()
            if cell is not None and (changed is None or key == changed)
        ]
    links = base.execute("SELECT ocel_event_id, ocel_object_id FROM event_object")
    for event, thing in links:
        if str(event) in events:
            events[str(event)].relationships.append(Link(str(thing)))
    whole = sorted(events.values(), key=lambda event: event.time)
    return Ocel(whole, list(objects.values()))


def _items(base: sqlite3.Connection, what: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Id, type and the row in the table of the type, for events or objects."""
    places = base.execute(f"SELECT ocel_type, ocel_type_map FROM {what}_map_type").fetchall()
    tables = {str(kind): f"{what}_{place}" for kind, place in places}
    kinds = {str(o): str(k) for o, k in base.execute(f"SELECT ocel_id, ocel_type FROM {what}")}
    seen: set[str] = set()
    for kind, table in tables.items():
        quoted = '"' + table.replace('"', '""') + '"'
        rows = base.execute(f"SELECT * FROM {quoted} ORDER BY rowid")
        names = [column[0] for column in rows.description]
        for cells in rows:
            row = dict(zip(names, cells, strict=True))
            own = str(row.pop("ocel_id"))
            seen.add(own)
            yield own, kind, row
    for own, kind in kinds.items():
        if own not in seen and what == "object":  # an object without any attribute
            yield own, kind, {}
