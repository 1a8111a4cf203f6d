"""The scorecard as one self-contained page: no script, no network, everything escaped."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from usi.report import view
from usi.report.text import printable
from usi.score.scorecard import Scorecard, SimulatorCard


def render(card: Scorecard) -> str:
    """HTML text of a scorecard; identical cards give identical bytes.

    Notes
    -----
    The content security policy allows the page's own style sheet, by hash, and nothing else:
    whatever stood in a transcript or a name could neither run nor load anything.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    rows = view.rows(card)
    style = resources.files("usi.report").joinpath("templates/page.css").read_text("utf-8")
    environment = Environment(
        loader=PackageLoader("usi.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    return environment.get_template(
        "page.html.j2"
    ).render(
        card=card,
        style=Markup(style),  # our own file, not data
        style_hash=_hash(style),
        headline=view.headline(card),
        head=view.head(rows),
        rows=rows,
        cells=[view.cells(row, rows)[1:] for row in rows],
        reading=view.reading(view.sides(card)),
        notes=view.sections(card),
        features=[
            (side.name, list((side.features | side.style).items()))
            for side in view.sides(card)
            if isinstance(side, SimulatorCard) and side.features
        ],
        facts=view.facts(card),
        number=view.number,
    )


def _hash(style: str) -> str:
    digest = hashlib.sha256(style.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
