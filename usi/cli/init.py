"""``usi init``: a workspace to keep corpora, candidates and reports in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.console import note
from usi.cli.options import Quiet


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Where; made where it does not exist.")
    ] = Path(),
    quiet: Quiet = False,
) -> None:
    """Make a workspace: human_corpus/, simulators/, reports/ and usi.toml with comments.

    What exists is kept as it is; nothing is ever overwritten.

    \b
    Example:
      usi init my-evaluation
    """
    from usi.cli.workspace import make

    for path, made in make(folder):
        note(f"{'made' if made else 'kept'}  {path}", quiet=quiet)
    note("Next: put a human reference into human_corpus/ and run: usi doctor", quiet=quiet)
