"""Tables with one message a row: CSV, Parquet, and frames of pandas and polars."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from usi.errors import InputError
from usi.load import wildchat
from usi.load.columns import USUAL, Columns, columns_of
from usi.load.context import Context
from usi.load.reader import About, carries
from usi.load.rows import sessions_of_rows
from usi.load.sample import Sample
from usi.load.source import EXPANDED_FREELY, MAX_RATIO
from usi.records import Session

NAME = "table"
ABOUT = About(
    holds="CSV or Parquet, one message a row, with columns for session, role and text (--map)",
    carries=carries("agent", "task", "run", "outcome", "survey", "person"),
    lacks="tool calls, null content and metadata: a cell is text",
    follows="RFC 4180 (CSV), Apache Parquet",
)
_PARQUET = b"PAR1"
_DELIMITERS = (",", ";", "\t", "|")
MAX_ROWS_FREELY = 1_000_000


def recognise(sample: Sample) -> bool:
    """Parquet, or a header in which session, role and text are named or told by their names."""
    if sample.head.startswith(_PARQUET):
        return True
    return (
        looks_like_table(sample) and columns_of(header_of(sample), sample.options.map) is not None
    )


def looks_like_table(sample: Sample) -> bool:
    """Whether the first line is a header of several columns."""
    if sample.first in (b"", b"{", b"[") or b"\x00" in sample.head[:4096]:
        return False
    header = header_of(sample)
    # Frames written with their index have a first column without a name.
    return len(header) > 1 and all(name.strip() for name in header[1:])


def header_of(sample: Sample) -> list[str]:
    """Names of the columns in the first line."""
    return _split(sample.first_line)


def _split(line: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter_of(line)), [])
    except csv.Error:
        return []


def delimiter_of(header: str) -> str:
    """Comma, semicolon, tab or bar: whichever the header holds most."""
    return max(_DELIMITERS, key=header.count)


def unnamed_columns(sample: Sample) -> InputError:
    """The refusal of a table whose columns are not told by their names."""
    return _unnamed(header_of(sample), sample.source.name)


def _unnamed(names: Iterable[str], file: str) -> InputError:
    shown = ", ".join(list(names)[:20])
    return InputError(
        "a table in which no columns for session, role and text are told by their names "
        f"(columns: {shown:.400}). If it holds transcripts with one message a row, name them: "
        "--map session=COLUMN,role=COLUMN,text=COLUMN. Operational logs (case, activity, time) are "
        "no transcripts",
        file=file,
    )


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of their first rows; all rows of a file are held in memory."""
    with context.source.open() as stream:
        parquet = stream.read(len(_PARQUET)) == _PARQUET
    names, rows = _parquet(context) if parquet else _csv(context)
    if parquet and wildchat.has_columns(names):
        yield from wildchat.sessions_of_rows(rows, context)
        return
    yield from sessions_of_rows(rows, chosen(names, context), context)


def chosen(names: list[str], context: Context) -> Columns:
    """Columns of a table; what was told by a name is noted as guessed.

    Raises
    ------
    InputError
        Session, role or text are not told.
    """
    columns = columns_of(names, context.options.map)
    if columns is None:
        raise _unnamed(names, context.source.name)
    for meaning in columns.guessed:
        if columns.of[meaning] != USUAL[meaning][0]:
            context.guess(f"field: column {columns.of[meaning]!r:.60} taken for {meaning}")
    rest = [name for name in names if name not in columns.of.values()]
    if rest:
        context.leave_out("field: column without a meaning here", len(rest))
    return columns


def _csv(context: Context) -> tuple[list[str], Iterator[tuple[int, Mapping[str, Any]]]]:
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
        raise InputError(f"two columns are called {twice!r:.80}", file=context.source.name, row=1)

    def named() -> Iterator[tuple[int, Mapping[str, Any]]]:
        for number, cells in rows:
            if len(cells) != len(names):
                context.notes.add_problem(
                    InputError(
                        f"has {len(cells)} cells, the header has {len(names)}; is a quotation "
                        "mark missing?",
                        file=context.source.name,
                        row=number,
                    )
                )
                continue
            yield number, dict(zip(names, cells, strict=True))

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


def _parquet(context: Context) -> tuple[list[str], Iterator[tuple[int, Mapping[str, Any]]]]:
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

    def rows() -> Iterator[tuple[int, Mapping[str, Any]]]:
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
