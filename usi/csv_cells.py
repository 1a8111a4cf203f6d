"""Cells of CSV files that no spreadsheet takes for a formula, and their text back.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end. Text
that begins so gets an apostrophe in front in every CSV file that usi writes, and so does text that
begins with apostrophes and one of these, so that the text can be read back. Numbers stay numbers.
"""

from __future__ import annotations

import re
from typing import TypeVar

from usi.reading import decimal_number

MARK = "'"
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
COLUMNS_PATTERN = r"^('*[=+\-@\t\r\n＝＋－＠])"
NUMBER_PATTERN = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""The rule as patterns for whole columns: what gets the mark, and numbers, which do not."""

Value = TypeVar("Value")


def safe_cell(value: Value) -> Value | str:
    """A cell as it is written: text that begins like a formula gets an apostrophe in front.

    >>> [safe_cell(value) for value in ("=1+1", "-5", -5, "'=x", "'tis", None)]
    ["'=1+1", '-5', -5, "''=x", "'tis", None]
    """
    if not isinstance(value, str) or not _FORMULA.match(value) or decimal_number(value) is not None:
        return value
    return f"{MARK}{value}"


def read_cell(text: str) -> str:
    """The text of a cell that `safe_cell` wrote.

    >>> [read_cell(text) for text in ("'=1+1", "-5", "''=x", "'tis")]
    ['=1+1', '-5', "'=x", "'tis"]
    """
    return text[1:] if text.startswith(MARK) and _FORMULA.match(text) else text
