"""usi JSONL, the general form: one session a line, every role kept (see docs/formats.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from usi.errors import InputError, UsiError, quoted
from usi.loading.context import Context, mark_of
from usi.loading.fields import BadField, kind, number, record_of, survey_of, text, text_id
from usi.loading.jsonstream import decode, lines
from usi.loading.notes import LoadNotes
from usi.loading.reader import CARRIED, About, Target
from usi.loading.sample import Sample
from usi.loading.times import own_turns
from usi.records import MISSING, Outcome, Session, SessionStatus, Turn

_ASCII = json.JSONEncoder(separators=(",", ":"))
_PLAIN = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
NAME = "usi-jsonl"
ABOUT = About(
    holds="one session a line with messages or conversation; the general form",
    carries=frozenset(CARRIED),
    lacks="nothing of what usi keeps of a session",
    follows="usi/loading/schemas/usi-jsonl.schema.json",
    version="this version of usi",
    told_by="`messages` or `conversation` in a record, or a bare list of messages",
)
LABELS = ("full", "partial", "correct_refusal", "wrong_refusal", "failure")
_STATUSES = get_args(SessionStatus)
_IDENTITY = ("id", "session_id", "task_id", "trial", "run", "batch", "domain", "simulator")
_ENDING = ("reward", "outcome", "termination", "survey", "status", "status_reason", "keep")
_OTHER = ("messages", "conversation", "layout", "participant", "agent", "error_tags", "metadata")
CONVERSATION_IDS = (
    "conversation_id", "conversationId", "conv_id", "dialogue_id", "dialog_id", "thread_id",
    "chat_id", "prompt_id",
)  # fmt: skip
"""Keys that name a conversation in exports and data sets, where the record has no id of its own.
They may stand before several conversations (runs of one prompt), which are numbered then."""
_TAKEN = frozenset((*_IDENTITY, *_ENDING, *_OTHER, *CONVERSATION_IDS))
OWN_KEYS = _TAKEN - {"messages", "metadata", "id", "status", *CONVERSATION_IDS}
"""Keys of a record that tell this format from chat exports."""
ITEMS = frozenset(
    ("message", "function_call", "function_call_output", "reasoning", "item_reference")
)
"""Types of items of the Responses API, which stand among messages."""
_HOLDERS = frozenset(("messages", "conversation", "conversations", "input", "output"))
FROM_METADATA = ("id", "session_id", "task_id", "trial", "run", "batch", "domain", "reward")
"""Keys that chat exports keep in `metadata`; the record's own key wins, even where it is null."""


def recognise(sample: Sample) -> bool:
    """Records with ``messages`` or ``conversation``, or messages themselves in one array."""
    holders = {"messages", "conversation"}
    return any(
        isinstance(element, dict) and bool((holders | {"role"}) & element.keys())
        for element in sample.elements
    ) or bool(holders & keys_of_record(sample))


def keys_of_record(sample: Sample) -> set[str]:
    """Keys of an object that is one record; none where it ends before its time."""
    keys = {member.key for member in sample.outline}
    return keys if sample.trouble is None else set()


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the file."""
    for row, value in records(context):
        session = context.build(lambda v=value, r=row: session_of(v, r, context), row)  # type: ignore[misc]
        if session is not None:
            yield session


def records(context: Context) -> Iterator[tuple[int, Any]]:
    """Lines; or, where a record spans lines or all stand in one array, one value after another."""
    source, limit = context.source, context.options.max_record
    one_a_line = _one_record_a_line(context)
    with context.open() as stream:
        if one_a_line:
            for row, offset, data in lines(stream, file=source.name, max_record=limit):
                try:
                    value = decode(data, file=source.name, row=row, offset=offset)
                except InputError as problem:  # the other lines can still be read
                    context.notes.add_problem(problem)
                else:
                    yield row, value
            return
        cursor = context.cursor(stream)
        if cursor.peek() == b"[":
            for row in cursor.elements():
                yield row, cursor.value()
            cursor.end()
            return
        row = 0
        while cursor.peek():
            cursor.row = row = row + 1
            yield row, cursor.value()


def _one_record_a_line(context: Context) -> bool:
    """Whether the first line is a record of its own: an object, or a list of messages."""
    limit = context.options.max_record
    with context.source.open() as stream:
        for _, _, data in lines(stream, file=context.source.name, max_record=limit):
            if data in (b"{", b"["):
                return False
            try:
                value = decode(data)
            except UsiError:
                # A record cut by line ends begins with a bracket that its line does not close.
                return not data.startswith(b"[")
            return not (isinstance(value, list) and value and not _is_message(value[0]))
    return True


def _is_message(value: Any) -> bool:
    """Whether the first element of a list is a message, so that the list is one record."""
    if not isinstance(value, dict) or _HOLDERS & value.keys():
        return False
    return bool({"role", "from"} & value.keys()) or value.get("type") in ITEMS


def session_of(value: Any, row: int, context: Context) -> Session | None:
    record = {"messages": value} if isinstance(value, list) else record_of(value)
    field = "messages" if "messages" in record else "conversation"
    found = record.get(field, MISSING)
    status, reason = _status(record)
    if found is MISSING and status == "ok":
        raise BadField("messages", "neither `messages` nor `conversation` is there")
    lost = found is None or found is MISSING
    if lost and status == "ok":
        status, reason = "failed", f"{field} is null"
    metadata = record.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise BadField("metadata", f"must be an object, not {kind(metadata)}")

    def holder(*names: str) -> Any:
        return record if not metadata or any(name in record for name in names) else metadata

    domain = context.domain(text(holder("domain"), "domain"))
    task_id = text_id(holder("task_id"), "task_id")
    trial = text_id(holder("trial", "run"), "trial", "run")
    own = text_id(holder("session_id", "id"), "session_id", "id") or None
    shared = None if own else text_id(record, *CONVERSATION_IDS) or None
    batch = _batch(holder("batch").get("batch"))
    meta = dict(metadata) if metadata else {}
    if not _TAKEN.issuperset(record):
        meta |= {name: extra for name, extra in record.items() if name not in _TAKEN}
    simulator = text(record, "simulator")
    if simulator is None or context.options.name:
        simulator = context.label
    apart = (simulator, trial, batch)
    if shared is not None or (own is not None and (task_id is None or trial is None)):
        own = numbered(own or shared or "", apart, found, context)
        if own is None:
            return None
    elif task_id is not None and trial is not None:
        key, why = (own, "session: duplicate id") if own else (None, _SAME_TASK)
        run = context.run_of((*apart, domain, task_id, key), trial, found, why)
        if run is None:
            return None
        context.seen.add(("name", own, *apart))
        (trial,) = run
    if field == "messages" and "conversation" in record:
        context.leave_out("message: in `conversation` beside `messages`")
    return Session(
        session_id=_session_id(own, domain, task_id),
        turns=() if lost else own_turns(found, field, context),
        simulator=simulator,
        domain=domain,
        task_id=task_id,
        trial=trial,
        batch=batch,
        layout=text(record, "layout") or NAME,
        keep=record.get("keep", MISSING),
        outcome=Outcome(
            reward=number(holder("reward").get("reward"), "reward"),
            label=_label(record.get("outcome")),
            termination=text(record, "termination"),
        ),
        survey=survey_of(record.get("survey")),
        participant=text_id(record, "participant"),
        agent=text_id(record, "agent"),
        status=status,
        status_reason=reason,
        error_tags=_tags(record.get("error_tags")),
        row=row,
        meta=meta,
    )


_SAME_TASK = "session: duplicate task and trial"


def numbered(own: str, apart: tuple[Any, ...], said: Any, context: Context) -> str | None:
    """An id for a session whose own may stand before several; ``None`` for a copy, counted.

    Parameters
    ----------
    own
        The id that it has.
    apart
        What tells sessions of one id apart.
    said
        Its messages: with the same id, the same messages are a copy, and others another session.
    """
    if not said and ("name", own, *apart) in context.seen:
        context.leave_out("session: duplicate id")
        return None
    if not context.is_new(("copy", own, *apart, mark_of(said)), "session: duplicate id"):
        return None
    number, name = 1, own
    while ("name", name, *apart) in context.seen:
        number += 1
        name = f"{own}-{number}"
    context.seen.add(("name", name, *apart))
    if number > 1:
        context.guess("session: its id stands before another conversation; numbered")
    return name


def _tags(tags: Any) -> tuple[str, ...] | None:
    if tags is None:
        return None
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise BadField("error_tags", "must be a list of texts, or null")
    return tuple(tags)


def _session_id(own: str | None, domain: str, task_id: str | None) -> str:
    """Empty where the record has none: the stream names such sessions by their content."""
    if own is not None:
        return own
    return "" if task_id is None else f"{domain}_{task_id}"


def _status(record: dict[str, Any]) -> tuple[SessionStatus, str | None]:
    status = record.get("status")
    if status is None:
        return "ok", text(record, "status_reason")
    if status not in _STATUSES:
        raise BadField("status", f"must be one of {', '.join(_STATUSES)}")
    return status, text(record, "status_reason")


def _label(label: Any) -> str | None:
    if label is None:
        return None
    if not isinstance(label, str) or label not in LABELS:
        raise BadField("outcome", f"must be one of {', '.join(LABELS)}, or null")
    return label


def _batch(batch: Any) -> int | None:
    if batch is None:
        return None
    if isinstance(batch, bool) or not isinstance(batch, int) or not 1 <= batch < 2**31:
        raise BadField("batch", f"must be a whole number from 1, not {kind(batch)} {quoted(batch)}")
    return batch


def record_line(session: Session) -> str:
    """One line of usi JSONL, with its line end."""
    record = record_of_session(session)
    line = _PLAIN.encode(record)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8 and must be escaped
        line = _ASCII.encode(record)
    return line + "\n"


def record_of_session(session: Session) -> dict[str, Any]:
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


def identity(session: Session) -> dict[str, Any]:
    """What a chat format has no place for, without messages and metadata."""
    record = record_of_session(session)
    return {key: value for key, value in record.items() if key not in ("messages", "metadata")}


def _lines(sessions: Iterable[Session], _: LoadNotes) -> Iterator[str]:
    for session in sessions:
        yield record_line(session)


TARGET = Target(NAME, (".jsonl", ".jsonl.gz"), _lines, "nothing")
