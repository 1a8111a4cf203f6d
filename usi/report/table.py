"""The scorecard in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from usi.report import view
from usi.report.text import printable
from usi.score.scorecard import COMPONENTS, Scorecard

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def scorecard_table(card: Scorecard, *, narrow: bool = False) -> RenderableType:
    """Build the table: human row first, then simulators by falling index.

    Parameters
    ----------
    card
        What to show.
    narrow
        Components downwards and sides across, for terminals that can't hold eleven columns.

    Notes
    -----
    Cells are `rich.text.Text`, so nothing in a name is read as markup.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    head = ["index", *COMPONENTS, *view.COUNTS]
    rows = view.rows(card)
    title = f"{'SYNTHETIC DATA · ' if card.synthetic else ''}profile {printable(card.profile)}"
    table = Table(title=Text(title), box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    if narrow:
        table.add_column("")
        for row in rows:
            table.add_column(Text(printable(row.name)), justify="right", overflow="fold")
        across = [(row.index, *row.components, *row.counts) for row in rows]
        for at, name in enumerate(head):
            table.add_row(name, *(Text(side[at]) for side in across))
        return table
    table.add_column("name", overflow="fold", min_width=8)
    for name in head:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        style = "bold" if row.is_human else ""
        cells = (row.name, row.index, *row.components, *row.counts)
        table.add_row(*(Text(printable(cell)) for cell in cells), style=style)
    return table


def print_scorecard(card: Scorecard, console: Console) -> None:
    """Print the table and below it everything a reader must know to read it."""
    from rich.measure import Measurement
    from rich.text import Text

    table = scorecard_table(card)
    if Measurement.get(console, console.options, table).minimum > console.width:
        table = scorecard_table(card, narrow=True)
    console.print(table)
    sections = (
        ("Not in the table", view.missing(card)),
        ("Left out or repaired", view.left_out(card)),
        ("Warnings", view.warnings(card)),
        ("Reading", view.reading(view.sides(card))),
    )
    for title, lines in sections:
        if lines:
            console.print(Text(title, style="bold"))
            for line in lines:
                console.print(Text(f"  {printable(line)}"))
    for name, value in view.facts(card):
        console.print(Text(f"{name}: {printable(value)}", style="dim"), soft_wrap=True)
