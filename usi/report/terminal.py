"""The scorecard in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from usi.report import card_text, gaps
from usi.report.tables import print_fitting
from usi.report.text import printable
from usi.scoring.scorecard import Scorecard

if TYPE_CHECKING:
    from rich.console import Console


GAPS = "Largest gaps, scored or not"


def print_scorecard(card: Scorecard, console: Console) -> None:
    """Print the table and below it everything a reader must know to read it."""
    from rich.text import Text

    print_fitting(
        card_text.scores_table(card), console, narrow=card_text.scores_table(card, apart=True)
    )
    reading = ("How to read the table", card_text.reading(card_text.sides(card)))
    first = (GAPS, gaps.leading(card))
    for title, lines in (*([first] if first[1] else []), *card_text.sections(card), reading):
        console.print(Text(title, style="bold"))
        for line in lines:
            console.print(Text(f"  {printable(line)}"), soft_wrap=True)
    for name, value in card_text.facts(card):
        console.print(Text(f"{name}: {printable(value)}", style="dim"), soft_wrap=True)
