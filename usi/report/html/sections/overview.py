"""Overview: every simulator in one table and one picture, people first."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from usi.report import card_text
from usi.report.figures import model as figures
from usi.report.figures.inline import draw
from usi.report.html.document import step
from usi.report.html.sections.gaps import easy_mode
from usi.report.html.source import One, Source
from usi.report.html.summary import furthest_of
from usi.scoring.profiles import wording_of
from usi.scoring.scorecard import COMPONENTS


def context(source: Source, ones: list[One]) -> dict[str, Any]:
    """What the template of the overview needs."""
    asked = {one.card.name: figures.thresholds(one.verdict).get("index") for one in ones}
    labels = {card_text.index_label(one.card.index) for one in ones if one.card.index.ok}
    published = source.beside.data.published if source.beside.data else None
    other = (
        published is not None
        and published.human is not None
        and published.signature != source.card.signature
    )
    return {
        "label": " and ".join(sorted(labels)) or "index",
        "mixed": len(labels) > 1,
        "figure": Markup(draw(figures.overview(source.card, asked))),
        "rows": [_row(one) for one in ones],
        "components": [
            name
            for name in COMPONENTS
            if any(one.card.components.get(name) is not None for one in ones)
        ],
        "published": other,
        "gate": source.verdict is not None,
        "counts": _counts(source),
        "people": card_text.yardstick(source.card),
        "among": wording_of(source.card.profile).among,
        "bounds": any(one.card.index.low is not None for one in ones),
        "spread": any(one.card.index.sd is not None for one in ones),
    }


def _row(one: One) -> dict[str, Any]:
    return {
        "one": one,
        "label": card_text.index_label(one.card.index),
        "published": f"d:/published/simulators/{step(one.card.name)}/value",
        "furthest": furthest_of(one.part),
        "easy": easy_mode(one),
        # A passing verdict with warnings must not look like one without.
        "warned": [
            f"{one.v}/checks/{k}/id"
            for k, check in enumerate(one.verdict.checks if one.verdict else ())
            if check.state == "warning"
        ],
    }


def _counts(source: Source) -> dict[str, int]:
    """How many simulators have each verdict."""
    found: dict[str, int] = {}
    if source.verdict is not None:
        for part in source.verdict.simulators:
            found[part.verdict] = found.get(part.verdict, 0) + 1
    return found
