"""``usi formats``: what usi reads and writes, and what each format can and cannot carry."""

from __future__ import annotations

from typing import Annotated, Any

from usi.cli.console import console, note, out, printed
from usi.cli.flags import flags, only
from usi.options import Delivery


@flags
def command(
    delivery: Annotated[Delivery, only("print")],
) -> None:
    """List the transcript formats that usi reads, and what each can and cannot carry.

    The format is chosen by what a file holds, never by its name; --format overrides that. Files,
    folders, .gz, .xz, .zst, .zip and .tar.* are read as they are, and - reads stdin. Installed
    packages bring formats of their own (entry points usi.loaders, see docs/own-format.md).

    \b
    Example:
      usi formats
      usi validate results.json --format tau-bench
    """
    import json

    from usi.loading.registry import registry

    found = registry()
    choice = printed(delivery.print)
    if choice == "json":
        out(json.dumps(_rows(), indent=2) + "\n")
    elif choice == "table":
        console().print(_table(_rows()))
        console().print(
            "● carried, · not: what the agent says, tool calls, task ids, runs, how it ended, "
            "survey, who took part; written: a target of usi convert"
        )
    for message in found.broken:
        note(f"plug-in passed over: {message}", quiet=False)


def _rows() -> list[dict[str, Any]]:
    from usi.loading.reader import CARRIED
    from usi.loading.registry import registry
    from usi.loading.write import TARGETS

    found = registry()
    written = {"table" if name == "csv" else name: target for name, target in TARGETS.items()}
    rows = []
    for name, reader in found.readers.items():
        about = reader.ABOUT
        target = written.get(name)
        rows.append(
            {
                "format": name,
                "holds": about.holds,
                "carries": {part: part in about.carries for part in CARRIED},
                "lacks": about.lacks,
                "follows": about.follows,
                "written_by_convert": target is not None,
                "lost_in_writing": target.loses if target else None,
                "plugin": name in found.plugins,
            }
        )
    return rows


def _table(rows: list[dict[str, Any]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    from usi.loading.reader import CARRIED

    table = Table(box=None, pad_edge=False)
    table.add_column("format", no_wrap=True)
    for part in CARRIED:
        table.add_column(part, justify="center", no_wrap=True)
    table.add_column("written", justify="center")
    table.add_column("what the file holds; what it can't carry")
    for row in rows:
        marks = ["●" if row["carries"][part] else "·" for part in CARRIED]
        words = Text.assemble(f"{row['holds']}. ", (f"Not: {row['lacks']}.", "dim"))
        written = "●" if row["written_by_convert"] else "·"
        table.add_row(Text(row["format"]), *marks, written, words)
    return table
