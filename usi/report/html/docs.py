"""The JSON behind the page, and markup that says where each number of the page comes from."""

from __future__ import annotations

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

    def show(self, pointer: Pointer, code: str = "1", base: Pointer = "") -> Markup:
        """The value, marked with its format and its place (short of `base`, where that fits)."""
        text = written(self.get(pointer), code)
        return marked(pointer, code, broken(text) if code == "s" else Markup(text), base)

    def cell(self, tag: str, pointer: Pointer, code: str, base: Pointer) -> Markup:
        """A cell of a long table, whose own element carries the place."""
        text = Markup(escape(printable(written(self.get(pointer), code))))
        scope = Markup(" scope=row") if tag == "th" else Markup("")
        place = pointer.removeprefix(base)
        return Markup('<{}{} data-p="{} {}">{}').format(Markup(tag), scope, code, place, text)

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


def marked(
    pointer: Pointer, code: str, text: Markup, base: Pointer = "", *, kind: str = ""
) -> Markup:
    """Markup that says where a text comes from: ``data-p="CODE PLACE"``."""
    if base and pointer.startswith(f"{base}/"):
        pointer = pointer.removeprefix(base)
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


def shortened(html: str, roots: Mapping[str, Pointer]) -> str:
    """Places below a root written with its sign, as ``~/index/value``; see ``data-roots``."""
    for sign, root in roots.items():
        html = html.replace(f" {root}/", f" {sign}/")
    return html
