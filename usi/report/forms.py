"""Which forms a scorecard can be written in."""

from __future__ import annotations

from collections.abc import Callable

from usi.report import markdown, page, tau_usi
from usi.score.scorecard import Scorecard


def _csv(card: Scorecard) -> str:
    text: str = card.to_pandas().to_csv(index=False, lineterminator="\n")
    return text


TEXT_FORMS: dict[str, Callable[[Scorecard], str]] = {
    ".json": Scorecard.to_json,
    ".tau-usi.json": tau_usi.render,
    ".md": markdown.render,
    ".html": page.render,
    ".csv": _csv,
}
"""Suffix -> text of the card. A new form is one line here."""
