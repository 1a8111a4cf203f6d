"""The scorecard in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from usi.report import card_text
from usi.report.text import printable
from usi.scoring.scorecard import Scorecard

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text


def wide_table(card: Scorecard) -> RenderableType:
    """Sides downwards: human row first, then simulators by falling index.

    Cells are `rich.text.Text`, so nothing in a name is read as markup.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=_title(card), box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("name", overflow="fold", min_width=8)
    rows = card_text.rows(card)
    for name in card_text.head(rows):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        cells = (row.name, *card_text.cells(row, rows))
        style = "bold" if row.is_human else ""
        table.add_row(*(Text(printable(cell)) for cell in cells), style=style)
    return table


def narrow_tables(card: Scorecard, width: int) -> list[RenderableType]:
    """Sides across, as many as fit, the reference in each table."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    human, *others = rows = card_text.rows(card)
    first, *rest = card_text.head(rows)
    head = (first, "terms", *rest)
    across = {id(row): (row.value, row.label, *card_text.cells(row, rows)[1:]) for row in rows}
    cell = max(len(text) for cells in across.values() for text in cells) + 2
    fitting = max(1, (width - max(map(len, head)) - 2) // cell - 1)
    tables: list[RenderableType] = []
    for start in range(0, max(1, len(others)), fitting):
        shown = [human, *others[start : start + fitting]]
        table = Table(title=_title(card), box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
        table.add_column("", no_wrap=True)
        for row in shown:
            table.add_column(
                Text(printable(row.name)), justify="right", overflow="fold", max_width=cell - 2
            )
        for at, name in enumerate(head):
            table.add_row(name, *(Text(across[id(row)][at], no_wrap=True) for row in shown))
        tables.append(table)
    return tables


def _title(card: Scorecard) -> Text:
    from rich.text import Text

    return Text(f"{'SYNTHETIC DATA · ' if card.synthetic else ''}profile {printable(card.profile)}")


def print_scorecard(card: Scorecard, console: Console) -> None:
    """Print the table and below it everything a reader must know to read it."""
    from rich.measure import Measurement
    from rich.text import Text

    table = wide_table(card)
    unbounded = console.options.update(width=10_000)
    if Measurement.get(console, unbounded, table).maximum <= console.width:
        console.print(table)
    else:
        console.print(*narrow_tables(card, console.width))
    reading = ("Reading", card_text.reading(card_text.sides(card)))
    for title, lines in (*card_text.sections(card), reading):
        console.print(Text(title, style="bold"))
        for line in lines:
            console.print(Text(f"  {printable(line)}"), soft_wrap=True)
    for name, value in card_text.facts(card):
        console.print(Text(f"{name}: {printable(value)}", style="dim"), soft_wrap=True)
