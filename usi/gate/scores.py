"""The minimums: where each score stands, tested with one Holm family for FAIL."""

from __future__ import annotations

from dataclasses import dataclass

from usi.features.trace import TITLES as TITLES_OF_LOGS
from usi.gate.bounds import ALPHA, EPS, Bounded, bounded, holm
from usi.gate.criteria import GATED, Criteria, Minimum
from usi.gate.design import is_unpaired
from usi.gate.verdict import Check
from usi.score.scorecard import SimulatorCard

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
    title = _title(simulator, name) if name != "index" else simulator.index.name
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
        is_unpaired(simulator)
        and name in ("clarification", "reaction")
        and simulator.index.name != "USI-log"  # a case has no script
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


def _title(simulator: SimulatorCard, name: str) -> str:
    """What a component is called, in a log by its own name."""
    if simulator.index.name == "USI-log":
        return TITLES_OF_LOGS.get(name, TITLES[name])
    return TITLES[name]


def _subgroups(simulator: SimulatorCard, by: str, minimum: Minimum) -> list[_Score]:
    parts = [group for group in simulator.subgroups if group.by == by]
    if not parts:
        why = f"the scorecard has no subgroups by {by}"
        return [_Score(f"subgroup.{by}", f"subgroups by {by}", 0.0, None, why)]
    scores = []
    for group in parts:
        for name, threshold in minimum.items():
            part = group.index if name == "index" else group.components.get(name)
            title = f"{_title(simulator, name)} of {by} {group.value}"
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
