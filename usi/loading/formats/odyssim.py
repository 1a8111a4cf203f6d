"""OdysSim ``*_task_results.json``: one object with ``results``, of which `conversation` is used.

Source of the layout: arXiv 2606.14199 and its public harness.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from usi.loading.context import Context
from usi.loading.fields import BadField, number, record_of, survey_of, text, text_id
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.loading.times import timed_turns
from usi.records import MISSING, Outcome, Session

NAME = "odyssim"
ABOUT = About(
    holds="*_task_results.json: {benchmark, results: [...]}",
    carries=carries("agent", "task", "run", "outcome", "survey"),
    lacks="tool calls as such (they are text of the agent); who took part",
    follows="arXiv 2606.14199 and its public harness",
    version="public harness at df47a212",
    told_by="`results` whose elements hold `conversation`",
)
_RUN_SUFFIX = re.compile(r"_\d+_\d+$")
_TAKEN = ("instance_id", "conversation", "chat", "survey", "reward", "keep", "termination_reason")


def recognise(sample: Sample) -> bool:
    """An object whose array ``results`` holds conversations."""
    return any(
        "conversation" in element or "chat" in element
        for member in sample.outline
        for element in member.elements
    )


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the file."""
    runs = _declared_runs(context)
    occurrences: Counter[str] = Counter()
    with context.open() as stream:
        cursor = context.cursor(stream)
        for key in cursor.members():
            if key != "results" or cursor.peek() != b"[":
                cursor.skip()
                continue
            for row in cursor.elements():
                value = cursor.value()
                session = context.build(
                    lambda v=value, r=row: _session(v, r, context, runs, occurrences),  # type: ignore[misc]
                    row,
                )
                if session is not None:
                    yield session
        cursor.end()


def _declared_runs(context: Context) -> int:
    """The ``n`` of the file: how many runs of a task it may hold; 1 where it says nothing."""
    with context.source.open() as stream:
        cursor = context.cursor(stream)
        for key in cursor.members():
            if key == "n":
                n = cursor.value()
                return n if isinstance(n, int) and n > 0 else 1
            cursor.skip()
    return 1


def _session(
    value: Any, row: int, context: Context, runs: int, occurrences: Counter[str]
) -> Session | None:
    record = record_of(value)
    found = record.get("conversation", MISSING)
    if found is MISSING:
        raise BadField("conversation", "is missing: an OdysSim result has its messages there")
    domain = context.domain(text(record, "domain") or text(record, "env_name"))
    index = text_id(record, "task_index")
    own = text_id(record, "instance_id")
    session_id = own or (f"{domain}_{index}" if index is not None else "")
    session = Session(
        session_id=session_id,
        turns=() if found is None else timed_turns(found, "conversation", context),
        simulator=context.label,
        domain=domain,
        trial=text_id(record, "trial"),
        layout=NAME,
        keep=record.get("keep", MISSING),
        outcome=Outcome(
            reward=number(record.get("reward"), "reward"),
            termination=text(record, "termination_reason"),
        ),
        survey=survey_of(record.get("survey")),
        status="failed" if not found else "ok",
        status_reason=None if found else "no conversation",
        row=row,
        meta={name: extra for name, extra in record.items() if name not in _TAKEN},
    )
    if not session_id:  # no id at all: the stream names it by its content
        return session
    # Ids may lack the run suffix: then the runs of a task are told apart by their order.
    occurrences[session_id] += 1
    if session.trial is None and runs > 1 and not _RUN_SUFFIX.search(session_id):
        if occurrences[session_id] <= runs:
            return replace(session, trial=str(occurrences[session_id]))
        context.leave_out("session: more runs of a task than the file declares")
        return None
    if not context.is_new(("id", session_id, session.trial), "session: duplicate id"):
        return None
    return session
