"""Excel workbooks: every sheet with cells is a table, read as the CSV file that it could be."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date, datetime, time
from functools import partial
from typing import Any

from usi.errors import InputError, UsageError
from usi.loading.source import Source
from usi.reading import reading

_BOOK = "/xl/workbook.xml"


def sheets_of(source: Source, members: Sequence[Source]) -> list[Source] | None:
    """The sheets of a workbook as tables; ``None`` where the members are not those of a workbook.

    A workbook with one sheet keeps its own name, others have the sheet's behind it. Cells hold
    what the file stores as the last result of a formula; dates are written as ISO 8601.

    Raises
    ------
    UsageError
        Where openpyxl is not installed (the extra ``excel``).
    InputError
        For a workbook that can't be read, or in which every sheet is empty.
    """
    if not any(f"/{member.name}".endswith(_BOOK) for member in members):
        return None
    try:
        import openpyxl
    except ImportError:
        raise UsageError(
            f"{source.name} is an Excel workbook: pip install 'usi[excel]' reads it, or save its "
            "sheet as CSV"
        ) from None
    with reading(source.name):
        book = openpyxl.load_workbook(source.open_stored(), read_only=True, data_only=True)
        tables = {sheet.title: _csv(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
    held = {title: data for title, data in tables.items() if data}
    if not held:
        raise InputError("every sheet of the workbook is empty", file=source.name)
    alone = len(held) == 1
    return [
        Source(
            source.name if alone else f"{source.name}/{title}.csv",
            partial(io.BytesIO, data),
            source.folder if alone else source.name,
        )
        for title, data in held.items()
    ]


def _csv(rows: Any) -> bytes:
    lines = [[_text(cell) for cell in row] for row in rows]
    lines = [line for line in lines if any(line)]
    if not lines:
        return b""
    width = max(max(k for k, cell in enumerate(line) if cell) for line in lines) + 1
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows((line + [""] * width)[:width] for line in lines)
    return out.getvalue().encode("utf-8", "surrogatepass")


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return str(cell)
