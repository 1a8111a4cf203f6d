"""Where the result of a verb goes: files, stdout, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from usi.cli import console as say
from usi.options import Delivery

FORMS = (".json", ".md")


def deliver(
    result: Any,
    grids: Any,
    *,
    delivery: Delivery,
    page: Callable[[], str] | None = None,
    inputs: Iterable[Path] = (),
) -> None:
    """Print and write one result; files are checked before anything is printed.

    Parameters
    ----------
    delivery
        Where to; a verb that writes no files or prints in one form alone leaves those as they are.
    page
        Makes the ``.html`` form, where the result has one.
    inputs
        Files that must not be overwritten.
    """
    from usi.report import files, success

    known = FORMS if page is None else (*FORMS, ".html")
    forms = files.claim(delivery.output, known=known, force=delivery.force, inputs=inputs)
    json_text = success.to_json(result)
    contents = {".json": json_text, ".md": success.to_markdown(grids)}
    if page is not None and ".html" in forms.values():
        contents[".html"] = page()
    files.write_all({path: files.text(contents[form]) for path, form in forms.items()})
    match say.printed(delivery.print):
        case "table":
            success.print_grids(grids, say.console())
        case "json":
            say.out(json_text)
        case _:
            return
