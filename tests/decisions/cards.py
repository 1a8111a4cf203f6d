"""Hand-made scorecards: every number is written here, none is computed by usi."""

from __future__ import annotations

from typing import Any

from usi.estimate import Estimate
from usi.reasons import NOT_ASSESSED, SURVEY_ABSENT, Reason
from usi.scoring.scorecard import (
    Component,
    HumanCard,
    Index,
    Scorecard,
    SimulatorCard,
    Sizes,
    Tripwire,
    TwoSample,
)

Z = 1.6448536269514722  # 95 % quantile of the normal distribution
FIVE = ("conversation", "information", "clarification", "reaction", "outcome")


def part(
    value: float, se: float = 1.0, maxbias: float = 2.0, *, q: float = Z, **more: Any
) -> Component:
    """A component with the bounds of the gate's formula."""
    low = max(0.0, value - q * se)
    high = min(100.0, value + maxbias + q * se)
    return Component(value=value, low=low, high=high, se=se, maxbias=maxbias, **more)


def exact(value: float, low: float, high: float, **more: Any) -> Component:
    """A component with bounds as given."""
    return Component(value=value, low=low, high=high, **more)


def index(value: float, se: float = 1.0, maxbias: float = 2.0, **more: Any) -> Index:
    """The index with the bounds of the gate's formula."""
    given = part(value, se, maxbias, **more).model_dump()
    return Index(**{**given, "name": "USI-R", "terms": 5, "terms_possible": 5})


def share(value: float, low: float, high: float) -> Estimate:
    """A share with its bounds."""
    return Estimate(value=value, low=low, high=high, unit="share")


def ratio(value: float, low: float, high: float) -> Estimate:
    """A ratio to people with its bounds."""
    return Estimate(value=value, low=low, high=high, unit="ratio to people")


def simulator(name: str = "sim", **change: Any) -> SimulatorCard:
    """A simulator that passes tier B well; `change` replaces fields."""
    components = {key: part(95.0) for key in FIVE}
    components["survey"] = Component(value=None, status="not_assessed", reason=SURVEY_ABSENT())
    components |= change.pop("components", {})
    fields: dict[str, Any] = {
        "name": name,
        "n": Sizes(tasks=165, sessions=495, runs=3, clusters=165),
        "components": components,
        "index": index(95.0),
        "features": {},
        "design": "paired",
        "coverage": Estimate(value=1.0, unit="share"),
        "success_gap": share(0.01, -0.03, 0.05),
        "task_tracking": ratio(0.97, 0.8, 1.2),
        "content_tracking": ratio(0.95, 0.9, 1.0),
        "turn_adjacency": ratio(0.98, 0.9, 1.1),
        "style_score": part(93.0),
        "two_sample": (auc(0.55, 0.5, 0.6),),
    }
    return SimulatorCard(**{**fields, **change})


def human(**change: Any) -> HumanCard:
    """A reference of three batches over 165 tasks."""
    fields: dict[str, Any] = {
        "name": "people",
        "n": Sizes(tasks=165, sessions=495, batches=3, clusters=165),
        "components": {},
        "index": Index(value=None, status="not_assessed", reason=NOT_ASSESSED()),
        "features": {},
    }
    return HumanCard(**{**fields, **change})


def card(*simulators: SimulatorCard, **change: Any) -> Scorecard:
    """A scorecard of the profile robust."""
    fields: dict[str, Any] = {
        "usi_version": "0",
        "profile": "robust@2",
        "signature": "USI-R|profile:robust@2",
        "synthetic": False,
        "difficulty": "frozen",
        "human": human(),
        "simulators": simulators or (simulator(),),
    }
    return Scorecard(**{**fields, **change})


def absent(reason: Reason | None = None) -> Component:
    """A component that was not assessed."""
    return Component(value=None, status="not_assessed", reason=reason or NOT_ASSESSED())


def auc(value: float, low: float, high: float, **change: Any) -> TwoSample:
    """A test with boosted trees at 300 sessions a side."""
    fields: dict[str, Any] = {
        "classifier": "trees",
        "mode": "full",
        "auc": Estimate(value=value, low=low, high=high, unit="share"),
        "sessions_per_side": 300,
    }
    return TwoSample(**{**fields, **change})


def wire(alarm: bool) -> Tripwire:
    """A tripwire on dashes."""
    return Tripwire(
        feature="dash",
        human_sessions=495,
        human_hits=0,
        simulator_sessions=495,
        simulator_hits=60 if alarm else 0,
        p_value=1e-9 if alarm else 1.0,
        threshold=0.025,
        alarm=alarm,
    )
