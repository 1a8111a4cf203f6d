"""The tau-usi layout: one JSON object, session id to entry (people and ``eval_results_*``).

Source of the layout: arXiv 2603.11245 and its public scorer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from usi.loading.context import Context
from usi.loading.fields import BadField, number, record_of, survey_of, text
from usi.loading.reader import About, carries
from usi.loading.sample import LOOKED_AT, Sample
from usi.loading.times import timed_turns
from usi.records import MISSING, Outcome, Session

NAME = "tau-usi"
ABOUT = About(
    holds="object of id -> session; human batches by _ann2/_ann3, runs by _1/_2/_3",
    carries=carries("agent", "task", "run", "outcome", "survey"),
    lacks="tool calls; who took part",
    follows="arXiv 2603.11245 and its public scorer",
    version="public scorer at df47a212",
    told_by="an object whose values hold `conversation`",
)
_DOMAIN = re.compile(r"(airline|retail|telecom)_")
_TAKEN = ("conversation", "survey", "reward", "keep", "termination_reason")


def recognise(sample: Sample) -> bool:
    """An object among whose first members is a conversation."""
    return any("conversation" in member.fields for member in islice(sample.outline, LOOKED_AT))


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the file; of a repeated key the last one, as Python reads it."""
    left = _count_keys(context)
    with context.open() as stream:
        cursor = context.cursor(stream)
        for row, key in enumerate(cursor.members(), start=1):
            left[key] -= 1
            if left[key]:
                cursor.skip()
                context.leave_out("session: key repeated in the file (the last one counts)")
                continue
            value = cursor.value()
            session = context.build(lambda k=key, v=value, r=row: _session(k, v, r, context), row)  # type: ignore[misc]
            if session is not None:
                yield session
        cursor.end()


def _count_keys(context: Context) -> Counter[str]:
    """How often every key occurs: a first pass, which looks at no value."""
    counts: Counter[str] = Counter()
    with context.source.open() as stream:
        cursor = context.cursor(stream)
        for key in cursor.members():
            counts[key] += 1
            cursor.skip()
    return counts


def _session(key: str, value: Any, row: int, context: Context) -> Session | None:
    if not context.is_new(("id", key), "session: duplicate id"):
        return None
    try:
        entry = record_of(value)
        conversation = entry.get("conversation", MISSING)
        lost = conversation is None or conversation is MISSING
        match = _DOMAIN.match(key)
        found = text(entry, "domain") or text(entry, "env_name") or (match[1] if match else None)
        return Session(
            session_id=key,
            turns=() if lost else timed_turns(conversation, "conversation", context),
            simulator=context.label,
            domain=context.domain(found),
            layout=NAME,
            keep=entry.get("keep", MISSING),
            outcome=Outcome(
                reward=number(entry.get("reward"), "reward"),
                termination=text(entry, "termination_reason"),
            ),
            survey=survey_of(entry.get("survey")),
            status="failed" if lost else "ok",
            status_reason="no conversation" if lost else None,
            row=row,
            meta={name: found for name, found in entry.items() if name not in _TAKEN},
        )
    except BadField as bad:
        raise BadField(".".join(filter(None, (key, bad.field))), bad.message) from None
