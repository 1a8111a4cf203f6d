"""A cursor over JSON of any size: one element in memory at a time, values as Python's `json`.

`msgspec` finds the end of an element and decodes it at several hundred MB a second. What it
refuses and Python's `json` accepts (lone surrogates, NaN, 1e400) goes to `json`, so that a value
never depends on the road that read it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn, Protocol

import msgspec

from usi.errors import InputError
from usi.options import MAX_RECORD
from usi.reading import RepeatedKey, once

CHUNK = 2**20
_SPACE = re.compile(rb"[ \t\r\n]*+")
_SCALAR = re.compile(rb"[^ \t\r\n,\]}:]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_STRUCTURE = re.compile(rb'["\[\]{}]')
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_SPACED = (b" :", b"\t:", b"\n:", b"\r:")
_RAW = msgspec.json.Decoder(msgspec.Raw)
_ANY = msgspec.json.Decoder()
_BOM = b"\xef\xbb\xbf"


class Readable(Protocol):
    """All that the cursor needs of a stream."""

    def read(self, size: int, /) -> bytes: ...


def decode(
    data: bytes | memoryview, *, file: str | None = None, row: int | None = None, offset: int = 0
) -> Any:
    """Decode one JSON text as Python's `json` would.

    Parameters
    ----------
    data
        UTF-8 bytes of one value.
    file, row, offset
        Where it stands, for the message: byte `offset` of the file is the first of `data`.

    Raises
    ------
    InputError
        Not UTF-8, not JSON, truncated, nested too deeply, or an object with a key twice.
    """
    try:
        value = _ANY.decode(data)
        whole = not isinstance(value, dict | list) or _keys(bytes(data)) == _keys(
            msgspec.json.encode(value)
        )
    except RecursionError:
        raise _too_deep(file, row) from None
    except msgspec.MsgspecError:
        whole = False
    return value if whole else _decode_slowly(bytes(data), file, row, offset)


def _keys(text: bytes) -> int:
    """Number of keys of JSON: decoded and written again, a key that stood twice is fewer."""
    if any(mark in text for mark in _SPACED):
        text = msgspec.json.format(text, indent=-1)
    return text.count(b'":') - text.count(b'\\":')


def _decode_slowly(data: bytes, file: str | None, row: int | None, offset: int) -> Any:
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=once)
    except RepeatedKey as error:
        raise InputError(str(error), file=file, row=row) from None
    except RecursionError:
        raise _too_deep(file, row) from None
    except UnicodeDecodeError as error:
        raise not_utf8(error.start + offset, file=file, row=row) from None
    except json.JSONDecodeError as error:
        at = offset + len(data.decode("utf-8")[: error.pos].encode("utf-8"))
        raise InputError(
            f"not valid JSON at byte {at}: {error.msg}. Is the file truncated or edited by hand?",
            file=file,
            row=row,
        ) from None
    except ValueError:  # an integer of more digits than Python reads
        raise InputError("holds a number of several thousand digits", file=file, row=row) from None


def not_utf8(byte: int, *, file: str | None, row: int | None = None) -> InputError:
    """The error for bytes that are no UTF-8."""
    return InputError(f"not UTF-8 at byte {byte}; save the file as UTF-8", file=file, row=row)


def too_large(limit: int, *, file: str | None, row: int | None) -> InputError:
    """The error for a record over the limit."""
    size = f"{limit / 2**20:g} MiB" if limit >= 2**20 else f"{limit} bytes"
    return InputError(
        f"one record is larger than {size}; raise the limit with --max-record if that is meant",
        file=file,
        row=row,
    )


def _too_deep(file: str | None, row: int | None) -> InputError:
    return InputError("nested too deeply to be a transcript", file=file, row=row)


class Cursor:
    """Walks through one JSON text.

    Parameters
    ----------
    stream
        Gives the bytes; read once, forward.
    file
        Name for messages.
    max_record
        Largest value that is held at once, in bytes.

    Attributes
    ----------
    row
        1-based number of the array element or object member that is being read.
    """

    def __init__(self, stream: Readable, *, file: str | None, max_record: int = MAX_RECORD) -> None:
        self._stream, self.file, self._limit = stream, file, max_record
        self._buffer, self._at, self._base, self._eof = b"", 0, 0, False
        self.row: int | None = None
        self._fill()
        if self._buffer[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise not_utf8(0, file=file)
        if self._buffer.startswith(_BOM):
            self._at = len(_BOM)

    def _fill(self) -> bool:
        """Read more, dropping what was consumed; False at the end of the stream."""
        if self._eof:
            return False
        # Reads grow with what is kept, so that a long value costs time linear in its length.
        kept = self._buffer[self._at :]
        more = self._stream.read(max(CHUNK, len(kept)))
        self._base += self._at
        self._buffer, self._at = kept + more, 0
        self._eof = not more
        return bool(more)

    def fail(self, message: str) -> NoReturn:
        """Raise an error at the present place."""
        raise InputError(f"{message} (byte {self._base + self._at})", file=self.file, row=self.row)

    def peek(self) -> bytes:
        """The next byte that is no white space; empty at the end."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            if not self._fill():
                return b""

    def _take(self, expected: bytes) -> None:
        found = self.peek()
        if found != expected:
            self._unexpected(found, f"expected {expected.decode()!r}")
        self._at += 1

    def _unexpected(self, found: bytes, expected: str) -> NoReturn:
        if not found:
            self.fail("the file ends in the middle: it is truncated")
        if found[0] >= 0x80:
            raise not_utf8(self._base + self._at, file=self.file, row=self.row)
        self.fail(f"not valid JSON: {expected}, found {found.decode()!r}")

    def raw(self) -> memoryview:
        """The bytes of the next value, which is then behind the cursor."""
        first = self.peek()
        if first in (b"{", b"["):
            end = self._container_end()
        elif first == b'"':
            end = self._string_end(0)
        else:
            end = self._scalar_end(first)
        if end > self._limit:
            raise too_large(self._limit, file=self.file, row=self.row)
        view = memoryview(self._buffer)[self._at : self._at + end]
        self._at += end
        return view

    def _container_end(self) -> int:
        try:
            _RAW.decode(memoryview(self._buffer)[self._at :])
        except RecursionError:
            raise _too_deep(self.file, self.row) from None
        except msgspec.MsgspecError as error:
            match = _TRAILING.search(str(error))
            if match:
                return int(match[1]) - 1
        return self._scan_container()

    def _scan_container(self) -> int:
        """Find the end by brackets and strings: slower, resumable, blind to errors inside."""
        depth, place = 0, 0
        while True:
            match = _STRUCTURE.search(self._buffer, self._at + place)
            if match is None:
                place = len(self._buffer) - self._at
                self._need_more(place)
                continue
            place = match.start() - self._at
            byte = match[0]
            if byte == b'"':
                place = self._string_end(place)
                continue
            place += 1
            depth += 1 if byte in (b"{", b"[") else -1
            if depth == 0:
                return place

    def _string_end(self, place: int) -> int:
        while True:
            match = _STRING.match(self._buffer, self._at + place)
            if match:
                return match.end() - self._at
            self._need_more(len(self._buffer) - self._at)

    def _scalar_end(self, first: bytes) -> int:
        place = 0
        while True:
            match = _SCALAR.match(self._buffer, self._at + place)
            place = (match.end() if match else self._at) - self._at
            if place > self._limit:
                raise too_large(self._limit, file=self.file, row=self.row)
            if self._at + place < len(self._buffer) or not self._fill():
                break
        if place == 0:
            self._unexpected(first, "expected a value")
        return place

    def _need_more(self, have: int) -> None:
        if have > self._limit:
            raise too_large(self._limit, file=self.file, row=self.row)
        if not self._fill():
            self.fail("the file ends in the middle: it is truncated")

    def value(self) -> Any:
        """The next value, decoded."""
        view = self.raw()
        return decode(
            view, file=self.file, row=self.row, offset=self._base + self._at - view.nbytes
        )

    def elements(self, *, numbered: bool = True) -> Iterator[int]:
        """Step through an array; consume the element (`value`, `skip`, ...) at every step.

        Parameters
        ----------
        numbered
            Whether the elements are the records that `row` counts.

        Yields
        ------
        int
            1-based number of the element that comes next.
        """
        self._take(b"[")
        self.row = 1 if numbered else self.row
        if self.peek() == b"]":
            self._at += 1
            return
        number = 1
        while True:
            self.row = number if numbered else self.row
            yield number
            if self._more(b"]"):
                number += 1
                continue
            return

    def members(self, *, numbered: bool = True) -> Iterator[str]:
        """Step through an object; consume the member's value at every step.

        Parameters
        ----------
        numbered
            Whether the members are the records that `row` counts.

        Yields
        ------
        str
            The key whose value comes next.
        """
        self._take(b"{")
        if self.peek() == b"}":
            self._at += 1
            return
        number = 1
        while True:
            self.row = number if numbered else self.row
            if self.peek() != b'"':
                self._unexpected(self.peek(), "expected a key in double quotes")
            key = self.value()
            self._take(b":")
            yield key
            if self._more(b"}"):
                number += 1
                continue
            return

    def _more(self, closing: bytes) -> bool:
        found = self.peek()
        if found not in (b",", closing):
            self._unexpected(found, f"expected ',' or {closing.decode()!r}")
        self._at += 1
        return found == b","

    def skip(self) -> None:
        """Step over the next value, whatever its size."""
        first = self.peek()
        if first == b"[":
            for _ in self.elements(numbered=False):
                self._pass_over()
        elif first == b"{":
            for _ in self.members(numbered=False):
                self._pass_over()
        else:
            self._pass_over()

    def _pass_over(self) -> None:
        """One value that nobody reads; its bytes must be text all the same."""
        view = self.raw()
        try:
            if "\0" in str(view, "utf-8"):
                self.fail("not valid JSON: a NUL byte stands before this place")
        except UnicodeDecodeError as error:
            at = self._base + self._at - view.nbytes + error.start
            raise not_utf8(at, file=self.file, row=self.row) from None

    def end(self) -> None:
        """Check that nothing but white space follows."""
        if self.peek():
            self.fail("not valid JSON: something follows after the end of the value")


def lines(
    stream: Any, *, file: str | None, max_record: int = MAX_RECORD
) -> Iterator[tuple[int, int, bytes]]:
    """Cut JSON Lines into records.

    Parameters
    ----------
    stream
        Binary stream with ``readline(limit)``.

    Yields
    ------
    tuple
        1-based line number, byte offset of the line, its bytes without white space at the ends.
        Blank lines are passed over; a byte order mark is dropped.
    """
    number = offset = 0
    while line := stream.readline(max_record + 2):
        number += 1
        start = offset
        offset += len(line)
        if number == 1 and line.startswith(_BOM):
            line = line[len(_BOM) :]
            start += len(_BOM)
        stripped = line.strip(b" \t\r\n")
        if len(stripped) > max_record:
            raise too_large(max_record, file=file, row=number)
        if stripped:
            yield number, start + line.index(stripped[:1]), stripped
