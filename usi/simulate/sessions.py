"""From an episode to a line of usi JSONL, and from the log of a run to its files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from usi._version import __version__
from usi.errors import UsageError
from usi.loading.formats.usi_jsonl import record_of_session
from usi.records import Outcome, Session, SurveyAnswer
from usi.simulate.episode import Cell, Episode, grade_fields

Record = dict[str, Any]
SURVEYS = "survey_data"


def session_record(
    episode: Episode,
    cell: Cell,
    *,
    simulator: str,
    user: str,
    agent: str,
    domain: str,
    synthetic: bool,
    policy: bool = True,
    batch: int | None = None,
    participant: str | None = None,
) -> Record:
    """The object of a session in usi JSONL.

    An episode that an infrastructure fault ended has its status, no reward, and what was said.
    """
    grade, broken = episode.grade, episode.infrastructure
    meta: dict[str, Any] = {
        "user_seed": cell.user_seed,
        "agent_seed": cell.agent_seed,
        "user": user,
        "difficulty": cell.task.difficulty,
        "kinds": list(cell.task.kinds),
        "policy": policy,
        "calls": episode.usage.calls,
        "tokens_in": episode.usage.tokens_in,
        "tokens_out": episode.usage.tokens_out,
        "cost_usd": round(episode.usage.cost, 8),
        "replies": dict(sorted(episode.defects.items())),
        "harness": __version__,
        "synthetic": synthetic,
    }
    if episode.agent_truncated:
        meta["agent_truncated"] = episode.agent_truncated
    if grade is not None:
        meta |= grade_fields(grade)
    meta = {name: value for name, value in meta.items() if value not in ("", None)}
    if not synthetic:
        del meta["synthetic"]
    survey = episode.survey
    session = Session(
        session_id=f"{domain}_{cell.task.id}_{cell.trial}",
        simulator=simulator,
        domain=domain,
        task_id=cell.task.id,
        trial=None if batch else str(cell.trial),
        batch=batch,
        outcome=Outcome(
            reward=None if grade is None or broken else float(grade.reward),
            label=None if grade is None or broken else grade.label,
            termination=episode.termination,
        ),
        survey=None if survey is None else tuple(SurveyAnswer(i, a) for i, a in survey.items()),
        participant=participant,
        agent=agent,
        status="infrastructure_error" if broken else "ok",
        status_reason=f"{episode.termination}: {episode.detail}" if broken else None,
        error_tags=None if simulator == "" else tuple(sorted(episode.defects)),
        meta=meta,
    )
    return {**record_of_session(session), "messages": [dict(m) for m in episode.messages]}


def times_file(bodies: Iterable[Mapping[str, Any]]) -> bytes:
    """Text of ``NAME.times.json``: by session, when each of its messages was said."""
    times = {body["session"]["id"]: body["times"] for body in bodies if body.get("times")}
    return (json.dumps(times, indent=0, sort_keys=True) + "\n").encode("ascii")


def lines_of(records: Iterable[Record]) -> bytes:
    """Bytes of usi JSONL; the same records give the same bytes."""
    out = []
    for record in records:
        text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
        try:
            out.append(text.encode("utf-8"))
        except UnicodeEncodeError:  # a lone surrogate has no UTF-8 and must be escaped
            out.append(json.dumps(record, separators=(",", ":")).encode("ascii"))
    return b"".join(line + b"\n" for line in out)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def survey_key(record: Mapping[str, Any]) -> str:
    """Key of a session in a survey file: the task, and from the second run on ``_ann2`` ...

    That is how the published layout names rounds (arXiv 2603.11245).
    """
    domain, task, trial = record["domain"], record["task_id"], int(record.get("trial") or 1)
    base = task if task.startswith(f"{domain}_") else f"{domain}_{task}"
    return base if trial == 1 else f"{base}_ann{trial}"


def answers(record: Mapping[str, Any]) -> Mapping[str, str | None] | None:
    """Survey answers of a record."""
    survey = record.get("survey")
    return survey if isinstance(survey, dict) else None
