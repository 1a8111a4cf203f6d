"""From reading options of the command line to those of the loaders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi.cli.options import parse_size

if TYPE_CHECKING:
    from usi.load import LoadOptions


def load_options(
    *,
    format_: str | None = None,
    domain: str | None = None,
    name: str | None = None,
    max_record: str | int | None = None,
) -> LoadOptions:
    """Options of the loaders; what is not given keeps its default."""
    from usi.load import LoadOptions

    given: dict[str, Any] = {"format": format_, "domain": domain, "name": name}
    if max_record is not None:
        given["max_record"] = parse_size(max_record)
    return LoadOptions(**given)


def sources(files: Iterable[str]) -> list[Path]:
    """Every file that the arguments name or hold, which no output may overwrite."""
    found: list[Path] = []
    for name in files:
        path = Path(name)
        if name == "-":
            continue
        found.append(path)
        if path.is_dir():
            found += [inner for inner in path.rglob("*") if inner.is_file()]
    return found
