"""How a number of the JSON is written on the page: one short code a format.

Every element that shows a number of the JSON carries ``data-p="CODE PLACE"``, so that a test, or
a doubter, can hold the page against the files. ``b`` before a code writes the bounds of the
estimate at that place, ``e`` the value and its bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MINUS = "\N{MINUS SIGN}"
NONE = "–"
"""What stands where a value is null."""


def _signed(text: str) -> str:
    if float(text.replace(",", "")) == 0:
        return text.lstrip("+-")
    return text.replace("-", MINUS)


def written(value: Any, code: str) -> str:
    """Write a value.

    Parameters
    ----------
    value
        A number, a text, or ``None``.
    code
        ``s`` text; ``i`` whole number with commas; ``0`` to ``4`` so many decimals; ``%`` a
        share as per cent with one decimal; a leading ``+`` writes the sign; ``pp`` a signed
        share as percentage points, ``pu`` an unsigned one; ``p`` a p-value; ``y`` yes or no;
        ``n`` how many a list holds; ``m`` how many more a need asks for: its amount without
        what is there now.

    Examples
    --------
    >>> written(0.0816, "%"), written(-0.2348, "pp"), written(71.26, "1"), written(0.0004, "p")
    ('8.2 %', '−23.5', '71.3', '< 0.001')
    """
    if value is None:
        return NONE
    if code == "s":
        return str(value)
    if code == "n":
        return f"{len(value):,}"
    if code == "m":
        return f"{value['amount'] - value['now']:,}"
    if code == "y":
        return "yes" if value else "no"
    if code == "i":
        return _signed(f"{round(value):,}")
    if code == "%":
        return _signed(f"{100 * value:.1f}") + " %"
    if code == "pp":
        return _signed(f"{100 * value:+.1f}")
    if code == "pu":
        return _signed(f"{100 * value:.1f}")
    if code == "p":
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    sign = "+" if code.startswith("+") else ""
    return _signed(f"{value:{sign}.{int(code.lstrip('+'))}f}")


def interval(estimate: Any, code: str) -> str:
    """``[low, high]`` of an estimate (the sign of per cent stands with the value alone)."""
    if not isinstance(estimate, Mapping):
        return ""
    low, high = estimate.get("low"), estimate.get("high")
    if low is None or high is None:
        return ""
    ends = (written(end, code).removesuffix(" %") for end in (low, high))
    return f"[{', '.join(ends)}]"


def codes_of(unit: str) -> tuple[str, str]:
    """Codes of a value in this unit and of a difference of two such values."""
    return ("%", "pp") if unit.startswith("share") else ("2", "+2")


def unit_of(unit: str) -> str:
    """Unit as it follows a number: what a share is a share of, else the unit."""
    return unit.removeprefix("share of ") if unit.startswith("share of ") else unit
