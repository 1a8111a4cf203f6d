"""Scorecards written by hand, so that reports are tested against values nobody computed."""

from __future__ import annotations

from usi.estimate import Estimate
from usi.reasons import Reason
from usi.scoring.scorecard import (
    COMPONENTS,
    Component,
    FeatureScore,
    HumanCard,
    Index,
    InputFile,
    LeftOut,
    Scorecard,
    SimulatorCard,
    Sizes,
)

NO_SURVEY = "there is no survey_data/ folder"
HOSTILE = "<script>alert(1)</script>[bold red]|x|`y`\x1b[31m\u202e"


def component(value: float | None, sd: float | None = None, reason: str = NO_SURVEY) -> Component:
    if value is None:
        return Component(value=None, status="not_assessed", reason=Reason("made_up", reason))
    return Component(value=value, sd=sd, n=165)


def components(*values: float | None, reason: str = NO_SURVEY) -> dict[str, Component]:
    return {
        name: component(value, 1.25 if value is not None else None, reason)
        for name, value in zip(COMPONENTS, values, strict=True)
    }


def index(value: float | None, terms: int = 5, name: str = "USI") -> Index:
    if value is None:
        return Index(
            value=None,
            status="unscorable",
            reason=Reason("made_up", "no user turn at all"),
            name=name,
        )
    return Index(value=value, sd=0.75, terms=terms, name=name, n=165)


def feature(human: float, simulator: float, score: float) -> FeatureScore:
    return FeatureScore(
        dimension="conversation",
        unit="share of user turns",
        scored=True,
        human=Estimate(value=human, unit="share"),
        simulator=Estimate(value=simulator, unit="share"),
        score=Estimate(value=score),
    )


def simulator(name: str, value: float | None, terms: int = 5) -> SimulatorCard:
    survey = 60.0 if terms == 6 else None
    return SimulatorCard(
        name=name,
        n=Sizes(tasks=165, sessions=495, runs=3),
        components=components(50.0, 80.0, 70.0, 60.0, 90.0, survey),
        index=index(value, terms),
        features={"politeness_rate": feature(0.25, 0.5, 66.66666666666667)},
        left_out=(LeftOut(reason=Reason("made_up", f"tool result {name}"), count=1234),),
    )


def card(*simulators: SimulatorCard, synthetic: bool = False, is_human: bool = True) -> Scorecard:
    return Scorecard(
        usi_version="0.1.0",
        profile="tau-usi",
        signature="USI(5)|profile:tau-usi@1|corpus:people@ab12",
        synthetic=synthetic,
        difficulty="frozen",
        settings={"run_ids": "auto"},
        human=HumanCard(
            name="Human (inter-ann.)",
            is_human=is_human,
            synthetic=synthetic,
            n=Sizes(tasks=165, sessions=495, batches=3),
            components=components(91.0, 98.0, 90.0, 89.0, 93.75, None),
            index=index(92.4),
            features={},
        ),
        simulators=simulators,
        inputs=(
            InputFile(
                role="human", name="people.json", content_digest="ab" * 32, layout="tau-usi",
                sessions=495,
            ),
        ),
        warnings=(Reason("synthetic", "one warning for all"),),
    )  # fmt: skip
