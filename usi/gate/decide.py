"""The decision: pure functions from a scorecard and criteria to checks and a verdict.

PASS is an intersection-union test (Berger 1982): every part at 5 %, no correction. FAIL on any of
c minimums is corrected by Holm. What is neither is INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from usi.errors import UsageError
from usi.gate.bounds import ALPHA, EPS, Bounded, bounded, holm
from usi.gate.criteria import GATED, Criteria, Minimum
from usi.gate.design import check_age, check_design, is_unpaired
from usi.gate.keys import check_c2st, check_gaming, check_gap, check_tripwires
from usi.gate.needed import needs
from usi.gate.survey_key import check_survey
from usi.gate.verdict import Check, Outcome, SimulatorVerdict
from usi.score.scorecard import Scorecard, SimulatorCard

TITLES = {
    "index": "USI-R",
    "conversation": "conversation",
    "information": "information",
    "clarification": "clarification",
    "reaction": "reaction",
    "outcome": "outcome",
}


@dataclass
class _Score:
    """A minimum to test: where it stands, and whether it may decide FAIL."""

    id: str
    title: str
    threshold: float
    bound: Bounded | None
    reason: str
    required: bool = True
    may_fail: bool = True
    note: str = ""
    check: Check | None = field(default=None)


def decide(
    card: Scorecard,
    simulator: SimulatorCard,
    criteria: Criteria,
    *,
    as_of: str | None = None,
    scored_on: str | None = None,
    more: Sequence[Check] = (),
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

    Raises
    ------
    UsageError
        Where the scorecard has no bounds or another profile than the criteria ask for.
    """
    require_bounds(card, simulator, criteria)
    checks = [
        *check_design(card, simulator, criteria),
        *check_age(criteria, as_of=as_of, scored_on=scored_on),
        *_score_checks(card, simulator, criteria),
        *check_gap(simulator, criteria),
        *check_c2st(simulator, criteria),
        *check_survey(simulator, criteria),
        *check_tripwires(simulator, criteria),
        *check_gaming(simulator),
        *more,
    ]
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


def _open_where_overridden(checks: list[Check]) -> list[Check]:
    """Failing checks become open ones where the evidence itself decides nothing."""
    if not any(check.overrides and check.state == "inconclusive" for check in checks):
        return checks
    note = " (decides nothing on this evidence)"
    return [
        check.model_copy(update={"state": "inconclusive", "message": check.message + note})
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


def _score_checks(card: Scorecard, simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    scores = [
        _component(simulator, criteria, name, threshold)
        for name, threshold in criteria.minimum.items()
    ]
    for name in criteria.require.components:
        asked = {score.id for score in scores}
        part = simulator.components.get(name)
        if name not in asked and (part is None or not part.ok):
            why = part.reason if part else "not on the scorecard"
            scores.append(_Score(name, name, 0.0, None, why or "not assessed"))
    for group in criteria.subgroup:
        scores += _subgroups(simulator, group.by, group.minimum)
    family = [s for s in scores if s.bound is not None and s.may_fail]
    p_values = [s.bound.p_below(s.threshold) for s in family if s.bound is not None]
    rejected = dict(zip((s.id for s in family), holm(p_values), strict=True))
    p_of = dict(zip((s.id for s in family), p_values, strict=True))
    alpha = ALPHA / criteria.family_size
    return [
        _score_check(s, alpha, rejected.get(s.id, False), p_of.get(s.id), len(family))
        for s in scores
    ]


def _component(simulator: SimulatorCard, criteria: Criteria, name: str, threshold: float) -> _Score:
    part = simulator.index if name == "index" else simulator.components.get(name)
    required = name in criteria.require.components
    title = TITLES[name] if name != "index" else simulator.index.name
    if part is None:
        return _Score(name, title, threshold, None, "not on the scorecard", required)
    if name == "index":
        absent = [
            k for k in GATED if k not in simulator.components or not simulator.components[k].ok
        ]
        blocking = [k for k in absent if k in criteria.require.components]
        if part.ok and blocking:
            why = (
                f"{', '.join(blocking)} not assessed, and a mean over fewer components is "
                "another quantity"
            )
            return _Score(name, title, threshold, None, why)
        note = (
            f"; a mean of {len(GATED) - len(absent)} of {len(GATED)} components" if absent else ""
        )
        why = part.reason or "no bounds on the scorecard"
        return _Score(name, title, threshold, bounded(part), why, note=note)
    scripted = not part.decides_fail or (
        is_unpaired(simulator) and name in ("clarification", "reaction")
    )
    note = "; follows the task script, so it never decides FAIL in this design"
    return _Score(
        name,
        title,
        threshold,
        bounded(part),
        part.reason or "no bounds on the scorecard",
        required=required or part.ok,
        may_fail=not scripted,
        note=note if scripted else "",
    )


def _subgroups(simulator: SimulatorCard, by: str, minimum: Minimum) -> list[_Score]:
    parts = [group for group in simulator.subgroups if group.by == by]
    if not parts:
        why = f"the scorecard has no subgroups by {by}"
        return [_Score(f"subgroup.{by}", f"subgroups by {by}", 0.0, None, why)]
    scores = []
    for group in parts:
        for name, threshold in minimum.items():
            part = group.index if name == "index" else group.components.get(name)
            title = f"{TITLES[name]} of {by} {group.value}"
            score_id = f"subgroup.{by}.{group.value}.{name}"
            if part is None:
                scores.append(_Score(score_id, title, threshold, None, "not on the scorecard"))
                continue
            why = part.reason or "no bounds on the scorecard"
            df = simulator.index.df if is_unpaired(simulator) else None
            may_fail = not (is_unpaired(simulator) and name in ("clarification", "reaction"))
            scores.append(
                _Score(score_id, title, threshold, bounded(part, df), why, may_fail=may_fail)
            )
    return scores


def _score_check(
    score: _Score, alpha: float, rejected: bool, p_value: float | None, family: int
) -> Check:
    rule = f"{score.title} >= {score.threshold:g} (lower bound)"
    if score.bound is None:
        return Check(
            id=score.id,
            rule=rule if score.threshold else f"{score.title} is assessed",
            state="inconclusive" if score.required else "not_asked",
            message=f"{score.title} not assessed: {score.reason}",
            threshold=score.threshold,
        )
    low = score.bound.lower(alpha)
    figures = f"{score.bound.value:.1f} [{low:.1f}, {score.bound.high:.1f}]"
    if low >= score.threshold - EPS:
        state, words = "pass", f"reaches {score.threshold:g}"
    elif rejected:
        state, words = "fail", f"lies below {score.threshold:g} (upper bound, Holm over {family})"
    elif score.bound.high < score.threshold - EPS:
        state = "inconclusive"
        words = f"is below {score.threshold:g}, not surely enough among {family} tests (Holm)"
    elif score.bound.value >= score.threshold:
        state, words = "inconclusive", f"is above {score.threshold:g}, its lower bound is not"
    else:
        state, words = "inconclusive", f"can't be told from {score.threshold:g}"
    return Check(
        id=score.id,
        rule=rule,
        state=state,
        message=f"{score.title} {figures} {words}{score.note}",
        value=score.bound.value,
        low=low,
        high=score.bound.high,
        threshold=score.threshold,
        p_value=p_value,
    )


def _decided_by(outcome: Outcome, checks: Sequence[Check]) -> tuple[str, ...]:
    if outcome == "FAIL":
        return tuple(check.id for check in checks if check.state == "fail")
    if outcome == "INCONCLUSIVE":
        open_ = [check for check in checks if check.state == "inconclusive"]
        over = [check.id for check in open_ if check.overrides]
        return tuple(over + [check.id for check in open_ if not check.overrides])
    margins = [
        (check.low - check.threshold, check.id)
        for check in checks
        if check.state == "pass" and check.low is not None and check.threshold is not None
        if check.id in TITLES or check.id.startswith("subgroup.")
    ]
    return (min(margins)[1],) if margins else ()


def _reasons(outcome: Outcome, checks: Sequence[Check]) -> tuple[str, ...]:
    if outcome == "PASS":
        tightest = _decided_by(outcome, checks)
        return tuple(f"tightest: {c.message}" for c in checks if c.id in tightest)
    wanted = "fail" if outcome == "FAIL" else "inconclusive"
    chosen = [check for check in checks if check.state == wanted]
    chosen.sort(key=lambda check: not check.overrides)
    return tuple(check.message for check in chosen)


def _context(card: Scorecard, simulator: SimulatorCard) -> tuple[str, ...]:
    """Sentences that a reader of the verdict must know, whatever it is."""
    lines = []
    if not card.human.is_human:
        lines.append("the reference is no human: it is simulator output")
    if is_unpaired(simulator):
        lines.append(
            "the tasks of the two sides differ: part of any distance is the task mix, not the user"
        )
    ceiling = simulator.index.ceiling_at_n
    if ceiling is not None:
        lines.append(f"a perfect simulator would score about {ceiling:.1f} with these data")
    people = simulator.versus_humans
    if people is not None and people.value is not None:
        interval = "" if people.low is None else f" [{people.low:+.1f}, {people.high or 0:+.1f}]"
        lines.append(
            f"people among themselves score {people.value:+.1f}{interval} points above it, one run "
            "against one batch (context only: the distance shrinks with fewer data)"
        )
    return tuple(lines)
