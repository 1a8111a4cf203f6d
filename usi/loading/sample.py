"""The beginning of a file, as the readers look at it to recognise their format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from usi.errors import UsiError
from usi.loading.jsonstream import Cursor, decode, lines
from usi.loading.source import Source
from usi.options import LoadOptions

HEAD = 2**16
LOOKED_AT = 20
"""Elements, lines or members that are looked at."""
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Member:
    """A member of a JSON object, as far as it is looked at.

    Attributes
    ----------
    key
        Its name.
    fields
        Keys of its value, where that is an object and one of the first members.
    elements
        First objects of the array ``results``; of other arrays nothing.
    """

    key: str
    fields: frozenset[str] = frozenset()
    elements: tuple[dict[str, Any], ...] = ()


T = TypeVar("T")


class _Walk(Iterable[T]):
    """An iteration that may be begun again: what was passed is kept, the rest read when wanted."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._passed: list[T] = []

    def __iter__(self) -> Iterator[T]:
        place = 0
        while True:
            if place == len(self._passed):
                try:
                    self._passed.append(next(self._items))
                except StopIteration:
                    return
            yield self._passed[place]
            place += 1


_NO_SESSION = ("metadata", "survey", "info")
"""Members of an object that are no sessions, and may be large."""


class Sample:
    """What a reader may look at; everything is read when it is first asked for.

    Attributes
    ----------
    source, options
        The file, and what the user asked for.
    complaints
        What plug-ins that broke have to say.
    trouble
        Why `elements` or `outline` ended before their time: the file is no valid JSON.
    """

    def __init__(self, source: Source, options: LoadOptions) -> None:
        self.source, self.options = source, options
        self.complaints: list[str] = []
        self.trouble: UsiError | None = None

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
                found = list(self.elements)
                if self.trouble is not None:
                    return []
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

    @cached_property
    def elements(self) -> Iterable[Any]:
        """First elements of a JSON array, each read when it is wanted; else nothing."""
        return _Walk(self._elements())

    @cached_property
    def outline(self) -> Iterable[Member]:
        """All members of a JSON object, each passed over when the next is wanted; else nothing.

        For formats whose marks may come late in the file: it is walked through once for all.
        """
        return _Walk(self._members())

    def _elements(self) -> Iterator[Any]:
        if self.first != b"[":
            return
        try:
            with self.source.open() as stream:
                cursor = Cursor(stream, file=self.source.name, max_record=self.options.max_record)
                for row in cursor.elements():
                    yield cursor.value()
                    if row >= LOOKED_AT:
                        break
        except UsiError as error:
            self.trouble = error

    def _members(self) -> Iterator[Member]:
        if self.first != b"{":
            return
        try:
            with self.source.open() as stream:
                cursor = Cursor(stream, file=self.source.name, max_record=self.options.max_record)
                for number, key in enumerate(cursor.members()):
                    opening = cursor.peek()
                    if key == "results" and opening == b"[":
                        yield from self._results(key, cursor)
                    elif opening == b"{" and number < LOOKED_AT and key not in _NO_SESSION:
                        yield Member(key, frozenset(cursor.value()))
                    else:
                        yield Member(key)
                        cursor.skip()
        except UsiError as error:
            self.trouble = error

    @staticmethod
    def _results(key: str, cursor: Cursor) -> Iterator[Member]:
        """The member, told before the rest of its elements is passed over."""
        found: list[dict[str, Any]] = []
        rows = cursor.elements()
        try:
            for _ in islice(rows, LOOKED_AT):
                value = cursor.value()
                if isinstance(value, dict):
                    found.append(value)
        except UsiError:
            yield Member(key, elements=tuple(found))
            raise
        yield Member(key, elements=tuple(found))
        for _ in rows:
            cursor.skip()

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
