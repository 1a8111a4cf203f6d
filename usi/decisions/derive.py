"""A verdict decided once more from its scorecard and criteria: it must come out the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from usi._version import __version__
from usi.decisions.criteria import Criteria
from usi.decisions.decide import gate_scorecard
from usi.decisions.expiry import end_of
from usi.decisions.regression import version_checks
from usi.decisions.sums_check import Mismatch
from usi.decisions.verdict import Check, SimulatorVerdict, Verdict
from usi.errors import UsageError
from usi.provenance.digest import digest_of
from usi.provenance.record import sha256_file
from usi.reasons import BASELINE_NOT_FOUND, DECIDED_ELSEWHERE, Reason
from usi.scoring.scorecard import Scorecard

_WORDS = ("baseline", "anchor")


def is_on(verdict: Verdict, card: Scorecard) -> bool:
    """Whether a verdict is on this very scorecard."""
    return verdict.scorecard_digest == digest_of(card.model_dump(mode="json"))


def check_verdict(
    verdict: Verdict, card: Scorecard, scorecard: str | Path, *, file: str
) -> tuple[Reason, ...]:
    """Decide again, and refuse a verdict that says otherwise.

    Parameters
    ----------
    verdict
        On this card (`is_on`).
    card, scorecard
        The scorecard and its file; baseline and anchor are looked for in the same folder.
    file
        Name of the verdict's file, for messages.

    Returns
    -------
    tuple of Reason
        What could not be decided again.

    Raises
    ------
    Mismatch
        Where criteria and fingerprint, or verdict and decision, do not belong together.
    """
    if verdict.usi_version != __version__:
        return (DECIDED_ELSEWHERE(version=verdict.usi_version),)
    try:
        criteria = Criteria.model_validate(verdict.criteria)
    except ValidationError as error:
        raise Mismatch("these are no criteria of usi", file=file, field="criteria") from error
    _same(file, "criteria_fingerprint", verdict.criteria_fingerprint, criteria.fingerprint)
    _same(file, "criteria_label", verdict.criteria_label, criteria.label)
    _same(file, "signature", verdict.signature, card.signature)
    _same(file, "synthetic", verdict.synthetic, card.synthetic)
    expires, _ = end_of(criteria.max_age_days, verdict.scored, card.human.expires)
    _same(file, "expires", verdict.expires, expires)
    names = [part.name for part in verdict.simulators]
    held = len(card.simulators) + len(card.refused)
    if len(names) not in (1, held):
        raise Mismatch(
            f"the verdict is on {len(names)} simulators, the scorecard holds {held}",
            file=file,
            field="simulators",
        )
    asked = criteria
    if not any(c.id == "max_age_days" for part in verdict.simulators for c in part.checks):
        asked = criteria.model_copy(update={"max_age_days": None})
    more, doubts = _elsewhere(verdict, card, scorecard, criteria)
    try:
        again = gate_scorecard(
            card,
            asked,
            verdict.as_of,
            scored_on=verdict.scored,
            simulator=names[0] if len(names) == 1 < held else None,
            more=more,
            doubts=verdict.unverified,
        )
    except UsageError as error:
        raise Mismatch(f"nothing can be decided again: {error}", file=file) from error
    for field in ("verdict", "exit_code", "decided_by"):
        _same(file, field, getattr(verdict, field), getattr(again, field))
    for row, (said, is_so) in enumerate(zip(verdict.simulators, again.simulators, strict=True)):
        for field, one, two in _told(said, is_so):
            _same(file, f"simulators.{row}.{field}", one, two)
    return doubts


def _told(said: SimulatorVerdict, is_so: SimulatorVerdict) -> list[tuple[str, Any, Any]]:
    """Field by field what two verdicts on one simulator say."""
    fields = ("name", "signature", "verdict", "decided_by")
    found = [(field, getattr(said, field), getattr(is_so, field)) for field in fields]
    return [*found, ("checks", _numbers(said), _numbers(is_so))]


def _numbers(part: SimulatorVerdict) -> list[dict[str, Any]]:
    told = {"id", "rule", "state", "value", "low", "high", "threshold", "overrides"}
    return [check.model_dump(mode="json", include=told) for check in part.checks]


def _same(file: str, field: str, said: object, is_so: object) -> None:
    if said != is_so:
        told = "" if isinstance(said, list) else f" ({said!s:.60} against {is_so!s:.60})"
        raise Mismatch(
            f"decided again from the scorecard and the criteria it is otherwise{told}: the "
            "verdict was not made by usi gate from them",
            file=file,
            field=field,
        )


def _elsewhere(
    verdict: Verdict, card: Scorecard, scorecard: str | Path, criteria: Criteria
) -> tuple[list[Check], tuple[Reason, ...]]:
    """Checks that do not follow from the scorecard: identity, and versions accepted before."""
    own = verdict.simulators[0]
    more = [check for check in own.checks if check.id == "identity"]
    told = [c for c in own.checks if c.id.partition(".")[0] in _WORDS]
    if not criteria.regression.asked:
        return [*more, *told], ()
    files, doubts = {}, []
    for word in _WORDS:
        name = getattr(criteria.regression, word)
        if name is None:
            continue
        path = Path(scorecard).parent / Path(name).name
        if path.is_file() and sha256_file(path) == getattr(criteria.regression, f"{word}_sha256"):
            files[word] = path
        else:
            doubts.append(BASELINE_NOT_FOUND(word=word, file=Path(name).name))
    if doubts:
        return [*more, *told], tuple(doubts)
    simulator = own.name if len(card.simulators) > 1 else None
    again, _ = version_checks(
        scorecard, card, simulator, files, criteria.regression, as_of=verdict.as_of
    )
    return [*more, *again], ()
