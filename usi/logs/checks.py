"""Second keys of operational logs: classifier test, n-grams of order 3, history features.

A memoryless play-out of a real process agrees with it in every mean, so means alone certify
nothing. The limits are judgements; a real log against itself stands far within them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from usi.decisions.bounds import EPS
from usi.decisions.checks import most_telling, not_assessed_check, value_check, within
from usi.decisions.criteria import GATED, Criteria, Require
from usi.decisions.criteria import tier as tier_of
from usi.decisions.rules import GateRules
from usi.decisions.verdict import Check, State
from usi.estimate import Estimate
from usi.logs.card import NAMES as TITLES
from usi.logs.features import HISTORY_FEATURES
from usi.reasons import (
    HISTORY_TOO_RARE,
    LIES_BELOW,
    LOG_COPIES_ABOVE,
    LOG_COPIES_UNSURE,
    LOG_COPIES_WITHIN,
    LOG_LACKS_ROLE,
    LOG_MOVES_AS_MUCH,
    LOG_OBSERVABLE,
    NO_BOUNDS,
    NO_MEMORY,
    NO_NGRAMS,
    NO_PROCESS,
    NO_TWO_SAMPLE,
    NO_WORSE_THAN_PERIODS,
    NOT_SURELY_WITHIN,
    NOT_TOLD_FROM,
    REACHES,
    STEPS_OTHERWISE,
    TWO_SAMPLE_FEW,
    WITHIN,
    WORSE_THAN_PERIODS,
    Code,
    Reason,
)
from usi.scoring.scorecard import Scorecard, SimulatorCard

LOG = "log"
C2ST_SESSIONS = 300
C2ST_MAX = {"A": 0.70, "B": 0.70, "C": 0.85}
"""Upper bound of the AUC of boosted trees by tier."""
NGRAM_MAX = {"A": 0.03, "B": 0.05, "C": 0.10}
"""By how much the 3-gram distance may exceed that of the real log from itself."""
HISTORY_MIN = {"A": 80.0, "B": 75.0, "C": 60.0}
"""Lower bound of every history feature, in points (that of L4 in the tier)."""
PROCESS_MAX: dict[str, tuple[str, float, float]] = {
    "time_in_state": ("time in its state", 0.02, 0.03),
    "time_in_group": ("time by group", 0.04, 0.06),
    "tails": ("tails of the gaps", 0.35, 0.70),
    "calendar": ("hours of the week", 0.05, 0.10),
    "cycle_times": ("cycle times", 0.05, 0.07),
    "case_mix": ("activities of a case", 0.04, 0.08),
    "who_does_what": ("who does what", 0.25, 0.50),
    "crew": ("people who share the work", 0.25, 0.50),
    "handovers": ("handovers between groups", 0.05, 0.10),
    "arrivals": ("arrivals", 0.25, 0.50),
    "open_cases": ("open cases", 0.20, 0.40),
}
"""Difference of `usi.logs.process` -> title, and by how much it may exceed that of two real halves
at tiers A and B, and at C."""
COPY_KEYS: dict[str, tuple[str, str, float, float]] = {
    "twins": ("have the activities and gaps of a real case", "it replays the real log", 0.01,
              0.01),
    "near_twins": ("have those of a real case within ten minutes and 5 %",
                   "it replays the real log, a little moved", 0.10, 0.25),
    "self_copies": ("repeat another of the simulated ones", "it replays itself", 0.01, 0.01),
}  # fmt: skip
"""Share of copies -> what the cases do, what that means, and by how much the share may exceed that
among real cases: up to the first it passes, above the second it fails, at every tier."""
DEFAULT = "B"


class LogRules(GateRules):
    """What a gate asks of event logs."""

    not_ranked = "scope log-observable: never ranked with conversations"
    has_script = False
    own_two_sample = True
    design_need = "a study of transcripts; what was said leaves no trace in a log"

    def criteria(self, card: Scorecard, criteria: Criteria) -> Criteria:
        """Criteria as they are asked of this card.

        Those of conversations name the profile ``robust`` unless they say otherwise. Asked of a
        log they require the components that the real log itself can be compared in: what no
        simulator could be scored on is not asked of one.
        """
        if "profile" in criteria.model_fields_set:
            return criteria
        known = {name for name in GATED if card.human.components[name].ok}
        wanted = tuple(name for name in criteria.require.components if name in known)
        minimum = criteria.minimum.model_copy(
            update={
                name: None
                for name in GATED
                if name not in known and name in criteria.require.components
            }
        )
        if not card.human.index.ok:  # fewer than two components: no log has an index here
            minimum = minimum.model_copy(update={"index": None})
        return criteria.model_copy(
            update={"profile": LOG, "require": Require(components=wanted), "minimum": minimum}
        )

    def tier_limit(self, simulator: SimulatorCard) -> tuple[str | None, str]:
        """Logs are unpaired by nature, which alone lowers no tier."""
        return simulator.tier_limit, "log-only"

    def more_checks(
        self, card: Scorecard, simulator: SimulatorCard, criteria: Criteria
    ) -> list[Check]:
        """The required second keys."""
        tier = criteria.tier or DEFAULT
        # The limits of the tiers are set for conversations; one that was asked for holds here too.
        asked = criteria.c2st_max if criteria.c2st_max != tier_of(tier).c2st_max else None
        return [
            _c2st(simulator, asked or C2ST_MAX[tier]),
            _ngrams(simulator, NGRAM_MAX[tier]),
            *_history(simulator, HISTORY_MIN[tier]),
            *_process(simulator, tier),
            *_copies(simulator),
        ]

    def revised(
        self, simulator: SimulatorCard, criteria: Criteria, checks: list[Check]
    ) -> list[Check]:
        """The success gap by clusters in pairs; and no FAIL where the real log moves as much."""
        return [_as_periods(_paired(check, simulator), simulator) for check in checks]

    def context(self, simulator: SimulatorCard) -> list[Reason]:
        """What the scores speak of, and how the log compares with another period of the desk."""
        found: list[Reason] = [LOG_OBSERVABLE()]
        against = against_periods(simulator)
        if against:
            worse = [title for title, is_worse in against.items() if is_worse]
            found.append(
                WORSE_THAN_PERIODS(parts=", ".join(worse), worse=len(worse), asked=len(against))
                if worse
                else NO_WORSE_THAN_PERIODS(asked=len(against))
            )
        return found


RULES = LogRules()


def _at_most(
    id_: str, title: str, value: Estimate, limit: float, digits: int, above: Sequence[Reason]
) -> Check:
    """Pass where the upper bound is within the limit, fail where the lower one is above."""
    rule = f"{title} <= {limit:g} (upper bound)"
    if value.value is None or value.low is None or value.high is None:
        return not_assessed_check(id_, rule, title, value.reason or NO_BOUNDS(), limit)
    stands = within(value.low, value.high, limit)
    bounds = (value.value, value.low, value.high)
    notes = above if stands[0] == "fail" else ()
    return value_check(id_, rule, stands, title, bounds, limit, digits, notes=notes)


def _c2st(simulator: SimulatorCard, limit: float) -> Check:
    tests = [test for test in simulator.two_sample if test.classifier == "trees"]
    title = "two-sample AUC"
    rule = f"{title} <= {limit:g} (upper bound)"
    if not tests:
        return not_assessed_check("two_sample", rule, title, NO_TWO_SAMPLE(), limit)
    test = tests[0]
    n = test.sessions_per_side or 0
    if test.auc.value is not None and n < C2ST_SESSIONS:
        return value_check(
            "two_sample",
            rule,
            ("inconclusive", TWO_SAMPLE_FEW),
            title,
            (test.auc.value, test.auc.low, test.auc.high),
            limit,
            2,
            sessions=n,
            unit="cases",
            least=C2ST_SESSIONS,
        )
    return _at_most("two_sample", title, test.auc, limit, 2, most_telling(test))


def _ngrams(simulator: SimulatorCard, limit: float) -> Check:
    title = "3-gram distance beyond that of the real log from itself"
    value = simulator.log_distances.get("ngram3_excess")
    if value is None:
        rule = f"{title} <= {limit:g} (upper bound)"
        return not_assessed_check("ngram3", rule, title, NO_NGRAMS(), limit)
    return _at_most("ngram3", title, value, limit, 3, [STEPS_OTHERWISE()])


def period_floor(simulator: SimulatorCard, name: str) -> float | None:
    """Score that another period of the real log would have, at least: a component or the index.

    Twice as far below the random halves as the earlier and the later half are from each other, or
    the lowest month against the rest, whichever is less. ``None`` where it is not known.
    """
    if name == "index":
        known = [n for n in GATED if simulator.components[n].ok]
        floors = [period_floor(simulator, n) for n in known]
        parts = [floor for floor in floors if floor is not None]
        return sum(parts) / len(parts) if parts and len(parts) == len(floors) else None
    detail = simulator.components[name].detail
    half, period, month = (
        detail.get(f"real against real by {kind}") for kind in ("random halves", "period", "month")
    )
    found = []
    if (
        half is not None
        and period is not None
        and half.value is not None
        and period.low is not None
    ):
        found.append(half.value - 2 * max(0.0, half.value - period.low))
    if month is not None and month.low is not None:
        found.append(month.low)
    return max(0.0, min(found)) if found else None


def against_periods(simulator: SimulatorCard) -> dict[str, bool]:
    """Title of each comparison -> whether it is worse than another period of the real log.

    Scores are worse where they lie below `period_floor`, differences where the lower bound of what
    exceeds two real halves lies above ``NAME_periods`` and above the limit of tier B.
    """
    found: dict[str, bool] = {}
    for name in GATED:
        part, floor = simulator.components[name], period_floor(simulator, name)
        if part.value is not None and floor is not None:
            high = part.high if part.high is not None else part.value
            found[TITLES.get(name, name)] = high < floor - EPS
    for name, (title, strict, _) in PROCESS_MAX.items():
        excess = simulator.log_distances.get(f"{name}_excess")
        reach = simulator.log_distances.get(f"{name}_periods")
        if excess is None or excess.low is None or reach is None or reach.value is None:
            continue
        found[title] = excess.low > max(strict, reach.value) + EPS
    return found


def _as_periods(check: Check, simulator: SimulatorCard) -> Check:
    """A failing check becomes an open one where another period of the real log does as badly."""
    if check.state != "fail" or check.value is None:
        return check
    own = simulator.log_distances.get(f"{check.id}_periods")
    reach = own.value if own is not None else None
    if check.id in (*GATED, "index"):
        reach = period_floor(simulator, check.id)
        as_much = reach is not None and check.value >= reach - EPS
    elif check.id.startswith("history."):
        as_much = reach is not None and check.value >= reach - EPS
    elif check.id in ("success_gap", "two_sample", "ngram3"):
        as_much = reach is not None and abs(check.value) <= reach + EPS
    else:
        return check
    if not as_much or reach is None:
        return check
    notes = (*check.notes, LOG_MOVES_AS_MUCH(reach=reach))
    return check.model_copy(update={"state": "inconclusive", "notes": notes})


def _paired(check: Check, simulator: SimulatorCard) -> Check:
    """The success gap with the bounds of clusters in pairs, where those are known."""
    own = simulator.log_distances.get("success_gap_paired")
    if check.id != "success_gap" or check.state != "inconclusive" or check.notes:
        return check
    if own is None or own.value is None or own.low is None or check.value is None:
        return check
    reach, limit = own.value - own.low, check.threshold or 0.0
    low, high = check.value - reach, check.value + reach
    if low < -limit - EPS or high > limit + EPS:
        return check
    bounds = (check.value, low, high)
    return value_check(
        check.id,
        check.rule,
        ("pass", WITHIN),
        "success gap (same clusters on both sides)",
        bounds,
        limit,
        3,
        signed=True,
    )


def _process(simulator: SimulatorCard, tier: str) -> list[Check]:
    """Differences beyond those of two real halves; what the real log can't show is not asked.

    FAIL asks for more than PASS: the difference must also exceed what other clusters and periods
    of the real log differ by, or drift would count as a fault of the simulator.
    """
    checks = []
    for name, (title, strict, loose) in PROCESS_MAX.items():
        limit = loose if tier == "C" else strict
        excess = simulator.log_distances.get(f"{name}_excess")
        if excess is not None and excess.reason is not None and excess.reason.is_a(LOG_LACKS_ROLE):
            continue
        rule = f"{title} beyond the real log's own <= {limit:g} (upper bound)"
        if excess is None or excess.value is None or excess.low is None or excess.high is None:
            why = excess.reason if excess is not None and excess.reason else NO_PROCESS()
            checks.append(not_assessed_check(f"process.{name}", rule, title, why, limit))
            continue
        stands = within(excess.low, excess.high, limit)
        notes: tuple[Reason, ...] = ()
        reach = simulator.log_distances[f"{name}_periods"].value or 0.0
        if stands[0] == "fail" and excess.low <= reach:
            stands = "inconclusive", NOT_SURELY_WITHIN
            notes = (LOG_MOVES_AS_MUCH(reach=reach),)
        bounds = (excess.value, excess.low, excess.high)
        checks.append(
            value_check(f"process.{name}", rule, stands, title, bounds, limit, 3, notes=notes)
        )
    return checks


def _copies(simulator: SimulatorCard) -> list[Check]:
    """Cases that repeat real ones, or one another, at every tier."""
    checks = []
    for name, (what, means, most, failing) in COPY_KEYS.items():
        rule = f"cases that {what}: at most the share among real cases and {most:.0%}"
        own, real = (simulator.log_distances.get(f"{name}{tail}") for tail in ("", "_real"))
        if own is None or real is None or own.value is None or real.value is None:
            why = own.reason if own is not None and own.reason else NO_PROCESS()
            checks.append(not_assessed_check(f"copies.{name}", rule, what, why, most))
            continue
        figures: dict[str, Any] = {"share": own.value, "real": real.value, "what": what}
        state: State = "pass"
        found = LOG_COPIES_WITHIN(**figures)
        if own.value - real.value > failing:
            state, found = "fail", LOG_COPIES_ABOVE(**figures, means=means)
        elif own.value - real.value > most:
            state, found = "inconclusive", LOG_COPIES_UNSURE(**figures)
        checks.append(
            Check(
                id=f"copies.{name}",
                rule=rule,
                state=state,
                found=found,
                value=own.value,
                threshold=real.value + most,
            )
        )
    return checks


SURE = 2.3263478740408408
"""Normal quantile of 99 %: several keys are asked at once, each must be reached nearly always."""
Z = 1.6448536269514722


def cases_needed(value: float, low: float, least: float, have: int) -> int:
    """Simulated cases with which a perfect simulator reaches a lower bound in 99 % of the logs.

    Its score is below 100 by chance alone: n = have ((1.645 + 2.326) se / (100 - least))^2, with
    se = (value - low) / 1.645 at the cases at hand.

    Examples
    --------
    >>> cases_needed(90.0, 65.0, 75.0, 3000)
    17487
    """
    se = (value - low) / Z
    return int(have * ((Z + SURE) * se / (100 - least)) ** 2) + 1


def _history(simulator: SimulatorCard, least: float) -> list[Check]:
    """Features that need memory; one that the real log can't show is not asked."""
    checks = []
    for name in HISTORY_FEATURES:
        feature = simulator.features.get(name)
        if feature is None or feature.human.value is None:
            continue
        score, rule = feature.score, f"{name} >= {least:g} (lower bound)"
        id_ = f"history.{name}"
        if score.status == "unscorable" and feature.simulator.value is not None:
            continue  # people hardly show it: nothing to hold the simulator to
        if score.value is None or score.low is None or score.high is None:
            why = score.reason or NO_BOUNDS()
            checks.append(not_assessed_check(id_, rule, name, why, least))
            continue
        stands: tuple[State, Code] = "inconclusive", NOT_TOLD_FROM
        if score.low >= least - EPS:
            stands = "pass", REACHES
        elif score.high < least - EPS:
            stands = "fail", LIES_BELOW
        bounds = (score.value, score.low, score.high)
        if stands[0] == "inconclusive" and simulator.n.sessions:
            have = simulator.n.sessions
            cases = cases_needed(score.value, score.low, least, have)
            if cases > have:
                needs = HISTORY_TOO_RARE(title=name, cases=cases, have=have, limit=least)
                checks.append(Check(id=id_, rule=rule, state="not_asked", found=needs))
                continue
        notes = (NO_MEMORY(),) if stands[0] == "fail" else ()
        checks.append(value_check(id_, rule, stands, name, bounds, least, notes=notes))
    return checks
