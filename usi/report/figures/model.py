"""What a figure shows, without how it is drawn.

The human reference is always blue with squares and solid lines, a simulator orange with circles
and dashes; both colours are of the Okabe-Ito palette and differ in lightness, too. Axes of
points and shares always run over their whole range.

From a scorecard and what stands beside it to figures.

All figures of a report by name, for files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from usi.decisions.verdict import SimulatorVerdict, Verdict
from usi.diagnose.evidence_files import Distribution, PassCurve, Point
from usi.estimate import Estimate
from usi.report import card_text
from usi.report.report_data import Beside
from usi.report.text import printable
from usi.scoring.profiles import wording_of
from usi.scoring.scorecard import COMPONENTS, Scorecard, SimulatorCard


@dataclass(frozen=True)
class Mark:
    """One value with its bounds."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Row:
    """One line of an interval figure.

    Attributes
    ----------
    label
        Shown at the left.
    own, human
        The simulator's value, and that of people among themselves.
    ceiling, floor
        What a perfect simulator and the best degenerate user would score.
    threshold
        What the criteria ask for.
    strong
        Whether the row stands out (the index).
    """

    label: str
    own: Mark | None
    human: Mark | None = None
    ceiling: float | None = None
    floor: float | None = None
    threshold: float | None = None
    strong: bool = False


@dataclass(frozen=True)
class Intervals:
    """Dots with intervals on 0 to 100 points.

    Attributes
    ----------
    like
        What 100 points are like.
    among
        How `like` is compared with itself, where that is not batch against batch.
    """

    title: str
    rows: tuple[Row, ...]
    like: str = "people"
    among: str | None = None


@dataclass(frozen=True)
class Bars:
    """A binned distribution of people and one simulator, shares of sessions from 0.

    Attributes
    ----------
    labels
        What each bin holds.
    human, own
        Shares by bin.
    n_human, n_own
        Sessions behind them.
    unit
        Of the bins.
    """

    title: str
    labels: tuple[str, ...]
    human: tuple[float, ...]
    own: tuple[float, ...]
    n_human: int
    n_own: int
    unit: str
    name: str


@dataclass(frozen=True)
class Pair:
    """Success of people and of the simulator in one bin of difficulty."""

    label: str
    tasks: int
    human: Mark
    own: Mark


@dataclass(frozen=True)
class Scatter:
    """People's success against the simulator's, with the diagonal of equality."""

    title: str
    pairs: tuple[Pair, ...]
    name: str


@dataclass(frozen=True)
class Curves:
    """pass^k of both sides over k, shares from 0 to 1."""

    title: str
    ks: tuple[int, ...]
    human: tuple[Mark | None, ...]
    own: tuple[Mark | None, ...]
    name: str


Figure = Intervals | Bars | Scatter | Curves
HUMAN, OWN = "#0072B2", "#D55E00"
"""Okabe-Ito blue and vermilion."""


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


def components(
    card: Scorecard, simulator: SimulatorCard, verdict: SimulatorVerdict | None
) -> Intervals:
    """Index and components of one simulator."""
    asked = thresholds(verdict)
    people = card.human
    rows = [
        Row(
            label=card_text.index_label(simulator.index),
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
                label=card_text.component_title(card, name),
                own=mark(part),
                human=mark(people.components.get(name)),
                ceiling=part.ceiling_at_n,
                floor=part.floor,
                threshold=asked.get(name),
            )
        )
    title = f"Index and components of {printable(simulator.name)} in points, with bounds"
    among = wording_of(card.profile).among_figure
    return Intervals(title, tuple(rows), card_text.yardstick(card), among)


def overview(card: Scorecard, asked: dict[str, float | None]) -> Intervals:
    """The index of every simulator, people first."""
    yardstick = card_text.yardstick(card)
    rows = [
        Row(
            label=yardstick.removeprefix("the "),
            own=None,
            human=mark(card.human.index),
            strong=True,
        )
    ]
    for side in card_text.sides(card)[1:]:
        rows.append(
            Row(
                label=printable(side.name),
                own=mark(side.index),
                ceiling=side.index.ceiling_at_n,
                threshold=asked.get(side.name),
            )
        )
    title = "Index of every simulator in points, with bounds"
    return Intervals(title, tuple(rows), yardstick, wording_of(card.profile).among_figure)


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


FORMS = ("svg", "png")


def named(card: Scorecard, verdict: Verdict | None, beside: Beside) -> dict[str, Figure]:
    """Figures by a name that is safe as a file's: ``index``, ``NAME.components``, ..."""
    verdicts = {} if verdict is None else {part.name: part for part in verdict.simulators}
    asked = {name: thresholds(part).get("index") for name, part in verdicts.items()}
    found: dict[str, Figure] = {"index": overview(card, asked)}
    taken: set[str] = set()
    for simulator in card.simulators:
        stem = _stem(simulator.name, taken)
        judged = verdicts.get(simulator.name)
        found[f"{stem}.components"] = components(card, simulator, judged)
        bins = outcome(simulator)
        if bins is not None:
            found[f"{stem}.outcome"] = bins
        if beside.data is None:
            continue
        if simulator.name in beside.data.passk:
            curve = beside.data.passk[simulator.name]
            found[f"{stem}.passk"] = passk(curve, simulator.name)
        for feature, data in beside.data.distributions.items():
            drawn = bars(feature, data, simulator.name)
            if drawn is not None:
                found[f"{stem}.{_safe(feature)}"] = drawn
    return found


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "simulator"


def _stem(name: str, taken: set[str]) -> str:
    stem = base = _safe(name)
    number = 1
    while stem.lower() in taken:
        number += 1
        stem = f"{base}-{number}"
    taken.add(stem.lower())
    return stem
