"""Tables: one object for what every verb shows, and its forms for people and programs.

A table holds values, not texts: estimates, numbers, words. How they are written is said once a
column (a form of `usi.estimate.written`), and each renderer follows it: the terminal, Markdown,
CSV, and HTML, where a number can carry its place in the JSON behind the page.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from usi._version import __version__
from usi.csv_cells import safe_cell
from usi.estimate import MINUS, Estimate, interval, with_bounds, written
from usi.report.text import markdown, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

Value = Estimate | float | int | str | None
NOTHING = "-"
"""What stands for a value that is not there; an en dash in HTML."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes
    ----------
    name
        Its heading.
    form
        ``"s"`` words, at the left; any other form of `usi.estimate.written` numbers, at the right.
    why
        Whether a cell without a value says why it has none.
    brief
        Whether HTML leaves the bounds out (the figure or another table has them).
    """

    name: str
    form: str = "s"
    why: bool = False
    brief: bool = False


@dataclass(frozen=True)
class Cell:
    """A value with more than its column says.

    Attributes
    ----------
    value
        An estimate, a number, words, or nothing.
    form
        In place of the column's.
    at
        Place in the JSON behind a page (see `usi.report.html.document`); of an estimate the
        place of the whole.
    after
        Words after the value.
    badge
        Kind of badge that HTML makes of the value: a class of the page's style.
    link
        Anchor that HTML links the value to.
    small
        Words below the value, in small type.
    css
        Class of the value in HTML.
    """

    value: Value
    form: str | None = None
    at: str = ""
    after: str = ""
    badge: str = ""
    link: str = ""
    small: tuple[Cell | str, ...] = ()
    css: str = ""


Entry = Cell | Value


@dataclass(frozen=True)
class Table:
    """A titled table with notes below it; without rows only its title and notes show.

    Attributes
    ----------
    title
        Heading.
    columns
        Columns, those of words as their names alone.
    rows
        One entry a column each; the first names the row.
    notes
        Sentences below it.
    strong
        Rows that stand out, by number from 0: the people that others are compared with.
    """

    title: str
    columns: tuple[Column | str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()
    strong: tuple[int, ...] = ()

    @property
    def head(self) -> tuple[Column, ...]:
        """All columns as such."""
        return tuple(Column(one) if isinstance(one, str) else one for one in self.columns)

    def texts(self) -> list[list[str]]:
        """Every cell as plain text."""
        return [
            [cell_text(entry, column) for entry, column in zip(row, self.head, strict=True)]
            for row in self.rows
        ]


def _cell(entry: Entry) -> Cell:
    return entry if isinstance(entry, Cell) else Cell(entry)


def _form(cell: Cell, column: Column) -> str:
    form = cell.form or column.form
    return "i" if form == "s" and isinstance(cell.value, int) else form


def why_not(value: Estimate) -> str:
    """Why an estimate has no value, as it stands in a cell: ``not assessed: REASON``."""
    return f"{value.status.replace('_', ' ')}: {value.reason}"


def estimated(value: Estimate, form: str = "1", *, minus: str = "-") -> str:
    """An estimate as text: with bounds, or with its spread (a component), or ``-``.

    >>> estimated(Estimate(value=71.24, low=68.0, high=74.06))
    '71.2 [68.0, 74.1]'
    """
    if value.value is None:
        return NOTHING
    text = with_bounds(value.value, value.low, value.high, form=form, minus=minus)
    spread = _spread(value)
    return text if spread is None else f"{text} ± {written(spread, form, minus=minus)}"


def _spread(value: Estimate) -> float | None:
    """Standard deviation of a component that has no bounds."""
    sd: float | None = getattr(value, "sd", None)
    return None if value.low is not None and value.high is not None else sd


def shown(value: Estimate, form: str = "3") -> str:
    """An estimate as it stands in a sentence: with its bounds, or why it has no value.

    >>> shown(Estimate(value=0.5, low=0.4, high=0.6, unit="share"))
    '0.500 [0.400, 0.600]'
    """
    return estimated(value, form) if value.ok else why_not(value)


def cell_text(entry: Entry, column: Column) -> str:
    """A cell as plain text; what it holds is not escaped."""
    cell = _cell(entry)
    value, form = cell.value, _form(cell, column)
    if value is None:
        text = NOTHING
    elif isinstance(value, Estimate):
        text = shown(value, form) if column.why else estimated(value, form)
    else:
        text = value if isinstance(value, str) else written(value, form)
    return f"{text} {cell.after}" if cell.after and value is not None else text


# Terminal


def printed(table: Table, *, most: int | None = None) -> RichTable:
    """The table for a terminal: cells are `rich.text.Text`, so nothing in them is markup.

    Columns after the first are at most `most` characters wide.
    """
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(
        title=Text(printable(table.title)) if table.title else None,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        pad_edge=False,
    )
    for k, column in enumerate(table.head):
        made.add_column(
            Text(printable(column.name)),
            justify="left" if column.form == "s" or k == 0 else "right",
            overflow="fold",
            max_width=most if k else None,
        )
    for k, row in enumerate(table.texts()):
        style = "bold" if k in table.strong else ""
        made.add_row(*(Text(printable(cell)) for cell in row), style=style)
    return made


def print_tables(tables: Iterable[Table], console: Console) -> None:
    """The tables in a terminal, each with its notes."""
    from rich.text import Text

    for table in tables:
        if table.rows:
            console.print(printed(table))
        else:
            console.print(Text(f"\n{printable(table.title)}", style="table.title"))
        for note in table.notes:
            console.print(Text(f"  {printable(note)}"))


def print_fitting(table: Table, console: Console, *, narrow: Table) -> None:
    """One table as it is where it fits, else on its side: the rows across, as many as fit.

    The first row stands in each part, as what the others are compared with; `narrow` is the same
    table with what takes less room that way.
    """
    from rich.measure import Measurement

    whole = printed(table)
    unbounded = console.options.update(width=10_000)
    if Measurement.get(console, unbounded, whole).maximum <= console.width:
        console.print(whole)
        return
    for part, most in turned(narrow, console.width):
        console.print(printed(part, most=most))


def turned(table: Table, width: int) -> list[tuple[Table, int]]:
    """Parts of the table on its side, none wider than `width` where the cells allow it.

    With each part how wide its columns of values may be.
    """
    first, *rest = table.texts()
    names = [column.name for column in table.head[1:]]
    most = max((len(text) for row in (first, *rest) for text in row[1:]), default=1)
    fitting = max(1, (width - max(map(len, names)) - 2) // (most + 2) - 1)
    parts = []
    for start in range(0, max(1, len(rest)), fitting):
        shown = [first, *rest[start : start + fitting]]
        columns = (Column(""), *(Column(row[0], "1") for row in shown))
        rows = tuple((name, *(row[k + 1] for row in shown)) for k, name in enumerate(names))
        parts.append((replace(table, columns=columns, rows=rows, notes=(), strong=()), most))
    return parts


# Markdown


def markdown_lines(table: Table) -> list[str]:
    """Lines of a Markdown table, escaped; rows that stand out have their first cell in bold."""
    head = [markdown(column.name) for column in table.head]
    rule = [
        "---" if k == 0 or column.form == "s" else "---:" for k, column in enumerate(table.head)
    ]
    body = [[markdown(cell) for cell in row] for row in table.texts()]
    for k in table.strong:
        body[k][0] = f"**{body[k][0]}**"
    return [f"| {' | '.join(row)} |" for row in (head, rule, *body)]


def to_markdown(tables: Iterable[Table]) -> str:
    """A document of GitHub-flavoured Markdown."""
    lines = []
    for table in tables:
        lines += [f"## {markdown(table.title)}", ""]
        if table.rows:
            lines += [*markdown_lines(table), ""]
        lines += [f"{markdown(note)}\n" for note in table.notes]
    lines.append(f"<!-- written by usi {__version__} -->\n")
    return "\n".join(lines)


# CSV

LONG = ("table", "row", "column", "value", "low", "high", "n", "unit", "status", "reason")


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV with a header; nothing is an empty cell, numbers have all their digits.

    Text that begins like a formula of a spreadsheet gets an apostrophe (`usi.csv_cells`).
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(safe_cell, head))
    writer.writerows(map(safe_cell, row) for row in rows)
    return out.getvalue()


def to_csv(tables: Iterable[Table]) -> str:
    """One row a cell, under the same header for every verb: easy to filter and to pivot.

    Rows of a table are numbered from 1; notes have no number and the column ``note``.
    """
    found: list[tuple[object, ...]] = []
    for table in tables:
        for k, row in enumerate(table.rows, 1):
            found += [
                (table.title, k, column.name, *_raw(_cell(entry)))
                for entry, column in zip(row, table.head, strict=True)
            ]
        found += [(table.title, None, "note", note, *[None] * 6) for note in table.notes]
    return csv_text(LONG, found)


def _raw(cell: Cell) -> tuple[object, ...]:
    value = cell.value
    if not isinstance(value, Estimate):
        return (value, *[None] * 6)
    why = str(value.reason) if value.reason else None
    return (value.value, value.low, value.high, value.n, value.unit, value.status, why)


# HTML


def marked(pointer: str, code: str, text: Markup, *, css: str = "") -> Markup:
    """Markup that says where a text comes from, ``data-p="CODE PLACE"``; as it is without one."""
    kind = Markup(' class="{}"').format(css) if css else Markup("")
    place = Markup(' data-p="{} {}"').format(code, pointer) if pointer else Markup("")
    return Markup("<span{}{}>{}</span>").format(kind, place, text) if kind or place else text


def estimate_html(value: Estimate, form: str = "1", *, at: str = "", brief: bool = False) -> Markup:
    """An estimate with bounds or spread, or the status of one without a value."""
    if value.value is None:
        return Markup('<span class="none">{}</span>').format(value.status.replace("_", " "))
    return numbers_html(
        value.value, value.low, value.high, _spread(value), form, at=at, brief=brief
    )


def numbers_html(
    value: float,
    low: float | None,
    high: float | None,
    sd: float | None,
    form: str,
    *,
    at: str = "",
    brief: bool = False,
) -> Markup:
    """A value with its bounds or, without them, its spread."""
    whole = Markup(written(value, form, minus=MINUS))
    alone = marked(at and f"{at}/value", form, whole)
    if brief:
        return alone
    limits = interval(low, high, form, minus=MINUS)
    if limits:
        text = Markup("{} <i>{}</i>").format(whole, limits)
        return marked(at, f"e{form}", text)
    if low is None and sd is not None:
        spread = marked(at and f"{at}/sd", form, Markup(written(sd, form, minus=MINUS)))
        return Markup('{} <span class="bounds">± {}</span>').format(alone, spread)
    return alone


def cell_html(entry: Entry, column: Column) -> Markup:
    """What stands between the tags of a cell."""
    cell = _cell(entry)
    value, form = cell.value, _form(cell, column)
    if value is None:
        shown = Markup('<span class="none">–</span>')
    elif isinstance(value, Estimate):
        shown = estimate_html(value, form, at=cell.at, brief=column.brief)
        if column.why and not value.ok:
            shown = Markup('<span class="none">{}</span>').format(printable(why_not(value)))
    else:
        words = value if isinstance(value, str) else written(value, form, minus=MINUS)
        shown = marked(cell.at, form, breakable(words), css=cell.css)
    if cell.link:
        shown = Markup('<a href="#{}">{}</a>').format(cell.link, shown)
    if cell.badge:
        shown = Markup('<span class="badge {}">{}</span>').format(cell.badge, shown)
    if cell.after and value is not None:
        shown = Markup("{} {}").format(shown, printable(cell.after))
    lines = (cell_html(line, Column("")) for line in cell.small)
    return shown + Markup("").join(Markup("<small>{}</small>").format(line) for line in lines)


def to_html(
    table: Table, *, css: str = "", name: str = "", bare: bool = False, roots: str = ""
) -> Markup:
    """The table in a region of its own that scrolls where it is too wide.

    Parameters
    ----------
    table
        Title: the name of the region, or the caption where it is bare.
    css
        Classes of the page's style, such as ``sortable``.
    name
        Its ``id``.
    bare
        Without the region, with a caption and the notes: for notebooks.
    roots
        Signs that its places begin with (``data-roots``).
    """
    head = Markup("").join(
        Markup('<th scope="col"{}>{}</th>').format(_kind(column, k), printable(column.name))
        for k, column in enumerate(table.head)
    )
    body = Markup("").join(
        Markup("<tr{}>{}</tr>\n").format(
            Markup(' class="people"') if k in table.strong else "", _row(row, table.head)
        )
        for k, row in enumerate(table.rows)
    )
    attributes = Markup("").join(
        Markup(' {}="{}"').format(Markup(key), said)
        for key, said in (("class", css), ("id", name), ("data-roots", roots))
        if said
    )
    title = printable(table.title)
    caption = Markup("<caption>{}</caption>").format(title) if bare else Markup("")
    made = Markup("<table{}>{}<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>").format(
        attributes, caption, head, body
    )
    if bare:
        below = (Markup("<p>{}</p>").format(printable(note)) for note in table.notes)
        return made + Markup("").join(below)
    return Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="{}">\n{}\n</div>'
    ).format(title, made)


def _kind(column: Column, k: int) -> Markup:
    """Class of a column of words; the first is at the left anyway."""
    return Markup(' class="text"') if k and column.form == "s" else Markup("")


def _row(row: Sequence[Entry], head: Sequence[Column]) -> Markup:
    cells = []
    for k, (entry, column) in enumerate(zip(row, head, strict=True)):
        shown = cell_html(entry, column)
        cells.append(
            Markup("<td{}>{}</td>").format(_kind(column, k), shown)
            if k
            else Markup('<th scope="row">{}</th>').format(shown)
        )
    return Markup("").join(cells)


def breakable(text: str) -> Markup:
    """Escaped text that may break at its underscores on a phone."""
    parts = [escape(printable(part, newlines=True)) for part in text.split("_")]
    return Markup("_<wbr>").join(parts)
