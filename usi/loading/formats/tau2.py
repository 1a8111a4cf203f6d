"""tau2-bench results: one file, the folder layout, or simulations on their own.

What tau2-bench says the simulated user did wrong, as tags of the session.

Sources in a simulation: ``user_only_review`` (and the review of both sides), the retries that the
hallucination check forced, and how the run ended (tau2-bench, src/tau2/data_model/simulation.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from usi.errors import InputError
from usi.loading.context import Context
from usi.loading.fields import BadField, kind, number, record_of, text, text_id
from usi.loading.formats.tau2_voice import is_flattened, ticks_of, utterances
from usi.loading.formats.taubench import DUPLICATE, array_identity
from usi.loading.formats.usi_jsonl import keys_of_record
from usi.loading.jsonstream import Cursor
from usi.loading.messages import conversation
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.records import MISSING, Outcome, Session, SessionStatus

REVIEWS = ("user_only_review", "review")
NORMAL_ENDS = frozenset(("user_stop", "agent_stop"))
ERROR, CRITICAL, RETRY = "user_error", "critical_user_error", "hallucination_retry"
TERMINATION = "termination:"


def error_tags(record: Mapping[str, Any], termination: str | None) -> tuple[str, ...] | None:
    """Tags of one simulation, each once.

    ``user_error``, ``critical_user_error``, ``user_error:<tag of the reviewer>``,
    ``hallucination_retry``, and ``termination:<reason>`` of every end that is not the ordinary
    one. ``()`` where the harness looked and found nothing, ``None`` where it did not look.
    """
    tags: list[str] = []
    looked = False
    for name in REVIEWS:
        review = record.get(name)
        if review is None:
            continue
        if not isinstance(review, dict):
            raise BadField(name, f"must be an object or null, not {kind(review)}")
        looked = True
        tags += _of_review(review, name)
    retries = record.get("hallucination_retries_used")
    if retries is not None:
        if not isinstance(retries, int) or isinstance(retries, bool):
            raise BadField("hallucination_retries_used", f"must be a number, not {kind(retries)}")
        looked = True
        tags += [RETRY] if retries > 0 else []
    if termination is not None and termination not in NORMAL_ENDS:
        tags.append(f"{TERMINATION}{_plain(termination)}")
    return tuple(dict.fromkeys(tags)) if looked or tags else None


def _of_review(review: Mapping[str, Any], name: str) -> Iterator[str]:
    errors = review.get("errors") or []
    if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
        raise BadField(f"{name}.errors", "must be a list of objects")
    own = [error for error in errors if error.get("source", "user") == "user"]
    if review.get("user_error") or (own and "user_error" not in review):
        yield ERROR
    if review.get("critical_user_error"):
        yield CRITICAL
    for error in own:
        for tag in error.get("error_tags") or []:
            if isinstance(tag, str) and tag.strip():
                yield f"{ERROR}:{_plain(tag)}"


def _plain(text: str) -> str:
    """A tag without commas and line ends, of at most 80 characters."""
    return " ".join(text.replace(",", " ").split())[:80]


NAME = "tau2"
_SIMULATION = frozenset(("messages", "reward_info"))
ABOUT = About(
    holds="tau2-bench results.json with simulations, also its folder layout",
    carries=carries("agent", "tools", "task", "run", "outcome"),
    lacks="surveys; tool results and audio are set aside; of full-duplex runs the utterances are "
    "kept, not overlap and silence",
    follows="tau2-bench, src/tau2/data_model",
    version="commit a2c0247, results of 1.0.1",
    told_by="`simulations`, `simulation_index`, or `info` and `tasks`; `messages` beside "
    "`reward_info`; `ticks` or `messages` beside `task_id` and `termination_reason`",
)
INFRASTRUCTURE = frozenset(
    ("infrastructure_error", "unexpected_error", "timeout", "context_window_exceeded")
)
"""Reasons of termination that are nobody's behaviour: such sessions are counted, never scored."""
_TAKEN = ("task_id", "trial", "messages", "ticks", "termination_reason")
"""Left out of `meta`; reviews stay there whole, since their reasoning is worth reading."""


def recognise(sample: Sample) -> bool:
    """Simulations, a file that names them, or single ones: messages with their end and reward."""
    if any(isinstance(one, dict) and _is_simulation(one.keys()) for one in sample.elements):
        return True
    keys: set[str] = set()
    for member in sample.outline:
        keys.add(member.key)
        if member.key in ("simulations", "simulation_index") or keys >= {"info", "tasks"}:
            return True
    return _is_simulation(keys_of_record(sample))


def _is_simulation(keys: Set[str]) -> bool:
    """Messages beside ``reward_info``, or ticks (or messages) beside how the run ended."""
    ended = keys >= {"task_id", "termination_reason"}
    return keys >= _SIMULATION or (ended and bool({"ticks", "messages"} & keys))


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the file, or of the index of a folder."""
    info: Any = None
    with context.open() as stream:
        cursor = context.cursor(stream)
        if cursor.peek() == b"[":
            yield from _rows(cursor, context, None)
            cursor.end()
            return
        own: dict[str, Any] = {}
        for key in cursor.members():
            if key == "info":
                info = cursor.value()
            elif key == "simulations" and cursor.peek() == b"[":
                info = info if info is not None else _find_info(context)
                yield from _rows(cursor, context, _domain(info))
            elif key in ("tasks", "timestamp"):
                cursor.skip()
            else:
                own[key] = cursor.value()
        cursor.end()
    if "messages" in own or "ticks" in own:
        yield from _built(own, 1, context, None)
    if context.file.sessions:
        return
    _check_index(own.get("simulation_index"), context)
    for row, part in enumerate(context.source.parts, start=1):
        with context.open(part) as stream:
            cursor = Cursor(stream, file=part.name, max_record=context.options.max_record)
            value = cursor.value()
            cursor.end()
        yield from _built(value, row, context, _domain(info), part.name)


def _check_index(index: Any, context: Context) -> None:
    """Refuse a folder whose files are not those of its index."""
    if not isinstance(index, list):
        return
    listed = {str(entry.get("id")) for entry in index if isinstance(entry, dict)}
    there = {part.filename.removesuffix(".json") for part in context.source.parts}
    for names, what in ((listed - there, "missing in"), (there - listed, "more than listed for")):
        if names:
            raise InputError(
                f"{len(names)} simulation files are {what} the folder simulations/, "
                f"for instance {min(names)!r:.80}",
                file=context.source.name,
                field="simulation_index",
            )


def _find_info(context: Context) -> Any:
    """The ``info`` object, where it stands behind the simulations."""
    with context.source.open() as stream:
        cursor = context.cursor(stream)
        for key in cursor.members():
            if key == "info":
                return cursor.value()
            cursor.skip()
    return None


def _domain(info: Any) -> str | None:
    environment = info.get("environment_info") if isinstance(info, dict) else None
    name = environment.get("domain_name") if isinstance(environment, dict) else None
    return name if isinstance(name, str) else None


def _rows(cursor: Cursor, context: Context, domain: str | None) -> Iterator[Session]:
    for row in cursor.elements():
        yield from _built(cursor.value(), row, context, domain)


def _built(
    value: Any, row: int, context: Context, domain: str | None, file: str | None = None
) -> Iterator[Session]:
    try:
        session = _session(value, row, context, domain)
    except BadField as bad:
        context.notes.add_problem(bad.at(file or context.source.name, None if file else row))
        return
    if session is not None:
        yield session


def _session(value: Any, row: int, context: Context, found: str | None) -> Session | None:
    record = record_of(value)
    messages = record.get("messages", MISSING)
    termination = text(record, "termination_reason")
    if messages is MISSING and termination not in INFRASTRUCTURE and "ticks" not in record:
        raise BadField("messages", "is missing: a tau2 simulation has its messages there")
    domain = context.domain(found or text(record, "domain"))
    task_id, trial = text_id(record, "task_id"), text_id(record, "trial")
    session_id, key = array_identity(domain, task_id, trial, text_id(record, "id"))
    reward = _reward(record)
    where, ticks = "messages", record.get("ticks")
    if ticks is None and is_flattened(messages):
        ticks = ticks_of(messages)
    elif ticks is not None:
        where = "ticks"
    if ticks and (messages is None or messages is MISSING or is_flattened(messages)):
        context.guess("session: spoken chunks of a full-duplex run put together")
        messages = utterances(ticks, where)
    lost = messages is None or messages is MISSING
    turns = () if lost else conversation(messages, where, context)
    if key is not None:
        run = context.run_of(key, trial, messages, DUPLICATE)
        if run is None:
            return None
        (trial,) = run
    status, reason = _status(termination, where, lost, turns == () and not lost and not messages)
    return Session(
        session_id=session_id,
        turns=turns,
        simulator=context.label,
        domain=domain,
        task_id=task_id,
        trial=trial,
        layout=NAME,
        outcome=Outcome(reward=reward, termination=termination),
        status=status,
        status_reason=reason,
        error_tags=error_tags(record, termination),
        row=row,
        meta={name: found for name, found in record.items() if name not in _TAKEN},
    )


def _status(
    termination: str | None, where: str, lost: bool, empty: bool
) -> tuple[SessionStatus, str | None]:
    if termination in INFRASTRUCTURE:
        return "infrastructure_error", termination
    if lost:
        return "failed", "messages is null"
    if empty:
        return "failed", f"{where} holds no words" if where == "ticks" else "messages is empty"
    return "ok", None


def _reward(record: dict[str, Any]) -> float | None:
    info = record.get("reward_info")
    if info is None:
        return number(record.get("reward"), "reward")
    if not isinstance(info, dict):
        raise BadField("reward_info", f"must be an object or null, not {kind(info)}")
    return number(info.get("reward"), "reward_info.reward")
