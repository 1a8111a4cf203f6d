"""Exports that hold whole conversations as JSON records: one reader, one declaration a format.

A declaration says by which keys a record is told, where the records of a file lie, where a record
keeps its messages, and which of its fields mean what. Everything else is shared: who speaks, what
is text, what is counted and set aside.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from usi.errors import quoted
from usi.loading.context import Context
from usi.loading.fields import BadField, kind, messages_of, record_of
from usi.loading.formats import usi_jsonl
from usi.loading.formats.sharegpt import html_text
from usi.loading.messages import text_of
from usi.loading.reader import About, carries
from usi.loading.role_names import SYNONYMS
from usi.loading.sample import Sample
from usi.loading.times import time_of
from usi.records import MISSING, Session

Record = Mapping[str, Any]
Unfold = Callable[[Record, Context], Any]
"""A record -> its messages as a list, as JSON text of one, null, or `MISSING`."""
NO_TALK = "session: a record without a conversation"
_TEXTS = ("content", "text", "value", "message", "body")
"""Keys under which a message may hold its text, best first."""
_SPEAKERS = ("role", "speaker", "from", "author", "sender")
_ASIDE = {"system": "message: system prompt", "tool": "message: tool result"}


def at(record: Any, path: str) -> Any:
    """The value under a dotted path; keys that hold dots themselves are found, too.

    `MISSING` where there is none. A number in the path is a place in a list.
    """
    if not path:
        return record
    if isinstance(record, list):
        head, _, rest = path.partition(".")
        place = int(head) if head.isdecimal() and len(head) < 10 else len(record)
        return at(record[place], rest) if place < len(record) else MISSING
    if not isinstance(record, Mapping):
        return MISSING
    if path in record:
        return record[path]
    names = path.split(".")
    for cut in range(len(names) - 1, 0, -1):
        head = ".".join(names[:cut])
        if head in record:
            return at(record[head], ".".join(names[cut:]))
    return MISSING


def first_at(record: Any, paths: Iterable[str]) -> tuple[str, Any]:
    """The first path that leads to a value other than null, and the value; else ``""``, missing."""
    for path in paths:
        found = at(record, path)
        if found is not MISSING and found is not None:
            return path, found
    return "", MISSING


@dataclass
class Export:
    """One format, as a reader.

    Attributes
    ----------
    NAME, ABOUT
        See `usi.loading.reader.Reader`.
    marks
        Whether an object is a record of this format.
    messages
        Dotted paths at which a record may keep its messages, best first.
    fields
        Field of a session (as in usi JSONL) -> dotted paths of a record, best first. An id that
        may stand before several conversations is a ``conversation_id``.
    within
        Dotted paths at which an object that is not a record may hold a list of records.
    unfold
        Makes the messages of a record that does not keep them in a plain list; what it gives is
        named by the first of `messages`.
    finish
        Says more of a session, from its record; its keys win.
    quoted
        Words by which a file is told that holds the JSON as one text of JSON.
    """

    NAME: str
    ABOUT: About
    marks: Callable[[Record], bool]
    messages: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    within: tuple[str, ...] = ()
    unfold: Unfold | None = None
    finish: Callable[[Record], Mapping[str, Any]] | None = None
    quoted: tuple[bytes, ...] = ()

    def recognise(self, sample: Sample) -> bool:
        """Whether the first records, or those inside the first object, bear the marks."""
        if sample.first == b'"':
            return any(mark in sample.head for mark in self.quoted)
        whole = sample.records or [sample.members]
        return any(self.marks(record) for value in whole for _, record in self.records_in(value))

    def records_in(self, value: Any) -> Iterator[tuple[str, Record]]:
        """Records of one value of a file, each with the place that it has in it."""
        if isinstance(value, Mapping) and not self.marks(value):
            path, found = first_at(value, self.within)
            if isinstance(found, list):
                for place, record in enumerate(found):
                    if isinstance(record, Mapping):
                        yield f"{path}[{place}]", record
                    else:
                        yield f"{path}[{place}]", {}
                return
        if isinstance(value, Mapping):
            yield "", value

    def read(self, context: Context) -> Iterator[Session]:
        """Sessions in the order of the file."""
        for row, given in usi_jsonl.records(context):
            value = context.made(partial(_unquoted, given), row)
            if value is None:
                continue
            found = list(self.records_in(value))
            if not found:
                found = [("", record)] if (record := object_of(value, row, context)) else []
            for place, record in found:
                session = context.build(
                    lambda r=record, p=place, n=row: self._session(r, p, n, context),  # type: ignore[misc]
                    row,
                )
                if session is not None:
                    yield session

    def _session(self, record: Record, place: str, row: int, context: Context) -> Session | None:
        prefix = f"{place}." if place else ""
        if self.unfold is not None:
            path, found = self.messages[0], self.unfold(record, context)
        else:
            path, found = first_at(record, self.messages)
            path = path or self.messages[0]
        made = {} if self.finish is None else dict(self.finish(record))
        if found is MISSING and made.get("status", "ok") == "ok":
            if not self.marks(record):
                raise BadField(
                    f"{prefix}{path}", f"is missing: {self.NAME} has the messages of a record there"
                )
            context.leave_out(NO_TALK)
            return None
        listed = listed_messages(found, prefix + path)
        own: dict[str, Any] = {"layout": self.NAME}
        for name, paths in self.fields.items():
            source, value = first_at(record, paths)
            if value is not MISSING:
                own[name] = plain_field(name, value, prefix + source)
        own |= made
        own["messages"] = (
            None if listed is None else list(kept_messages(listed, prefix + path, context))
        )
        return usi_jsonl.session_of(own, row, context)


def _unquoted(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise BadField("", "is a text that is not JSON; was it cut off?") from None


def object_of(value: Any, row: int, context: Context) -> Record | None:
    """A row that must be an object; anything else is a noted problem."""
    try:
        return record_of(value)
    except BadField as bad:
        context.notes.add_problem(bad.at(context.source.name, row))
        return None


def plain_field(name: str, value: Any, path: str) -> Any:
    """A field as usi JSONL takes it; `BadField` with its place in the record where it can't be."""
    if name == "reward":
        if not isinstance(value, bool | int | float):
            raise BadField(path, f"must be a number, true, false or null, not {kind(value)}")
        return value
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadField(path, f"must be text or a whole number, not {kind(value)}")
    return str(value)


def listed_messages(found: Any, path: str) -> list[Any] | None:
    """The messages as a list; they may be written as JSON text."""
    if found is None or found is MISSING:
        return None
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            raise BadField(path, "is text that is not JSON; was it cut off?") from None
    return messages_of(found, path)


def kept_messages(messages: list[Any], path: str, context: Context) -> Iterator[dict[str, Any]]:
    """Messages of user and agent under the roles user and assistant; the rest is counted.

    Raises
    ------
    BadField
        A message is not an object, names no speaker, has a speaker who is neither a user nor an
        agent by name (and the caller named none), or has no text in a form that is known.
    """
    for i, message in enumerate(messages):
        place = f"{path}[{i}]"
        if not isinstance(message, Mapping):
            raise BadField(place, f"a message must be an object, not {kind(message)}")
        key, found = first_at(message, _SPEAKERS)
        if not isinstance(found, str):
            raise BadField(f"{place}.{key or 'role'}", f"must be the speaker, not {kind(found)}")
        role = speaker_role(found, message.get("name"), f"{place}.{key}", context)
        if role is None:
            continue
        calls = message.get("tool_calls") or None
        content = next((message[name] for name in _TEXTS if name in message), MISSING)
        if content is MISSING and not calls:
            raise BadField(place, f"a message without text: none of {', '.join(_TEXTS)} is there")
        if isinstance(content, list):
            content = text_of(content, context)
            if content is None and not calls:
                context.leave_out("message: parts without text")
                continue
        if content is not MISSING and content is not None and not isinstance(content, str):
            raise BadField(place, f"the text of a message can't be {kind(content)}")
        name = message.get("name", found)
        yield {
            "role": role,
            "name": name if isinstance(name, str) and SYNONYMS.get(name.lower()) is None else None,
            "content": None if content is MISSING else content,
            "tool_calls": calls,
            "time": time_of(message, place, context),
        }


def speaker_role(found: str, name: Any, place: str, context: Context) -> str | None:
    """User, assistant, or a role that the caller chose; ``None`` for what is set aside."""
    if context.is_chosen(None, found):
        return "user"
    if context.is_chosen(found, name):
        return found
    role = SYNONYMS.get(found.strip().lower())
    if role in ("user", "assistant"):
        return role
    if role is not None:
        context.leave_out(_ASIDE[role])
        return None
    if context.options.user_role is None and context.options.user_speaker is None:
        raise BadField(
            place,
            f"{quoted(found)} is neither a user nor an agent by its name; say who the user is with "
            "--user-role or --user-speaker",
        )
    return "assistant"


def _has(record: Record, *paths: str) -> bool:
    return all(at(record, path) is not MISSING for path in paths)


def _list_of_objects(value: Any, *keys: str) -> bool:
    """Whether a value is a list (or JSON text of one) whose first element has the keys."""
    if isinstance(value, str):
        return value.lstrip().startswith("[") and all(f'"{key}"' in value for key in keys)
    if not isinstance(value, list):
        return False
    return not value or (isinstance(value[0], Mapping) and set(keys) <= value[0].keys())


_DEEPEVAL_OWN = (
    "scenario", "expected_outcome", "expectedOutcome", "user_description", "userDescription",
    "chatbot_role", "chatbotRole",
)  # fmt: skip


def _is_deepeval(record: Record) -> bool:
    told = any(key in record for key in _DEEPEVAL_OWN)
    return told and _list_of_objects(record.get("turns"), "role", "content")


DEEPEVAL = Export(
    "deepeval",
    About(
        holds="conversational test cases or goldens: `turns` of {role, content}, also as JSON text",
        carries=carries("agent", "task", "outcome"),
        lacks="calls of tools, contexts and metrics of single turns",
        follows="confident-ai/deepeval, deepeval/dataset (save_as) and test_case",
        version="commit 0089e83",
        told_by="`turns` beside `scenario`, `expected_outcome`, ...",
    ),
    _is_deepeval,
    ("turns",),
    {"conversation_id": ("name",), "task_id": ("scenario",), "reward": ("success",)},
    within=(
        "conversational_test_cases", "conversationalTestCases", "conversational_goldens",
        "conversationalGoldens", "test_cases", "testCases", "goldens",
    ),
)  # fmt: skip


def _is_promptfoo(record: Record) -> bool:
    return {"promptIdx", "testIdx"} <= record.keys() or (
        {"provider", "vars"} <= record.keys() and "response" in record
    )


def _promptfoo_end(record: Record) -> Mapping[str, Any]:
    if at(record, "response.metadata.messages") is MISSING and (
        record.get("error") or at(record, "response.error") not in (MISSING, None, "")
    ):
        return {"status": "infrastructure_error", "status_reason": "promptfoo: error"}
    return {}


PROMPTFOO = Export(
    "promptfoo",
    About(
        holds="`promptfoo eval --output` as JSON or JSONL, conversations under "
        "`response.metadata.messages`",
        carries=carries("agent", "task", "outcome"),
        lacks="results without such messages (single answers) are counted; assertions, scores and "
        "costs",
        follows="promptfoo/promptfoo, src/types and src/providers/simulatedUser",
        version="results of version 3, commit 00ba4ee",
        told_by="`promptIdx` and `testIdx`",
    ),
    _is_promptfoo,
    ("response.metadata.messages", "metadata.messages"),
    {
        "conversation_id": ("id",),
        "task_id": ("vars.task_id", "testCase.metadata.task_id", "testCase.description", "testIdx"),
        "agent": ("provider.label", "provider.id"),
        "reward": ("success",),
    },
    within=("results.results", "results"),
    finish=_promptfoo_end,
)


def _is_azure(record: Record) -> bool:
    return isinstance(at(record, "conversation.messages"), list) or isinstance(
        at(record, "inputs.conversation.messages"), list
    )


AZURE = Export(
    "azure-conversation",
    About(
        holds="rows of {conversation: {messages}}, and evaluation results with them under `rows`",
        carries=carries("agent", "task"),
        lacks="contexts of messages and scores of evaluators",
        follows="Azure AI Evaluation SDK, conversations of multiple turns",
        version="documentation as of 2026",
        told_by="`conversation.messages`",
    ),
    _is_azure,
    ("conversation.messages", "inputs.conversation.messages"),
    {
        "conversation_id": ("conversation.id", "conversation_id", "inputs.conversation_id"),
        "task_id": ("task_id", "inputs.task_id"),
    },
    within=("rows",),
)


def _is_adk(record: Record) -> bool:
    if not isinstance(record.get("events", []), list):
        return False
    case = {"eval_id", "evalId"} & record.keys()
    ended = {"final_eval_status", "finalEvalStatus", "session_details", "sessionDetails"}
    app = {"app_name", "appName"} & record.keys()
    return bool(case and ended & record.keys()) or bool(app and "events" in record)


def _adk_messages(record: Record, context: Context) -> Any:
    """Events of the session, else the invocations that the metrics looked at."""
    _, events = first_at(record, ("session_details.events", "sessionDetails.events", "events"))
    if isinstance(events, list):
        return [_adk_message(event, context) for event in events if _adk_speaks(event, context)]
    _, metrics = first_at(
        record, ("eval_metric_result_per_invocation", "evalMetricResultPerInvocation")
    )
    if not isinstance(metrics, list) or not metrics:
        return MISSING
    found = []
    for metric in metrics:
        _, actual = first_at(metric, ("actual_invocation", "actualInvocation"))
        for keys, author in ((("user_content", "userContent"), "user"),
                             (("final_response", "finalResponse"), "agent")):  # fmt: skip
            content = first_at(actual, keys)[1]
            if content is not MISSING:
                found.append(_adk_message({"author": author, "content": content}, context))
    return found


def _adk_speaks(event: Any, context: Context) -> bool:
    if isinstance(event, Mapping) and isinstance(event.get("content"), Mapping):
        return True
    context.leave_out("field: event without content")
    return False


def _adk_message(event: Record, _: Context) -> dict[str, Any]:
    """An event as a message: who spoke, its parts, and the calls among them."""
    content = event["content"]
    parts = content.get("parts") if isinstance(content, Mapping) else None
    texts: list[dict[str, Any]] = []
    calls = []
    for part in parts or ():
        called = first_at(part, ("function_call", "functionCall"))[1]
        if called is not MISSING:
            function = {"name": at(called, "name"), "arguments": at(called, "args")}
            calls.append({"type": "function", "function": function})
        elif first_at(part, ("function_response", "functionResponse"))[1] is not MISSING:
            texts.append({"type": "tool_result"})
        elif at(part, "thought") is True:
            texts.append({"type": "thinking"})
        elif isinstance(at(part, "text"), str):
            texts.append({"type": "text", "text": part["text"]})
        else:
            texts.append({"type": "data"})
    author = event.get("author")
    return {
        "role": "user" if author == "user" else "agent",
        "content": texts,
        "tool_calls": calls or None,
        "timestamp": event.get("timestamp"),
    }


def _adk_end(record: Record) -> Mapping[str, Any]:
    status = first_at(record, ("final_eval_status", "finalEvalStatus"))[1]
    passed = {1: 1.0, 2: 0.0, "PASSED": 1.0, "FAILED": 0.0}
    return {"reward": passed[status]} if isinstance(status, int | str) and status in passed else {}


ADK = Export(
    "google-adk",
    About(
        holds="results of `adk eval` (eval set results with their sessions), and sessions of "
        "Google's Agent Development Kit",
        carries=carries("agent", "tools", "task", "outcome", "person"),
        lacks="scores of metrics; tool results, thoughts and state are counted",
        follows="google/adk-python, src/google/adk/evaluation/eval_result and eval_case, sessions",
        version="commits dc7c99f and 13b8219",
        told_by="`eval_id` beside `final_eval_status` or `session_details`; `app_name` and "
        "`events`",
    ),
    _is_adk,
    ("session_details.events",),
    {
        "conversation_id": ("session_id", "sessionId", "session_details.id", "id"),
        "task_id": ("eval_id", "evalId"),
        "participant": ("user_id", "userId"),
        "agent": (
            "session_details.app_name", "sessionDetails.appName", "app_name", "appName",
        ),
    },
    within=("eval_case_results", "evalCaseResults"),
    unfold=_adk_messages,
    finish=_adk_end,
    quoted=(b"eval_case_results", b"evalCaseResults"),
)  # fmt: skip


def _is_sdialog(record: Record) -> bool:
    own = {"personas", "events", "parentId", "complete"} & record.keys()
    return bool(own) and _list_of_objects(record.get("turns"), "speaker", "text")


SDIALOG = Export(
    "sdialog",
    About(
        holds="dialogues of SDialog: `turns` of {speaker, text} beside `personas` and `events`",
        carries=carries("agent"),
        lacks="personas, orchestration and events; who the user is where speakers have names of "
        "their own (--user-speaker)",
        follows="idiap/sdialog, class Dialog",
        version="commit 011def5",
        told_by="`turns` of `speaker` and `text` beside `personas`, `events`, ...",
    ),
    _is_sdialog,
    ("turns",),
    {"conversation_id": ("id",)},
)


def _is_rasa(record: Record) -> bool:
    return "sender_id" in record and _list_of_objects(record.get("events"), "event")


def _rasa_messages(record: Record, context: Context) -> Any:
    found = []
    for event in messages_of(record["events"], "events"):
        kind_ = event.get("event") if isinstance(event, Mapping) else None
        if kind_ in ("user", "bot"):
            found.append(
                {
                    "role": kind_,
                    "content": event.get("text"),
                    "timestamp": event.get("timestamp"),
                }
            )
        else:
            context.leave_out("field: event that is not a message")
    return found


RASA = Export(
    "rasa",
    About(
        holds="trackers of Rasa: `sender_id` and `events`",
        carries=carries("agent"),
        lacks="actions, slots, intents, buttons and attachments; a tracker of several sessions is "
        "one",
        follows="Rasa documentation: events, tracker stores, HTTP API",
        version="3.x",
        told_by="`sender_id` and `events`",
    ),
    _is_rasa,
    ("events",),
    {"conversation_id": ("sender_id",)},
    unfold=_rasa_messages,
)


_INTERCOM_ROLES = {
    "user": "user", "lead": "user", "contact": "user",
    "admin": "agent", "bot": "agent", "team": "agent",
}  # fmt: skip


def _is_intercom(record: Record) -> bool:
    return _has(record, "source.author.type") or _has(
        record, "conversation_parts.conversation_parts"
    )


def _intercom_messages(record: Record, context: Context) -> Any:
    """The message that began the conversation, and the comments; HTML becomes text."""
    listed = at(record, "conversation_parts.conversation_parts")
    source = record.get("source")
    parts = [] if not isinstance(source, Mapping) else [{**source, "part_type": "comment"}]
    parts += messages_of(listed, "conversation_parts") if isinstance(listed, list) else []
    found = []
    for part in parts:
        body = at(part, "body")
        if at(part, "part_type") == "note":
            context.leave_out("message: internal note")
        elif not isinstance(body, str) or not body.strip():
            context.leave_out("field: part without text (assignment, closing, ...)")
        else:
            author = at(part, "author.type")
            found.append(
                {
                    "role": _INTERCOM_ROLES.get(author, author),
                    "content": html_text(body),
                    "created_at": part.get("created_at", record.get("created_at")),
                }
            )
    return found


INTERCOM = Export(
    "intercom",
    About(
        holds="conversations of Intercom's API: `source` and `conversation_parts`",
        carries=carries("agent"),
        lacks="notes, assignments and closings are counted; attachments and HTML tags",
        follows="Intercom REST API: Conversation, Conversation part",
        version="types of intercom-client 6.4 and 7.0",
        told_by="`source.author.type`, `conversation_parts`",
    ),
    _is_intercom,
    ("conversation_parts.conversation_parts",),
    {"conversation_id": ("id",)},
    within=("conversations", "data"),
    unfold=_intercom_messages,
)

EXPORTS: tuple[Export, ...] = (DEEPEVAL, PROMPTFOO, AZURE, ADK, SDIALOG, RASA, INTERCOM)
"""Formats that are read here."""
