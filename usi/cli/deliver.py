"""Where the result of a verb goes: files, stdout, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi.cli import console as say
from usi.options import Delivery

if TYPE_CHECKING:
    from usi.report.tables import Table

FORMS = (".json", ".md", ".csv", ".html")
"""Suffixes that every verb takes whose result is tables."""


def deliver(
    result: Any,
    shown: Sequence[Table],
    *,
    delivery: Delivery,
    page: Callable[[], str] | None = None,
    inputs: Iterable[Path] = (),
) -> None:
    """Print and write one result; files are checked before anything is printed.

    Parameters
    ----------
    result
        What JSON holds.
    shown
        Its tables: printed, and written as Markdown, CSV and (without a page) HTML.
    delivery
        Where to; a verb that writes no files or prints in one form alone leaves those as they are.
    page
        Makes the ``.html`` form, where the result has a page of its own.
    inputs
        Files that must not be overwritten.
    """
    from usi.report import as_json, files, tables, tables_page

    forms = files.claim(delivery.output, known=FORMS, force=delivery.force, inputs=inputs)
    makers: dict[str, Callable[[], str]] = {
        ".json": lambda: as_json.to_json(result),
        ".md": lambda: tables.to_markdown(shown),
        ".csv": lambda: tables.to_csv(shown),
        ".html": page or (lambda: tables_page.render(shown)),
    }
    contents = {path: makers[form]() for path, form in forms.items()}
    files.write_all({path: files.text(text) for path, text in contents.items()})
    match say.printed(delivery.print):
        case "table":
            tables.print_tables(shown, say.console())
        case "json":
            say.out(makers[".json"]())
        case _:
            return
