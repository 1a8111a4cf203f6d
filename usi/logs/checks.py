"""Second keys of operational logs: classifier test, n-grams of order 3, history features.

A memoryless play-out of a real process agrees with it in every mean, so means alone certify
nothing. The limits are judgements; a real log against itself stands far within them.
"""

from __future__ import annotations

from usi.decisions.bounds import EPS
from usi.decisions.criteria import GATED, Criteria, Require
from usi.decisions.criteria import tier as tier_of
from usi.decisions.rules import GateRules
from usi.decisions.verdict import Check, State
from usi.estimate import Estimate, with_bounds
from usi.logs.features import HISTORY_FEATURES
from usi.reasons import NO_BOUNDS, NO_NGRAMS, NO_TWO_SAMPLE, Reason
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

    def context(self, simulator: SimulatorCard) -> list[str]:
        """What the scores speak of."""
        return ["scope log-observable: it speaks of what a log shows, not of wording or feelings"]


RULES = LogRules()


def _check(
    id_: str,
    rule: str,
    state: State,
    message: str,
    value: Estimate | None,
    limit: float,
    reason: Reason | None = None,
) -> Check:
    return Check(
        id=id_,
        rule=rule,
        state=state,
        message=message,
        reason=reason,
        value=value.value if value else None,
        low=value.low if value else None,
        high=value.high if value else None,
        threshold=limit,
    )


def _at_most(id_: str, title: str, value: Estimate, limit: float, digits: int, more: str) -> Check:
    """Pass where the upper bound is within the limit, fail where the lower one is above."""
    rule = f"{title} <= {limit:g} (upper bound)"
    if value.value is None or value.low is None or value.high is None:
        why = value.reason or NO_BOUNDS()
        text = f"{title} not assessed: {why}"
        return _check(id_, rule, "inconclusive", text, None, limit, why)
    figures = f"{title} {with_bounds(value.value, value.low, value.high, digits)}"
    if value.high <= limit + EPS:
        return _check(id_, rule, "pass", f"{figures} within {limit:g}", value, limit)
    if value.low > limit + EPS:
        return _check(id_, rule, "fail", f"{figures} above {limit:g}{more}", value, limit)
    return _check(id_, rule, "inconclusive", f"{figures} not surely within {limit:g}", value, limit)


def _c2st(simulator: SimulatorCard, limit: float) -> Check:
    tests = [test for test in simulator.two_sample if test.classifier == "trees"]
    title = "two-sample AUC"
    rule = f"{title} <= {limit:g} (upper bound)"
    if not tests:
        why = NO_TWO_SAMPLE()
        return _check("two_sample", rule, "inconclusive", why.text, None, limit, why)
    test = tests[0]
    n = test.sessions_per_side or 0
    if test.auc.value is not None and n < C2ST_SESSIONS:
        text = f"{title} {test.auc.value:.2f} from {n} cases a side; {C2ST_SESSIONS} are asked"
        return _check("two_sample", rule, "inconclusive", text, test.auc, limit)
    names = [name for name, _ in test.features[:3]]
    more = f"; most telling: {', '.join(names)}" if names else ""
    return _at_most("two_sample", title, test.auc, limit, 2, more)


def _ngrams(simulator: SimulatorCard, limit: float) -> Check:
    title = "3-gram distance beyond that of the real log from itself"
    value = simulator.log_distances.get("ngram3_excess")
    if value is None:
        rule = f"{title} <= {limit:g} (upper bound)"
        why = NO_NGRAMS()
        return _check("ngram3", rule, "inconclusive", why.text, None, limit, why)
    return _at_most("ngram3", title, value, limit, 3, ": steps follow each other otherwise")


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
            text = f"{name} not assessed: {why}"
            checks.append(_check(id_, rule, "inconclusive", text, None, least, why))
            continue
        figures = f"{name} {with_bounds(score.value, score.low, score.high)}"
        if score.low >= least - EPS:
            state: State = "pass"
            words = f"reaches {least:g}"
        elif score.high < least - EPS:
            state, words = "fail", f"lies below {least:g}: no memory of the case"
        else:
            state, words = "inconclusive", f"can't be told from {least:g}"
        checks.append(_check(id_, rule, state, f"{figures} {words}", score, least))
    return checks
