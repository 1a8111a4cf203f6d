"""Where things are said: results on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from usi.cli.options import Printed
from usi.report.text import printable

if TYPE_CHECKING:
    from rich.console import Console


def printed(choice: Printed, stream_is_terminal: bool | None = None) -> Printed:
    """What ``auto`` means here: a table on a terminal, else JSON."""
    if choice is not Printed.AUTO:
        return choice
    terminal = sys.stdout.isatty() if stream_is_terminal is None else stream_is_terminal
    return Printed.TABLE if terminal else Printed.JSON


def console() -> Console:
    """Rich console on stdout; reads nothing as markup, honours NO_COLOR and COLUMNS."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False)


def out(text: str) -> None:
    """Write text to stdout as it is, in UTF-8 where the stream allows it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def note(text: str, *, quiet: bool = False) -> None:
    """Say something about the work on stderr."""
    if not quiet:
        print(printable(text, newlines=True), file=sys.stderr, flush=True)


@contextmanager
def working(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Show on a terminal that work goes on; say nothing where stderr is no terminal."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(printable(text))):
        yield
