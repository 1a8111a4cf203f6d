"""Frames of pandas and polars as transcripts: one message a row, columns as in tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from usi.load.context import Context
from usi.load.options import LoadOptions
from usi.load.rows import sessions_of_rows
from usi.load.source import Source
from usi.load.stream import SessionStream
from usi.load.table import NAME, chosen
from usi.records import Session

LABEL = "frame"


def is_frame(value: object) -> bool:
    """Whether a value is a data frame; neither library is imported to find out."""
    kind = type(value)
    return kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] in (
        "pandas",
        "polars",
    )


def open_frame(frame: Any, options: LoadOptions) -> SessionStream:
    """A stream of the sessions of a frame, which is not changed.

    Raises
    ------
    InputError
        Session, role or text are neither mapped nor told by the names of the columns.
    UsageError
        A mapped column is not in the frame.
    """

    def read(context: Context) -> Iterator[Session]:
        names = [str(name) for name in frame.columns]
        yield from sessions_of_rows(_rows(frame, names), chosen(names, context), context)

    return SessionStream.of_reader(read, Source(LABEL, _nothing), NAME, options)


def _nothing() -> Any:
    raise OSError("a frame has no bytes")


def _rows(frame: Any, names: list[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if type(frame).__module__.startswith("polars"):
        for number, row in enumerate(frame.iter_rows(), start=1):
            yield number, dict(zip(names, row, strict=True))
        return
    columns = [frame.iloc[:, k].tolist() for k in range(len(names))]
    for number, cells in enumerate(zip(*columns, strict=True), start=1):
        yield number, dict(zip(names, cells, strict=True))
