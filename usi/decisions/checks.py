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

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from usi.decisions.bounds import ALPHA, EPS, Bounded, bounded, holm, quantile
from usi.decisions.criteria import GATED, Criteria, Minimum
from usi.decisions.rules import is_unpaired, rules_of
from usi.decisions.verdict import Check, State
from usi.errors import UsageError
from usi.estimate import Estimate, with_bounds
from usi.reasons import (
    AGGREGATE_BY_SESSION,
    FAILED_RUN,
    FAILED_RUN_OTHER,
    FAILED_RUN_TOLD,
    HUMANS_AT_CHANCE,
    HUMANS_UNKNOWN,
    INFRASTRUCTURE,
    INFRASTRUCTURE_TOLD,
    KEEP_NOT_TRUE,
    LANGUAGE_UNREAD,
    MEAN_OF_FEWER,
    NO_BLIND_CHECK,
    NO_BOUNDS,
    NO_BOUNDS_ON_CARD,
    NO_RATED_OUTCOME,
    NO_SAME_TRANSCRIPT,
    NO_SECOND_RATING,
    NO_SUBGROUPS,
    NO_SURVEY_FILES,
    NO_TASK,
    NO_USER_REVIEW,
    NO_USER_TURN,
    NOT_ASSESSED,
    NOT_ON_CARD,
    OTHER_STATUS,
    SURVEY_FILE_MISSING,
    SURVEY_OF_OTHERS,
    Code,
    Reason,
)
from usi.scoring.scorecard import Scorecard, SideCard, SimulatorCard, TwoSample

MIN_ANSWERED = 0.90


SURVEY_UNANSWERED = (
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
        if part is None or part.reason is None or not part.reason.is_a(*SURVEY_UNANSWERED):
            return []
        rule = "the survey that people answered, answered"
        return [_open("survey", rule, part.reason, "people answered a survey: ")]
    checks = []
    answered = simulator.survey_answered
    if answered is not None and answered.value is not None and answered.value < MIN_ANSWERED - EPS:
        checks.append(
            Check(
                id="survey_answered",
                rule=f"at least {MIN_ANSWERED:.0%} of the survey answered",
                state="inconclusive",
                message=f"{answered.value:.0%} of the survey answered",
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
    rule = f"survey kappa >= {ratio:g} x that of people (lower bound)"
    mine, people = simulator.survey_kappa, simulator.human_kappa
    if people is None or people.value is None:
        cause = people.reason if people is not None and people.reason else NO_SECOND_RATING()
        return _open("survey_kappa", rule, HUMANS_UNKNOWN(cause=cause))
    if people.value <= 0:
        return _open("survey_kappa", rule, HUMANS_AT_CHANCE(kappa=people.value))
    threshold = ratio * people.value
    if mine is None or mine.value is None or mine.low is None:
        why = mine.reason if mine is not None and mine.reason else NO_BOUNDS()
        return _open("survey_kappa", rule, why, "survey kappa not assessed: ")
    figures = f"survey kappa {mine.value:.2f}, people {people.value:.2f}"
    if mine.low >= threshold - EPS:
        state, words = "pass", f"lower bound {mine.low:.2f} reaches {threshold:.2f}"
    elif mine.high is not None and mine.high < threshold - EPS:
        state, words = "fail", f"upper bound {mine.high:.2f} is below {threshold:.2f}"
    else:
        state, words = "inconclusive", f"lower bound {mine.low:.2f} does not reach {threshold:.2f}"
    return Check(
        id="survey_kappa",
        rule=rule,
        state=state,
        message=f"{figures}: {words}",
        value=mine.value,
        low=mine.low,
        high=mine.high,
        threshold=threshold,
    )


def _open(id_: str, rule: str, reason: Reason, lead: str = "") -> Check:
    """A check that has no value, and why."""
    message = f"{lead}{reason}"
    return Check(id=id_, rule=rule, state="inconclusive", message=message, reason=reason)


def _bias(simulator: SimulatorCard, limit: float) -> Check:
    rule = f"survey bias within -{limit:g} and +{limit:g}"
    bias = simulator.survey_bias
    if bias is None or bias.value is None or bias.low is None or bias.high is None:
        why = bias.reason if bias is not None and bias.reason else NO_BOUNDS()
        return _open("survey_bias", rule, why, "survey bias not assessed: ")
    figures = f"survey bias {with_bounds(bias.value, bias.low, bias.high, 2, signed=True)}"
    if bias.low >= -limit - EPS and bias.high <= limit + EPS:
        state, words = "pass", f"within {limit:g}"
    elif bias.low > limit + EPS or bias.high < -limit - EPS:
        state, words = "fail", f"wholly outside {limit:g}"
    else:
        state, words = "inconclusive", f"not surely within {limit:g}"
    return Check(
        id="survey_bias",
        rule=rule,
        state=state,
        message=f"{figures} {words}",
        value=bias.value,
        low=bias.low,
        high=bias.high,
        threshold=limit,
    )


MIN_CLUSTERS_UNPAIRED = 30
MIN_COVERAGE = 0.95


def clusters(card: Scorecard, simulator: SimulatorCard) -> int:
    """Clusters of the smaller side: tasks where paired, the resampled unit where unpaired."""
    if not is_unpaired(simulator):
        return min(simulator.n.tasks, card.human.n.tasks)
    sides = [
        side.n.tasks if side.n.clusters is None else side.n.clusters
        for side in (simulator, card.human)
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
                message=f"{n} {unit}" + ("" if n >= least else f", {least} are asked"),
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
                message=f"{design} design: tier {limit} at most, {criteria.tier} was asked",
            )
        )
    checks += [
        Check(
            id=f"evidence.{number}",
            rule="evidence that a verdict can rest on",
            state="inconclusive",
            message=reason,
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
                    message=f"{coverage.value:.1%} of the tasks occur on both sides",
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
        raise UsageError(f"{option} {text!r} is no date; write it as 2026-01-31") from None


def check_age(criteria: Criteria, *, as_of: str | None, scored_on: str | None) -> list[Check]:
    """Age of the scorecard on the day `as_of`; no clock is asked."""
    limit = criteria.max_age_days
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
        text = "no run record beside the scorecard says when it was scored"
        return [
            Check(id="max_age_days", rule=rule, state="inconclusive", message=text, overrides=True)
        ]
    age = (today - parse_date(scored_on[:10], "scoring date")).days
    if age < 0:
        raise UsageError(f"--as-of {today} lies before the day of scoring ({scored_on[:10]})")
    return [
        Check(
            id="max_age_days",
            rule=rule,
            state="pass" if age <= limit else "inconclusive",
            message=f"scored {age} days before {today}" + ("" if age <= limit else ": expired"),
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
                message=f"the corpus expires on {human.expires}" + (": expired" if gone else ""),
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
                message="the corpus is for research alone"
                + (f" ({human.licence})" if human.licence else "")
                + ": these criteria refuse it"
                if refused
                else "the corpus is not for research alone",
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
            message=f"{name} has changed since it was scored ({keys}): the scorecard has expired",
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
    shares: list[tuple[float, str]] = []
    left, causes = _counted(side, *LEFT_OUT_SESSIONS)
    compared = side.n.sessions
    unread, languages = _counted(side, LANGUAGE_UNREAD)
    unrated, _ = _counted(side, NO_RATED_OUTCOME)
    # The last two are shares of what was compared, so that no count lowers another's share.
    for count, total, words in (
        (left, compared + left, f"sessions left out ({causes})" if left else "sessions left out"),
        (unread, compared, f"sessions without word lists ({languages})"),
        (unrated, compared, "compared sessions without an outcome"),
    ):
        share = min(1.0, count / total) if total else float(count > 0)
        shares.append((share, f"{count} of {total} {words}, {share:.1%}"))
    above = [text for share, text in shares if share > limit + EPS]
    told = above or [shares[0][1]]
    return Check(
        id=f"left_out.{name}",
        rule=f"{name}: at most {limit:.0%} of the sessions left out, unread or without an outcome",
        state="inconclusive" if above else "pass",
        message=f"{name}: {'; '.join(told)}" + (f" ({limit:.0%} at most)" if above else ""),
        value=max(share for share, _ in shares),
        threshold=limit,
    )


def _counted(side: SideCard, *codes: Code) -> tuple[int, str]:
    """How many were left out for these reasons, and the reasons in words, most frequent first."""
    found = sorted(
        ((item.count, item.reason.text) for item in side.left_out if item.reason.is_a(*codes)),
        key=lambda pair: (-pair[0], pair[1]),
    )
    named = (f"{n} {text.partition(': ')[2] or text}" for n, text in found)
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
        return [
            Check(
                id="max_user_errors",
                rule=rule,
                state="inconclusive",
                message=f"user errors not assessed: {reason}",
                reason=reason,
                threshold=limit,
            )
        ]
    within = share.value <= limit + EPS
    worst = sorted(simulator.user_errors.items(), key=lambda item: (-item[1], item[0]))[:3]
    named = ", ".join(f"{tag} {count}" for tag, count in worst)
    return [
        Check(
            id="max_user_errors",
            rule=rule,
            state="pass" if within else "fail",
            message=f"user errors in {share.value:.1%} of {share.n} reviewed sessions"
            + ("" if within else f", {limit:.0%} are allowed")
            + (f" ({named})" if named else ""),
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
        return [
            Check(
                id="max_blind_auc",
                rule=rule,
                state="inconclusive",
                message=f"blind check not assessed: {reason}",
                reason=reason,
                threshold=limit,
            )
        ]
    state: State = "inconclusive"
    if auc.high <= limit + EPS:
        state = "pass"
    elif auc.low > limit + EPS:
        state = "fail"
    return [
        Check(
            id="max_blind_auc",
            rule=rule,
            state=state,
            message=f"AUC of practitioners {with_bounds(auc.value, auc.low, auc.high, 2)}",
            value=auc.value,
            low=auc.low,
            high=auc.high,
            threshold=limit,
        )
    ]


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
    note: str = ""


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
        note = (
            f"; a mean of {len(GATED) - len(absent)} of {len(GATED)} components" if absent else ""
        )
        why = part.reason or NO_BOUNDS_ON_CARD()
        return _Score(name, title, threshold, bounded(part), why, note=note)
    scripted = not part.decides_fail
    note = "; follows the task script, so it never decides FAIL in this design"
    return _Score(
        name,
        title,
        threshold,
        bounded(part),
        part.reason or NO_BOUNDS_ON_CARD(),
        required=required or part.ok,
        may_fail=not scripted,
        note=note if scripted else "",
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
        return Check(
            id=score.id,
            rule=rule if score.threshold else f"{score.title} is assessed",
            state="inconclusive" if score.required else "not_asked",
            message=f"{score.title} not assessed: {score.reason}",
            reason=score.reason,
            threshold=score.threshold,
        )
    low = score.bound.lower(alpha)
    figures = with_bounds(score.bound.value, low, score.bound.high)
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


C2ST_SESSIONS = 300
"""Sessions a side of the two-sample key: an AUC grows with n, so the cut-off has one n."""
COPIED_BELOW = 0.40
"""Two-sample AUC below which sessions of the sides come in pairs."""
C2ST_WARN = 0.85


def check_gap(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """The interval of the signed success gap within plus and minus the limit."""
    limit = criteria.max_success_gap
    if limit is None or limit >= 1:
        return []
    rule = f"success gap within -{limit:g} and +{limit:g}"
    gap = simulator.success_gap
    if gap is None or gap.value is None or gap.low is None or gap.high is None:
        required = "outcome" in criteria.require.components
        why = gap.reason if gap is not None and gap.reason else NOT_ON_CARD()
        return [
            Check(
                id="success_gap",
                rule=rule,
                state="inconclusive" if required else "not_asked",
                message=f"success gap not assessed: {why}",
                reason=why,
                threshold=limit,
            )
        ]
    low, high = _at_family(gap, criteria.family_size)
    figures = f"success gap {with_bounds(gap.value, low, high, 3, signed=True)}"
    if low >= -limit - EPS and high <= limit + EPS:
        state, words = "pass", f"within {limit:g}"
    elif gap.low > limit + EPS:
        state, words = "fail", f"wholly above +{limit:g}: easy mode"
    elif gap.high < -limit - EPS:
        state, words = "fail", f"wholly below -{limit:g}: harder than people"
    else:
        state, words = "inconclusive", f"not surely within {limit:g}"
    return [
        Check(
            id="success_gap",
            rule=rule,
            state=state,
            message=f"{figures} {words}",
            value=gap.value,
            low=low,
            high=high,
            threshold=limit,
        )
    ]


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
    rule = f"two-sample AUC <= {limit:g} (upper bound)"

    def check(state: str, message: str, auc: Estimate | None = None) -> list[Check]:
        value, low, high = (auc.value, auc.low, auc.high) if auc else (None, None, None)
        return [
            Check(
                id="c2st",
                rule=rule,
                state=state,
                message=message,
                value=value,
                low=low,
                high=high,
                threshold=limit,
            )
        ]

    if is_unpaired(simulator):
        return check("inconclusive", "the two-sample test decides in paired designs only")
    trees = [t for t in simulator.two_sample if t.classifier == "trees"]
    if not trees:
        return check("inconclusive", "no two-sample test: score again without --c2st off")
    test = trees[0]
    auc = test.auc
    if auc.value is None or auc.low is None or auc.high is None:
        return check("inconclusive", f"two-sample test not assessed: {auc.reason or 'no bounds'}")
    n = test.sessions_per_side or 0
    figures = f"two-sample AUC {with_bounds(auc.value, auc.low, auc.high, 2)}"
    if auc.low > limit + EPS:
        return check("fail", f"{figures} above {limit:g}{_telltale(test)}", auc)
    if n < C2ST_SESSIONS:
        text = f"{figures} from {n} sessions a side; {C2ST_SESSIONS} are asked"
        return check("inconclusive", text, auc)
    if auc.value < COPIED_BELOW:
        text = f"{figures} below chance: sessions of the two sides come in pairs, as copies do"
        return check("inconclusive", text, auc)
    if auc.high <= limit + EPS:
        return check("pass", f"{figures} within {limit:g}", auc)
    return check("inconclusive", f"{figures} not surely within {limit:g}", auc)


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
            asked.task, None, "behaviour does not follow the task", asked=paired,
        ),
        *_ratio_checks(
            "content_tracking", "content tracking", simulator.content_tracking,
            asked.content, asked.content_max, "what is said does not follow the task", asked=paired,
        ),
        *_ratio_checks(
            "turn_adjacency", "turn adjacency", simulator.turn_adjacency,
            asked.adjacency, None, "replies do not answer the agent",
        ),
    ]  # fmt: skip


def _ratio_checks(
    name: str,
    title: str,
    estimate: Estimate | None,
    least: float | None,
    most: float | None,
    low_words: str,
    *,
    asked: bool = True,
) -> list[Check]:
    """Checks of a ratio to people against a least and a most value; 0 and none are not asked."""
    if not least and most is None:
        return []
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        why = (estimate.reason if estimate is not None else None) or NOT_ON_CARD()
        return [
            Check(
                id=name,
                rule=f"{title} >= {least:g} (lower bound)" if least else f"{title} <= {most:g}",
                state="inconclusive" if asked else "not_asked",
                message=f"{title} not assessed: {why}",
                reason=why,
                threshold=least or most,
            )
        ]
    value, low, high = estimate.value, estimate.low, estimate.high
    figures = f"{title} {with_bounds(value, low, high, 2)}"
    found: list[tuple[str, str, State, str, float]] = []
    if least:
        state: State = "inconclusive"
        words = f"is not surely {least:g} or more"
        if low >= least - EPS:
            state, words = "pass", f"reaches {least:g}"
        elif high < least - EPS:
            state, words = "fail", f"lies below {least:g}: {low_words}"
        found.append((name, f">= {least:g} (lower bound)", state, words, least))
    if most is not None:
        state, words = "inconclusive", f"is not surely {most:g} or less"
        if high <= most + EPS:
            state, words = "pass", f"keeps to {most:g}"
        elif low > most + EPS:
            state = "fail"
            words = f"lies above {most:g}: it reads its instruction, or people's sessions, aloud"
        found.append((f"{name}_max", f"<= {most:g} (upper bound)", state, words, most))
    return [
        Check(
            id=key,
            rule=f"{title} {rule}",
            state=state,
            message=f"{figures} {words}",
            value=value,
            low=low,
            high=high,
            threshold=limit,
        )
        for key, rule, state, words, limit in found
    ]


def check_copies(simulator: SimulatorCard) -> list[Check]:
    """Copies of people's sessions, and of the simulator's own of other tasks, fail every tier."""
    found = []
    for name, title, share, words in (
        ("copies", "copies of people's sessions", simulator.copies, "it replays people"),
        ("self_copies", "copies of its own sessions of other tasks", simulator.self_copies,
         "it replays itself"),
    ):  # fmt: skip
        if share is None:
            continue
        figures = (
            f"{share.copies} of {share.sessions} sessions ({share.share:.1%}) are {title}, "
            f"{share.people:.1%} among people"
        )
        state: State = "fail" if share.alarm else "pass"
        found.append(
            Check(
                id=name,
                rule=f"no more {title} than people's share and 1 %",
                state=state,
                message=figures + (f": {words}" if share.alarm else ""),
                value=share.share,
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
            message=f"a classifier tells the sides apart (AUC {worst.auc.value:.2f}, "
            f"{worst.classifier}){_telltale(worst)}",
            value=worst.auc.value,
            threshold=C2ST_WARN,
        )
    ]


def _telltale(test: TwoSample) -> str:
    names = [name for name, _ in test.features[:3]]
    return f"; most telling: {', '.join(names)}" if names else ""


def check_tripwires(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """Marks that people do not make: an alarm fails tiers A and B, and warns at C."""
    checks = []
    for wire in simulator.tripwires:
        share = wire.simulator_hits / wire.simulator_sessions if wire.simulator_sessions else 0.0
        figures = (
            f"{wire.feature}: {wire.simulator_hits} of {wire.simulator_sessions} simulator "
            f"sessions ({share:.0%}) against {wire.human_hits} of {wire.human_sessions} of people "
            f"(p = {wire.p_value:.2g})"
        )
        note = f"; {wire.power_note}" if wire.power_note else ""
        alarm = "warning" if criteria.tier == "C" else "fail"
        checks.append(
            Check(
                id=f"tripwire.{wire.feature}",
                rule=f"no tripwire alarm on {wire.feature}",
                state=alarm if wire.alarm else "pass",
                message=figures + (": a mark that people do not make" if wire.alarm else note),
                value=share,
                p_value=wire.p_value,
            )
        )
    return checks


def check_gaming(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """Suspected gaming and a collapsed simulator leave no PASS; the latter fails tiers A and B."""
    checks = []
    if simulator.gaming_suspected:
        checks.append(
            Check(
                id="gaming",
                rule="no sign of stuffing words to the human rate",
                state="inconclusive",
                message="gaming suspected: the rates match, the places do not (context lift, "
                "overdispersion); read the sessions",
            )
        )
    if simulator.collapsed:
        checks.append(
            Check(
                id="collapsed",
                rule="spread like that of people",
                state="fail" if criteria.tier in ("A", "B") else "inconclusive",
                message="collapsed: every conversation is near the mean; its means may agree, but "
                "it stands for one average person, not for people",
            )
        )
    return checks
