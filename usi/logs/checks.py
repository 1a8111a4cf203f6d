"""Second keys of operational logs: classifier test, n-grams of order 3, history features.

A memoryless play-out of a real process agrees with it in every mean, so means alone certify
nothing. The limits are judgements; a real log against itself stands far within them.
"""

from __future__ import annotations

from collections.abc import Sequence

from usi.decisions.bounds import EPS
from usi.decisions.checks import most_telling, not_assessed_check, value_check, within
from usi.decisions.criteria import GATED, Criteria, Require
from usi.decisions.criteria import tier as tier_of
from usi.decisions.rules import GateRules
from usi.decisions.verdict import Check, State
from usi.estimate import Estimate
from usi.logs.features import HISTORY_FEATURES
from usi.reasons import (
    LIES_BELOW,
    LOG_OBSERVABLE,
    NO_BOUNDS,
    NO_MEMORY,
    NO_NGRAMS,
    NO_TWO_SAMPLE,
    NOT_TOLD_FROM,
    REACHES,
    STEPS_OTHERWISE,
    TWO_SAMPLE_FEW,
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
        ]

    def context(self, simulator: SimulatorCard) -> list[Reason]:
        """What the scores speak of."""
        return [LOG_OBSERVABLE()]


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
        notes = (NO_MEMORY(),) if stands[0] == "fail" else ()
        checks.append(value_check(id_, rule, stands, name, bounds, least, notes=notes))
    return checks
