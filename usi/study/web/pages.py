"""Templates of the site, and texts of the study's owner as harmless HTML."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from usi._version import __version__


@cache
def environment() -> Any:
    """Templates; everything that is filled in is escaped."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("usi.study.web", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def static_folder() -> Path:
    """Folder of style sheet and scripts."""
    return Path(str(resources.files("usi.study.web").joinpath("static")))


@cache
def static_version() -> str:
    """Changes with the files, so that browsers may keep them."""
    digest = hashlib.sha256(__version__.encode())
    for path in sorted(static_folder().rglob("*")):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def render(template: str, **values: Any) -> str:
    """A page or a part of one."""
    text: str = environment().get_template(template).render(values)
    return text


_BOLD = re.compile(r"\*\*(.+?)\*\*")


def marked_up(text: str) -> Any:
    """Headings (``#``), lists (``-``), paragraphs and ``**bold**`` of a text as HTML.

    Everything else is text: it is escaped first, so markup in it has no effect.

    >>> str(marked_up("# A\\n\\n- **b** & c"))
    '<h1>A</h1>\\n<ul><li><strong>b</strong> &amp; c</li></ul>'
    """
    from markupsafe import Markup, escape

    def inline(words: str) -> str:
        return _BOLD.sub(r"<strong>\1</strong>", str(escape(words)))

    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in block.splitlines()]
        heading = re.match(r"(#{1,3}) +(.*)", lines[0])
        if heading:
            level = len(heading[1])
            blocks.append(f"<h{level}>{inline(heading[2])}</h{level}>")
            lines = lines[1:]
        if lines and lines[0].startswith(("- ", "* ")):
            items: list[str] = []
            for line in lines:
                if line.startswith(("- ", "* ")):
                    items.append(line[2:])
                else:
                    items[-1] += f" {line}"
            listed = "".join(f"<li>{inline(item)}</li>" for item in items)
            blocks.append(f"<ul>{listed}</ul>")
        elif lines:
            blocks.append(f"<p>{inline(' '.join(lines))}</p>")
    return Markup("\n".join(blocks))
