"""Keys beside the minimums: success gap, two-sample test, tripwires, gaming.

Every function returns the checks of its key; a key that is not asked returns none or one that
says so.
"""

from __future__ import annotations

from usi.estimate import Estimate
from usi.gate.bounds import ALPHA, EPS, quantile
from usi.gate.criteria import Criteria
from usi.gate.design import is_unpaired
from usi.gate.verdict import Check
from usi.score.scorecard import SimulatorCard, TwoSample

C2ST_SESSIONS = 300
"""Sessions a side of the two-sample key: an AUC grows with n, so the cut-off has one n."""
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
        why = gap.reason if gap is not None and gap.reason else "not on the scorecard"
        return [
            Check(
                id="success_gap",
                rule=rule,
                state="inconclusive" if required else "not_asked",
                message=f"success gap not assessed: {why}",
                threshold=limit,
            )
        ]
    low, high = _at_family(gap, criteria.family_size)
    figures = f"success gap {gap.value:+.3f} [{low:+.3f}, {high:+.3f}]"
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
    """The two-sample key (full forest test at 300 sessions a side), else a warning or nothing."""
    if simulator.index.name == "USI-log":
        return []  # a key of its own: usi.gate.log_keys
    limit = criteria.c2st_max
    if limit is None or limit >= 1:
        return _c2st_warning(simulator, criteria)
    rule = f"two-sample AUC <= {limit:g} (upper bound, full test)"

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
    full = [t for t in simulator.two_sample if t.mode == "full" and t.classifier == "forest"]
    if not full:
        have = (
            "only the fast two-sample test was run"
            if simulator.two_sample
            else "no two-sample test"
        )
        return check("inconclusive", f"{have}: score again with --c2st full")
    test = full[0]
    auc = test.auc
    if auc.value is None or auc.low is None or auc.high is None:
        return check("inconclusive", f"two-sample test not assessed: {auc.reason or 'no bounds'}")
    n = test.sessions_per_side or 0
    figures = f"two-sample AUC {auc.value:.2f} [{auc.low:.2f}, {auc.high:.2f}]"
    if n < C2ST_SESSIONS:
        text = f"{figures} from {n} sessions a side; {C2ST_SESSIONS} are asked"
        return check("inconclusive", text, auc)
    if auc.high <= limit + EPS:
        return check("pass", f"{figures} within {limit:g}", auc)
    if auc.low > limit + EPS:
        return check("fail", f"{figures} above {limit:g}{_telltale(test)}", auc)
    return check("inconclusive", f"{figures} not surely within {limit:g}", auc)


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


def check_gaming(simulator: SimulatorCard) -> list[Check]:
    """Suspected gaming leaves no PASS; a collapsed simulator is named as such."""
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
                rule="spread like that of people (warning)",
                state="warning",
                message="collapsed: every conversation is near the mean, which a comparison of "
                "means can't see",
            )
        )
    return checks
