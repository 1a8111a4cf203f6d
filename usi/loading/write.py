"""Sessions to usi JSONL: everything a record holds, so that reading it gives the record again.

Formats that sessions can be written in, and what each of them loses.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from usi.errors import InputError, unknown_name
from usi.loading.formats.openai_chat import OWN_KEY
from usi.loading.formats.usi_jsonl import FROM_METADATA
from usi.loading.messages import JOINED
from usi.loading.notes import LoadNotes
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


CSV_COLUMNS: tuple[str, ...] = (
    "session_id", "task_id", "trial", "batch", "domain", "simulator", "participant", "agent",
    "reward", "outcome", "termination", "status", "status_reason", "survey", "layout", "keep",
    "error_tags", "turn", "timestamp", "role", "name", "text",
)  # fmt: skip
"""Columns of the table, which ``usi`` reads again without a map."""
_TALK = ("user", "assistant")
_ROLE_OF = {"user": "human", "assistant": "gpt"}
_OTHER_ROLE = "message: of another role than user and assistant"
_ACTION = "message: action of the user (tool calls without words)"
NO_ERRORS = "none"
"""Cell of sessions that were reviewed and found without an error."""
Lines = Callable[[Iterable[Session], LoadNotes], Iterator[str]]


@dataclass(frozen=True)
class Target:
    """A format that can be written.

    Attributes
    ----------
    name, suffixes
        What ``--to`` calls it, and the endings of its files.
    lines
        Sessions to lines of text; what is lost is counted in the notes.
    loses
        The same in words.
    """

    name: str
    suffixes: tuple[str, ...]
    lines: Lines
    loses: str


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


def _usi_jsonl(sessions: Iterable[Session], _: LoadNotes) -> Iterator[str]:
    for session in sessions:
        yield record_line(session)


def _identity(session: Session) -> dict[str, Any]:
    """What a chat format has no place for, without messages and metadata."""
    record = record_of(session)
    return {key: value for key, value in record.items() if key not in ("messages", "metadata")}


def _openai_chat(sessions: Iterable[Session], notes: LoadNotes) -> Iterator[str]:
    for session in sessions:
        own = _identity(session)
        for name in ("status",) if session.status != "ok" and not session.turns else ():
            own[name] = session.status
        record = record_of(session)
        for turn in session.turns:
            _note_message(turn, notes)
        metadata = {**session.meta, OWN_KEY: own}
        yield _line({"messages": record["messages"], "metadata": metadata})


def _note_message(turn: Turn, notes: LoadNotes) -> None:
    """What a reader of chat formats sets aside or joins."""
    if turn.role not in _TALK:
        notes.left_out[_OTHER_ROLE] += 1
    elif isinstance(turn.content, list):
        notes.merged[JOINED] += 1


def _sharegpt(sessions: Iterable[Session], notes: LoadNotes) -> Iterator[str]:
    for session in sessions:
        messages = []
        for turn in session.turns:
            _note_message(turn, notes)
            if turn.role not in _TALK:
                continue
            if turn.is_action:  # without its calls it would be read as an empty utterance
                notes.left_out[_ACTION] += 1
                continue
            if turn.tool_calls:
                notes.left_out["field: tool calls"] += 1
            message: dict[str, Any] = {"from": _ROLE_OF[turn.role]}
            if turn.name is not None:
                message["name"] = turn.name
            if turn.content is not MISSING:
                message["value"] = turn.content
            if turn.time is not None:
                message["timestamp"] = turn.time.isoformat()
            messages.append(message)
        yield _line(
            {
                "id": session.session_id,
                "conversations": messages,
                OWN_KEY: _identity(session),
                **({"metadata": session.meta} if session.meta else {}),
            }
        )


def _line(record: dict[str, Any]) -> str:
    line = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        line = json.dumps(record, separators=(",", ":"))
    return line + "\n"


def _csv(sessions: Iterable[Session], notes: LoadNotes) -> Iterator[str]:
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, CSV_COLUMNS, lineterminator="\r\n")

    def taken() -> str:
        text = buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        return text

    writer.writeheader()
    yield taken()
    for session in sessions:
        shared = _cells(session, notes)
        talk = [(i, turn) for i, turn in enumerate(session.turns) if turn.role in _TALK]
        if len(talk) < len(session.turns):
            notes.left_out[_OTHER_ROLE] += len(session.turns) - len(talk)
        actions = sum(turn.is_action for _, turn in talk)
        if actions:  # without its calls one would be read as an empty utterance
            notes.left_out[_ACTION] += actions
            talk = [(i, turn) for i, turn in talk if not turn.is_action]
        if not talk:
            writer.writerow(shared)
        for i, turn in talk:
            writer.writerow(
                {
                    **shared,
                    "turn": i,
                    "timestamp": None if turn.time is None else turn.time.isoformat(),
                    "role": turn.role,
                    "name": turn.name,
                    "text": _text_cell(turn, notes),
                }
            )
        yield taken()


def _text_cell(turn: Turn, notes: LoadNotes) -> str:
    if turn.tool_calls:
        notes.left_out["field: tool calls"] += 1
    content = turn.content
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in content]
        notes.merged[JOINED] += 1
        return "\n".join(text for text in texts if isinstance(text, str))
    if content is None or content is MISSING:
        notes.merged["message: null or missing content, written as an empty text"] += 1
        return ""
    if not isinstance(content, str):
        notes.merged["message: content that is no text, written as text"] += 1
    return str(content)


def _cells(session: Session, notes: LoadNotes) -> dict[str, Any]:
    if session.meta:
        notes.left_out["field: metadata of a session"] += 1
    if session.keep is not MISSING and not isinstance(session.keep, bool):
        notes.merged["field: keep mark, written as true or false"] += 1
    outcome = session.outcome
    tags = session.error_tags
    survey = session.survey
    cells: dict[str, Any] = {
        "session_id": session.session_id,
        "task_id": session.task_id,
        "trial": session.trial,
        "batch": session.batch,
        "domain": session.domain,
        "simulator": session.simulator,
        "participant": session.participant,
        "agent": session.agent,
        "reward": None if outcome.reward is None else repr(outcome.reward),
        "outcome": outcome.label,
        "termination": outcome.termination,
        "status": session.status,
        "status_reason": session.status_reason,
        "survey": None if survey is None else json.dumps({a.item: a.answer for a in survey}),
        "layout": session.layout,
        "keep": None if session.keep is MISSING else bool(session.keep),
        "error_tags": None if tags is None else ",".join(tags) or NO_ERRORS,
    }
    return cells


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("usi-jsonl", (".jsonl", ".jsonl.gz"), _usi_jsonl, "nothing"),
        Target(
            "openai-chat",
            (".jsonl", ".jsonl.gz"),
            _openai_chat,
            "parts are joined and messages of other roles set aside when it is read again",
        ),
        Target(
            "sharegpt",
            (".jsonl", ".jsonl.gz"),
            _sharegpt,
            "messages of other roles, tool calls, actions; parts are joined when read again",
        ),
        Target(
            "csv",
            (".csv", ".csv.gz"),
            _csv,
            "messages of other roles, tool calls, actions, metadata; null content, parts",
        ),
    )
}
"""Formats that can carry sessions, by name."""
