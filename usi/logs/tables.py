"""CSV and Parquet as blocks of raw cells, streamed.

How an event log is laid out: which column plays which role, and how its cells are read.
"""

from __future__ import annotations

import csv
import io
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import polars as pl

from usi.errors import InputError
from usi.loading.notes import InputFile
from usi.loading.source import BUFFER, Source
from usi.logs.notes import LogNotes
from usi.logs.records import record_blocks, utf8_pieces

REQUIRED_ROLES = ("case_id", "activity", "timestamp")
TEXT_ROLES = (
    "resource",
    "group",
    "level",
    "site",
    "priority",
    "impact",
    "category",
    "requester",
    "actor",
    "csat",
    "lifecycle",
)
TIME_ROLES = ("start", "due_at", "resolved_at")
FLAG_ROLES = ("reopen_flag", "sla_met", "synthetic")
ROLES: tuple[str, ...] = (*REQUIRED_ROLES, *TEXT_ROLES, *TIME_ROLES, *FLAG_ROLES)
"""Everything that a column can be. ``site`` is the organisation, ``requester`` who reported it,
``actor`` who made the event: a person, or a kind (requester, agent, system), ``lifecycle`` which
moment of it (start, complete)."""
FIELD = "field:"
"""Prefix of tracked fields in an event frame, such as ``field:category``."""
UTC_TIME = pl.Datetime("us", "UTC")

Rows = Literal["event", "update"]
DateOrder = Literal["day-first", "month-first"]
Epoch = Literal["s", "ms", "us"]


@dataclass(frozen=True)
class Column:
    """Where a role's values come from.

    Attributes
    ----------
    names
        Column names, the first that the file has is taken.
    pattern
        Regular expression (linear subset) whose first group is the value.
    default
        Value where the cell is missing or the pattern does not match.
    """

    names: tuple[str, ...]
    pattern: str | None = None
    default: str | None = None


@dataclass(frozen=True)
class LogFormat:
    """How the files of a log are read.

    Attributes
    ----------
    columns
        Role (`ROLES`) -> column.
    name
        Name of the preset or configuration.
    delimiter, quote, encoding
        Of CSV; ``None``: the delimiter is found in the header, the encoding is UTF-8 (a byte
        order mark of UTF-8 or UTF-16 is honoured).
    timezone
        Zone of times that carry none, and the clock of the calendar, such as ``Europe/Paris``.
    date_order
        For dates such as 3/4/2016; ISO dates need none.
    epoch
        Unit of times that are numbers.
    timestamp_pattern
        A strptime pattern, where nothing else fits.
    missing
        Cells that mean "no value", beside the empty one.
    rows
        ``"update"``: a row is the whole ticket after an update, a blank cell means no value.
        ``"event"``: a row speaks of its event alone, a blank field was not mentioned and keeps
        the value that it had.
    tracked, required
        Columns whose changes are followed; those a complete ticket must have.
    object_type
        Of OCEL: the objects that become cases.
    lifecycle
        Transitions that count as events, in small letters; empty: ``complete`` where the log has
        it, else all.
    events
        Of tables with a row a case: activity -> columns that may hold the time at which it
        happened, the first that the file has is taken. Used where a file has two or more of them.
    """

    columns: Mapping[str, Column] = field(default_factory=dict)
    name: str = "columns"
    delimiter: str | None = None
    quote: str = '"'
    encoding: str | None = None
    timezone: str | None = None
    date_order: DateOrder | None = None
    epoch: Epoch | None = None
    timestamp_pattern: str | None = None
    missing: tuple[str, ...] = ()
    rows: Rows = "event"
    tracked: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    object_type: str | None = None
    lifecycle: tuple[str, ...] = ()
    events: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def fields(self) -> tuple[str, ...]:
        """Tracked and required columns, each once."""
        return tuple(dict.fromkeys((*self.tracked, *self.required)))


COMMON_NAMES: dict[str, tuple[str, ...]] = {
    "case_id": (
        "case_id", "case:concept:name", "caseid", "case id", "case", "number", "ticket",
        "ticket_id", "incident id", "sr number", "trace_id", "issue key", "issue_key", "issuekey",
        "key", "ticket id", "issue number", "issue_number",
    ),
    "activity": (
        "activity", "concept:name", "activity_name", "incident_state", "state", "status",
        "event", "incidentactivity_type", "new status", "new_status", "to status", "to_status",
        "tostring", "new value", "new_value", "to",
    ),
    "timestamp": (
        "timestamp", "time:timestamp", "end_timestamp", "end_time", "complete timestamp",
        "sys_updated_at", "sys_updated_on", "datestamp", "change date+time", "time", "date",
        "changed", "changed at", "changed_at", "change date", "change_date",
    ),
    "start": ("start_timestamp", "start_time"),
    "resource": ("resource", "org:resource", "assigned_to", "owner first name", "assignee"),
    "group": ("group", "org:group", "assignment_group", "assignment group", "involved st", "team"),
    "level": ("level", "support_line", "org:role"),
    "site": ("site", "org", "location", "involved org line 3"),
    "priority": ("priority",),
    "impact": ("impact", "sr latest impact"),
    "category": ("category", "product", "issue type", "issuetype", "issue_type"),
    "requester": ("requester", "caller_id", "caller", "opened_by", "reporter"),
    "actor": ("actor", "actor_type", "author_type"),
    "sla_met": ("sla_met", "made_sla"),
    "due_at": ("due_at", "sla_due", "due_date"),
    "resolved_at": ("resolved_at",),
    "csat": ("csat", "satisfaction"),
    "lifecycle": ("lifecycle:transition", "lifecycle_transition", "lifecycle", "transition"),
    "reopen_flag": ("reopen_flag",),
    "synthetic": ("synthetic",),
}  # fmt: skip
"""Names by which a role is found where nothing is declared (upper and lower case alike)."""


def role_type(role: str) -> pl.DataType:
    """Type of a role's column in an event frame."""
    if role in TIME_ROLES or role == "timestamp":
        return UTC_TIME
    return pl.Boolean() if role in FLAG_ROLES else pl.String()


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
        For an empty file, or bytes of another encoding.
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
    return names, delimiter, encoding


def check_twins(names: Sequence[str], wanted: Sequence[str], source: Source) -> None:
    """Refuse a header that names a column twice which is wanted; others may be repeated."""
    twins = sorted(name for name, count in Counter(names).items() if count > 1 and name in wanted)
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
        names = opened.schema_arrow.names
        check_twins(names, names, source)
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
