"""The beginning of a file, as the readers look at it to recognise their format."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from usi.errors import UsiError
from usi.loading.jsonstream import Cursor, decode, lines
from usi.loading.source import Source
from usi.options import LoadOptions

HEAD = 2**16
LOOKED_AT = 20
"""Elements, lines or members that are looked at."""
_BOM = b"\xef\xbb\xbf"


class Sample:
    """What a reader may look at; everything is read when it is first asked for.

    Attributes
    ----------
    source, options
        The file, and what the user asked for.
    complaints
        What plug-ins that broke have to say.
    """

    def __init__(self, source: Source, options: LoadOptions) -> None:
        self.source, self.options = source, options
        self.complaints: list[str] = []

    @cached_property
    def head(self) -> bytes:
        """First 64 KiB, decompressed, without byte order mark."""
        with self.source.open() as stream:
            return stream.read(HEAD).removeprefix(_BOM)

    @cached_property
    def first(self) -> bytes:
        """First byte that is no white space."""
        return self.head.lstrip()[:1]

    @cached_property
    def first_line(self) -> str:
        """First line as text; bytes that are no UTF-8 are replaced."""
        return self.head.partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")

    @cached_property
    def records(self) -> list[Any]:
        """First elements of a JSON array, else first lines of JSON Lines; else nothing."""
        try:
            if self.first == b"[":
                found = self._elements()
                # A line may be a list of messages: then the lines are the records.
                return self._lines() or found if _is_message_list(found) else found
            return self._lines() if self.first == b"{" else []
        except UsiError:
            return []

    @cached_property
    def members(self) -> dict[str, Any]:
        """First members of a JSON object; of an array its first element, in a list."""
        found: dict[str, Any] = {}
        if self.first != b"{":
            return found
        try:
            with self.source.open() as stream:
                cursor = Cursor(stream, file=self.source.name, max_record=self.options.max_record)
                for number, key in enumerate(cursor.members(), start=1):
                    found[key] = self._member(cursor)
                    if number >= LOOKED_AT:
                        break
        except UsiError:
            pass
        return found

    @staticmethod
    def _member(cursor: Cursor) -> Any:
        if cursor.peek() != b"[":
            return cursor.value()
        first: list[Any] = []
        for _ in cursor.elements(numbered=False):
            if first:
                cursor.skip()
            else:
                first.append(cursor.value())
        return first

    def _elements(self) -> list[Any]:
        found: list[Any] = []
        with self.source.open() as stream:
            cursor = Cursor(stream, file=self.source.name, max_record=self.options.max_record)
            for row in cursor.elements():
                found.append(cursor.value())
                if row >= LOOKED_AT:
                    break
        return found

    def _lines(self) -> list[Any]:
        found: list[Any] = []
        with self.source.open() as stream:
            limit = self.options.max_record
            for _, _, data in lines(stream, file=self.source.name, max_record=limit):
                try:
                    found.append(decode(data))
                except UsiError:
                    break
                if len(found) >= LOOKED_AT:
                    break
        return found


def _is_message_list(found: list[Any]) -> bool:
    return bool(found) and isinstance(found[0], dict) and bool({"role", "from"} & found[0].keys())
