"""The report of an internal error: where it happened, under which versions, and nothing else."""

from __future__ import annotations

import platform
import sys
import tempfile
import traceback
from importlib import metadata
from pathlib import Path

from usi._version import __version__

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
