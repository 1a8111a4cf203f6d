"""What passk, correct and agents share: options, and where the result goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from usi.cli import console as say
from usi.cli.options import Printed
from usi.errors import UsageError

FORMS = (".json", ".md")

Threshold = Annotated[
    float,
    typer.Option("--success-at", metavar="R", help="Reward at or above which a session succeeds."),
]
Replicates = Annotated[int, typer.Option("--replicates", min=100, help="Bootstrap replicates.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the bootstrap.")]


def named(values: list[str], option: str) -> dict[str, list[str]]:
    """``NAME=PATH`` options by name; a name may be given several times.

    >>> named(["a=x.json", "a=y.json"], "--human")
    {'a': ['x.json', 'y.json']}
    """
    found: dict[str, list[str]] = {}
    for value in values:
        name, sign, path = value.partition("=")
        if not sign or not name or not path:
            raise UsageError(f"{option} {value}: write NAME=PATH, such as {option} gpt-4o=run.json")
        found.setdefault(name, []).append(path)
    return found


def deliver(
    result: Any,
    grids: Any,
    *,
    outputs: list[Path] | None,
    show: Printed,
    force: bool,
    page: Callable[[], str] | None = None,
    inputs: Iterable[Path] = (),
) -> None:
    """Print and write one result; files are checked before anything is printed.

    Parameters
    ----------
    page
        Makes the ``.html`` form, where the result has one.
    inputs
        Files that must not be overwritten.
    """
    from usi.report import files, success

    known = FORMS if page is None else (*FORMS, ".html")
    forms = files.claim(outputs or [], known=known, force=force, inputs=inputs)
    json_text = success.to_json(result)
    contents = {".json": json_text, ".md": success.to_markdown(grids)}
    if page is not None and ".html" in forms.values():
        contents[".html"] = page()
    files.write_all({path: files.text(contents[form]) for path, form in forms.items()})
    match say.printed(show):
        case Printed.TABLE:
            success.print_grids(grids, say.console())
        case Printed.JSON:
            say.out(json_text)
        case _:
            return
