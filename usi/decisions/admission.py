"""Admission records: what a gate said about a simulator, on which numbers, and until when.

``usi submit`` writes one (``NAME.admission.json``); it is on the scorecard whose hash it names. A
verdict file beside a scorecard is one, too, where it is on the very numbers of that scorecard: the
same name, signature and values. A verdict on other numbers says nothing here.

When a scorecard was made: from the run record beside it, if that record is of this file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from usi.decisions.checks import parse_date
from usi.decisions.verdict import Check, Verdict
from usi.errors import InputError
from usi.estimate import Estimate
from usi.provenance.record import read_record, sha256_file
from usi.reasons import (
    ENDS_BY_AGE,
    ENDS_WITH_CORPUS,
    NO_END,
    NO_SCORING_DAY,
    Reason,
)
from usi.scoring.scorecard import Scorecard, SimulatorCard


def scored_on(scorecard: str | Path) -> str | None:
    """Day of scoring (``YYYY-MM-DD``), or ``None`` where no record vouches for this very file.

    Raises
    ------
    InputError
        Where there is a record that can't be read.
    """
    record = read_record(scorecard)
    return None if record is None else record.finished[:10]


_MARK = b'"criteria_fingerprint"'
_SUBMISSION = b'"scorecard_sha256"'
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Admission:
    """One verdict on one simulator.

    Attributes
    ----------
    file
        Name of the verdict's file.
    verdict, criteria, fingerprint
        What was said, by which criteria.
    decided
        Day that the gate was told (``--as-of``), where it was told one.
    scored
        Day of scoring, from the run record beside the scorecard; ``None`` without one.
    expires
        First day on which the record counts no more; ``None`` where nothing sets an end.
    reason
        What sets the end, or why nothing does.
    expired
        On the day that was asked for; ``None`` where no day was given or no end is set.
    submission
        File of the record that ``usi submit`` wrote, which binds the verdict to an identity.
    """

    file: str
    verdict: str
    criteria: str
    fingerprint: str
    decided: str | None
    scored: str | None
    expires: str | None
    reason: Reason
    expired: bool | None
    submission: str | None = None


@dataclass(frozen=True)
class Found:
    """What lies beside scorecards: verdicts, and records of ``usi submit``, by file name."""

    verdicts: tuple[tuple[str, Verdict], ...] = ()
    submissions: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def find_records(paths: Sequence[str | Path]) -> Found:
    """Verdicts and records of folders, and beside scorecards that are named, sorted by name."""
    folders = {path if path.is_dir() else path.parent for path in map(Path, paths)}
    verdicts: list[tuple[str, Verdict]] = []
    submissions: list[tuple[str, Mapping[str, Any]]] = []
    for file in sorted(file for folder in folders for file in folder.glob("*.json")):
        if not file.is_file() or _MARK not in (data := file.read_bytes()):
            continue
        if _SUBMISSION in data:
            record = _submission(data)
            submissions += [(file.name, record)] if record is not None else []
            continue
        try:
            verdicts.append((file.name, Verdict.read(file)))
        except InputError:
            continue
    return Found(tuple(verdicts), tuple(submissions))


def _submission(data: bytes) -> Mapping[str, Any] | None:
    """A record of ``usi submit``, where it has the texts that are told of it."""
    try:
        record = json.loads(data)
    except ValueError:
        return None
    needed = ("verdict", "criteria", "criteria_fingerprint", "scorecard_sha256")
    if isinstance(record, dict) and all(isinstance(record.get(key), str) for key in needed):
        return record
    return None


def admissions(
    scorecard: str | Path,
    card: Scorecard,
    simulator: SimulatorCard,
    found: Found,
    *,
    as_of: str | None = None,
) -> tuple[Admission, ...]:
    """Records on one simulator of a scorecard.

    Parameters
    ----------
    scorecard
        Its file; the run record beside it says when it was scored.
    found
        From `find_records`.
    as_of
        Day for which `expired` is told, ``YYYY-MM-DD``; no clock is asked.

    Raises
    ------
    InputError
        Where the run record can't be read.
    UsageError
        Where `as_of` is no date.
    """
    today = None if as_of is None else parse_date(as_of, "--as-of")
    verdicts = [(n, v) for n, v in found.verdicts if _is_on(v, card, simulator)]
    submissions = _submitted(scorecard, found) if len(card.simulators) == 1 else []
    if not verdicts and not submissions:
        return ()
    scored = scored_on(scorecard)

    def record(age: int | None, **told: Any) -> Admission:
        end, reason = _end(age, scored, card.human.expires)
        return Admission(
            **told,
            scored=scored,
            expires=None if end is None else end.isoformat(),
            reason=reason,
            expired=None if end is None or today is None else today >= end,
        )

    made = []
    for name, verdict in verdicts:
        own = next(part for part in verdict.simulators if part.name == simulator.name)
        one = record(
            verdict.criteria.get("max_age_days"),
            file=name,
            verdict=own.verdict,
            criteria=verdict.criteria_label,
            fingerprint=verdict.criteria_fingerprint,
            decided=verdict.as_of,
        )
        same = (one.verdict, one.fingerprint)
        binding = [item for item in submissions if _key(item[1]) == same]
        submissions = [item for item in submissions if _key(item[1]) != same]
        made.append(replace(one, submission=binding[0][0]) if binding else one)
    for name, data in submissions:
        day = data.get("as_of")
        made.append(
            record(
                None,
                file=name,
                verdict=data["verdict"],
                criteria=data["criteria"],
                fingerprint=data["criteria_fingerprint"],
                decided=day if isinstance(day, str) else None,
                submission=name,
            )
        )
    return tuple(made)


def _submitted(scorecard: str | Path, found: Found) -> list[tuple[str, Mapping[str, Any]]]:
    if not found.submissions:
        return []
    digest = sha256_file(scorecard)
    return [item for item in found.submissions if item[1]["scorecard_sha256"] == digest]


def _key(record: Mapping[str, Any]) -> tuple[str, str]:
    return record["verdict"], record["criteria_fingerprint"]


def _is_on(verdict: Verdict, card: Scorecard, simulator: SimulatorCard) -> bool:
    signature = simulator.signature or card.signature
    if verdict.signature != card.signature:
        return False
    for part in verdict.simulators:
        if part.name == simulator.name and part.signature == signature:
            return _same_numbers(part.checks, simulator)
    return False


def _same_numbers(checks: Iterable[Check], simulator: SimulatorCard) -> bool:
    """Whether every value that the checks tell is the scorecard's, and they tell one at all."""
    mine: dict[str, Estimate | None] = {"index": simulator.index, **simulator.components}
    mine["success_gap"] = simulator.success_gap
    told = [(check.value, mine[check.id]) for check in checks if check.id in mine]
    pairs = [(value, own) for value, own in told if value is not None]
    return bool(pairs) and all(
        own is not None and own.value is not None and abs(own.value - value) <= _TOLERANCE
        for value, own in pairs
    )


def _end(age: int | None, scored: str | None, corpus: str | None) -> tuple[date | None, Reason]:
    """The earlier of two ends: the scorecard's age, and the corpus' own."""
    ends: list[tuple[date, Reason]] = []
    if age is not None and scored is not None:
        # An age of exactly max_age_days still passes, so the day after it is the first without.
        day = date.fromisoformat(scored) + timedelta(days=age + 1)
        ends.append((day, ENDS_BY_AGE(days=age)))
    if corpus is not None:
        ends.append((date.fromisoformat(corpus), ENDS_WITH_CORPUS()))
    if ends:
        return min(ends, key=lambda end: end[0])
    if age is not None:
        return None, NO_SCORING_DAY()
    return None, NO_END()
