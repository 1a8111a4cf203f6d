"""STAR: people who talk to people playing the assistant, one JSON file a dialogue.

Dataset of RasaHQ (MIT; arXiv 2010.11853). The user's utterances are the user's turns; what the
wizard picked or wrote is the agent's; queries to the knowledge base are tool calls. Folders and
archives of dialogues are one corpus.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from usi.errors import UsiError
from usi.loading.context import Context
from usi.loading.fields import BadField, kind, record_of, text
from usi.loading.jsonstream import Cursor
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.loading.source import Source
from usi.loading.times import stamp_of
from usi.records import Outcome, Session, SurveyAnswer, Turn

NAME = "star"
ABOUT = About(
    holds="STAR dialogues {DialogueID, Events, Scenario}, one a file; a folder or archive",
    carries=carries("agent", "tools", "task", "outcome", "survey", "person"),
    lacks="runs; whether the task succeeded (only whether it was brought to its end)",
    follows="arXiv 2010.11853, RasaHQ/STAR",
    version="commit 3058975",
    told_by="`DialogueID` and `CompletionLevel`",
)
MARKS = frozenset(("DialogueID", "CompletionLevel"))
"""Keys that tell a dialogue of this format."""
COMPLETE = "Complete"
REWARD_REMARK = (
    "reward of STAR: 1 where the dialogue was brought to its end (CompletionLevel), 0 where it "
    "was broken off; it does not tell whether the task succeeded"
)
_WIZARD = frozenset(("pick_suggestion", "utter"))
_ASIDE = {
    "UserGuide": "message: instruction to the user",
    "KnowledgeBase": "message: tool result",
    "Wizard": "message: event of the wizard's screen",
    "User": "message: event of the user's screen",
}


def recognise(sample: Sample) -> bool:
    """One dialogue: an object with the keys that only this format has."""
    missing = set(MARKS)
    for member in sample.outline:
        missing.discard(member.key)
        if not missing:
            return True
    return False


def join_dialogues(sources: list[Source], name: str) -> list[Source]:
    """Join the dialogues of a folder or archive into one source, where they are of this format.

    Looks at the first file only; one that can't be read is left to its reader.
    """
    if len(sources) < 2 or not all(source.filename.endswith(".json") for source in sources):
        return sources
    first = sources[0]
    try:
        with first.open() as stream:
            keys = set(_first_keys(stream, first))
    except UsiError:
        return sources
    if not keys >= MARKS:
        return sources
    return [replace(first, name=name, folder=None, parts=tuple(sources))]


def _first_keys(stream: Any, source: Source) -> Iterator[str]:
    cursor = Cursor(stream, file=source.name)
    if cursor.peek() != b"{":
        return
    for key in cursor.members():
        yield key
        if key in ("Events", "FORMAT-VERSION"):
            return
        cursor.skip()


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of file names; the digest is that of all dialogues' digests."""
    context.notes.remark(REWARD_REMARK)
    parts: Sequence[Source] = context.source.parts or (context.source,)
    whole, size = hashlib.sha256(), 0
    for row, part in enumerate(parts, start=1):
        with part.open() as stream:
            cursor = Cursor(stream, file=part.name, max_record=context.options.max_record)
            value = cursor.value()
            cursor.end()
            digest, stored = stream.digest()
        whole.update(f"{digest}\n".encode())
        size += stored
        try:
            session = _session(value, row, context)
        except BadField as bad:
            context.notes.add_problem(bad.at(part.name, None))
            continue
        if session is not None:
            yield session
        context.file.sha256, context.file.bytes = (
            whole.hexdigest() if len(parts) > 1 else digest,
            size,
        )


def _session(value: Any, row: int, context: Context) -> Session | None:
    record = record_of(value)
    number = record.get("DialogueID")
    if not isinstance(number, int | str) or isinstance(number, bool):
        raise BadField("DialogueID", f"must be a number, not {kind(number)}")
    scenario = record.get("Scenario")
    if not isinstance(scenario, dict):
        raise BadField("Scenario", f"must be an object, not {kind(scenario)}")
    if not context.is_new(("star", number), "session: duplicate DialogueID"):
        return None
    level = text(record, "CompletionLevel")
    wizard = text(record, "AnonymizedWizardWorkerID")
    return Session(
        session_id=str(number),
        turns=tuple(_turns(record.get("Events"), context)),
        simulator=context.label,
        domain=context.domain(_capabilities(scenario, "Domain")),
        task_id=_capabilities(scenario, "Task"),
        layout=NAME,
        outcome=Outcome(
            reward=None if level is None else float(level == COMPLETE), termination=level
        ),
        survey=_survey(record),
        batch=_batch(text(record, "BatchID")),
        participant=text(record, "AnonymizedUserWorkerID"),
        agent=None if wizard is None else f"wizard {wizard}",
        row=row,
        meta={
            "happy": scenario.get("Happy"),
            "multitask": scenario.get("MultiTask"),
        },
    )


def _capabilities(scenario: dict[str, Any], key: str) -> str | None:
    """Domains or tasks that the wizard could serve, sorted, joined by ``+``.

    The task set is the group of a dialogue. A task without a domain (trivia, in some files) is its
    own domain.
    """
    capabilities = scenario.get("WizardCapabilities")
    if not isinstance(capabilities, list):
        return None
    entries = [entry for entry in capabilities if isinstance(entry, dict)]
    names = {entry.get(key) or entry.get("Task") for entry in entries}
    return "+".join(sorted(name for name in names if isinstance(name, str))) or None


def _batch(collection: str | None) -> int | None:
    """Number of the round of collection: ``woz_1589355382`` is batch 1589355382."""
    digits = (collection or "").rpartition("_")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 18 else None


def _turns(events: Any, context: Context) -> Iterator[Turn]:
    if not isinstance(events, list):
        raise BadField("Events", f"must be a list, not {kind(events)}")
    for i, event in enumerate(events):
        if not isinstance(event, dict):
            raise BadField(f"Events[{i}]", f"an event must be an object, not {kind(event)}")
        agent, action = event.get("Agent"), event.get("Action")
        if agent == "User" and action == "utter":
            yield Turn("user", event.get("Text"), time=_time(event, context))
        elif agent == "Wizard" and action in _WIZARD:
            yield Turn("assistant", event.get("Text"), time=_time(event, context))
        elif agent == "Wizard" and action == "query":
            yield Turn("assistant", None, [_call(event)], time=_time(event, context))
        else:
            context.leave_out(_ASIDE.get(str(agent), "message: event of another kind"))


def _time(event: dict[str, Any], context: Context) -> datetime | None:
    """When it happened: whole seconds since 1970."""
    return stamp_of(event.get("UnixTime"), context)


def _call(event: dict[str, Any]) -> dict[str, Any]:
    """A query to the knowledge base; its constraints are a list of one-key objects."""
    arguments: dict[str, Any] = {}
    for constraint in event.get("Constraints") or []:
        if isinstance(constraint, dict):
            arguments |= constraint
    return {
        "type": "function",
        "function": {"name": event.get("APIName"), "arguments": arguments},
    }


def _survey(record: dict[str, Any]) -> tuple[SurveyAnswer, ...] | None:
    """Answers of the user, then of the wizard: the question is the item, yes or no the answer."""
    answers = []
    for who in ("User", "Wizard"):
        field = f"{who}Questionnaire"
        items = record.get(field) or []
        if not isinstance(items, list):
            raise BadField(field, f"must be a list, not {kind(items)}")
        for i, item in enumerate(items):
            if not isinstance(item, dict) or not isinstance(item.get("Question"), str):
                raise BadField(f"{field}[{i}]", "must be an object with a Question")
            answer = item.get("Answer")
            if isinstance(answer, bool):
                answer = "Yes" if answer else "No"
            if answer is not None and not isinstance(answer, str):
                raise BadField(f"{field}[{i}].Answer", f"must be yes or no, not {kind(answer)}")
            answers.append(SurveyAnswer(f"{who.lower()}: {item['Question']}", answer))
    return tuple(answers) or None
