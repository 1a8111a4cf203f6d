"""Sessions to usi JSONL: everything a record holds, so that reading it gives the record again."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from usi.errors import InputError
from usi.load.usi_jsonl import FROM_METADATA
from usi.records import MISSING, Session, Turn

_ASCII = json.JSONEncoder(separators=(",", ":"))
_PLAIN = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


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
        return _write(sessions, target)
    try:
        with packed(target) as stream:
            return _write(sessions, stream)
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


def _write(sessions: Iterable[Session], stream: Any) -> int:
    as_text = isinstance(stream, io.TextIOBase)
    count = 0
    for session in sessions:
        line = record_line(session)
        stream.write(line if as_text else line.encode("utf-8"))
        count += 1
    return count


def record_line(session: Session) -> str:
    """One line of usi JSONL, with its line end."""
    record = record_of(session)
    line = _PLAIN.encode(record)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8 and must be escaped
        line = _ASCII.encode(record)
    return line + "\n"


def record_of(session: Session) -> dict[str, Any]:
    """The object that stands for a session; what holds nothing is not written."""
    outcome = session.outcome
    record: dict[str, Any] = {
        "id": session.session_id,
        "simulator": session.simulator,
        "domain": session.domain,
        "task_id": session.task_id,
        "trial": session.trial,
        "batch": session.batch,
        "reward": outcome.reward,
        "outcome": outcome.label,
        "termination": outcome.termination,
        "participant": session.participant,
        "agent": session.agent,
        "layout": session.layout,
        "status": None if session.status == "ok" else session.status,
        "status_reason": session.status_reason,
    }
    # A null says that there is none, where `metadata` has a key that would be taken for it.
    spoken_for = session.meta.keys() & set(FROM_METADATA)
    if "run" in spoken_for:
        spoken_for |= {"trial"}
    record = {k: v for k, v in record.items() if v is not None or k in spoken_for}
    if session.keep is not MISSING:
        record["keep"] = session.keep
    if session.survey is not None:
        record["survey"] = {answer.item: answer.answer for answer in session.survey}
    if session.error_tags is not None:
        record["error_tags"] = list(session.error_tags)
    record["messages"] = [_message(turn) for turn in session.turns]
    if session.meta:
        record["metadata"] = session.meta
    return record


def _message(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {} if turn.role is None else {"role": turn.role}
    if turn.name is not None:
        message["name"] = turn.name
    if turn.content is not MISSING:
        message["content"] = turn.content
    if turn.tool_calls:
        message["tool_calls"] = turn.tool_calls
    if turn.time is not None:
        message["time"] = turn.time.isoformat()
    return message
