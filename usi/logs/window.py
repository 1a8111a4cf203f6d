"""What an extract of a log is: its window, how it was cut, what that does to long cases."""

from __future__ import annotations

import polars as pl

from usi.extraction.table import MICROSECONDS_PER_HOUR
from usi.reasons import (
    CASES_OPEN,
    CUT_BY_CLOSING,
    CUT_BY_TWO_RULES,
    SHORT_WINDOW,
    Reason,
)

LEAST_CYCLES = 2.0
"""Median cycles that a window should hold."""
CLOSING_SHARE = 0.5
"""Ends that spread over less than this share of the spread of starts: extracted by closing date."""
OPEN_SHARE = 0.01
_DAY = 24.0


def extract_kind(frame: pl.DataFrame) -> str:
    """``closing`` (cases chosen by their last event), ``opening``, or ``both`` alike.

    The spread of starts against that of ends, each from the 1 % to the 99 % quantile.
    """
    spread = [
        float((frame[name].quantile(0.99) or 0) - (frame[name].quantile(0.01) or 0))
        for name in ("start_us", "end_us")
    ]
    if spread[1] < CLOSING_SHARE * spread[0]:
        return "closing"
    return "opening" if spread[0] < CLOSING_SHARE * spread[1] else "both"


def window_warnings(human: pl.DataFrame, simulators: dict[str, pl.DataFrame]) -> list[Reason]:
    """What a reader must know of length bias, short windows and open cases."""
    found: list[Reason] = []
    sides = {"the real log": human, **simulators}
    kinds = {name: extract_kind(frame) for name, frame in sides.items()}
    for name, kind in kinds.items():
        if kind == "closing":
            found.append(CUT_BY_CLOSING(side=name))
    if "closing" in kinds.values() and len(set(kinds.values())) > 1:
        listed = ", ".join(f"{name}: {kind}" for name, kind in kinds.items())
        found.append(CUT_BY_TWO_RULES(rules=listed))
    cycle = human.filter(pl.col("last_class").is_null() | _ended())["cycle_us"].median()
    window = (human["end_us"].max() or 0) - (human["start_us"].min() or 0)  # type: ignore[operator]
    if cycle and window < LEAST_CYCLES * cycle:  # type: ignore[operator]
        hours = [float(v) / MICROSECONDS_PER_HOUR / _DAY for v in (window, cycle)]  # type: ignore[arg-type]
        found.append(SHORT_WINDOW(days=hours[0], least=LEAST_CYCLES, cycle=hours[1]))
    for name, frame in sides.items():
        known = frame["last_class"].count()
        open_ = known - frame.filter(_ended()).height
        if known and open_ > OPEN_SHARE * known:
            found.append(CASES_OPEN(side=name, open=open_, cases=known))
    return found


def _ended() -> pl.Expr:
    return pl.col("last_class").is_in(["resolved", "closed", "cancelled"])
