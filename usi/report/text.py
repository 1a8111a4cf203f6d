"""Foreign text made harmless for each place that it is shown in.

Names, reasons and messages come from files of unknown origin. They are data: never markup of
the terminal, of Markdown or of HTML (the page's templates escape by themselves).
"""

from __future__ import annotations

import re
from html import escape

_MARKDOWN = re.compile(r"([\\`*_\[\]|~#!])")


def printable(text: str, *, newlines: bool = False) -> str:
    r"""Replace what would steer a terminal or reorder a line by its escape.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    >>> printable("two\nlines"), printable("two\nlines", newlines=True)
    ('two\\nlines', 'two\nlines')
    """
    return "".join(
        char
        if char.isprintable() or (newlines and char == "\n")
        else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def markdown(text: str) -> str:
    r"""Escape for running text or a table cell of Markdown (also as GitHub renders it).

    >>> markdown("a|b <img>")
    'a\\|b &lt;img&gt;'
    """
    return _MARKDOWN.sub(r"\\\1", escape(printable(text), quote=False))
