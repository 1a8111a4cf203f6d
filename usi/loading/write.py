"""Sessions to files, in any format that can be written."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from usi.errors import InputError, unknown_name
from usi.loading.formats.usi_jsonl import record_line
from usi.loading.notes import LoadNotes
from usi.loading.reader import Target
from usi.loading.registry import targets
from usi.records import Session


def write_usi_jsonl(sessions: Iterable[Session], target: str | Path | IO[Any]) -> int:
    """Write one session a line.

    Parameters
    ----------
    sessions
        Written as they come; memory stays constant.
    target
        A path (``.gz`` compresses) or an open stream, of bytes or text.

    Returns
    -------
    int
        How many sessions were written.

    Raises
    ------
    InputError
        The file can't be written.

    Notes
    -----
    Kept: content as found (null and missing apart), roles, tool calls, times, ids, task, trial,
    batch, domain, simulator, layout, keep, reward, outcome, termination, survey, participant,
    agent, status and its reason, error tags, meta. Not kept: the row, which is that of the new
    file.
    The same sessions give the same bytes.
    """
    if not isinstance(target, str | Path):
        return _write_jsonl(sessions, target)
    try:
        with packed(target) as stream:
            return _write_jsonl(sessions, stream)
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", file=str(target)) from None


@contextmanager
def packed(target: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, compressed where its name ends with ``.gz``; the same bytes each time."""
    with open(target, "wb") as raw:
        if str(target).endswith(".gz"):
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as stream:
                yield stream  # type: ignore[misc]
        else:
            yield raw


def _write_jsonl(sessions: Iterable[Session], stream: Any) -> int:
    as_text = isinstance(stream, io.TextIOBase)
    count = 0
    for session in sessions:
        line = record_line(session)
        stream.write(line if as_text else line.encode("utf-8"))
        count += 1
    return count


def write_sessions(
    sessions: Iterable[Session], target: str | Path | IO[Any], *, to: str = "usi-jsonl"
) -> LoadNotes:
    """Write sessions in one of `TARGETS`.

    Parameters
    ----------
    sessions
        Written as they come; memory stays constant.
    target
        A path (``.gz`` compresses) or an open stream, of bytes or text.
    to
        Name of the format.

    Returns
    -------
    LoadNotes
        What the format could not carry: `LoadNotes.losses`.

    Raises
    ------
    UsageError
        An unknown format.
    InputError
        The file can't be written.
    """
    chosen = target_of(to)
    notes = LoadNotes()
    if not isinstance(target, str | Path):
        _write_lines(chosen.lines(sessions, notes), target)
        return notes
    try:
        with packed(target) as stream:
            _write_lines(chosen.lines(sessions, notes), stream)
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", file=str(target)) from None
    return notes


def target_of(name: str) -> Target:
    """A target by name; an unknown one lists near matches."""
    if name not in TARGETS:
        raise unknown_name("format to write", name, list(TARGETS))
    return TARGETS[name]


def _write_lines(lines: Iterator[str], stream: Any) -> None:
    as_text = isinstance(stream, io.TextIOBase)
    for line in lines:
        if as_text:
            stream.write(line)
        else:
            # A lone surrogate has no UTF-8; JSON escapes it before it comes here.
            stream.write(line.encode("utf-8", "backslashreplace"))


TARGETS: dict[str, Target] = {target.name: target for target in targets()}
"""Formats that sessions can be written in, by name."""
