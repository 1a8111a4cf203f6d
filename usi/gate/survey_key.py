"""The survey key: kappa against the humans' own, signed bias, answered share."""

from __future__ import annotations

from usi.gate.bounds import EPS
from usi.gate.criteria import Criteria
from usi.gate.verdict import Check
from usi.score.scorecard import SimulatorCard

MIN_ANSWERED = 0.90


def check_survey(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """The survey key: kappa against the humans' own, signed bias, answered share."""
    key = criteria.survey
    ratio = key.min_kappa_ratio or None
    limit = None if key.max_bias is None or key.max_bias >= 1 else key.max_bias
    if (ratio is None and limit is None) or not _exists(simulator):
        return []
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
        why = people.reason if people is not None and people.reason else "no second human rating"
        text = f"the humans' own agreement is not known: {why}"
        return Check(id="survey_kappa", rule=rule, state="inconclusive", message=text)
    if people.value <= 0:
        text = (
            f"people agree among themselves no better than by chance (kappa {people.value:.2f}), "
            "so that this survey can't tell a judge from a guesser"
        )
        return Check(id="survey_kappa", rule=rule, state="inconclusive", message=text)
    threshold = ratio * people.value
    if mine is None or mine.value is None or mine.low is None:
        why = mine.reason if mine is not None and mine.reason else "no bounds"
        text = f"survey kappa not assessed: {why}"
        return Check(id="survey_kappa", rule=rule, state="inconclusive", message=text)
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


def _bias(simulator: SimulatorCard, limit: float) -> Check:
    rule = f"survey bias within -{limit:g} and +{limit:g}"
    bias = simulator.survey_bias
    if bias is None or bias.value is None or bias.low is None or bias.high is None:
        why = bias.reason if bias is not None and bias.reason else "no bounds"
        text = f"survey bias not assessed: {why}"
        return Check(id="survey_bias", rule=rule, state="inconclusive", message=text)
    figures = f"survey bias {bias.value:+.2f} [{bias.low:+.2f}, {bias.high:+.2f}]"
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
