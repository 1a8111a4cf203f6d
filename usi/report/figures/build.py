"""From a scorecard and what stands beside it to figures."""

from __future__ import annotations

from usi.diagnose.evidence_records import Distribution, PassCurve, Point
from usi.estimate import Estimate
from usi.gate.verdict import SimulatorVerdict
from usi.report import view
from usi.report.figures.model import Bars, Curves, Intervals, Mark, Pair, Row, Scatter
from usi.report.text import printable
from usi.score.scorecard import COMPONENTS, Scorecard, SimulatorCard


def mark(value: Estimate | Point | None) -> Mark | None:
    """Value and bounds of an estimate; ``None`` without a value."""
    if value is None or value.value is None:
        return None
    return Mark(value.value, value.low, value.high)


def thresholds(verdict: SimulatorVerdict | None) -> dict[str, float]:
    """Part -> what the criteria ask for, in points."""
    if verdict is None:
        return {}
    parts = ("index", *COMPONENTS)
    return {c.id: c.threshold for c in verdict.checks if c.id in parts and c.threshold is not None}


def _yardstick(card: Scorecard) -> str:
    if card.profile.partition("@")[0] == "log":
        return "the real log"
    return "people" if card.human.is_human else "the reference"


def components(
    card: Scorecard, simulator: SimulatorCard, verdict: SimulatorVerdict | None
) -> Intervals:
    """Index and components of one simulator."""
    asked = thresholds(verdict)
    people = card.human
    rows = [
        Row(
            label=view.index_label(simulator.index),
            own=mark(simulator.index),
            human=mark(people.index),
            ceiling=simulator.index.ceiling_at_n,
            floor=simulator.index.floor,
            threshold=asked.get("index"),
            strong=True,
        )
    ]
    for name in COMPONENTS:
        part = simulator.components.get(name)
        if part is None:
            continue
        rows.append(
            Row(
                label=view.component_title(card, name),
                own=mark(part),
                human=mark(people.components.get(name)),
                ceiling=part.ceiling_at_n,
                floor=part.floor,
                threshold=asked.get(name),
            )
        )
    title = f"Index and components of {printable(simulator.name)} in points, with bounds"
    return Intervals(title, tuple(rows), _yardstick(card))


def overview(card: Scorecard, asked: dict[str, float | None]) -> Intervals:
    """The index of every simulator, people first."""
    yardstick = _yardstick(card)
    rows = [
        Row(
            label=yardstick.removeprefix("the "),
            own=None,
            human=mark(card.human.index),
            strong=True,
        )
    ]
    for side in view.sides(card)[1:]:
        rows.append(
            Row(
                label=printable(side.name),
                own=mark(side.index),
                ceiling=side.index.ceiling_at_n,
                threshold=asked.get(side.name),
            )
        )
    title = "Index of every simulator in points, with bounds"
    return Intervals(title, tuple(rows), yardstick)


def bars(feature: str, data: Distribution, name: str) -> Bars | None:
    """Distribution of one feature; ``None`` where a side has no value at all."""
    own = data.simulators.get(name)
    if own is None or not own.n or not data.human.n:
        return None
    title = f"Distribution of {feature.replace('_', ' ')} over sessions: people and {name}"
    return Bars(
        title=printable(title),
        labels=data.labels,
        human=data.human.shares,
        own=own.shares,
        n_human=data.human.n,
        n_own=own.n,
        unit=data.unit,
        name=name,
    )


def outcome(simulator: SimulatorCard) -> Scatter | None:
    """Success by bin of difficulty; ``None`` without two sides."""
    pairs = []
    for part in simulator.outcome_bins:
        human, own = mark(part.human), mark(part.simulator)
        if human is not None and own is not None:
            pairs.append(Pair(part.label, part.tasks, human, own))
    if not pairs:
        return None
    title = f"Success with people against success with {printable(simulator.name)}"
    return Scatter(f"{title}, by difficulty of the tasks", tuple(pairs), simulator.name)


def passk(data: PassCurve, name: str) -> Curves:
    """pass^k of both sides."""
    return Curves(
        title=f"pass^k with people and with {printable(name)}",
        ks=data.ks,
        human=tuple(mark(p) for p in data.human),
        own=tuple(mark(p) for p in data.simulator),
        name=name,
    )
