"""tau-bench results: a list of runs with ``traj``, or ``{metrics, results}`` around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from usi.loading.context import Context
from usi.loading.fields import BadField, number, record_of, text, text_id
from usi.loading.jsonstream import Cursor
from usi.loading.messages import conversation
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.records import MISSING, Outcome, Session

NAME = "tau-bench"
ABOUT = About(
    holds="array of runs with traj, also {metrics, results}",
    carries=carries("agent", "tools", "task", "run", "outcome"),
    lacks="surveys; system prompts and tool results are set aside",
    follows="tau-bench, its result files",
    version="commit 59a200c",
    told_by="`traj` in the first elements",
)
_TAKEN = ("task_id", "trial", "reward", "traj")
DUPLICATE = "session: duplicate task and trial"


def recognise(sample: Sample) -> bool:
    """Runs with ``traj``, in an array or below ``results``."""
    return any(isinstance(run, dict) and "traj" in run for run in sample.elements) or any(
        "traj" in run for member in sample.outline for run in member.elements
    )


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the file."""
    with context.open() as stream:
        cursor = context.cursor(stream)
        if cursor.peek() == b"{":
            for key in cursor.members():
                if key == "results" and cursor.peek() == b"[":
                    yield from _rows(cursor, context)
                else:
                    cursor.skip()
        else:
            yield from _rows(cursor, context)
        cursor.end()


def _rows(cursor: Cursor, context: Context) -> Iterator[Session]:
    for row in cursor.elements():
        value = cursor.value()
        session = context.build(lambda v=value, r=row: _session(v, r, context), row)  # type: ignore[misc]
        if session is not None:
            yield session


def array_identity(
    domain: str, task_id: str | None, trial: str | None, own: str | None
) -> tuple[str, tuple[Any, ...] | None]:
    """Session id and duplicate key of a row of a result list.

    The id is ``{domain}_{task_id}`` (the trial stands in its own field), else the row's own id,
    else empty (the stream names such sessions by their content). Rows of the same task and trial
    have the same key; without a trial rows of the same own id do.
    """
    if task_id is None:
        return (own, ("own", own)) if own is not None else ("", None)
    session_id = task_id if task_id.startswith(f"{domain}_") else f"{domain}_{task_id}"
    if trial is None and own is not None:
        return session_id, ("own", own)
    return session_id, ("task", domain, task_id, trial)


def _session(value: Any, row: int, context: Context) -> Session | None:
    record = record_of(value)
    traj = record.get("traj", MISSING)
    error = _error(record.get("info"))
    if traj is MISSING and error is None:
        raise BadField("traj", "is missing: a tau-bench run has its messages there")
    domain = context.domain(text(record, "domain") or text(record, "env"))
    task_id, trial = text_id(record, "task_id"), text_id(record, "trial")
    session_id, key = array_identity(domain, task_id, trial, text_id(record, "id"))
    reward = number(record.get("reward"), "reward")
    turns = () if traj is None or traj is MISSING else conversation(traj, "traj", context)
    reason = error or ("traj is empty" if not traj else None)
    if key is not None:
        run = context.run_of(key, trial, traj, DUPLICATE)
        if run is None:
            return None
        (trial,) = run
    return Session(
        session_id=session_id,
        turns=turns,
        simulator=context.label,
        domain=domain,
        task_id=task_id,
        trial=trial,
        layout=NAME,
        outcome=Outcome(reward=reward),
        status="failed" if reason else "ok",
        status_reason=reason,
        row=row,
        meta={name: found for name, found in record.items() if name not in _TAKEN},
    )


def _error(info: Any) -> str | None:
    """First line of the error that a failed run carries."""
    error = info.get("error") if isinstance(info, dict) else None
    if error is None or error == "":
        return None
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else "error"
