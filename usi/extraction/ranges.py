"""Whether a session table can be: ranges that no counting leaves, checked where one is read."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from usi.errors import InputError
from usi.extraction.spec import CORE_COUNTS, FeatureSpec

BOUNDED = ("rate", "flag", "share")
"""Kinds of features whose values lie from 0 to 1."""
_VALUES = {
    "side": ("human", "simulated"),
    "status": ("ok", "no_user_turn", "failed", "infrastructure_error"),
}
_ORDER = (
    ("user_turns", "n_turns"),
    ("words_first", "words_first_two"),
    ("words_first_two", "words"),
    ("words", "words_sq"),
)
"""The first is never more than the second."""


def check_ranges(
    frame: pl.DataFrame, specs: Sequence[FeatureSpec], file: str, *, first: int = 1
) -> None:
    """Refuse rows that no reading of sessions gives.

    Parameters
    ----------
    frame
        Rows of a session table.
    specs
        Features of its profile.
    first
        Number of the first row, for messages.

    Raises
    ------
    InputError
        For the first such row: counts below 0, more user turns than turns, a share above 1, a
        number that is not finite, a side or status that does not exist.
    """
    for field, text, wrong in _rules(frame, specs):
        found = frame.select(wrong.fill_null(value=False).arg_true()).to_series()
        if found.len():
            raise InputError(text, file=file, row=first + int(found[0]), field=field)


def _rules(frame: pl.DataFrame, specs: Sequence[FeatureSpec]) -> list[tuple[str, str, pl.Expr]]:
    there = frame.schema
    rules = [
        (name, "must not be below 0", pl.col(name) < 0)
        for name in ("seq", *CORE_COUNTS)
        if name in there
    ]
    rules += [
        (name, "must be a finite number", ~pl.col(name).is_finite())
        for name, kind in there.items()
        if kind.is_float()
    ]
    rules += [
        (name, f"must be one of {', '.join(known)}", ~pl.col(name).is_in(list(known)))
        for name, known in _VALUES.items()
    ]
    rules += [
        (less, f"must not be more than {more}", pl.col(less) > pl.col(more))
        for less, more in _ORDER
        if {less, more} <= there.keys()
    ]
    for spec in specs:
        top, under = spec.numerator, spec.denominator
        if spec.kind not in BOUNDED or top not in there:
            continue
        rules.append((top, "must not be below 0", pl.col(top) < 0))
        if under in there:
            rules.append((top, f"must not be more than {under}", pl.col(top) > pl.col(under)))
        elif not under:
            rules.append((top, "must be 0 or 1", pl.col(top) > 1))
    return rules
