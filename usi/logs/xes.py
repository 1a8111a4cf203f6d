"""XES (IEEE 1849) as blocks of raw cells, streamed: one pass of an event parser.

Attributes of a trace are columns ``case:KEY``, those of an event ``KEY``. Nested attributes are
passed over. A document type declaration is refused: XES has none, and it can hide a bomb.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn
from xml.parsers import expat

import polars as pl

from usi.errors import InputError
from usi.loading.notes import InputFile
from usi.loading.source import BUFFER, Source
from usi.logs.tables import BLOCK_ROWS, Block, LogFormat

_VALUES = frozenset({"string", "date", "int", "float", "boolean", "id"})
CASE = "case:"


def is_xes(head: bytes) -> bool:
    """Whether the first bytes are those of an XES document."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and b"<log" in head[:4096]


class _Collector:
    """Rows of cells from start and end tags."""

    def __init__(self, wanted: Sequence[str], missing: Sequence[str], file: str) -> None:
        self.columns: dict[str, list[str | None]] = {name: [] for name in wanted}
        self._missing = frozenset(("", *missing))
        self._file = file
        self._trace: dict[str, str | None] = {}
        self._event: dict[str, str | None] = {}
        self._in_trace = self._in_event = self.seen_log = False
        self._depth = 0
        self.rows = 0

    def start(self, tag: str, given: dict[str, str]) -> None:
        if ":" in tag:
            tag = tag.rsplit(":", 1)[-1]
        if tag in _VALUES:
            if not self._in_trace:
                return
            self._depth += 1
            if self._depth > 1 or "key" not in given:
                return
            value: str | None = given.get("value")
            if value in self._missing:
                value = None
            if self._in_event:
                self._event[given["key"]] = value
            else:
                self._trace[CASE + given["key"]] = value
        elif tag == "event":
            self._in_event, self._event, self._depth = True, {}, 0
        elif tag == "trace":
            self._in_trace, self._trace, self._depth = True, {}, 0
        elif tag == "log":
            self.seen_log = True
        elif self._in_trace:
            self._depth += 1

    def end(self, tag: str) -> None:
        if ":" in tag:
            tag = tag.rsplit(":", 1)[-1]
        if tag in _VALUES:
            self._depth -= self._depth > 0
        elif tag == "event":
            event, trace = self._event, self._trace
            for name, cells in self.columns.items():
                cells.append(trace[name] if name in trace else event.get(name))
            self.rows += 1
            self._in_event, self._depth = False, 0
        elif tag == "trace":
            self._in_trace, self._depth = False, 0
        elif self._depth:
            self._depth -= 1

    def doctype(self, *_: Any) -> NoReturn:
        raise InputError("refused: it declares a document type, which XES does not have",
                         file=self._file)  # fmt: skip

    def take(self) -> pl.DataFrame:
        frame = pl.DataFrame(self.columns, schema=dict.fromkeys(self.columns, pl.String))
        self.columns = {name: [] for name in self.columns}
        self.rows = 0
        return frame


def xes_blocks(
    source: Source, layout: LogFormat, wanted: Sequence[str], file: InputFile
) -> Iterator[Block]:
    """The wanted attributes of every event; rows are numbered from 1 in file order.

    Raises
    ------
    InputError
        For XML that is broken or cut, or no XES.
    """
    collector = _Collector(wanted, layout.missing, source.name)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = collector.start
    parser.EndElementHandler = collector.end
    parser.StartDoctypeDeclHandler = collector.doctype
    row = 1
    with source.open() as stream:
        try:
            more = True
            while more:
                data = stream.read(BUFFER)
                more = bool(data)
                parser.Parse(data, not more)
                if collector.rows >= BLOCK_ROWS or (not more and collector.rows):
                    frame = collector.take()
                    yield frame, pl.int_range(row, row + frame.height, eager=True)
                    row += frame.height
        except expat.ExpatError as error:
            raise InputError(
                f"is broken XML at line {error.lineno}: {expat.errors.messages[error.code]}",
                file=source.name,
            ) from None
        if not collector.seen_log:
            raise InputError("is XML, but no XES: there is no <log>", file=source.name)
        file.sha256, file.bytes = stream.digest()
