"""``usi init``: a workspace to keep corpora, candidates and reports in.

Making a workspace, and finding a human reference by name in one.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from usi.cli.console import note
from usi.cli.flags import flags, only
from usi.cli.settings import template
from usi.errors import UsageError
from usi.options import Delivery

_FILES = {
    "human_corpus/README.md": "human_corpus.md",
    "simulators/README.md": "simulators.md",
    "reports/README.md": "reports.md",
}


def make(folder: Path) -> list[tuple[Path, bool]]:
    """Make what is not there yet; return every path and whether it was made.

    Raises
    ------
    UsageError
        Where a file stands in a folder's place or nothing may be written there.
    """
    from usi.report.files import raw, write_all

    templates = resources.files("usi.cli").joinpath("templates")
    texts = {name: templates.joinpath(source).read_bytes() for name, source in _FILES.items()}
    done = []
    try:
        for target, text in {"usi.toml": template().encode(), **texts}.items():
            path = folder / target
            path.parent.mkdir(parents=True, exist_ok=True)
            made = not (path.exists() or path.is_symlink())
            if made:
                write_all({path: raw(text)})
            done.append((path, made))
    except OSError as error:
        raise UsageError(f"can't make a workspace in {folder}: {error.strerror}") from error
    return done


@flags
def command(
    delivery: Annotated[Delivery, only("quiet")],
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Where; made where it does not exist.")
    ] = Path(),
) -> None:
    """Make a workspace: human_corpus/, simulators/, reports/ and usi.toml with comments.

    What exists is kept as it is; nothing is ever overwritten.

    \b
    Example:
      usi init my-evaluation
    """

    for path, made in make(folder):
        note(f"{'made' if made else 'kept'}  {path}", quiet=delivery.quiet)
    note("Next: put a human reference into human_corpus/ and run: usi doctor", quiet=delivery.quiet)
