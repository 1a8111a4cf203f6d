"""Inspect logs: ``.json``, and ``.eval`` (a zip of header.json and samples/).

Written after the public log documentation of inspect_ai. Long texts stand apart as attachments
and are put back; an epoch is a run; what the sample's input says is no turn of a simulated user,
where the log has turns of one.

Scores of Inspect as a reward: C, I, P, N, truth values, numbers, or several by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from usi.errors import quoted
from usi.loading.context import Context
from usi.loading.fields import BadField, kind, messages_of, record_of, text_id
from usi.loading.jsonstream import Cursor
from usi.loading.messages import text_of
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.loading.source import Source
from usi.loading.times import one_clock, time_of
from usi.reading import decimal_number
from usi.records import Outcome, Session, SessionStatus, Turn

LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partial, no answer, as inspect_ai's ``value_to_float`` reads them."""
_NAMES = ("reward", "score", "value", "accuracy", "success")


def reward_of(scores: Any, context: Context) -> float | None:
    """Reward of the first scorer; remarks say which scorer and which value were taken."""
    if not isinstance(scores, dict) or not scores:
        return None
    name, first = next(iter(scores.items()))
    if len(scores) > 1:
        context.notes.remark(f"several scorers: the reward is that of the first, {quoted(name)}")
    value = first.get("value") if isinstance(first, dict) else first
    if isinstance(value, dict):
        key = next((key for key in _NAMES if key in value), next(iter(value), None))
        if key is None:
            return None
        context.notes.remark(f"the score is a table: the reward is its value {quoted(key)}")
        context.guess("session: one value of several was taken for the reward")
        value = value[key]
    number = _number(value)
    if number is None and value is not None:
        context.leave_out("field: score that is not a number, a letter or a truth value")
    return number


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        if value in LETTERS:
            return LETTERS[value]
        if value.strip().lower() in ("yes", "true", "no", "false"):
            return float(value.strip().lower() in ("yes", "true"))
        return decimal_number(value)
    if isinstance(value, bool | int | float):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None
    return None


NAME = "inspect"
ABOUT = About(
    holds="logs of Inspect: .eval (zip) or .json with eval and samples",
    carries=carries("agent", "tools", "task", "run", "outcome"),
    lacks="surveys and who took part; prompts, reasoning, tool results and events are set aside",
    follows="inspect.aisi.org.uk: Log Files, and the JSON Schema of logs (inspect log schema)",
    version="log version 2",
    told_by="`eval` with task and model; in a zip, `header.json` and `samples/`",
)
HEADER, JOURNAL, SAMPLES = "header.json", "_journal/start.json", "samples/"
ATTACHMENT = "attachment://"
_DEPTH = 16
_WITH_TEXT = ("messages", "input", "output", "metadata", "target")
_KEPT = ("metadata", "target", "uuid")


def recognise(sample: Sample) -> bool:
    """A log says its version, its eval, and that eval its task."""
    evaluation = sample.members.get("eval")
    return isinstance(evaluation, dict) and {"task", "model"} <= evaluation.keys()


def join_eval(archive: Source, found: list[Source]) -> Source | None:
    """The members of an ``.eval`` archive as one source, or ``None`` where it is none."""
    names = {source.name[len(archive.name) + 1 :]: source for source in found}
    head = names.get(HEADER) or names.get(JOURNAL)
    if head is None or not any(name.startswith(SAMPLES) for name in names):
        return None
    samples = [part for name, part in sorted(names.items()) if name.startswith(SAMPLES)]
    return Source(
        archive.name, archive.open_stored, archive.folder, (head, *samples), archive.label, NAME
    )


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the samples."""
    if context.source.parts:
        yield from _read_archive(context)
        return
    header: dict[str, Any] = {}
    with context.open() as stream:
        cursor = context.cursor(stream)
        for key in cursor.members():
            if key == "samples" and cursor.peek() == b"[":
                for row in cursor.elements():
                    value = cursor.value()
                    yield from _built(value, row, header, context, None)
            elif key in ("eval", "status"):
                header[key] = cursor.value()
            else:
                cursor.skip()
        cursor.end()


def _read_archive(context: Context) -> Iterator[Session]:
    head, *samples = context.source.parts
    if head.filename != HEADER:
        context.notes.remark("the log has no header.json: the run was not finished")
    header = _whole(head, context)
    header = header if isinstance(header, dict) else {}
    for row, part in enumerate(samples, start=1):
        yield from _built(_whole(part, context), row, header, context, part.name)
    with context.source.open() as stream:
        context.file.sha256, context.file.bytes = stream.digest()


def _whole(part: Source, context: Context) -> Any:
    with part.open() as stream:
        cursor = Cursor(stream, file=part.name, max_record=context.options.max_record)
        value = cursor.value()
        cursor.end()
    return value


def _built(
    value: Any, row: int, header: Mapping[str, Any], context: Context, file: str | None
) -> Iterator[Session]:
    try:
        session = _session(value, row, header, context)
    except BadField as bad:
        context.notes.add_problem(bad.at(file or context.source.name, None if file else row))
        return
    if session is not None:
        yield session


def _session_id(task_id: str | None, epoch: str | None) -> str:
    if task_id is None or epoch is None:
        return task_id or ""
    return f"{task_id}_epoch_{epoch}"


def _session(value: Any, row: int, header: Mapping[str, Any], context: Context) -> Session | None:
    record = record_of(value)
    attachments = record.get("attachments")
    if isinstance(attachments, dict) and attachments:
        texts = _Attachments(attachments, context)
        record = record | {
            key: texts.resolved(record[key], 0) for key in _WITH_TEXT if key in record
        }
    task_id = text_id(record, "id") or None
    epoch = text_id(record, "epoch")
    key = ("sample", task_id, epoch)
    if task_id is not None and not context.is_new(key, "session: duplicate sample and epoch"):
        return None
    turns = one_clock(tuple(_turns(record, context)), context)
    status, reason = _status(record, turns)
    evaluation = header.get("eval")
    evaluation = evaluation if isinstance(evaluation, dict) else {}
    model = evaluation.get("model")
    meta = {key: record[key] for key in _KEPT if record.get(key)}
    roles = evaluation.get("model_roles")
    if roles:
        meta["model_roles"] = roles
    return Session(
        session_id=_session_id(task_id, epoch),
        turns=turns,
        simulator=context.label,
        domain=context.domain(None),
        task_id=task_id,
        trial=epoch,
        layout=NAME,
        outcome=Outcome(
            reward=reward_of(record.get("scores"), context), termination=_limit(record)
        ),
        agent=model if isinstance(model, str) else None,
        status=status,
        status_reason=reason,
        row=row,
        meta=meta,
    )


def _limit(record: Mapping[str, Any]) -> str | None:
    limit = record.get("limit")
    name = limit.get("type") if isinstance(limit, dict) else None
    return f"{name} limit" if isinstance(name, str) else None


def _status(record: Mapping[str, Any], turns: tuple[Turn, ...]) -> tuple[SessionStatus, str | None]:
    invalid = record.get("invalidation")
    if invalid:  # somebody looked at the sample and took it back
        told = invalid.get("reason") if isinstance(invalid, dict) else None
        told = told.strip().splitlines()[0][:300] if isinstance(told, str) and told.strip() else ""
        return "failed", f"invalidated: {told}" if told else "invalidated"
    error = record.get("error")
    if error is None:
        return ("ok", None) if turns else ("failed", "no messages")
    message = error.get("message") if isinstance(error, dict) else error
    reason = str(message).strip().splitlines()[0][:300] if str(message).strip() else "error"
    return ("infrastructure_error" if turns else "failed"), reason


def _turns(record: Mapping[str, Any], context: Context) -> Iterator[Turn]:
    listed = record.get("messages")
    if not listed:
        yield from _from_input(record, context)
        return
    messages = messages_of(listed, "messages")
    for i, message in enumerate(messages):
        if not isinstance(message, dict):
            raise BadField(f"messages[{i}]", f"a message must be an object, not {kind(message)}")
    messages = [m | {"role": context.role(m.get("role"), m.get("name"))} for m in messages]
    users = [message for message in messages if message["role"] == "user"]
    own = [message for message in users if message.get("source") != "input"]
    if users and not own:
        context.guess("session: has no user message but the sample's input, taken for the user")
    for message in messages:
        role = message.get("role")
        chosen = context.is_chosen(role, message.get("name"))
        if not chosen and role in ("system", "developer"):
            context.leave_out("message: system prompt")
        elif not chosen and role == "tool":
            context.leave_out("message: tool result")
        elif not chosen and role not in ("user", "assistant"):
            context.other_role(role)
        elif role == "user" and own and message.get("source") == "input" and not chosen:
            context.leave_out("message: input of the sample, before the simulated user")
        else:
            calls = [_call(call) for call in message.get("tool_calls") or []]
            content = text_of(message.get("content"), context)
            time = time_of(message, "", context)
            yield Turn(role, content, calls or None, time=time)


def _from_input(record: Mapping[str, Any], context: Context) -> Iterator[Turn]:
    """A sample without messages has its input (a text or messages) and output alone."""
    given = record.get("input")
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not given:
        return
    context.guess("session: has no messages; input and output are taken for them")
    yield from _turns({"messages": messages_of(given, "input")}, context)
    output = record.get("output")
    if isinstance(output, dict) and isinstance(output.get("completion"), str):
        yield Turn("assistant", output["completion"])


def _call(call: Any) -> Any:
    """A call in the form of the other formats: Inspect has function and arguments side by side."""
    if not isinstance(call, dict) or isinstance(call.get("function"), dict):
        return call
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": call.get("function"), "arguments": call.get("arguments")},
    }


class _Attachments:
    """Puts long texts back in their places; a text may be the name of another one."""

    def __init__(self, texts: Mapping[str, Any], context: Context) -> None:
        self._texts, self._context = texts, context

    def resolved(self, value: Any, depth: int) -> Any:
        if depth > 200:
            raise BadField("", "is nested too deeply")
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.resolved(part, depth + 1) for part in value]
        if isinstance(value, dict):
            return {key: self.resolved(part, depth + 1) for key, part in value.items()}
        return value

    def _text(self, value: str) -> str | None:
        for _ in range(_DEPTH):
            if not value.startswith(ATTACHMENT):
                return value
            found = self._texts.get(value[len(ATTACHMENT) :])
            if not isinstance(found, str):
                self._context.leave_out("part: attachment that the log does not hold")
                return None
            value = found
        self._context.leave_out("part: attachment that leads to itself")
        return None
