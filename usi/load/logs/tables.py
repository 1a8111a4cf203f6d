"""CSV and Parquet as blocks of raw cells, streamed."""

from __future__ import annotations

import csv
import io
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import polars as pl

from usi.errors import InputError
from usi.load.logs.columns import LogFormat
from usi.load.logs.notes import LogNotes
from usi.load.logs.records import record_blocks, utf8_pieces
from usi.load.notes import InputFile
from usi.load.source import BUFFER, Source

BLOCK_ROWS = 200_000
HEAD_BYTES = 2**20
_DELIMITERS = (",", ";", "\t", "|")
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
RowNumbers = pl.Series
Block = tuple[pl.DataFrame, RowNumbers]
"""Raw cells, and the row of the file that each stands in (a CSV header is row 1)."""


def is_parquet(head: bytes) -> bool:
    """Whether the first bytes are those of Parquet."""
    return head.startswith(b"PAR1")


def encoding_of(head: bytes, layout: LogFormat) -> str:
    """The declared encoding, else that of a byte order mark, else UTF-8."""
    marked = next((name for mark, name in _BOMS if head.startswith(mark)), None)
    return layout.encoding or marked or "utf-8"


def csv_header(source: Source, layout: LogFormat) -> tuple[list[str], str, str]:
    """Column names, delimiter and encoding of a CSV file.

    Raises
    ------
    InputError
        For an empty file, bytes of another encoding, or a name that stands twice.
    """
    with source.open() as stream:
        head = b""
        while len(head) < HEAD_BYTES and (more := stream.read(HEAD_BYTES - len(head))):
            head += more
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InputError("the file is empty", file=source.name)
    encoding = encoding_of(head, layout)
    try:
        text = io.TextIOWrapper(io.BytesIO(head), encoding=encoding, newline="").readline()
        text = text if text.count(layout.quote) % 2 == 0 else head.decode(encoding, "ignore")
    except (UnicodeDecodeError, LookupError) as error:
        raise InputError(
            f"is not {encoding}: {error}. Declare its encoding", file=source.name, row=1
        ) from None
    line = text.split("\n", 1)[0]
    delimiter = layout.delimiter or max(_DELIMITERS, key=line.count)
    names = next(csv.reader(io.StringIO(text), delimiter=delimiter, quotechar=layout.quote), [])
    _no_twins(names, source)
    return names, delimiter, encoding


def _no_twins(names: Sequence[str], source: Source) -> None:
    twins = sorted(name for name, count in Counter(names).items() if count > 1)
    if twins:
        raise InputError(
            f"the header names {', '.join(map(repr, twins))} more than once; rename one of them",
            file=source.name,
            row=1,
        )


def csv_blocks(
    source: Source, layout: LogFormat, wanted: Sequence[str], notes: LogNotes, file: InputFile
) -> Iterator[Block]:
    """The wanted columns of a CSV file as text; rows of a wrong length become problems."""
    import pyarrow as pa
    import pyarrow.csv as pc

    names, delimiter, encoding = csv_header(source, layout)
    bad: list[tuple[int, int]] = []

    def odd(row: Any) -> str:
        bad.append((int(row.number or 0), int(row.actual_columns)))
        return "skip"

    convert = pc.ConvertOptions(
        column_types={name: pa.large_string() for name in wanted},
        include_columns=list(wanted),
        null_values=["", *layout.missing],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )
    parse = pc.ParseOptions(
        delimiter=delimiter,
        quote_char=layout.quote or False,
        newlines_in_values=True,
        invalid_row_handler=odd,
    )
    row, first = 2, True
    with source.open() as stream:
        for block in record_blocks(utf8_pieces(stream, encoding, source.name), layout.quote):
            read = pc.ReadOptions(
                use_threads=False,
                block_size=len(block) + 1,
                column_names=None if first else names,
            )
            bad.clear()
            try:
                table = pc.read_csv(
                    pa.BufferReader(block),
                    read_options=read,
                    parse_options=parse,
                    convert_options=convert,
                )
            except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
                if first and "Empty CSV" in str(error):
                    break
                raise InputError(
                    f"can't be read on as CSV near row {row}: {_short(error)}", file=source.name
                ) from None
            frame = cast(pl.DataFrame, pl.from_arrow(table))
            # Arrow counts the header of the first block as a row.
            places = {number + row - (2 if first else 1): cells for number, cells in bad}
            for place, cells in sorted(places.items()):
                text = f"has {cells} cells, the header has {len(names)}"
                notes.add_problem(InputError(text, file=source.name, row=place))
            total = frame.height + len(places)
            rows = pl.int_range(row, row + total, eager=True)
            if places:
                rows = rows.filter(~rows.is_in(list(places)))
            if frame.height:
                yield frame, rows
            row, first = row + total, False
        file.sha256, file.bytes = stream.digest()


def _short(error: Exception) -> str:
    text = str(error)
    if "UTF8" in text or "utf" in text.lower():
        return "its bytes are not UTF-8; declare its encoding (such as cp1252)"
    if "straddl" in text or "out of sync" in text:
        return "a quoted cell does not end; is the quote character another one?"
    return text.splitlines()[0][:200]


@contextmanager
def seekable(source: Source) -> Iterator[Any]:
    """The bytes, seekable: the file itself, or its decompressed bytes in a temporary file."""
    stored = source.open_stored()
    if is_parquet(stored.read(4)) and stored.seekable():
        stored.seek(0)
        with stored:
            yield stored
        return
    stored.close()
    with source.open() as stream, tempfile.TemporaryFile() as kept:
        while block := stream.read(BUFFER):
            kept.write(block)
        kept.seek(0)
        yield kept


@contextmanager
def parquet_file(source: Source, file: InputFile | None = None) -> Iterator[Any]:
    """An opened Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with seekable(source) as kept:
        if file is not None:
            with source.open() as stream:
                file.sha256, file.bytes = stream.digest()
        try:
            opened = pq.ParquetFile(kept)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"can't be read as Parquet: {error}", file=source.name) from None
        _no_twins(opened.schema_arrow.names, source)
        yield opened


def parquet_blocks(
    source: Source, layout: LogFormat, wanted: Sequence[str], file: InputFile
) -> Iterator[Block]:
    """The wanted columns of a Parquet file, in their types; text has missing marks removed."""
    import pyarrow as pa

    row = 1
    marks = ["", *layout.missing]
    with parquet_file(source, file) as opened:
        for batch in opened.iter_batches(batch_size=BLOCK_ROWS, columns=list(wanted)):
            frame = cast(pl.DataFrame, pl.from_arrow(pa.Table.from_batches([batch])))
            frame = frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
            text = pl.col(pl.String)
            frame = frame.with_columns(pl.when(~text.is_in(marks)).then(text).name.keep())
            yield frame, pl.int_range(row, row + frame.height, eager=True)
            row += frame.height
