"""From exceptions to exit codes: one message on stderr, never a bare traceback.

The report of an internal error: where it happened, under which versions, and nothing else.
"""

from __future__ import annotations

import errno
import functools
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import typer

from usi._version import __version__
from usi.cli import interrupt
from usi.errors import UsiError

_PACKAGES = ("typer", "pydantic", "msgspec", "numpy", "polars", "pandas", "pyarrow", "scipy")


def write_report(error: Exception) -> str | None:
    """Write the report to the folder for temporary files; ``None`` where that fails.

    Messages of exceptions and values of variables stay out, since they may hold text of
    transcripts; so do arguments, the environment and absolute paths.
    """
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="usi-crash-", suffix=".txt", delete=False, encoding="utf-8"
        ) as stream:
            stream.write(report_text(error))
            return stream.name
    except OSError:
        return None


def report_text(error: BaseException) -> str:
    """Text of the report."""
    lines = [
        f"usi {__version__}, Python {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}",
        ", ".join(f"{name} {_version(name)}" for name in _PACKAGES),
        "",
    ]
    cause: BaseException | None = error
    while cause is not None:
        lines.append(f"{type(cause).__module__}.{type(cause).__name__} (message left out)")
        for frame in traceback.extract_tb(cause.__traceback__):
            lines.append(f"  {_short(frame.filename)}:{frame.lineno} in {frame.name}")
            if frame.line:
                lines.append(f"    {frame.line}")
        cause = cause.__cause__ or cause.__context__
    return "\n".join(lines) + "\n"


def _short(filename: str) -> str:
    """Path from the package's folder on, so that no home folder is told."""
    for folder in sorted(map(str, filter(None, sys.path)), key=len, reverse=True):
        if filename.startswith(folder.rstrip("/") + "/"):
            return filename[len(folder.rstrip("/")) + 1 :]
    return Path(filename).name


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"


BAD_INPUT = 2
INTERNAL = 70
PIPE_CLOSED = 141
"""As the shell reports a program that a closed pipe ended."""

_SURROUNDINGS = frozenset(
    (
        errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM,
        errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EBADF, errno.ENAMETOOLONG,
    )
)  # fmt: skip
"""What the machine lacks or forbids: no defect of usi, and nothing that input could mend."""
_MOST_NAME = 80

F = TypeVar("F", bound=Callable[..., Any])


def guarded(function: F) -> F:
    """Wrap a verb so that every way it can end has its exit code."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            interrupt.check()
            result = function(*args, **kwargs)
            sys.stdout.flush()
            return result
        except UsiError as error:
            _say(f"usi: error: {error}")
            raise SystemExit(BAD_INPUT) from None
        except KeyboardInterrupt as error:
            interrupt.say(error)
            raise SystemExit(interrupt.code_of(error)) from None
        except BrokenPipeError:
            _forget_stdout()
            raise SystemExit(PIPE_CLOSED) from None
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if _is_usage(error):
                raise
            if isinstance(error, OSError) and error.errno in _SURROUNDINGS:
                _say(f"usi: error: {_where(error)}: {os.strerror(error.errno)}")
                _forget_stdout()
                raise SystemExit(BAD_INPUT) from None
            _say(_crash(error))
            raise SystemExit(INTERNAL) from None

    return wrapper  # type: ignore[return-value]


def _where(error: OSError) -> str:
    name = str(error.filename or "the output can't be written")
    return name if len(name) <= _MOST_NAME else f"{name[:_MOST_NAME]}..."


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
    """Keep the interpreter from complaining about stdout when it flushes at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError, ValueError):
        os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


def _crash(error: Exception) -> str:

    where = write_report(error)
    kept = f"A report to send was written to {where}; it holds" if where else "A report would hold"
    return (
        f"usi: internal error ({type(error).__name__}). "
        "This is a defect of usi, not of your data.\n"
        f"{kept} the place in the code and versions, no text of transcripts."
    )
