"""Exports of observability tools: every record is a call, with what it was given and answered.

One reader, one declaration a tool. A trace counts once: by its outermost record where that holds
messages, else by its calls of models. Traces of a conversation become one session; what later
calls repeat of the history is merged as in other traces.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from usi.errors import InputError
from usi.loading.context import Context
from usi.loading.fields import BadField, kind
from usi.loading.formats import usi_jsonl
from usi.loading.formats.exports import Record, at, first_at, object_of
from usi.loading.formats.traces import MOST_LEADING, Said, Span, joined, role_of
from usi.loading.messages import text_of
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.records import MISSING, Session, Turn

_TEXTS = (
    "content", "text", "input", "question", "query", "prompt", "output", "answer", "response",
    "result",
)  # fmt: skip
"""Keys of an object that hold what was said where it is not written as messages."""
_HOLDERS = ("messages", "choices", "generations", "message", "kwargs", "data")
_DEPTH = 12
NO_MESSAGES = (
    "the records hold no messages: neither inputs nor outputs were exported. Export them with "
    "their input and output"
)


@dataclass
class CallLog:
    """The export of one tool, as a reader.

    Attributes
    ----------
    NAME, ABOUT
        See `usi.loading.reader.Reader`.
    marks
        Whether an object is a record of this tool.
    is_model
        Whether a record is the call of a model.
    within
        Dotted paths at which an object that is not a record may hold a list of records.
    children
        Path of a list of calls inside a record.
    given, answered, conversation, trace, parent, began, ended, previous, person, agent
        Dotted paths of a record, best first; `previous` is the id of the call that it continues.
    """

    NAME: str
    ABOUT: About
    marks: Callable[[Record], bool]
    is_model: Callable[[Record], bool]
    within: tuple[str, ...]
    given: tuple[str, ...]
    answered: tuple[str, ...]
    conversation: tuple[str, ...]
    trace: tuple[str, ...]
    parent: tuple[str, ...]
    began: tuple[str, ...]
    ended: tuple[str, ...]
    previous: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    children: str = ""

    def recognise(self, sample: Sample) -> bool:
        """Whether the first records, or those inside the first object, bear the marks."""
        whole = sample.records or [sample.members]
        return any(self.marks(record) for value in whole for record in self._records(value))

    def _records(self, value: Any) -> Iterator[Record]:
        if isinstance(value, Mapping) and not self.marks(value):
            _, found = first_at(value, self.within)
            if isinstance(found, list):
                yield from (record if isinstance(record, Mapping) else {} for record in found)
                return
        if isinstance(value, Mapping):
            yield value

    def read(self, context: Context) -> Iterator[Session]:
        """Sessions in the order of their first calls."""
        traces: dict[str, _Trace] = {}
        for row, value in usi_jsonl.records(context):
            records = list(self._records(value))
            if not records:
                object_of(value, row, context)
            for record in records:
                self._sort_in(record, row, traces, context)
        groups: dict[str, list[tuple[Span, Said]]] = {}
        guessed: set[str] = set()
        chains = _Chains()
        for own, trace in traces.items():
            calls = trace.calls(self, context)
            name = trace.conversation
            if name is None:
                name = chains.group_of(own, trace.previous, calls)
                if calls:
                    guessed.add(name)
            chains.add(own, name, calls)
            groups.setdefault(name, []).extend(calls)
        groups = {
            name: sorted(calls, key=lambda call: call[0].start)
            for name, calls in groups.items()
            if calls
        }
        if traces and not groups and not context.notes.problems:
            raise InputError(NO_MESSAGES, file=context.source.name)
        yield from joined(groups, guessed, context, self.NAME, ("agent",))

    def _sort_in(
        self, record: Record, row: int, traces: dict[str, _Trace], context: Context
    ) -> None:
        if not self.marks(record):
            problem = BadField("", f"is not a record of {self.NAME}: it has no input and output")
            context.notes.add_problem(problem.at(context.source.name, row))
            return
        own = _name(record, self.trace)
        trace = traces.setdefault(own or f"row {row}", _Trace())
        trace.conversation = trace.conversation or _name(record, self.conversation)
        trace.previous = trace.previous or _name(record, self.previous)
        number = _name(record, ("id",))
        if number is not None and not trace.is_new(number):
            context.leave_out("field: a call whose id stands twice")
            return
        outermost = first_at(record, self.parent)[1] is MISSING
        trace.records.append((outermost, row, record))
        below = at(record, self.children) if self.children else MISSING
        if isinstance(below, list):
            trace.records += [(False, row, each) for each in below if isinstance(each, Mapping)]

    def span(self, record: Record, row: int) -> Span:
        """Times and names of a call."""
        began, ended = first_at(record, self.began)[1], first_at(record, self.ended)[1]
        names = {"user.id": self.person, "agent": self.agent}
        told = {key: found for key, paths in names.items() if (found := _name(record, paths))}
        return Span(
            "", (0, "" if began is MISSING else str(began)), told, row=row,
            began=None if began is MISSING else began, ended=None if ended is MISSING else ended,
        )  # fmt: skip

    def said(self, record: Record, context: Context) -> Said:
        """What a call was given and answered."""
        given = turns_in(first_at(record, self.given), "user", context)
        answered = turns_in(first_at(record, self.answered), "assistant", context)
        return _parted(given, answered)


@dataclass
class _Trace:
    """Records of one trace, each with whether it is the outermost one, and its row."""

    conversation: str | None = None
    previous: str | None = None
    records: list[tuple[bool, int, Record]] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    def is_new(self, number: str) -> bool:
        before = len(self._ids)
        self._ids.add(number)
        return len(self._ids) > before

    def calls(self, log: CallLog, context: Context) -> list[tuple[Span, Said]]:
        """Those of the outermost records that hold messages, else the calls of models."""
        outer = [(row, record) for outermost, row, record in self.records if outermost]
        inner = [
            (row, record)
            for outermost, row, record in self.records
            if not outermost and log.is_model(record)
        ]
        found = self._spoken(outer, log, context) or self._spoken(inner, log, context)
        unused = len(self.records) - len(found)
        if unused:
            context.leave_out("field: call inside another one, or without messages", unused)
        return found

    @staticmethod
    def _spoken(
        records: list[tuple[int, Record]], log: CallLog, context: Context
    ) -> list[tuple[Span, Said]]:
        found = []
        for row, record in records:
            try:
                said = log.said(record, context)
            except BadField as bad:
                context.notes.add_problem(bad.at(context.source.name, row))
                continue
            if said[0] or said[1]:
                found.append((log.span(record, row), said))
        return found


class _Chains:
    """Which calls without the id of a conversation continue which: by their history."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._by_history: dict[bytes, str] = {}
        self._by_call: dict[str, str] = {}
        self._by_end: dict[bytes, tuple[str, int]] = {}

    def group_of(self, own: str, previous: str | None, calls: list[tuple[Span, Said]]) -> str:
        """Name of the conversation that a trace continues; its own where it begins one.

        It continues the call that it names, else that one whose messages and answer are the
        longest beginning of what it was given, else that one whose last two messages stand near
        the beginning while those before them were cut or summarised.
        """
        if previous is not None:
            return self._by_call.get(previous, previous)
        for history in reversed(_histories(calls[0][1][0])[:-1] if calls else []):
            if history in self._by_history:
                return self._by_history[history]
        given = calls[0][1][0] if calls else []
        for place in range(min(MOST_LEADING, len(given) - 2) + 1):
            name, before = self._by_end.get(_end(given[place : place + 2]), ("", 0))
            if before > place:
                return name
        return own

    def add(self, own: str, name: str, calls: list[tuple[Span, Said]]) -> None:
        """Note the end of a trace."""
        self._by_call[own] = name
        if calls:
            given, answered = calls[-1][1]
            turns = [*given, *answered]
            found = _histories(turns)
            if found:
                self._by_history[found[-1]] = name
            if len(turns) > 2:
                self._by_end[_end(turns[-2:])] = (name, len(turns) - 2)


def _end(turns: list[Turn]) -> bytes:
    return _histories(turns)[-1] if turns else b""


def _histories(turns: list[Turn]) -> list[bytes]:
    """Digest of every beginning of a list of messages, the shortest first."""
    state, found = hashlib.sha256(), []
    for turn in turns:
        state.update(repr((turn.role, turn.content)).encode("utf-8", "surrogatepass"))
        found.append(state.digest())
    return found


def _name(record: Record, paths: tuple[str, ...]) -> str | None:
    found = first_at(record, paths)[1]
    if isinstance(found, bool) or not isinstance(found, str | int) or found == "":
        return None
    return str(found)


def _parted(given: list[Turn], answered: list[Turn]) -> Said:
    """Given and answered apart, where the answer repeats what was given (the state of a graph)."""
    if not given or len(answered) < 2:
        return given, answered
    last = (given[-1].role, given[-1].content)
    places = [i for i, turn in enumerate(answered) if (turn.role, turn.content) == last]
    if not places:
        return given, answered
    return answered[: places[-1] + 1], answered[places[-1] + 1 :]


def turns_in(found: tuple[str, Any], role: str, context: Context) -> list[Turn]:
    """Messages of user and agent in an input or output, in any of the usual forms.

    Parameters
    ----------
    found
        Its path, for errors, and the value: messages, an object that holds them, LangChain's
        serialised messages, answers in ``choices`` or ``generations``, text, or JSON text.
    role
        Who speaks where it is text alone.

    Raises
    ------
    BadField
        A message has a text that is neither text nor parts.
    """
    path, value = found
    turns = []
    for place, message in _messages(value, path, role, 0):
        who = role_of(message.get("role"), context)
        if who is None:
            continue
        calls = message.get("tool_calls") or None
        content = message.get("content", message.get("parts", MISSING))
        if content is MISSING and not calls:
            raise BadField(place, "a message without text: neither content nor parts is there")
        if isinstance(content, list):
            content = text_of(content, context)
            if content is None and not calls:
                context.leave_out("message: parts without text")
                continue
        if content is not MISSING and content is not None and not isinstance(content, str):
            raise BadField(place, f"the text of a message can't be {kind(content)}")
        turns.append(Turn(who, None if content is MISSING else content, calls))
    return turns


def _messages(value: Any, path: str, role: str, depth: int) -> Iterator[tuple[str, Record]]:
    if depth > _DEPTH or value is None or value is MISSING:
        return
    if isinstance(value, str):
        inner = _decoded(value)
        if inner is not None:
            yield from _messages(inner, path, role, depth + 1)
        elif value.strip():
            yield path, {"role": role, "content": value}
        return
    if isinstance(value, list):
        for i, part in enumerate(value):
            yield from _messages(part, f"{path}[{i}]", role, depth + 1)
        return
    if isinstance(value, Mapping):
        yield from _in_object(value, path, role, depth)


def _in_object(value: Record, path: str, role: str, depth: int) -> Iterator[tuple[str, Record]]:
    if isinstance(value.get("kwargs"), Mapping):  # a serialised object of LangChain
        names = value.get("id")
        spoken = names[-1] if isinstance(names, list) and names else None
        yield path, {"role": value["kwargs"].get("type", spoken), **value["kwargs"]}
    elif "role" in value:
        yield path, value
    elif isinstance(value.get("type"), str) and "content" in value:
        yield path, {**value, "role": value["type"]}
    else:
        name = next((name for name in _HOLDERS if isinstance(value.get(name), list | Mapping)), "")
        if name:
            yield from _messages(value[name], f"{path}.{name}", role, depth + 1)
            return
        name = next((name for name in _TEXTS if value.get(name) is not None), "")
        if name:
            yield from _messages(value[name], f"{path}.{name}", role, depth + 1)


def _decoded(value: str) -> Any:
    """What JSON text holds, where a text is that of an object or list; else ``None``."""
    if not value.lstrip().startswith(("{", "[")):
        return None
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _is_langfuse(record: Record) -> bool:
    if not ({"input", "output"} & record.keys()):
        return False
    if {"traceId", "trace_id"} & record.keys():
        return "type" in record and {"startTime", "start_time"}.intersection(record) != set()
    trace = {"sessionId", "session_id", "userId", "user_id", "observations", "tags"}
    return "id" in record and "timestamp" in record and bool(trace & record.keys())


LANGFUSE = CallLog(
    "langfuse",
    About(
        holds="traces, observations or sessions of Langfuse, as JSON or JSONL, with `input` and "
        "`output`",
        carries=carries("agent", "tools", "person"),
        lacks="tasks and scores; calls inside a trace whose own input and output hold messages; "
        "prompts and tool results are counted",
        follows="Langfuse documentation: export from the UI, blob storage export fields, public "
        "API",
        version="documentation as of 2026 (v4; keys in camel case and in snake case)",
        told_by="`input` and `output` beside `sessionId`, `traceId`, ...",
    ),
    _is_langfuse,
    lambda record: str(record.get("type", "")).upper() == "GENERATION",
    within=("traces", "observations", "data"),
    given=("input",),
    answered=("output",),
    conversation=("sessionId", "session_id", "metadata.sessionId", "metadata.session_id"),
    trace=("traceId", "trace_id", "id"),
    parent=("parentObservationId", "parent_observation_id"),
    began=("timestamp", "startTime", "start_time"),
    ended=("endTime", "end_time"),
    person=("userId", "user_id"),
    agent=("model", "providedModelName", "provided_model_name"),
    children="observations",
)


def _is_langsmith(record: Record) -> bool:
    return "run_type" in record and bool({"inputs", "outputs"} & record.keys())


LANGSMITH = CallLog(
    "langsmith",
    About(
        holds="runs of LangSmith, as JSON or JSONL, with `inputs` and `outputs`",
        carries=carries("agent", "tools", "person"),
        lacks="tasks and feedback; runs inside a trace whose outermost run holds messages; prompts "
        "and tool results are counted",
        follows="LangSmith documentation: run data format, bulk export; threads",
        version="documentation as of 2026",
        told_by="`run_type` beside `inputs` and `outputs`",
    ),
    _is_langsmith,
    lambda record: record.get("run_type") == "llm",
    within=("runs", "data"),
    given=("inputs",),
    answered=("outputs",),
    conversation=(
        "thread_id", "extra.metadata.thread_id", "extra.metadata.session_id",
        "extra.metadata.conversation_id", "metadata.thread_id", "metadata.session_id",
        "metadata.conversation_id",
    ),
    trace=("trace_id", "id"),
    parent=("parent_run_id",),
    began=("start_time",),
    ended=("end_time",),
    person=("extra.metadata.user_id", "metadata.user_id"),
    agent=("extra.metadata.ls_model_name", "metadata.ls_model_name"),
    children="child_runs",
)  # fmt: skip

_THREADS = (
    "conversation.id", "conversation", "conversation_id", "thread_id", "session_id",
    "metadata.conversation", "metadata.conversation_id", "metadata.thread_id",
    "metadata.session_id",
)  # fmt: skip
_REQUESTS = (
    "messages", "request.messages", "request.body.messages", "body.messages", "kwargs.messages",
    "request_body.messages", "input.messages",
)  # fmt: skip
_ANSWERS = (
    "choices", "response.choices", "response.body.choices", "response_body.choices",
    "output.choices", "completion.choices", "response.message", "output.message",
)  # fmt: skip


def _is_completion(record: Record) -> bool:
    given = first_at(record, _REQUESTS)[1]
    return isinstance(given, list) and first_at(record, _ANSWERS)[1] is not MISSING


STORED_COMPLETIONS = CallLog(
    "openai-stored",
    About(
        holds="one call of chat completions a line, with its `messages` and its `choices`, or a "
        "`request` and its `response`",
        carries=carries("agent", "tools"),
        lacks="tasks and outcomes; prompts and tool results are counted; of several choices the "
        "first",
        follows="OpenAI API reference: chat completions, stored completions",
        version="API reference as of 2026",
        told_by="`messages` beside `choices`, also inside `request` and `response`",
    ),
    _is_completion,
    lambda record: True,
    within=("data",),
    given=_REQUESTS,
    answered=_ANSWERS,
    conversation=(
        *_THREADS, "request.metadata.conversation_id", "request.metadata.thread_id",
        "request.metadata.session_id", "request.body.metadata.conversation_id",
        "request.body.metadata.session_id",
    ),
    trace=("id", "custom_id", "request_id", "response.id"),
    parent=(),
    began=("created", "response.created", "timestamp", "created_at"),
    ended=(),
    agent=("model", "request.model", "response.model", "request.body.model"),
)  # fmt: skip
STORED_RESPONSES = CallLog(
    "openai-responses",
    About(
        holds="one call of the Responses API a line, with its `input` and its `output`",
        carries=carries("agent", "tools"),
        lacks="tasks and outcomes; instructions, reasoning and calls of tools are counted",
        follows="OpenAI API reference: Responses, conversation state",
        version="API reference as of 2026",
        told_by='`object` is "response"',
    ),
    lambda record: (
        record.get("object") == "response"
        and bool({"input", "output", "input_items"} & record.keys())
    ),
    lambda record: True,
    within=("data",),
    given=("input", "input_items"),
    answered=("output",),
    conversation=_THREADS,
    trace=("id",),
    parent=(),
    began=("created_at",),
    ended=(),
    previous=("previous_response_id",),
    agent=("model",),
)

CALL_LOGS: tuple[CallLog, ...] = (LANGFUSE, LANGSMITH, STORED_COMPLETIONS, STORED_RESPONSES)
"""Formats that are read here."""
