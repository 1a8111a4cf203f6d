"""The decision: pure functions from a scorecard and criteria to checks and a verdict.

PASS is an intersection-union test (Berger 1982): every part at 5 %, no correction. FAIL on any of
c minimums is corrected by Holm. What is neither is INCONCLUSIVE.

The gate over a scorecard: one verdict, that of its worst simulator.
"""

from __future__ import annotations

from collections.abc import Sequence

from usi._version import __version__
from usi.decisions.advice import needs
from usi.decisions.checks import (
    check_age,
    check_blind,
    check_c2st,
    check_copies,
    check_corpus,
    check_design,
    check_gaming,
    check_gap,
    check_left_out,
    check_scores,
    check_style,
    check_survey,
    check_tracking,
    check_tripwires,
    check_user_errors,
    check_verified,
)
from usi.decisions.criteria import Criteria
from usi.decisions.expiry import end_of
from usi.decisions.rules import TITLES, is_unpaired, rules_of
from usi.decisions.verdict import Check, Need, Outcome, SimulatorVerdict, Verdict, exit_code, worst
from usi.errors import UsageError, unknown_name
from usi.estimate import Estimate, with_bounds
from usi.provenance.digest import digest_of
from usi.reasons import (
    CARD_EDITED,
    DECIDES_NOTHING,
    HUMAN_BATCHES_SCORE,
    MIX_DECIDES_NOTHING,
    OF_SIMULATOR,
    PARTICIPANTS_UNKNOWN,
    PERFECT_WOULD_SCORE,
    REFERENCE_IS_OUTPUT,
    SEVERAL_CANDIDATES,
    TIGHTEST,
    Reason,
)
from usi.scoring.scorecard import Refused, Scorecard, SimulatorCard


def decide(
    card: Scorecard,
    simulator: SimulatorCard,
    criteria: Criteria,
    *,
    as_of: str | None = None,
    scored_on: str | None = None,
    more: Sequence[Check] = (),
    doubts: Sequence[Reason] = (),
) -> SimulatorVerdict:
    """Decide on one simulator of a scorecard.

    Parameters
    ----------
    card, simulator
        A scorecard with bounds (profile ``robust``) and one of its simulators.
    criteria
        Resolved criteria.
    as_of, scored_on
        Dates (``YYYY-MM-DD``) for `max_age_days`.
    more
        Checks from elsewhere (the regression gate) that decide along with these.
    doubts
        What kept the scorecard from being checked.

    Raises
    ------
    UsageError
        Where the scorecard has no bounds or another profile than the criteria ask for.
    """
    criteria = rules_of(card).criteria(card, criteria)
    require_bounds(card, simulator, criteria)
    checks = [
        *check_design(card, simulator, criteria),
        *check_verified(criteria, doubts),
        *check_age(criteria, as_of=as_of, scored_on=scored_on),
        *check_corpus(card, criteria, as_of=as_of),
        *check_left_out(card, simulator, criteria),
        *check_scores(simulator, criteria),
        *check_gap(card, simulator, criteria),
        *check_c2st(simulator, criteria),
        *check_tracking(simulator, criteria),
        *check_style(simulator, criteria),
        *check_copies(simulator),
        *check_user_errors(simulator, criteria),
        *check_blind(simulator, criteria),
        *check_survey(simulator, criteria),
        *check_tripwires(simulator, criteria),
        *check_gaming(simulator, criteria),
        *rules_of(card).more_checks(card, simulator, criteria),
        *more,
    ]
    checks = rules_of(card).revised(simulator, criteria, checks)
    if is_unpaired(simulator) and rules_of(card).has_script:
        checks = _open_where_tasks_differ(checks)
    checks = _open_where_overridden(checks)
    outcome = combine(checks)
    return SimulatorVerdict(
        name=simulator.name,
        signature=simulator.signature or card.signature,
        verdict=outcome,
        decided_by=_decided_by(outcome, checks),
        reasons=_reasons(outcome, checks),
        needed=needs(card, simulator, criteria, checks) if outcome == "INCONCLUSIVE" else (),
        checks=tuple(checks),
        context=_context(card, simulator),
    )


def combine(checks: Sequence[Check]) -> Outcome:
    """Verdict of a list of checks; one that overrides leaves no room for FAIL."""
    states = {check.state for check in checks}
    if any(check.overrides and check.state == "inconclusive" for check in checks):
        return "INCONCLUSIVE"
    if "fail" in states:
        return "FAIL"
    return "INCONCLUSIVE" if "inconclusive" in states else "PASS"


_VERSIONS = ("baseline.", "anchor.")
"""What ids of checks of the regression gate begin with."""
TASK_MIX = "task_mix"
"""Check that says why a distance decides nothing in an unpaired design."""
_NOT_BEHAVIOUR = ("outcome", "success_gap", "user_errors", "copies", "self_copies", "run_copies")
"""Checks that may fail whatever the tasks: success by stratum, errors, words of other people."""


def _open_where_tasks_differ(checks: list[Check]) -> list[Check]:
    """Behaviour on other tasks never fails: what the task asks for can't be told from the user."""
    far = [c.id for c in checks if c.state == "fail" and c.id not in _NOT_BEHAVIOUR]
    if not far:
        return checks
    mix = Check(
        id=TASK_MIX,
        rule="the same tasks on both sides, where a distance is to decide FAIL",
        state="inconclusive",
        found=MIX_DECIDES_NOTHING(checks=", ".join(far)),
    )
    opened = [
        check.model_copy(update={"state": "inconclusive"}) if check.id in far else check
        for check in checks
    ]
    return [mix, *opened]


def _open_where_overridden(checks: list[Check]) -> list[Check]:
    """Failing checks become open ones where the evidence itself decides nothing."""
    if not any(check.overrides and check.state == "inconclusive" for check in checks):
        return checks
    return [
        check.model_copy(
            update={"state": "inconclusive", "notes": (*check.notes, DECIDES_NOTHING())}
        )
        if check.state == "fail"
        else check
        for check in checks
    ]


def require_bounds(card: Scorecard, simulator: SimulatorCard, criteria: Criteria) -> None:
    """Refuse a scorecard that the gate can't use, with the way out."""
    name, _, version = criteria.profile.partition("@")
    have, _, have_version = card.profile.partition("@")
    if have != name or (version and have_version and version != have_version):
        raise UsageError(
            f"the criteria ask for the profile {criteria.profile}, this scorecard has "
            f"{card.profile}: score again with --profile {name}"
        )
    parts = [simulator.index, *simulator.components.values()]
    if any(part.ok for part in parts) and not any(
        part.ok and part.low is not None for part in parts
    ):
        raise UsageError(
            f"the scorecard (profile {card.profile}) has no bounds, and the gate decides on bounds "
            "alone: score again with --profile robust"
        )


def _decided_by(outcome: Outcome, checks: Sequence[Check]) -> tuple[str, ...]:
    if outcome == "FAIL":
        return tuple(check.id for check in checks if check.state == "fail")
    if outcome == "INCONCLUSIVE":
        open_ = [check for check in checks if check.state == "inconclusive"]
        over = [check.id for check in open_ if check.overrides]
        return tuple(over + [check.id for check in open_ if not check.overrides])
    margins = [
        (margin, check.id)
        for check in checks
        if check.state == "pass" and (margin := _margin(check)) is not None
    ]
    return (min(margins)[1],) if margins else ()


def _margin(check: Check) -> float | None:
    """By how many points a bound keeps to its limit, where both are points or shares of success."""
    if check.low is None or check.threshold is None:
        return None
    if check.id == "success_gap" and check.high is not None:
        return 100 * (check.threshold - max(-check.low, check.high))
    if check.id in TITLES or check.id.startswith("subgroup."):
        return check.low - check.threshold
    return None


def _reasons(outcome: Outcome, checks: Sequence[Check]) -> tuple[Reason, ...]:
    if outcome == "PASS":
        tightest = _decided_by(outcome, checks)
        return tuple(TIGHTEST(cause=c.told) for c in checks if c.id in tightest)
    wanted = "fail" if outcome == "FAIL" else "inconclusive"
    chosen = [check for check in checks if check.state == wanted]
    chosen.sort(key=lambda check: not check.overrides)
    return tuple(check.told for check in chosen)


def _context(card: Scorecard, simulator: SimulatorCard) -> tuple[Reason, ...]:
    """What a reader of the verdict must know, whatever it is."""
    lines: list[Reason] = []
    if not card.human.is_human:
        lines.append(REFERENCE_IS_OUTPUT())
    lines += [why for why in card.human.warnings if why.is_a(PARTICIPANTS_UNKNOWN)]
    lines += rules_of(card).context(simulator)
    ceiling = simulator.index.ceiling_at_n
    if ceiling is not None:
        lines.append(PERFECT_WOULD_SCORE(ceiling=ceiling))
    people = simulator.versus_humans
    if people is not None and people.value is not None:
        lines.append(batches_against(people))
    return tuple(lines)


def batches_against(versus: Estimate) -> Reason:
    """How far human batches score above (or below) a run, with the bounds.

    >>> batches_against(Estimate(value=31.0, low=28.04, high=34.0)).text[:54]
    'human batches score 31.0 [28.0, 34.0] points higher ag'
    """
    value, low, high, word = versus.value or 0.0, versus.low, versus.high, "higher"
    figures = with_bounds(value, low, high)
    if value < 0:
        word = "lower"
        ends = (None, None) if low is None or high is None else (-high, -low)
        figures = with_bounds(-value, *ends)
    return HUMAN_BATCHES_SCORE(figures=figures, word=word, value=value, low=low, high=high)


def gate_scorecard(
    card: Scorecard,
    criteria: Criteria,
    as_of: str | None = None,
    *,
    scored_on: str | None = None,
    simulator: str | None = None,
    more: Sequence[Check] = (),
    notes: Sequence[Reason] = (),
    doubts: Sequence[Reason] = (),
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
        what is to be told with the verdict.
    doubts
        What kept the scorecard from being checked, from `usi.decisions.evidence.read_evidence`.

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
    refused = [part for part in card.refused if simulator in (None, part.name)]
    if not chosen and not refused and simulator is not None:
        raise unknown_name("simulator", simulator, [part.name for part in card.simulators])
    if not chosen and not refused:
        raise UsageError("the scorecard holds no simulator, so there is nothing to gate")
    if criteria.regression.asked and not any(c.id.startswith(_VERSIONS) for c in more):
        raise UsageError(
            "the criteria name a version that was accepted before, and a comparison needs the "
            "scorecards as files: usi gate CARD --criteria FILE"
        )
    criteria = rules_of(card).criteria(card, criteria)
    parts = [
        decide(card, part, criteria, as_of=as_of, scored_on=scored_on, more=more, doubts=doubts)
        for part in chosen
    ]
    parts += [not_scored(card, part) for part in refused]
    warnings = [*notes, *(why for why in card.warnings if why.is_a(CARD_EDITED))]
    if len(parts) > 1 and criteria.family_size < len(parts):
        warnings.append(SEVERAL_CANDIDATES(candidates=len(parts)))
    return assemble(
        parts,
        criteria,
        card,
        as_of=as_of,
        scored_on=scored_on,
        warnings=warnings,
        doubts=doubts,
    )


def not_scored(card: Scorecard, refused: Refused) -> SimulatorVerdict:
    """The verdict on a simulator that could not be scored: nothing is known of it."""
    check = Check(
        id="scored", rule="it can be scored", state="inconclusive", found=refused.reason,
        overrides=True,
    )  # fmt: skip
    return SimulatorVerdict(
        name=refused.name,
        signature=card.signature,
        verdict="INCONCLUSIVE",
        decided_by=(check.id,),
        reasons=(refused.reason,),
        needed=(Need(part="scored", kind="data", text=refused.reason.text),),
        checks=(check,),
    )


def assemble(
    parts: list[SimulatorVerdict],
    criteria: Criteria,
    card: Scorecard,
    *,
    as_of: str | None,
    scored_on: str | None,
    warnings: Sequence[Reason],
    doubts: Sequence[Reason],
) -> Verdict:
    """Put verdicts on single simulators together: the worst counts."""
    outcome = worst([part.verdict for part in parts])
    expires, ends = end_of(criteria.max_age_days, scored_on, card.human.expires)
    code, note = exit_code(outcome, criteria.on_inconclusive)
    deciding = [part for part in parts if part.verdict == outcome]
    single = len(parts) == 1

    def named(name: str, text: str) -> str:
        return text if single else f"{name}: {text}"

    def told(name: str, reason: Reason) -> Reason:
        return reason if single else OF_SIMULATOR(name=name, cause=reason)

    return Verdict(
        usi_version=__version__,
        verdict=outcome,
        exit_code=code,
        exit_code_note=note,
        decided_by=tuple(named(p.name, k) for p in deciding for k in p.decided_by),
        reasons=tuple(told(p.name, reason) for p in deciding for reason in p.reasons),
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
        scorecard_digest=digest_of(card.model_dump(mode="json")),
        as_of=as_of,
        scored=None if scored_on is None else scored_on[:10],
        expires=expires,
        ends=ends,
        unverified=tuple(doubts),
        synthetic=card.synthetic,
        warnings=tuple(warnings),
        simulators=tuple(parts),
    )
