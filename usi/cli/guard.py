"""From exceptions to exit codes: one message on stderr, never a bare traceback."""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import typer

from usi.errors import UsiError

BAD_INPUT = 2
INTERNAL = 70
INTERRUPTED = 130
PIPE_CLOSED = 141
"""As the shell reports a program that a closed pipe ended."""

F = TypeVar("F", bound=Callable[..., Any])


def guarded(function: F) -> F:
    """Wrap a verb so that every way it can end has its exit code."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = function(*args, **kwargs)
            sys.stdout.flush()
            return result
        except UsiError as error:
            _say(f"usi: error: {error}")
            raise SystemExit(BAD_INPUT) from None
        except KeyboardInterrupt:
            _say("usi: interrupted")
            raise SystemExit(INTERRUPTED) from None
        except BrokenPipeError:
            _forget_stdout()
            raise SystemExit(PIPE_CLOSED) from None
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if _is_usage(error):
                raise
            if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
                _say(f"usi: error: {str(error.filename)[:80]}...: the name of a file is too long")
                raise SystemExit(BAD_INPUT) from None
            _say(_crash(error))
            raise SystemExit(INTERNAL) from None

    return wrapper  # type: ignore[return-value]


def _is_usage(error: Exception) -> bool:
    """Errors of the option parser, which typer prints itself (exit code 2)."""
    return any(kind.__name__ == "ClickException" for kind in type(error).__mro__)


def _say(message: str) -> None:
    from usi.report.text import printable

    try:
        print(printable(message, newlines=True), file=sys.stderr, flush=True)
    except OSError:
        return  # nobody listens on stderr; the exit code still tells


def _forget_stdout() -> None:
    """Keep the interpreter from complaining about the closed pipe when it flushes at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())


def _crash(error: Exception) -> str:
    from usi.cli.crash import write_report

    where = write_report(error)
    kept = f"A report to send was written to {where}; it holds" if where else "A report would hold"
    return (
        f"usi: internal error ({type(error).__name__}). "
        "This is a defect of usi, not of your data.\n"
        f"{kept} the place in the code and versions, no text of transcripts."
    )
