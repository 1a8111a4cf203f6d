"""The JSON behind the page, and markup that says where each number of the page comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from usi.report.html.formats import NONE, interval, written
from usi.report.text import printable

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
