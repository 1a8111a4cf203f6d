"""From the file of a study to a human corpus that ``usi score --human`` takes."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from usi.corpora.manifest import DATASHEET, TO_FILL, Manifest, datasheet
from usi.corpora.redact import Redactor
from usi.corpora.resolve import resolve
from usi.curation.add import write_manifest
from usi.curation.quality import quality
from usi.errors import NotScorable, UsageError
from usi.provenance.record import sha256_file
from usi.report.tables import csv_text
from usi.scoring.people import counts_of, read_people_of
from usi.simulate.calls import Usage
from usi.simulate.episode import Cell, Episode
from usi.simulate.protocol import Grade, Mismatch, Violation
from usi.simulate.sessions import Record, lines_of, session_record, write_whole
from usi.study.agents import grade_of
from usi.study.database import Connection
from usi.study.status import TalkRow, talk_rows
from usi.study.study import Running

SESSIONS, LEFT_OUT, QUALITY, DESIGN = (
    "sessions.jsonl", "left_out.csv", "quality.json", "design.json"
)  # fmt: skip


@dataclass(frozen=True)
class Exported:
    """A corpus that was written: how many sessions, how many talks it leaves out, warnings."""

    folder: Path
    sessions: int
    left_out: int
    warnings: tuple[str, ...]


def export_corpus(
    running: Running, folder: Path, *, redacted: bool = False, force: bool = False
) -> Exported:
    """Write a human corpus.

    ``sessions.jsonl`` holds every talk that ended and was not left out, with the times of its
    messages; ``left_out.csv`` every other talk with the reason; ``design.json`` what the tasks
    stand for; ``quality.json`` the quality report; and there are manifest and datasheet.

    Parameters
    ----------
    running
        The study; it may be served meanwhile.
    folder
        Made; it may exist where it holds an earlier export.
    redacted
        Replace what looks like personal data.
    force
        Write into a folder that holds something else.

    Raises
    ------
    UsageError
        Where nothing has ended yet, or the folder holds something else.
    """
    db = running.database.read()
    db.execute("begin")  # one state of the file, whatever happens meanwhile
    try:
        rows = talk_rows(db, running)
        kept = sorted(
            (row for row in rows if row.state == "done" and row.excluded is None),
            key=lambda row: (row.batch, list(running.strata).index(row.task)),
        )
        records = [_record(db, running, row) for row in kept]
        withdrawn = _withdrawn(db)
    finally:
        db.execute("commit")
    if not records:
        raise UsageError("no talk has ended yet: there is nothing to export")
    _check_folder(folder, force=force)
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        done = _write(running, building, records, rows, withdrawn, redacted=redacted)
        folder.mkdir(exist_ok=True)
        for path in building.iterdir():
            if path.name == DATASHEET and (folder / DATASHEET).exists():
                continue  # people fill it in
            path.replace(folder / path.name)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    left = [row for row in rows if row.state != "done" or row.excluded is not None]
    return Exported(folder, len(records), len(left), done)


def _check_folder(folder: Path, *, force: bool) -> None:
    if folder.is_dir() and any(folder.iterdir()) and not force:
        ours = (folder / DESIGN).is_file() and (folder / SESSIONS).is_file()
        if not ours:
            raise UsageError(f"{folder} holds something else: choose another -o, or --force")


def _write(
    running: Running,
    home: Path,
    records: list[Record],
    rows: Sequence[TalkRow],
    withdrawn: int,
    *,
    redacted: bool,
) -> tuple[str, ...]:
    write_whole(home / SESSIONS, lines_of(records))
    warnings: list[str] = []
    if redacted:
        warnings.append(_redact(home))
    write_whole(home / LEFT_OUT, _left_out(rows).encode("utf-8"))
    design = design_of(running, records)
    write_whole(home / DESIGN, (json.dumps(design, indent=2) + "\n").encode("utf-8"))
    manifest = _manifest(running, records, design)
    write_manifest(home, manifest)
    reference = resolve(home)
    manifest = manifest.model_copy(
        update={
            "counts": counts_of(read_people_of(reference).tables[""]),
            "sha256": {name: sha256_file(home / name) for name in (DESIGN, LEFT_OUT, SESSIONS)},
        }
    )
    write_manifest(home, manifest)
    try:
        found = quality(resolve(home))
        write_whole(home / QUALITY, found.to_json().encode("utf-8"))
        warnings += found.warnings
    except NotScorable as error:
        warnings.append(f"no quality report yet: {error}")
    if (home / QUALITY).exists():
        sums = {**manifest.sha256, QUALITY: sha256_file(home / QUALITY)}
        write_manifest(home, manifest.model_copy(update={"sha256": dict(sorted(sums.items()))}))
    sheet = _sheet(running, manifest, rows, withdrawn, design)
    write_whole(home / DATASHEET, sheet.encode("utf-8"))
    return tuple(warnings)


def _record(db: Connection, running: Running, row: TalkRow) -> Record:
    """One session, as `usi.simulate` writes them, with times and how messages were typed."""
    task = running.by_id[row.task]
    talk = db.execute(
        "select talk.*, participant.consent_version, participant.consent_sha256, "
        "participant.background from talk join participant on "
        "participant.id = talk.participant where talk.id = ?",
        (row.id,),
    ).fetchone()
    stored = db.execute("select * from message where talk = ? order by seq", (row.id,)).fetchall()
    messages = [json.loads(message["body"]) for message in stored]
    grade = _grade(talk["grade"]) if talk["grade"] else grade_of(running, task, messages)
    survey = json.loads(talk["survey"]) if talk["survey"] else None
    if survey is None and running.instrument is not None:
        survey = {question.item: None for question in running.instrument.questions}
    record = session_record(
        Episode(
            messages,
            talk["termination"],
            grade=grade,
            survey=survey,
            usage=Usage(talk["cost"], talk["tokens_in"], talk["tokens_out"], talk["calls"]),
        ),
        Cell(task, row.batch, row.batch, running.place.study.design.seed + row.batch),
        simulator="",
        user="",
        agent=talk["agent"],
        domain=running.domain.name,
        synthetic=running.trial,
        policy=running.place.study.policy,
        batch=row.batch,
        participant=row.participant,
    )
    for message, kept in zip(record["messages"], stored, strict=True):
        message["time"] = _time(kept["at"])
    said = [message for message in stored if message["role"] == "user"]
    record["metadata"] |= {
        "consent": True,
        "consent_version": talk["consent_version"],
        "consent_sha256": talk["consent_sha256"],
        "typing_ms": [message["typing_ms"] for message in said],
        "pastes": sum(message["pastes"] or 0 for message in said),
        "pasted_characters": sum(message["pasted_characters"] or 0 for message in said),
        "left_page": sum(message["hidden"] or 0 for message in said),
        "flags": {flag.kind: flag.value for flag in row.flags},
    }
    if talk["background"]:
        record["metadata"]["background"] = json.loads(talk["background"])
    return record


def _grade(text: str) -> Grade:
    data = json.loads(text)
    return Grade(
        data["reward"],
        data["label"],
        tuple(Violation(**violation) for violation in data["violations"]),
        tuple(Mismatch(**finding) for finding in data["triage"]),
    )


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _withdrawn(db: Connection) -> int:
    row = db.execute("select count(*) n from participant where state = 'withdrawn'").fetchone()
    return int(row["n"])


def _redact(home: Path) -> str:
    from usi.loading import open_sessions
    from usi.loading.write import write_usi_jsonl

    redactor = Redactor()
    whole, part = home / SESSIONS, home / f".{SESSIONS}"
    write_usi_jsonl((redactor.session(s) for s in open_sessions([whole])), part)
    part.replace(whole)
    replaced = ", ".join(f"{n} {kind}" for kind, n in sorted(redactor.counts.items()))
    return f"redacted: {replaced or 'nothing was found'}; no rule finds every name"


_COLUMNS = ("talk", "participant", "task", "batch", "turns", "why", "detail")


def _left_out(rows: Sequence[TalkRow]) -> str:
    """Every talk that is not in the corpus, and why."""
    left_out: list[tuple[object, ...]] = []
    for row in sorted(rows, key=lambda row: row.id):
        if row.state == "done" and row.excluded is None:
            continue
        why = "excluded" if row.excluded is not None else row.state
        detail = row.excluded or row.termination or ""
        left_out.append((row.id, row.participant, row.task, row.batch, row.turns, why, detail))
    return csv_text(_COLUMNS, left_out)


def design_of(running: Running, records: Sequence[Record]) -> dict[str, Any]:
    """What the tasks stand for: each stratum's tasks in all, in the study, and its sessions.

    ``weight`` is the number of tasks of the population that one task of the study stands for.
    """
    everything = Counter(running.stratum(task) for task in running.population)
    chosen = Counter(running.strata.values())
    sessions = Counter(running.strata[record["task_id"]] for record in records)
    design = running.place.study.design
    return {
        "domain": running.domain.name,
        "agent": running.agent_name,
        "tasks": list(running.strata),
        "people_per_task": design.people_per_task,
        "tasks_per_person": design.tasks_per_person,
        "seed": design.seed,
        "survey": None if running.instrument is None else running.instrument.tag,
        "survey_language": None if running.survey is None else running.survey.language or None,
        "strata": {
            name: {
                "population": everything[name],
                "study": chosen[name],
                "sessions": sessions[name],
                "weight": round(everything[name] / chosen[name], 6) if chosen[name] else None,
            }
            for name in sorted(everything)
        },
    }


def sample_text(design: Mapping[str, Any], domain: str) -> str | None:
    """Which tasks of the domain were in a study, by stratum; ``None`` where all were."""
    strata = design["strata"]
    chosen, everything = (sum(p[key] for p in strata.values()) for key in ("study", "population"))
    if chosen == everything:
        return None
    parts = ", ".join(f"{n} {p['study']} of {p['population']}" for n, p in strata.items())
    return f"{chosen} of {everything} of {domain} ({parts})"


def _manifest(running: Running, records: Sequence[Record], design: dict[str, Any]) -> Manifest:
    study, facts = running.place.study, running.place.study.corpus
    days = sorted(message["time"][:10] for record in records for message in record["messages"])
    strata = ", ".join(
        f"{name}: {part['study']} of {part['population']} tasks"
        for name, part in design["strata"].items()
    )
    survey = (
        f"; survey {design['survey']}, shown in {design['survey_language'] or study.language}"
        if design["survey"]
        else ""
    )
    return Manifest(
        name=facts.name,
        title=facts.title or study.title,
        synthetic=running.trial,
        licence=facts.licence,
        terms=facts.terms,
        redistribute=facts.redistribute,
        research_only=facts.research_only,
        source=study.institution or None,
        citation=facts.citation,
        language=study.language,
        channel="chat",
        collected=days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}",
        protocol=(
            f"usi study: {study.design.people_per_task} people on each task, up to "
            f"{study.design.tasks_per_person} tasks a person; {strata}; consent version "
            f"{study.consent.version}{survey}"
        ),
        agent=running.agent_name,
        task_set=running.domain.name,
        task_sample=sample_text(design, running.domain.name),
        expires=facts.expires,
        sessions=SESSIONS,
        survey_design="same-transcript" if running.instrument is not None else None,
    )


def _sheet(
    running: Running,
    manifest: Manifest,
    rows: Sequence[TalkRow],
    withdrawn: int,
    design: dict[str, Any],
) -> str:
    """The datasheet, with what the file of the study knows filled in."""
    reasons = Counter(
        "left out by the owner" if row.excluded is not None else _WHY.get(row.state, row.state)
        for row in rows
        if row.state != "done" or row.excluded is not None
    )
    told = "; ".join(f"{n} talks {why}" for why, n in sorted(reasons.items())) or "nothing"
    strata = "; ".join(
        f"{name}: {part['study']} of {part['population']} tasks, {part['sessions']} sessions"
        for name, part in design["strata"].items()
    )
    known = {
        "What was left out before, and by which rule?": (
            f"{told}; {withdrawn} people withdrew and their data were deleted. "
            f"Each talk with its reason: {LEFT_OUT}"
        ),
        "Were people shown an opening or other words that they may have copied?": (
            "the instruction of the task; it can't be selected on the page, and talks that copy "
            "it are flagged"
        ),
        "What did they agree to, and can they withdraw?": (
            f"consent text version {running.place.study.consent.version}, SHA-256 "
            f"{running.place.consent_sha256}; they could withdraw at any time"
        ),
    }
    text = datasheet(manifest)
    for question, answer in known.items():
        text = text.replace(f"- {question} {TO_FILL}", f"- {question} {answer}")
    return f"{text}\n## Tasks\n\n{strata} ({DESIGN}).\n"


_WHY = {
    "open": "under way",
    "survey": "without a survey yet",
    "returned": "left in the middle",
    "infrastructure": "broken off by a fault of the agent",
}
