"""``usi formats``: what usi reads, and how it recognises it."""

from __future__ import annotations

from usi.cli.console import console, out, printed
from usi.cli.options import Print, Printed

_WORDS = {
    "tau-usi": "object of id -> session; human batches by _ann2/_ann3, runs by _1/_2/_3",
    "tau-bench": "array of runs with traj, also {metrics, results}",
    "tau2": "tau2-bench results.json with simulations, also its folder layout",
    "odyssim": "*_task_results.json: {benchmark, results: [...]}",
    "star": "STAR dialogues {DialogueID, Events, Scenario}, one a file; a folder or archive",
    "abredial": "AB-ReDial annotated_dialogues.csv: one person's rating of a dialogue a row",
    "usi-jsonl": "one session a line with messages or conversation; the general form",
}


def command(print_: Print = Printed.AUTO) -> None:
    """List the transcript formats that usi reads.

    The format is chosen by what a file holds, never by its name; --format overrides that. Files,
    folders, .gz, .xz, .zst, .zip and .tar.* are read as they are, and - reads stdin.

    \b
    Example:
      usi formats
      usi validate results.json --format tau-bench
    """
    import json

    from rich.table import Table

    from usi.load import FORMATS

    choice = printed(print_)
    if choice is Printed.JSON:
        found = [{"format": name, "holds": _WORDS.get(name, "")} for name in FORMATS]
        out(json.dumps(found, indent=2) + "\n")
    elif choice is Printed.TABLE:
        table = Table("format", "what the file holds", box=None, pad_edge=False)
        for name in FORMATS:
            table.add_row(name, _WORDS.get(name, ""))
        console().print(table)
