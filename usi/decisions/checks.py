"""Keys beside the minimums: success gap, two-sample test, tripwires, gaming.

Every function returns the checks of its key; a key that is not asked returns none or one that
says so.

The survey key: kappa against the humans' own, signed bias, answered share.

The key ``max_left_out``: sessions that a side has and that were not compared.

Keys on the evidence's own terms: expiry of the people, research-only people, identity.

The key ``max_user_errors``: how often the simulated user did what its harness calls an error.

Checks of the evidence itself: enough clusters, coverage, what the design can reach, its age.

The minimums: where each score stands, tested with one Holm family for FAIL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from usi.decisions.bounds import ALPHA, EPS, Bounded, bounded, holm, quantile
from usi.decisions.criteria import GATED, Criteria, Minimum
from usi.decisions.rules import is_unpaired, rules_of
from usi.decisions.verdict import Check, State
from usi.errors import UsageError
from usi.estimate import Estimate, interval, with_bounds
from usi.reasons import (
    AGGREGATE_BY_SESSION,
    BATCHES_REPEAT,
    CHECK_NOT_ASSESSED,
    COLLAPSE_FOUND,
    COPIES_ABOVE,
    COPIES_WITHIN,
    CORPUS_EXPIRED,
    CORPUS_EXPIRES,
    COVERAGE_LOW,
    DESIGN_LIMITS,
    EASY_MODE,
    ENOUGH_UNITS,
    FAILED_RUN,
    FAILED_RUN_OTHER,
    FAILED_RUN_TOLD,
    FEW_UNITS,
    FOLLOWS_SCRIPT,
    GAMING_FOUND,
    HARDER_THAN_PEOPLE,
    HUMANS_AT_CHANCE,
    HUMANS_UNKNOWN,
    INFRASTRUCTURE,
    INFRASTRUCTURE_TOLD,
    KAPPA_BELOW,
    KAPPA_NOT_SURELY,
    KAPPA_REACHES,
    KEEP_NOT_TRUE,
    LANGUAGE_UNREAD,
    LIES_ABOVE,
    LIES_BELOW,
    LIES_BELOW_HOLM,
    MARK_AS_PEOPLE,
    MARK_NOT_OF_PEOPLE,
    MEAN_OF_FEWER,
    MEAN_OF_SOME,
    MOST_ALLOWED,
    MOST_TELLING,
    NO_ANSWERS_IN_REPLIES,
    NO_BLIND_CHECK,
    NO_BOUNDS,
    NO_BOUNDS_ON_CARD,
    NO_RATED_OUTCOME,
    NO_SAME_TRANSCRIPT,
    NO_SCORING_DAY,
    NO_SECOND_RATING,
    NO_SESSION_OF_TASK,
    NO_SUBGROUPS,
    NO_SURVEY_FILES,
    NO_TASK,
    NO_TASK_IN_BEHAVIOUR,
    NO_TASK_IN_WORDS,
    NO_TWO_SAMPLE,
    NO_USER_REVIEW,
    NO_USER_TURN,
    NONE_LEFT_OUT,
    NOT_ASSESSED,
    NOT_ON_CARD,
    NOT_RESEARCH_ONLY,
    NOT_SURELY_ABOVE,
    NOT_SURELY_BELOW,
    NOT_SURELY_LEAST,
    NOT_SURELY_WITHIN,
    NOT_TOLD_FROM,
    NUMBERS_VERIFIED,
    OTHER_STATUS,
    REACHES,
    READS_ALOUD,
    RESEARCH_ONLY_REFUSED,
    SCORED_BEFORE,
    SCORED_TOO_LONG_BEFORE,
    SESSIONS_ABSENT,
    SESSIONS_LEFT_OUT,
    SESSIONS_SILENT,
    SESSIONS_UNRATED,
    SESSIONS_UNREAD,
    SHOWN_BY,
    SILENT_AGENT,
    SIMULATOR_CHANGED,
    SURVEY_FILE_MISSING,
    SURVEY_NOT_COMPARED,
    SURVEY_OF_OTHERS,
    SURVEY_PARTLY_ANSWERED,
    TOLD_APART,
    TWO_SAMPLE_FEW,
    TWO_SAMPLE_PAIRS,
    TWO_SAMPLE_UNPAIRED,
    USER_ERRORS_ABOVE,
    USER_ERRORS_ARE,
    USER_ERRORS_WITHIN,
    WHOLLY_OUTSIDE,
    WITH_MISSING_OUTCOMES,
    WITHIN,
    Code,
    Reason,
    without_subject,
)
from usi.scoring.robust.perceived import wilson
from usi.scoring.scorecard import Scorecard, SideCard, SimulatorCard, Tripwire, TwoSample

MIN_ANSWERED = 0.90


NOT_COMPARED = (
    AGGREGATE_BY_SESSION,
    NO_SAME_TRANSCRIPT,
    NO_SURVEY_FILES,
    SURVEY_FILE_MISSING,
    SURVEY_OF_OTHERS,
)
"""Why there is no survey to compare although people answered one."""


def check_survey(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """The survey key: kappa against the humans' own, signed bias, answered share."""
    key = criteria.survey
    ratio = key.min_kappa_ratio or None
    limit = None if key.max_bias is None or key.max_bias >= 1 else key.max_bias
    if ratio is None and limit is None:
        return []
    if not _exists(simulator):
        part = simulator.components.get("survey")
        if part is None or part.reason is None or not part.reason.is_a(*NOT_COMPARED):
            return []
        rule = "the survey that people answered, answered"
        found = SURVEY_NOT_COMPARED(cause=part.reason)
        return [Check(id="survey", rule=rule, state="inconclusive", found=found)]
    checks = []
    answered = simulator.survey_answered
    if answered is not None and answered.value is not None and answered.value < MIN_ANSWERED - EPS:
        checks.append(
            Check(
                id="survey_answered",
                rule=f"at least {MIN_ANSWERED:.0%} of the survey answered",
                state="inconclusive",
                found=SURVEY_PARTLY_ANSWERED(share=answered.value),
                value=answered.value,
                threshold=MIN_ANSWERED,
            )
        )
    if ratio is not None:
        checks.append(_kappa(simulator, ratio))
    if limit is not None:
        checks.append(_bias(simulator, limit))
    return checks


def _exists(simulator: SimulatorCard) -> bool:
    """Whether people answered a survey and the simulator was asked it (answered or not)."""
    parts = (
        simulator.components.get("survey"),
        simulator.survey_answered,
        simulator.survey_kappa,
    )
    return any(part is not None and part.ok for part in parts)


def _kappa(simulator: SimulatorCard, ratio: float) -> Check:
    title = "survey kappa"
    rule = f"{title} >= {ratio:g} x that of people (lower bound)"
    mine, people = simulator.survey_kappa, simulator.human_kappa
    if people is None or people.value is None:
        cause = people.reason if people is not None and people.reason else NO_SECOND_RATING()
        return not_assessed_check("survey_kappa", rule, title, HUMANS_UNKNOWN(cause=cause))
    if people.value <= 0:
        return not_assessed_check("survey_kappa", rule, title, HUMANS_AT_CHANCE(kappa=people.value))
    threshold = ratio * people.value
    if mine is None or mine.value is None or mine.low is None:
        why = mine.reason if mine is not None and mine.reason else NO_BOUNDS()
        return not_assessed_check("survey_kappa", rule, title, why)
    state: State = "inconclusive"
    figures: dict[str, Any] = {"kappa": mine.value, "people": people.value, "limit": threshold}
    found = KAPPA_NOT_SURELY(**figures, low=mine.low)
    if mine.low >= threshold - EPS:
        state, found = "pass", KAPPA_REACHES(**figures, low=mine.low)
    elif mine.high is not None and mine.high < threshold - EPS:
        state, found = "fail", KAPPA_BELOW(**figures, high=mine.high)
    return Check(
        id="survey_kappa",
        rule=rule,
        state=state,
        found=found,
        value=mine.value,
        low=mine.low,
        high=mine.high,
        threshold=threshold,
    )


def not_assessed_check(
    id_: str,
    rule: str,
    title: str,
    reason: Reason,
    threshold: float | None = None,
    state: State = "inconclusive",
) -> Check:
    """A check that has no value, and why."""
    found = CHECK_NOT_ASSESSED(title=title, cause=reason)
    return Check(id=id_, rule=rule, state=state, found=found, threshold=threshold)


def value_check(
    id_: str,
    rule: str,
    stands: tuple[State, Code],
    title: str,
    bounds: tuple[float, float | None, float | None],
    limit: float,
    digits: int = 1,
    *,
    signed: bool = False,
    notes: Sequence[Reason] = (),
    p_value: float | None = None,
    **more: Any,
) -> Check:
    """A check of a value with bounds against a limit.

    Parameters
    ----------
    id_, rule
        As in `Check`.
    stands
        What was found: which way it decides, and the code of where the value stands.
    title
        What the value is called.
    bounds
        Value, lower and upper bound.
    limit
        What it is held to.
    digits, signed
        How the figures of the text are written.
    notes, p_value
        As in `Check`.
    more
        Further parameters of the code.
    """
    state, code = stands
    value, low, high = bounds
    return Check(
        id=id_,
        rule=rule,
        state=state,
        found=code(
            title=title,
            figures=with_bounds(value, low, high, digits, signed=signed),
            limit=limit,
            value=value,
            low=low,
            high=high,
            **more,
        ),
        notes=tuple(notes),
        value=value,
        low=low,
        high=high,
        threshold=limit,
        p_value=p_value,
    )


def within(low: float, high: float, limit: float) -> tuple[State, Code]:
    """Where an interval stands to an upper limit: within, above, or not surely within."""
    if high <= limit + EPS:
        return "pass", WITHIN
    if low > limit + EPS:
        return "fail", LIES_ABOVE
    return "inconclusive", NOT_SURELY_WITHIN


def _bias(simulator: SimulatorCard, limit: float) -> Check:
    title = "survey bias"
    rule = f"{title} within -{limit:g} and +{limit:g}"
    bias = simulator.survey_bias
    if bias is None or bias.value is None or bias.low is None or bias.high is None:
        why = bias.reason if bias is not None and bias.reason else NO_BOUNDS()
        return not_assessed_check("survey_bias", rule, title, why)
    stands: tuple[State, Code] = "inconclusive", NOT_SURELY_WITHIN
    if bias.low >= -limit - EPS and bias.high <= limit + EPS:
        stands = "pass", WITHIN
    elif bias.low > limit + EPS or bias.high < -limit - EPS:
        stands = "fail", WHOLLY_OUTSIDE
    bounds = (bias.value, bias.low, bias.high)
    return value_check("survey_bias", rule, stands, title, bounds, limit, 2, signed=True)


MIN_CLUSTERS_UNPAIRED = 30
MIN_COVERAGE = 0.95


def clusters(card: Scorecard, simulator: SimulatorCard) -> int:
    """Clusters of the smaller side: tasks where paired, the resampled unit where unpaired."""
    if not is_unpaired(simulator):
        return min(simulator.n.tasks, card.human.n.tasks)
    sides = [
        next(n for n in (own.n.clusters_worth, own.n.clusters, own.n.tasks) if n is not None)
        for own in (simulator, card.human)
    ]
    return min(sides)


def check_design(card: Scorecard, simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """Enough tasks or clusters, coverage, and the tier that the design can reach."""
    checks = []
    n = clusters(card, simulator)
    unit = "clusters on the smaller side" if is_unpaired(simulator) else "tasks"
    least = criteria.min_tasks or 0
    if is_unpaired(simulator):
        least = max(least, MIN_CLUSTERS_UNPAIRED)
    if least:
        checks.append(
            Check(
                id="min_tasks",
                rule=f"at least {least} {unit}",
                state="pass" if n >= least else "inconclusive",
                found=ENOUGH_UNITS(have=n, unit=unit)
                if n >= least
                else FEW_UNITS(have=n, unit=unit, least=least),
                value=float(n),
                threshold=float(least),
                overrides=True,
            )
        )
    limit, design = rules_of(card).tier_limit(simulator)
    if limit is not None and criteria.tier is not None and criteria.tier < limit:
        checks.append(
            Check(
                id="design",
                rule=f"a design that can reach tier {criteria.tier}",
                state="inconclusive",
                found=DESIGN_LIMITS(design=design, limit=limit, asked=criteria.tier),
            )
        )
    checks += [
        Check(
            id=f"evidence.{number}",
            rule="evidence that a verdict can rest on",
            state="inconclusive",
            found=reason,
            overrides=True,
        )
        for number, reason in enumerate(simulator.inconclusive, start=1)
    ]
    coverage = simulator.coverage
    if not is_unpaired(simulator) and coverage is not None and coverage.value is not None:
        enough = coverage.value >= MIN_COVERAGE - EPS
        if not enough:
            checks.append(
                Check(
                    id="coverage",
                    rule=f"at least {MIN_COVERAGE:.0%} of the tasks on both sides",
                    state="inconclusive",
                    found=COVERAGE_LOW(share=coverage.value),
                    value=coverage.value,
                    threshold=MIN_COVERAGE,
                    overrides=True,
                )
            )
    return checks


def parse_date(text: str, option: str) -> date:
    """Read ``YYYY-MM-DD``.

    Raises
    ------
    UsageError
        Where it is none.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is not a date; write it as 2026-01-31") from None


def check_verified(criteria: Criteria, doubts: Sequence[Reason]) -> list[Check]:
    """Whether the numbers were held to the per-task sums, where the criteria ask for it."""
    if not criteria.require_verified:
        return []
    return [
        Check(
            id="require_verified",
            rule="numbers that follow from the per-task sums beside the scorecard",
            state="inconclusive" if doubts else "pass",
            found=doubts[0] if doubts else NUMBERS_VERIFIED(),
            overrides=True,
        )
    ]


def check_age(criteria: Criteria, *, as_of: str | None, scored_on: str | None) -> list[Check]:
    """Age of the scorecard on the day `as_of`; no clock is asked."""
    limit = criteria.max_age_days
    if (
        as_of is not None
        and scored_on is not None
        and parse_date(as_of, "--as-of") < parse_date(scored_on[:10], "scoring date")
    ):
        raise UsageError(f"--as-of {as_of} lies before the day of scoring ({scored_on[:10]})")
    if limit is None:
        return []
    if as_of is None:
        raise UsageError(
            f"the criteria set max_age_days = {limit}: say which day counts, --as-of YYYY-MM-DD "
            "(usi asks no clock, so that the same inputs give the same verdict)"
        )
    today = parse_date(as_of, "--as-of")
    rule = f"scored at most {limit} days before {today}"
    if scored_on is None:
        return [
            Check(
                id="max_age_days",
                rule=rule,
                state="inconclusive",
                found=NO_SCORING_DAY(),
                overrides=True,
            )
        ]
    age = (today - parse_date(scored_on[:10], "scoring date")).days
    return [
        Check(
            id="max_age_days",
            rule=rule,
            state="pass" if age <= limit else "inconclusive",
            found=(SCORED_BEFORE if age <= limit else SCORED_TOO_LONG_BEFORE)(days=age, day=today),
            value=float(age),
            threshold=float(limit),
            overrides=True,
        )
    ]


def check_corpus(card: Scorecard, criteria: Criteria, *, as_of: str | None) -> list[Check]:
    """Whether the people may decide: not expired on the day, and of a use that is allowed.

    Without a day expiry is not asked: no clock is.
    """
    checks = []
    human = card.human
    if human.expires is not None and as_of is not None:
        gone = parse_date(as_of, "--as-of") >= parse_date(human.expires, "expiry of the corpus")
        checks.append(
            Check(
                id="corpus_expires",
                rule=f"a corpus that has not expired on {as_of}",
                state="inconclusive" if gone else "pass",
                found=(CORPUS_EXPIRED if gone else CORPUS_EXPIRES)(day=human.expires),
                overrides=True,
            )
        )
    if not criteria.allow_research_only:
        refused = human.research_only
        checks.append(
            Check(
                id="allow_research_only",
                rule="no corpus that is for research alone",
                state="inconclusive" if refused else "pass",
                found=RESEARCH_ONLY_REFUSED(licence=human.licence or "no licence is named")
                if refused
                else NOT_RESEARCH_ONLY(),
                overrides=True,
            )
        )
    return checks


def check_identity(changed: Mapping[str, str]) -> list[Check]:
    """Scorecards of simulators that are others now than when they were scored."""
    return [
        Check(
            id="identity",
            rule="a simulator that is the one that was scored",
            state="inconclusive",
            found=SIMULATOR_CHANGED(name=name, keys=keys),
            overrides=True,
        )
        for name, keys in sorted(changed.items())
    ]


LEFT_OUT_SESSIONS = (
    NO_USER_TURN,
    FAILED_RUN,
    FAILED_RUN_TOLD,
    FAILED_RUN_OTHER,
    INFRASTRUCTURE,
    INFRASTRUCTURE_TOLD,
    KEEP_NOT_TRUE,
    NO_TASK,
    OTHER_STATUS,
)
"""Why a whole session was not compared; a session has one of these at most.

Tasks that the people did not do are no such reason: a simulator may have run more tasks.
"""


def check_left_out(card: Scorecard, simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """Share of the sessions left out of each side against the limit; above, there is no PASS.

    Sessions that were not compared, that no word list reads and that have no outcome are three
    shares. It is no override: a FAIL of the sessions that are left stays one, so that leaving
    out more never makes a verdict better.
    """
    limit = criteria.max_left_out
    if limit is None or limit >= 1:
        return []
    return [
        _left_out_check(name, side, limit)
        for name, side in (("simulator", simulator), ("people", card.human))
    ]


def _left_out_check(name: str, side: SideCard, limit: float) -> Check:
    left, causes = _counted(side, *LEFT_OUT_SESSIONS)
    compared = side.n.sessions
    unread, languages = _counted(side, LANGUAGE_UNREAD)
    unrated, _ = _counted(side, NO_RATED_OUTCOME)
    silent, _ = _counted(side, SILENT_AGENT)
    absent, _ = _counted(side, NO_SESSION_OF_TASK)
    # The next three are shares of what was compared, so that no count lowers another's share.
    kinds: tuple[tuple[Code, int, int, dict[str, str]], ...] = (
        (SESSIONS_LEFT_OUT, left, compared + left, {"causes": causes}),
        (SESSIONS_UNREAD, unread, compared, {"languages": languages}),
        (SESSIONS_UNRATED, unrated, compared, {}),
        (SESSIONS_SILENT, silent, compared, {}),
        (SESSIONS_ABSENT, absent, compared + absent, {}),
    )
    shares: list[tuple[float, float, Reason]] = []
    for code, count, total, named in kinds:
        share = min(1.0, count / total) if total else float(count > 0)
        # Marks and statuses are counts of what was hidden; how often an agent says nothing is a
        # rate that these sessions estimate, and is above the limit where its lower bound is.
        surely = wilson(min(count, total), total)[0] if code is SESSIONS_SILENT and total else share
        figures: dict[str, Any] = {"count": count, "total": total, "share": share, **named}
        shares.append((share, surely, code(side=name, **figures)))
    above = [found for _, surely, found in shares if surely > limit + EPS]
    within_it = shares[0][2] if left else NONE_LEFT_OUT(side=name, total=compared)
    found, *others = above or [within_it]
    return Check(
        id=f"left_out.{name}",
        rule=f"{name}: at most {limit:.0%} of the sessions left out, unread or without an outcome",
        state="inconclusive" if above else "pass",
        found=found,
        notes=(*others, MOST_ALLOWED(limit=limit)) if above else (),
        value=max(share for share, _, _ in shares),
        threshold=limit,
    )


def _counted(side: SideCard, *codes: Code) -> tuple[int, str]:
    """How many were left out for these reasons, and the reasons in words, most frequent first."""
    found = sorted(
        (
            (item.count, without_subject(item.reason))
            for item in side.left_out
            if item.reason.is_a(*codes)
        ),
        key=lambda pair: (-pair[0], pair[1]),
    )
    named = (f"{n} {what}" for n, what in found)
    return sum(n for n, _ in found), ", ".join(named)


def check_user_errors(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """Share of the reviewed sessions with an error against the limit.

    The share is a count of these very sessions, not an estimate: it has no bounds, and the check
    passes or fails.
    """
    limit = criteria.max_user_errors
    if limit is None:
        return []
    rule = f"user errors in at most {limit:.0%} of the reviewed sessions"
    share = simulator.user_error_share
    if share is None or share.value is None:
        reason = (share.reason if share is not None else None) or NO_USER_REVIEW()
        return [not_assessed_check("max_user_errors", rule, "user errors", reason, limit)]
    kept = share.value <= limit + EPS
    worst = sorted(simulator.user_errors.items(), key=lambda item: (-item[1], item[0]))[:3]
    named = ", ".join(f"{tag} {count}" for tag, count in worst)
    figures: dict[str, Any] = {"share": share.value, "sessions": share.n}
    return [
        Check(
            id="max_user_errors",
            rule=rule,
            state="pass" if kept else "fail",
            found=USER_ERRORS_WITHIN(**figures)
            if kept
            else USER_ERRORS_ABOVE(**figures, limit=limit),
            notes=(USER_ERRORS_ARE(errors=named),) if named else (),
            value=share.value,
            threshold=limit,
        )
    ]


def check_blind(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """AUC of practitioners in a blind check against the limit, by its bounds."""
    limit = criteria.max_blind_auc
    if limit is None:
        return []
    rule = f"practitioners tell it from people with an AUC of at most {limit:g}"
    auc = None if simulator.blind is None else simulator.blind.auc
    if auc is None or auc.value is None or auc.low is None or auc.high is None:
        reason = (auc.reason if auc is not None else None) or NO_BLIND_CHECK()
        return [not_assessed_check("max_blind_auc", rule, "blind check", reason, limit)]
    stands = within(auc.low, auc.high, limit)
    bounds = (auc.value, auc.low, auc.high)
    return [value_check("max_blind_auc", rule, stands, "AUC of practitioners", bounds, limit, 2)]


@dataclass
class _Score:
    """A minimum to test: where it stands, and whether it may decide FAIL."""

    id: str
    title: str
    threshold: float
    bound: Bounded | None
    reason: Reason
    required: bool = True
    may_fail: bool = True
    notes: tuple[Reason, ...] = ()


def check_scores(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """One check for every minimum, required component and subgroup.

    A lower bound that reaches its minimum passes; an upper bound below it fails, where Holm's
    procedure over all minimums rejects; else it is open.
    """
    scores = [
        _component(simulator, criteria, name, threshold)
        for name, threshold in criteria.minimum.items()
    ]
    for name in criteria.require.components:
        asked = {score.id for score in scores}
        part = simulator.components.get(name)
        if name not in asked and (part is None or not part.ok):
            why = part.reason if part else NOT_ON_CARD()
            scores.append(_Score(name, name, 0.0, None, why or NOT_ASSESSED()))
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
    title = rules_of(simulator).title(simulator, name) if name != "index" else simulator.index.name
    if part is None:
        return _Score(name, title, threshold, None, NOT_ON_CARD(), required)
    if name == "index":
        absent = [
            k for k in GATED if k not in simulator.components or not simulator.components[k].ok
        ]
        blocking = [k for k in absent if k in criteria.require.components]
        if part.ok and blocking:
            why = MEAN_OF_FEWER(components=", ".join(blocking))
            return _Score(name, title, threshold, None, why)
        mean = MEAN_OF_SOME(have=len(GATED) - len(absent), all=len(GATED))
        why = part.reason or NO_BOUNDS_ON_CARD()
        notes = (mean,) if absent else ()
        return _Score(name, title, threshold, bounded(part), why, notes=notes)
    scripted = not part.decides_fail
    return _Score(
        name,
        title,
        threshold,
        bounded(part),
        part.reason or NO_BOUNDS_ON_CARD(),
        required=required or part.ok,
        may_fail=not scripted,
        notes=(FOLLOWS_SCRIPT(),) if scripted else (),
    )


def _subgroups(simulator: SimulatorCard, by: str, minimum: Minimum) -> list[_Score]:
    parts = [group for group in simulator.subgroups if group.by == by]
    if not parts:
        return [_Score(f"subgroup.{by}", f"subgroups by {by}", 0.0, None, NO_SUBGROUPS(by=by))]
    scores = []
    for group in parts:
        for name, threshold in minimum.items():
            part = group.index if name == "index" else group.components.get(name)
            title = f"{rules_of(simulator).title(simulator, name)} of {by} {group.value}"
            score_id = f"subgroup.{by}.{group.value}.{name}"
            if part is None:
                scores.append(_Score(score_id, title, threshold, None, NOT_ON_CARD()))
                continue
            why = part.reason or NO_BOUNDS_ON_CARD()
            df = simulator.index.df if is_unpaired(simulator) else None
            scores.append(_Score(score_id, title, threshold, bounded(part, df), why))
    return scores


def _score_check(
    score: _Score, alpha: float, rejected: bool, p_value: float | None, family: int
) -> Check:
    rule = f"{score.title} >= {score.threshold:g} (lower bound)"
    if score.bound is None:
        return not_assessed_check(
            score.id,
            rule if score.threshold else f"{score.title} is assessed",
            score.title,
            score.reason,
            score.threshold,
            "inconclusive" if score.required else "not_asked",
        )
    low = score.bound.lower(alpha)
    stands: tuple[State, Code] = "inconclusive", NOT_TOLD_FROM
    more: dict[str, Any] = {}
    if low >= score.threshold - EPS:
        stands = "pass", REACHES
    elif rejected:
        stands, more = ("fail", LIES_BELOW_HOLM), {"family": family}
    elif score.bound.high < score.threshold - EPS:
        stands, more = ("inconclusive", NOT_SURELY_BELOW), {"family": family}
    elif score.bound.value >= score.threshold:
        stands = "inconclusive", NOT_SURELY_ABOVE
    return value_check(
        score.id,
        rule,
        stands,
        score.title,
        (score.bound.value, low, score.bound.high),
        score.threshold,
        notes=score.notes,
        p_value=p_value,
        **more,
    )


C2ST_SESSIONS = 300
"""Sessions a side of the two-sample key: an AUC grows with n, so the cut-off has one n."""
COPIED_BELOW = 0.40
"""Two-sample AUC below which sessions of the sides come in pairs."""
C2ST_WARN = 0.85


def check_gap(card: Scorecard, simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """The interval of the signed success gap within plus and minus the limit."""
    limit = criteria.max_success_gap
    if limit is None or limit >= 1:
        return []
    title = "success gap"
    rule = f"{title} within -{limit:g} and +{limit:g}"
    gap = simulator.success_gap
    if gap is None or gap.value is None or gap.low is None or gap.high is None:
        required = "outcome" in criteria.require.components
        why = gap.reason if gap is not None and gap.reason else NOT_ON_CARD()
        state: State = "inconclusive" if required else "not_asked"
        return [not_assessed_check("success_gap", rule, title, why, limit, state)]
    low, high = _at_family(gap, criteria.family_size)
    stands: tuple[State, Code] = "inconclusive", NOT_SURELY_WITHIN
    worst = _worst_case(card, simulator, low, high)
    notes: tuple[Reason, ...] = ()
    if low >= -limit - EPS and high <= limit + EPS:
        if worst[0] >= -limit - EPS and worst[1] <= limit + EPS:
            stands = "pass", WITHIN
        else:
            figures = interval(*worst, "+3")
            notes = (WITH_MISSING_OUTCOMES(figures=figures, low=worst[0], high=worst[1]),)
    elif gap.low > limit + EPS:
        stands = "fail", EASY_MODE
    elif gap.high < -limit - EPS:
        stands = "fail", HARDER_THAN_PEOPLE
    bounds = (gap.value, low, high)
    return [
        value_check("success_gap", rule, stands, title, bounds, limit, 3, signed=True, notes=notes)
    ]


def _worst_case(
    card: Scorecard, simulator: SimulatorCard, low: float, high: float
) -> tuple[float, float]:
    """The interval of the gap where every session without an outcome ended as badly as it could.

    With success p of the rated sessions of a side and a share q of its sessions unrated, success
    of all lies between p (1 - q) and p (1 - q) + q.
    """
    success = simulator.simulator_success, simulator.human_success
    sides: tuple[SideCard, ...] = simulator, card.human
    for sign, side, known in zip((1, -1), sides, success, strict=True):
        missing, _ = _counted(side, NO_RATED_OUTCOME)
        if not missing or known is None or known.value is None or not side.n.sessions:
            continue
        q = min(1.0, missing / side.n.sessions)
        down, up = -known.value * q, (1 - known.value) * q
        low, high = (low + down, high + up) if sign > 0 else (low - up, high - down)
    return low, high


def _at_family(estimate: Estimate, family: int) -> tuple[float, float]:
    """Interval widened from the 5 % to the 5 %/m level (normal scaling of its two halves)."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None:
        raise ValueError("the interval is not there")
    scale = quantile(ALPHA / family) / quantile(ALPHA)
    return (
        (low, high)
        if family == 1
        else (value - scale * (value - low), value + scale * (high - value))
    )


def check_c2st(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """The two-sample key (boosted trees at 300 sessions a side), else a warning or nothing."""
    if rules_of(simulator).own_two_sample:
        return []
    limit = criteria.c2st_max
    if limit is None or limit >= 1:
        return _c2st_warning(simulator, criteria)
    title = "two-sample AUC"
    rule = f"{title} <= {limit:g} (upper bound)"
    trees = [t for t in simulator.two_sample if t.classifier == "trees"]
    if is_unpaired(simulator) or not trees:
        found = TWO_SAMPLE_UNPAIRED() if is_unpaired(simulator) else NO_TWO_SAMPLE()
        return [Check(id="c2st", rule=rule, state="inconclusive", found=found, threshold=limit)]
    test = trees[0]
    auc = test.auc
    if auc.value is None or auc.low is None or auc.high is None:
        why = auc.reason or NO_BOUNDS()
        return [not_assessed_check("c2st", rule, "two-sample test", why, limit)]
    n = test.sessions_per_side or 0
    stands = within(auc.low, auc.high, limit)
    more: dict[str, Any] = {}
    if stands[0] != "fail" and n < C2ST_SESSIONS:
        stands = "inconclusive", TWO_SAMPLE_FEW
        more = {"sessions": n, "unit": "sessions", "least": C2ST_SESSIONS}
    elif stands[0] != "fail" and auc.value < COPIED_BELOW:
        stands = "inconclusive", TWO_SAMPLE_PAIRS
    notes = most_telling(test) if stands[0] == "fail" else ()
    bounds = (auc.value, auc.low, auc.high)
    return [value_check("c2st", rule, stands, title, bounds, limit, 2, notes=notes, **more)]


def check_tracking(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """Task tracking, content tracking and turn adjacency: each bound within its limit.

    FAIL where the whole interval lies beyond a limit. Without the same tasks on both sides the
    first two have no meaning and are not asked; whatever else keeps a ratio from being made leaves
    the verdict open.
    """
    if rules_of(simulator).own_two_sample:
        return []
    asked = criteria.tracking
    paired = not is_unpaired(simulator)
    return [
        *_ratio_checks(
            "task_tracking", "task tracking", simulator.task_tracking,
            asked.task, None, NO_TASK_IN_BEHAVIOUR(), asked=paired,
        ),
        *_ratio_checks(
            "content_tracking", "content tracking", simulator.content_tracking,
            asked.content, asked.content_max, NO_TASK_IN_WORDS(), asked=paired,
        ),
        *_ratio_checks(
            "turn_adjacency", "turn adjacency", simulator.turn_adjacency,
            asked.adjacency, None, NO_ANSWERS_IN_REPLIES(),
        ),
    ]  # fmt: skip


def _ratio_checks(
    name: str,
    title: str,
    estimate: Estimate | None,
    least: float | None,
    most: float | None,
    too_low: Reason,
    *,
    asked: bool = True,
) -> list[Check]:
    """Checks of a ratio to people against a least and a most value; 0 and none are not asked."""
    if not least and most is None:
        return []
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        why = (estimate.reason if estimate is not None else None) or NOT_ON_CARD()
        rule = f"{title} >= {least:g} (lower bound)" if least else f"{title} <= {most:g}"
        state: State = "inconclusive" if asked else "not_asked"
        return [not_assessed_check(name, rule, title, why, least or most, state)]
    bounds = (estimate.value, estimate.low, estimate.high)
    found = []
    if least:
        stands: tuple[State, Code] = "inconclusive", NOT_SURELY_LEAST
        if estimate.low >= least - EPS:
            stands = "pass", REACHES
        elif estimate.high < least - EPS:
            stands = "fail", LIES_BELOW
        rule = f"{title} >= {least:g} (lower bound)"
        notes = (too_low,) if stands[0] == "fail" else ()
        found.append(value_check(name, rule, stands, title, bounds, least, 2, notes=notes))
    if most is not None:
        stands = within(estimate.low, estimate.high, most)
        rule = f"{title} <= {most:g} (upper bound)"
        notes = (READS_ALOUD(),) if stands[0] == "fail" else ()
        found.append(value_check(f"{name}_max", rule, stands, title, bounds, most, 2, notes=notes))
    return found


def check_style(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """How it writes: the score of the style features against its minimum, by its bounds.

    Other people on another platform write otherwise, too, so an unpaired design leaves it open.
    """
    least = criteria.style_min
    if rules_of(simulator).own_two_sample or not least:
        return []
    title = "style"
    rule = f"{title} >= {least:g} (lower bound)"
    part = simulator.style_score
    bound = None if part is None else bounded(part)
    if bound is None:
        why = (part.reason if part is not None else None) or NOT_ON_CARD()
        return [not_assessed_check("style", rule, title, why, least)]
    low = bound.lower(ALPHA / criteria.family_size)
    stands: tuple[State, Code] = "inconclusive", NOT_SURELY_LEAST
    if low >= least - EPS:
        stands = "pass", REACHES
    elif bound.high < least - EPS and not is_unpaired(simulator):
        stands = "fail", LIES_BELOW
    return [value_check("style", rule, stands, title, (bound.value, low, bound.high), least)]


BATCHES_REPEATED = 0.05
"""Share of people's sessions that may repeat, word for word, one of the same task."""


def check_copies(simulator: SimulatorCard) -> list[Check]:
    """Copies of people's sessions, and of the simulator's own of other tasks, fail every tier.

    Runs, or batches of people, that repeat one another add no data and make bounds too narrow: no
    PASS rests on them.
    """
    found = []
    for name, title, share, whom in (
        ("copies", "copies of people's sessions", simulator.copies, "people"),
        ("self_copies", "copies of its own sessions of other tasks", simulator.self_copies,
         "itself"),
        ("run_copies", "copies of its own sessions of the same task", simulator.run_copies,
         "its own runs"),
    ):  # fmt: skip
        if share is None:
            continue
        figures: dict[str, Any] = {
            "copies": share.copies,
            "sessions": share.sessions,
            "share": share.share,
            "what": title,
            "people": share.people,
        }
        state: State = "pass"
        if share.alarm:
            state = "inconclusive" if name == "run_copies" else "fail"
        found.append(
            Check(
                id=name,
                rule=f"no more {title} than people's share and 1 %",
                state=state,
                found=COPIES_ABOVE(**figures, whom=whom)
                if share.alarm
                else COPIES_WITHIN(**figures),
                value=share.share,
            )
        )
    runs = simulator.run_copies
    if runs is not None and runs.people > BATCHES_REPEATED:
        found.append(
            Check(
                id="batch_copies",
                rule=f"at most {BATCHES_REPEATED:.0%} of people's sessions repeat another batch",
                state="inconclusive",
                found=BATCHES_REPEAT(share=runs.people),
                value=runs.people,
                threshold=BATCHES_REPEATED,
            )
        )
    return found


def _c2st_warning(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    if is_unpaired(simulator) or criteria.tier == "C":
        return []
    known = [t for t in simulator.two_sample if t.auc.value is not None]
    worst = max(known, key=lambda t: t.auc.value or 0.0, default=None)
    if worst is None or worst.auc.value is None or worst.auc.value <= C2ST_WARN:
        return []
    return [
        Check(
            id="c2st",
            rule=f"two-sample AUC <= {C2ST_WARN:g} (warning)",
            state="warning",
            found=TOLD_APART(auc=worst.auc.value, classifier=worst.classifier),
            notes=most_telling(worst),
            value=worst.auc.value,
            threshold=C2ST_WARN,
        )
    ]


def most_telling(test: TwoSample) -> tuple[Reason, ...]:
    """The features that tell the sides apart best, as a note; empty where none is known."""
    names = ", ".join(name for name, _ in test.features[:3])
    return (MOST_TELLING(features=names),) if names else ()


def check_tripwires(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """Marks that people do not make: an alarm fails tiers A and B, and warns at C."""
    checks = []
    for wire in simulator.tripwires:
        share = wire.simulator_hits / wire.simulator_sessions if wire.simulator_sessions else 0.0
        alarm: State = "warning" if criteria.tier == "C" else "fail"
        checks.append(
            Check(
                id=f"tripwire.{wire.feature}",
                rule=f"no tripwire alarm on {wire.feature}",
                state=alarm if wire.alarm else "pass",
                found=(MARK_NOT_OF_PEOPLE if wire.alarm else MARK_AS_PEOPLE)(
                    feature=wire.feature,
                    hits=wire.simulator_hits,
                    sessions=wire.simulator_sessions,
                    share=share,
                    human_hits=wire.human_hits,
                    human_sessions=wire.human_sessions,
                    p_value=wire.p_value,
                ),
                notes=_notes_of(wire),
                value=share,
                p_value=wire.p_value,
            )
        )
    return checks


def _notes_of(wire: Tripwire) -> tuple[Reason, ...]:
    if wire.alarm:
        return (SHOWN_BY(ids=", ".join(wire.session_ids)),) if wire.session_ids else ()
    return (wire.power_note,) if wire.power_note else ()


def check_gaming(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """Suspected gaming and a collapsed simulator leave no PASS; the latter fails tiers A and B."""
    checks = []
    if simulator.gaming_suspected:
        checks.append(
            Check(
                id="gaming",
                rule="no sign of stuffing words to the human rate",
                state="inconclusive",
                found=GAMING_FOUND(),
            )
        )
    if simulator.collapsed:
        checks.append(
            Check(
                id="collapsed",
                rule="spread like that of people",
                state="fail" if criteria.tier in ("A", "B") else "inconclusive",
                found=COLLAPSE_FOUND(),
            )
        )
    return checks
