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

from usi.estimate import MINUS, interval, written
from usi.report.tables import breakable, marked, numbers_html
from usi.report.text import printable

NONE = "–"
"""What stands where a value is null."""


def shown(value: Any, code: str) -> str:
    """Write a value of the JSON as the page does.

    Parameters
    ----------
    value
        A number, a text, or ``None``.
    code
        A form of `usi.estimate.written`, or: ``s`` text; ``y`` yes or no; ``n`` how many a list
        holds; ``m`` how many more a need asks for: its amount without what is there now.

    Examples
    --------
    >>> shown(0.0816, "%"), shown(None, "1"), shown(True, "y")
    ('8.2 %', '–', 'yes')
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
    return written(value, code, minus=MINUS)


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
        text = shown(self.get(pointer), code)
        return marked(pointer, code, breakable(text) if code == "s" else Markup(text))

    def cell(self, tag: str, pointer: Pointer, code: str) -> Markup:
        """A cell of a long table, whose own element carries the place."""
        text = Markup(escape(printable(shown(self.get(pointer), code))))
        scope = Markup(" scope=row") if tag == "th" else Markup("")
        return Markup('<{}{} data-p="{} {}">{}').format(Markup(tag), scope, code, pointer, text)

    def text(self, pointer: Pointer) -> Markup:
        """A text of the JSON."""
        return self.show(pointer, "s")

    def bounds(self, pointer: Pointer, code: str = "1") -> Markup:
        """``[low, high]`` of an estimate; nothing where it has no bounds."""
        found = self.get(pointer)
        if not isinstance(found, Mapping):
            return Markup("")
        text = interval(found.get("low"), found.get("high"), code, minus=MINUS)
        return marked(pointer, f"b{code}", Markup(text), css="bounds") if text else Markup("")

    def estimate(self, pointer: Pointer, code: str = "1", *, spread: bool = True) -> Markup:
        """Value with its bounds; or the status of a value that is not there."""
        found = self.get(pointer)
        if not isinstance(found, Mapping) or found.get("value") is None:
            status = found.get("status") if isinstance(found, Mapping) else None
            return Markup('<span class="none">{}</span>').format((status or NONE).replace("_", " "))
        low, high, sd = (found.get(key) for key in ("low", "high", "sd"))
        return numbers_html(found["value"], low, high, sd, code, at=pointer, brief=not spread)


def step(key: str | int) -> str:
    """One step of a JSON pointer.

    >>> step("a/b~c")
    'a~1b~0c'
    """
    return str(key).replace("~", "~0").replace("/", "~1")


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
