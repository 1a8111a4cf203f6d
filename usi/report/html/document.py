"""The JSON behind the page, and markup that says where each number of the page comes from.

How a number of the JSON is written on the page: one short code a format.

Every element that shows a number of the JSON carries ``data-p="CODE PLACE"``, so that a test, or
a doubter, can hold the page against the files. ``b`` before a code writes the bounds of the
estimate at that place, ``e`` the value and its bounds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from usi.report.text import printable

MINUS = "\N{MINUS SIGN}"
NONE = "–"
"""What stands where a value is null."""


def _typographic_minus(text: str) -> str:
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
        return _typographic_minus(f"{round(value):,}")
    if code == "%":
        return _typographic_minus(f"{100 * value:.1f}") + " %"
    if code == "pp":
        return _typographic_minus(f"{100 * value:+.1f}")
    if code == "pu":
        return _typographic_minus(f"{100 * value:.1f}")
    if code == "p":
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    sign = "+" if code.startswith("+") else ""
    return _typographic_minus(f"{value:{sign}.{int(code.lstrip('+'))}f}")


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


Pointer = str
"""``c:/simulators/0/index/value``: the document's letter, then a JSON pointer (RFC 6901)."""


class Docs:
    """Documents by letter: ``c`` scorecard, ``v`` verdict, ``d`` report data, ``e`` evidence,
    ``s`` summary."""

    def __init__(self, documents: Mapping[str, Any]) -> None:
        self._documents = {k: v for k, v in documents.items() if v is not None}

    def __contains__(self, letter: str) -> bool:
        return letter in self._documents

    def get(self, pointer: Pointer) -> Any:
        """Value at a pointer; ``None`` where there is nothing."""
        letter, _, path = pointer.partition(":")
        here: Any = self._documents.get(letter)
        for step in path.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(here, Mapping):
                here = here.get(key)
            elif isinstance(here, list | tuple) and key.isdigit() and int(key) < len(here):
                here = here[int(key)]
            else:
                return None
        return here

    def show(self, pointer: Pointer, code: str = "1") -> Markup:
        """The value, marked with its format and its place."""
        text = written(self.get(pointer), code)
        return marked(pointer, code, broken(text) if code == "s" else Markup(text))

    def cell(self, tag: str, pointer: Pointer, code: str) -> Markup:
        """A cell of a long table, whose own element carries the place."""
        text = Markup(escape(printable(written(self.get(pointer), code))))
        scope = Markup(" scope=row") if tag == "th" else Markup("")
        return Markup('<{}{} data-p="{} {}">{}').format(Markup(tag), scope, code, pointer, text)

    def text(self, pointer: Pointer) -> Markup:
        """A text of the JSON."""
        return self.show(pointer, "s")

    def bounds(self, pointer: Pointer, code: str = "1") -> Markup:
        """``[low, high]`` of an estimate; nothing where it has no bounds."""
        text = interval(self.get(pointer), code)
        return marked(pointer, f"b{code}", Markup(text), kind="bounds") if text else Markup("")

    def estimate(self, pointer: Pointer, code: str = "1", *, spread: bool = True) -> Markup:
        """Value with its bounds; or the status of a value that is not there."""
        found = self.get(pointer)
        if not isinstance(found, Mapping) or found.get("value") is None:
            status = found.get("status") if isinstance(found, Mapping) else None
            return Markup('<span class="none">{}</span>').format(spaced(status or NONE))
        value = self.show(f"{pointer}/value", code)
        if not spread:
            return value
        if found.get("low") is None and found.get("sd") is not None:
            return Markup('{} <span class="bounds">± {}</span>').format(
                value, self.show(f"{pointer}/sd", code)
            )
        limits = interval(found, code)
        if not limits:
            return value
        text = Markup("{} <i>{}</i>").format(written(found["value"], code), limits)
        return marked(pointer, f"e{code}", text)


def marked(pointer: Pointer, code: str, text: Markup, *, kind: str = "") -> Markup:
    """Markup that says where a text comes from: ``data-p="CODE PLACE"``."""
    css = Markup(' class="{}"').format(kind) if kind else ""
    return Markup('<span{} data-p="{} {}">{}</span>').format(css, code, pointer, text)


def step(key: str | int) -> str:
    """One step of a JSON pointer.

    >>> step("a/b~c")
    'a~1b~0c'
    """
    return str(key).replace("~", "~0").replace("/", "~1")


def broken(name: str) -> Markup:
    """A text that may break at its underscores on a phone."""
    parts = [escape(printable(part, newlines=True)) for part in name.split("_")]
    return Markup("_<wbr>").join(parts)


def spaced(name: str) -> str:
    """A feature's name as words.

    >>> spaced("short_turn")
    'short turn'
    """
    return printable(name.replace("_", " "))


_BASE = re.compile(r'<(tr|li|div|ol)\b[^>]* data-b="([^"]*)".*?</\1>', re.DOTALL)
_TABLE = re.compile(r'<table\b[^>]* data-roots="([^"]*)".*?</table>', re.DOTALL)
_ALONE = re.compile(
    r'<(t[dh]\b[^>]*)><span( data-p="[^"]*")>((?:(?!</?span|</?td).)*)</span></(t[dh])>'
)
_PLACE = re.compile(r'(?<= data-p=")([^" ]+ )([^"]+)')
_ROOT = re.compile(r'(?<= data-b=")[^"]+')


def shortened(html: str, roots: Mapping[str, Pointer]) -> str:
    """Places written short of what stands above them; a cell with one value carries its place.

    Inside an element with ``data-b="BASE"`` (it holds no other of its own kind) as ``/value``;
    inside a table with ``data-roots`` and below a root of the section with its sign, as
    ``~/index/value``. Texts can't be taken for places: in them quotation marks are escaped.
    """
    html = _ALONE.sub(r"<\1\2>\3</\4>", html)
    html = _BASE.sub(lambda found: _signed(found[0], {"": found[2]}), html)
    html = _TABLE.sub(lambda found: _signed(found[0], signs(found[1])), html)
    return _ROOT.sub(lambda found: _short(found[0], roots), _signed(html, roots))


def signs(said: str) -> dict[str, Pointer]:
    """What ``data-roots`` says, as sign -> root."""
    pairs = (pair.partition("=") for pair in said.split())
    return {sign: root for sign, _, root in pairs if root}


def _signed(html: str, roots: Mapping[str, Pointer]) -> str:
    return _PLACE.sub(lambda found: found[1] + _short(found[2], roots), html)


def _short(place: Pointer, roots: Mapping[str, Pointer]) -> str:
    for sign, root in roots.items():
        if place.startswith(f"{root}/"):
            return sign + place.removeprefix(root)
    return place
