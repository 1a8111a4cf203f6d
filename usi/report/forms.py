"""Which forms a scorecard can be written in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from usi.report import html, markdown
from usi.score.export import aggregate_metrics, published_rows, to_text
from usi.score.scorecard import Scorecard

AGGREGATE = "_aggregate_metrics.json"


def _json(card: Scorecard, _: Path) -> str:
    return card.to_json()


def _published(card: Scorecard, _: Path) -> str:
    return to_text({"written_by": f"usi {card.usi_version}", **published_rows(card)})


def _aggregate(card: Scorecard, path: Path) -> str:
    """The public scorer's file of one simulator, whose label is the file name's beginning."""
    data = aggregate_metrics(card, path.name[: -len(AGGREGATE)])
    return to_text({"written_by": f"usi {card.usi_version}", **data})


def _markdown(card: Scorecard, _: Path) -> str:
    return markdown.render(card)


def _page(card: Scorecard, _: Path) -> str:
    """The page of a scorecard alone; `usi.cli.scoring` knows more and shows it."""
    return html.render(card)


def _csv(card: Scorecard, _: Path) -> str:
    text: str = card.to_pandas().to_csv(index=False, lineterminator="\n")
    return text


FORMS: dict[str, Callable[[Scorecard, Path], str]] = {
    ".json": _json,
    ".md": _markdown,
    ".html": _page,
    ".csv": _csv,
    ".tau-usi.json": _published,
    AGGREGATE: _aggregate,
}
"""Suffix -> text of the card for a file of that name. A new form is one line here."""
