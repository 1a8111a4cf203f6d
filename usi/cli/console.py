"""Where things are said: results on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from usi.report.text import printable

if TYPE_CHECKING:
    from rich.console import Console

Stage = Callable[[str], None]
LONG = 20.0
"""Seconds of silence after which stages are told where stderr is no terminal."""


def printed(choice: str, stream_is_terminal: bool | None = None) -> str:
    """What ``auto`` means here: a table on a terminal, else JSON."""
    if choice != "auto":
        return choice
    terminal = sys.stdout.isatty() if stream_is_terminal is None else stream_is_terminal
    return "table" if terminal else "json"


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
        with suppress(OSError):  # nobody listens on stderr: the result counts all the same
            print(printable(text, newlines=True), file=sys.stderr, flush=True)


def confirm_deletion(*, yes: bool) -> None:
    """Ask before data are deleted for good.

    Raises
    ------
    UsageError
        Where somebody does not confirm it, or nobody can be asked.
    """
    from usi.errors import UsageError

    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("this deletes data for good: confirm with --yes")
    if input("This deletes data for good. Write yes: ").strip() != "yes":
        raise UsageError("nothing was deleted")


@contextmanager
def working(text: str, *, quiet: bool = False) -> Iterator[Stage]:
    """Show on a terminal that work goes on; gives what says which stage it has reached.

    Where stderr is no terminal, a stage is a line, and only of work that takes long.
    """
    if quiet:
        yield unsaid
        return
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        started = time.monotonic()

        def say(stage: str) -> None:
            if time.monotonic() - started > LONG:
                note(stage)

        yield say
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(printable(text))) as status:
        yield lambda stage: status.update(Text(printable(stage)))


def unsaid(stage: str) -> None:
    """Say nothing of a stage."""
