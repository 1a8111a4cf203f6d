"""The tables of any result as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence

from usi._version import __version__
from usi.report.html.page import fill
from usi.report.tables import Table, to_html
from usi.report.text import printable


def render(tables: Sequence[Table]) -> str:
    """HTML text; identical tables give identical bytes.

    Parameters
    ----------
    tables
        The first gives the page its title.
    """
    return fill(
        "tables.html.j2",
        version=__version__,
        synthetic=False,
        heading=printable(tables[0].title) if tables else "Nothing to show",
        parts=[
            {
                "id": f"table{k}",
                "title": printable(table.title),
                "table": to_html(table, css="sortable fit") if table.rows else "",
                "notes": [printable(note) for note in table.notes],
            }
            for k, table in enumerate(tables, 1)
        ],
    )
