"""The gate over a scorecard: one verdict, that of its worst simulator."""

from __future__ import annotations

from collections.abc import Sequence

from usi._version import __version__
from usi.errors import UsageError, unknown_name
from usi.gate.criteria import Criteria
from usi.gate.decide import decide
from usi.gate.log_keys import criteria_of
from usi.gate.verdict import Check, SimulatorVerdict, Verdict, exit_code, worst
from usi.score.scorecard import Scorecard


def gate_scorecard(
    card: Scorecard,
    criteria: Criteria,
    as_of: str | None = None,
    *,
    scored_on: str | None = None,
    simulator: str | None = None,
    more: Sequence[Check] = (),
    notes: Sequence[str] = (),
) -> Verdict:
    """Decide on the simulators of a scorecard.

    Parameters
    ----------
    card
        A scorecard of the profile ``robust``.
    criteria
        From `tier`, `read_criteria` or `resolve`.
    as_of, scored_on
        Day that counts for `max_age_days`, and day of scoring (from the run record).
    simulator
        Decide on this one alone; by default on all, and the worst verdict counts.
    more, notes
        Checks of the regression gate that decide along with these (one simulator then), and
        sentences to print with the verdict.

    Returns
    -------
    Verdict

    Raises
    ------
    UsageError
        No such simulator, no simulator at all, a scorecard without bounds, or an expiry rule
        without a day.
    """
    chosen = [part for part in card.simulators if simulator in (None, part.name)]
    if not chosen and simulator is not None:
        raise unknown_name("simulator", simulator, [part.name for part in card.simulators])
    if not chosen:
        raise UsageError("the scorecard holds no simulator, so there is nothing to gate")
    criteria = criteria_of(card, criteria)
    parts = [
        decide(card, part, criteria, as_of=as_of, scored_on=scored_on, more=more) for part in chosen
    ]
    warnings = list(notes)
    if len(parts) > 1 and criteria.family_size < len(parts):
        warnings.append(
            f"{len(parts)} candidates: where any that passes is accepted, set family_size = "
            f"{len(parts)}, or chance alone passes some"
        )
    return assemble(parts, criteria, card, as_of=as_of, warnings=warnings)


def assemble(
    parts: list[SimulatorVerdict],
    criteria: Criteria,
    card: Scorecard,
    *,
    as_of: str | None,
    warnings: list[str],
) -> Verdict:
    """Put verdicts on single simulators together: the worst counts."""
    outcome = worst([part.verdict for part in parts])
    code, note = exit_code(outcome, criteria.on_inconclusive)
    deciding = [part for part in parts if part.verdict == outcome]
    single = len(parts) == 1

    def named(name: str, text: str) -> str:
        return text if single else f"{name}: {text}"

    return Verdict(
        usi_version=__version__,
        verdict=outcome,
        exit_code=code,
        exit_code_note=note,
        decided_by=tuple(named(p.name, k) for p in deciding for k in p.decided_by),
        reasons=tuple(named(p.name, text) for p in deciding for text in p.reasons),
        needed=tuple(
            need if single else need.model_copy(update={"text": named(p.name, need.text)})
            for p in deciding
            for need in p.needed
        ),
        criteria=criteria.model_dump(mode="json"),
        criteria_label=criteria.label,
        criteria_fingerprint=criteria.fingerprint,
        profile=card.profile,
        signature=card.signature,
        as_of=as_of,
        synthetic=card.synthetic,
        warnings=tuple(warnings),
        simulators=tuple(parts),
    )
