"""A reader of pages that knows nothing of how they are made: texts with where they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "input", "br", "wbr", "rect", "circle", "path", "link", "img", "hr"}
CELLS = {"td", "th", "tr"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str | None]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """``claims``: (code, pointer, text); ``loose``: texts that claim nothing; ``fixed``: those that
    never do (``data-static``)."""

    claims: list[tuple[str, str, str]] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[Node] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in CELLS:
            closes = ("td", "th") if tag != "tr" else ("td", "th", "tr")
            while self.stack and self.stack[-1].tag in closes:
                self._pop()
        if tag not in VOID:
            self.stack.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if any(node.tag == tag for node in self.stack):
            while self._pop().tag != tag:
                pass

    def _pop(self) -> Node:
        node = self.stack.pop()
        place = node.attributes.get("data-p")
        if place is not None:
            code, _, pointer = place.partition(" ")
            text = node.text.rstrip("\n") if node.tag in CELLS else node.text
            self.claims.append((code, self._whole(pointer), text))
        return node

    def _whole(self, pointer: str) -> str:
        if pointer.startswith("/"):
            for node in reversed(self.stack):
                if "data-b" in node.attributes:
                    pointer = f"{node.attributes['data-b']}{pointer}"
                    break
        for node in reversed(self.stack):
            for pair in (node.attributes.get("data-roots") or "").split():
                sign, _, root = pair.partition("=")
                if pointer.startswith(f"{sign}/"):
                    return root + pointer.removeprefix(sign)
        return pointer

    def handle_data(self, data: str) -> None:
        claimed = False
        for node in self.stack:
            if "data-p" in node.attributes:
                node.text += data
                claimed = True
        static = any("data-static" in node.attributes for node in self.stack)
        if static and not claimed and data.strip():
            self.fixed.append(data.strip())
        quiet = ("style", "script", "text", "title")
        free = static or any(node.tag in quiet for node in self.stack)
        if not claimed and not free and data.strip():
            self.loose.append(data.strip())


def read(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    return page


def at(documents: dict[str, Any], pointer: str) -> Any:
    """RFC 6901, with the document's letter before it."""
    letter, _, path = pointer.partition(":")
    here = documents[letter]
    for token in path.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")  # noqa: PLW2901
        here = here[int(token)] if isinstance(here, list) else here[token]
    return here
