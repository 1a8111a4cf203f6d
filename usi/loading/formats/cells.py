"""From files that hold a table to names of columns and rows: CSV, Parquet, Arrow, JSON records."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from typing import Any

from usi.csv_cells import read_cell
from usi.errors import InputError, quoted
from usi.loading.context import Context
from usi.loading.fields import BadField, record_of
from usi.loading.formats import usi_jsonl
from usi.loading.sample import LOOKED_AT
from usi.loading.source import EXPANDED_FREELY, MAX_RATIO
from usi.reading import first_line

Rows = Iterator[tuple[int, Mapping[str, Any]]]
"""Row of the file, and its cells by the names of the columns."""
PARQUET = b"PAR1"
ARROW = (b"ARROW1", b"\xff\xff\xff\xff")
"""First bytes of Arrow's IPC: a file, and a stream."""
BINARY = (PARQUET, *ARROW)
_NESTED = ("[{", '{"', "{'")
_PRINTED = re.compile(r"\s*\[?\{'")
_DELIMITERS = (",", ";", "\t", "|")
MAX_ROWS_FREELY = 1_000_000
CSV_COLUMNS: tuple[str, ...] = (
    "session_id", "task_id", "trial", "batch", "domain", "simulator", "participant", "agent",
    "reward", "outcome", "termination", "status", "status_reason", "survey", "layout", "keep",
    "error_tags", "turn", "timestamp", "role", "name", "text",
)  # fmt: skip
"""Columns of the table, which ``usi`` reads again without a map."""
RECORD = "record"
"""Column that numbers conversations which have no id."""


def names_and_rows(context: Context) -> tuple[list[str], Rows]:
    """Names of the columns of a file, and its rows; its kind is told by its first bytes."""
    with context.source.open() as stream:
        head = stream.read(4096)
    if head.startswith(PARQUET):
        return _parquet(context)
    if head.startswith(ARROW):
        return _arrow(context)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return _json(context)
    return _csv(context)


def delimiter_of(header: str) -> str:
    """Comma, semicolon, tab or bar: whichever the header holds most."""
    return max(_DELIMITERS, key=header.count)


def _csv(context: Context) -> tuple[list[str], Rows]:
    with context.source.open() as stream:
        line = stream.readline(context.options.max_record).removeprefix(b"\xef\xbb\xbf")
    delimiter = delimiter_of(line.decode("utf-8", "replace"))
    rows = _csv_rows(context, delimiter)
    header = next(rows, None)
    if header is None:
        raise InputError("the table is empty", file=context.source.name)
    names = header[1]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two columns are called {quoted(twice)}", file=context.source.name, row=1)

    own = set(CSV_COLUMNS) <= set(names)  # usi wrote it, and marked text like formulas

    def named() -> Rows:
        for line, cells in rows:
            if len(cells) != len(names):
                context.notes.add_problem(
                    InputError(
                        f"has {len(cells)} cells, the header has {len(names)}; is a quotation "
                        "mark missing?",
                        file=context.source.name,
                        row=line,
                    )
                )
                continue
            texts = map(read_cell, cells) if own else cells
            yield line, dict(zip(names, texts, strict=True))

    return names, named()


def _csv_rows(context: Context, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank."""
    name = context.source.name
    csv.field_size_limit(min(context.options.max_record, sys.maxsize, 2**31 - 1))
    with context.open() as stream:
        lines = io.TextIOWrapper(stream.buffered, encoding="utf-8-sig", newline="")
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                if cells:
                    yield reader.line_num, cells
        except UnicodeDecodeError as error:
            raise InputError(
                f"not UTF-8 ({error.reason}) after line {reader.line_num}; save the file as UTF-8",
                file=name,
            ) from None
        except csv.Error as error:
            raise InputError(
                f"no well-formed CSV: {error}", file=name, row=reader.line_num
            ) from None
        finally:
            lines.detach()


def _parquet(context: Context) -> tuple[list[str], Rows]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = context.source.name
    with context.open() as stream:
        data = stream.read(-1)
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        _check_size(file, len(data), name)
        names = list(file.schema_arrow.names)
    except (pa.ArrowException, OSError) as error:
        first = (str(error).splitlines() or ["damaged"])[0]
        raise InputError(f"can't be read as Parquet: {first:.200}", file=name) from None

    def rows() -> Rows:
        number = 0
        try:
            for batch in file.iter_batches(batch_size=4096):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            first = (str(error).splitlines() or ["damaged"])[0]
            raise InputError(
                f"can't be read as Parquet: {first:.200}", file=name, row=number + 1
            ) from None

    return names, rows()


def _check_size(file: Any, stored: int, name: str) -> None:
    """Refuse a file that claims more rows or bytes than a file of its size can honestly hold."""
    meta = file.metadata
    expanded = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
    if meta.num_rows > max(MAX_ROWS_FREELY, stored) or expanded > max(
        EXPANDED_FREELY, MAX_RATIO * stored
    ):
        raise InputError(
            f"refused: {meta.num_rows:,} rows in {stored:,} bytes, as archive bombs have. Convert "
            "it yourself if you trust it",
            file=name,
        )


def _arrow(context: Context) -> tuple[list[str], Rows]:
    """Arrow's IPC, as a file or as a stream (data sets of Hugging Face on disk)."""
    import pyarrow as pa

    name = context.source.name
    with context.open() as stream:
        data = stream.read(-1)
    try:
        if data.startswith(ARROW[0]):
            file = pa.ipc.open_file(pa.BufferReader(data))
            batches = [file.get_batch(i) for i in range(file.num_record_batches)]
        else:
            file = pa.ipc.open_stream(pa.BufferReader(data))
            batches = list(file)
        for batch in batches:
            batch.validate(full=True)
        names = list(file.schema.names)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"can't be read as Arrow: {first_line(error)}", file=name) from None

    def rows() -> Rows:
        number = 0
        for batch in batches:
            for row in batch.to_pylist():
                number += 1
                yield number, row

    return names, rows()


def _json(context: Context) -> tuple[list[str], Rows]:
    """JSON records, one a line or in an array; the columns are all keys of the first ones."""
    records = usi_jsonl.records(context)
    first = list(islice(records, LOOKED_AT))
    names = dict.fromkeys(key for _, row in first if isinstance(row, dict) for key in row)

    def rows() -> Rows:
        for number, value in chain(first, records):
            row = context.made(partial(record_of, value), number)
            if row is not None:
                yield number, row

    return list(names), rows()


SPEAKERS = frozenset(("role", "from", "speaker", "author", "sender"))
"""Keys by which an object is told for a message."""


def plain_cell(value: Any) -> Any:
    """A cell as JSON has it: arrays of numpy as lists, text of an object or list as what it is.

    Raises
    ------
    ValueError
        The text begins like a list or object and is not JSON.
    """
    if hasattr(value, "tolist"):
        return value.tolist()
    if not isinstance(value, str) or not value.lstrip().startswith(("[{", '{"')):
        return value
    return json.loads(value)


def holds_messages(value: Any) -> bool:
    """Whether a cell holds a conversation: a list of messages, or an object with one."""
    try:
        value = plain_cell(value)
    except (ValueError, RecursionError):
        return False
    if isinstance(value, Mapping):
        return holds_messages(value.get("messages"))
    if not isinstance(value, list) or not value:
        return False
    return isinstance(value[0], Mapping) and not SPEAKERS.isdisjoint(value[0])


def is_nested(value: Any) -> bool:
    """Whether a cell is a list or structure, or JSON text of one."""
    if isinstance(value, str):
        return value.lstrip().startswith(("[{", '{"'))
    return isinstance(value, Mapping | list | tuple) or getattr(value, "ndim", 0) > 0


def talk_columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Columns of which some cell of these rows holds a conversation."""
    found = (name for row in rows for name, cell in row.items() if holds_messages(cell))
    return list(dict.fromkeys(found))


def records_of(rows: Rows, context: Context) -> Rows:
    """Rows as JSON records; a bad cell is a noted problem."""
    for number, row in rows:
        record = context.made(partial(plain_record, row), number)
        if record is not None:
            yield number, record


def plain_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its cells of JSON text decoded; text that only begins like JSON stays text.

    Raises
    ------
    BadField
        A cell is a list as Python prints it, and not JSON.
    """
    record = {}
    for name, cell in row.items():
        try:
            record[name] = plain_cell(cell)
        except (ValueError, RecursionError):
            if _PRINTED.match(cell):
                raise BadField(
                    name,
                    "is a list as Python prints it, and not JSON: write such cells with "
                    "json.dumps, or the frame as Parquet or JSON Lines",
                ) from None
            record[name] = cell
    return record


def one_a_message(
    rows: Rows, column: str, session: str | None
) -> tuple[str, Iterator[tuple[int, Mapping[str, Any]]]]:
    """Rows of conversations as rows of messages, each with the other cells of its conversation.

    Gives the name of the column of the session, too: that given, else the number of the record.
    """
    own = session or RECORD

    def messages() -> Rows:
        for number, row in rows:
            shared = {name: cell for name, cell in row.items() if not is_nested(cell)}
            talk = plain_cell(row.get(column))
            for message in talk if isinstance(talk, list) else ():
                yield number, {RECORD: str(number), **shared, **message}

    return own, messages()
