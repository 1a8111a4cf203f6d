"""Admission records: what a gate said about a simulator, on which numbers, and until when.

A verdict file beside a scorecard becomes a record where it is on the very numbers of that
scorecard: the same name, signature and values. A verdict on other numbers says nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from usi.errors import InputError
from usi.estimate import Estimate
from usi.gate.age import scored_on
from usi.gate.design import parse_date
from usi.gate.verdict import Check, Verdict
from usi.score.scorecard import Scorecard, SimulatorCard

_MARK = b'"criteria_fingerprint"'
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
    """

    file: str
    verdict: str
    criteria: str
    fingerprint: str
    decided: str | None
    scored: str | None
    expires: str | None
    reason: str
    expired: bool | None


def find_verdicts(paths: Sequence[str | Path]) -> list[tuple[str, Verdict]]:
    """Verdict files of folders, and beside scorecards that are named, sorted by name."""
    folders = {path if path.is_dir() else path.parent for path in map(Path, paths)}
    found = []
    for file in sorted(file for folder in folders for file in folder.glob("*.json")):
        if file.is_file() and _MARK in file.read_bytes():
            try:
                found.append((file.name, Verdict.read(file)))
            except InputError:
                continue
    return found


def admissions(
    scorecard: str | Path,
    card: Scorecard,
    simulator: SimulatorCard,
    verdicts: Iterable[tuple[str, Verdict]],
    *,
    as_of: str | None = None,
) -> tuple[Admission, ...]:
    """Records on one simulator of a scorecard.

    Parameters
    ----------
    scorecard
        Its file; the run record beside it says when it was scored.
    verdicts
        Name of the file and verdict, from `find_verdicts`.
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
    found = []
    scored: str | None = None
    asked = False
    for name, verdict in verdicts:
        if not _is_on(verdict, card, simulator):
            continue
        if not asked:
            scored, asked = scored_on(scorecard), True
        own = next(part for part in verdict.simulators if part.name == simulator.name)
        end, reason = _end(verdict.criteria.get("max_age_days"), scored, card.human.expires)
        found.append(
            Admission(
                file=name,
                verdict=own.verdict,
                criteria=verdict.criteria_label,
                fingerprint=verdict.criteria_fingerprint,
                decided=verdict.as_of,
                scored=scored,
                expires=None if end is None else end.isoformat(),
                reason=reason,
                expired=None if end is None or today is None else today >= end,
            )
        )
    return tuple(found)


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


def _end(age: int | None, scored: str | None, corpus: str | None) -> tuple[date | None, str]:
    """The earlier of two ends: the scorecard's age, and the corpus' own."""
    ends: list[tuple[date, str]] = []
    if age is not None and scored is not None:
        # An age of exactly max_age_days still passes, so the day after it is the first without.
        day = date.fromisoformat(scored) + timedelta(days=age + 1)
        ends.append((day, f"the criteria let a scorecard be {age} days old"))
    if corpus is not None:
        ends.append((date.fromisoformat(corpus), "the human corpus expires"))
    if ends:
        return min(ends)
    if age is not None:
        return None, "no run record beside the scorecard says when it was scored"
    return None, "neither criteria (max_age_days) nor corpus set an end"
