"""What a reader asks first, computed from the scorecard: lost points, gaps, order.

It is written as ``.summary.json`` too, so that its numbers are in a file like all others.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from usi.report import card_text
from usi.rounding import rounded
from usi.scoring.scorecard import COMPONENTS, FeatureScore, Scorecard, SimulatorCard

SCHEMA_VERSION = "1"


class Lost(msgspec.Struct, frozen=True):
    """Points of the index that a part loses: its shortfall divided by the parts it shares with."""

    name: str
    component: str
    points: float


class Gap(msgspec.Struct, frozen=True):
    """A feature whose difference from people is more than chance.

    Attributes
    ----------
    points
        What it costs the index; ``None`` where it is not scored.
    effect
        The difference over the standard deviation between sessions, without sign.
    ratio
        Simulator over people; ``None`` where people never show it.
    size
        Absolute gap.
    more
        Whether the simulator does it more.
    """

    feature: str
    points: float | None
    size: float
    effect: float | None
    low: float
    high: float
    more: bool
    ratio: float | None


class Part(msgspec.Struct, frozen=True):
    """One simulator.

    Attributes
    ----------
    at
        Its place in the scorecard's list.
    lost_points
        100 minus the index.
    lost
        By feature and other component, most first.
    gaps
        Features that differ by more than chance, scored or not, largest first.
    furthest
        The feature that loses most points; ``None`` where none is scored.
    features_loss
        Of each dimension and other component.
    """

    name: str
    at: int
    lost_points: float | None
    lost: tuple[Lost, ...]
    gaps: tuple[Gap, ...]
    furthest: str | None
    components_lost: tuple[Lost, ...]
    below_ceiling: float | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """All simulators, best first."""

    usi_version: str
    schema_version: str = SCHEMA_VERSION
    signature: str
    simulators: tuple[Part, ...]


def summarise(card: Scorecard) -> Summary:
    """Order simulators and say where each loses its points."""
    place = {part.name: k for k, part in enumerate(card.simulators)}
    ordered = [side for side in card_text.sides(card) if isinstance(side, SimulatorCard)]
    return Summary(
        usi_version=card.usi_version,
        signature=card.signature,
        simulators=tuple(_part(side, place[side.name]) for side in ordered),
    )


def to_dict(summary: Summary) -> dict[str, Any]:
    """Plain Python values."""
    found: dict[str, Any] = msgspec.to_builtins(summary)
    return found


def to_json(summary: Summary) -> str:
    """Deterministic JSON text with a final newline."""
    return json.dumps(to_dict(summary), indent=2, ensure_ascii=False) + "\n"


def terms_of(card: SimulatorCard) -> tuple[str, ...]:
    """Components that the index is the mean of."""
    known = tuple(n for n in COMPONENTS if n in card.components and card.components[n].ok)
    if len(known) == card.index.terms:
        return known
    return tuple(name for name in known if name != "survey")[: card.index.terms or None]


def _counted(features: dict[str, FeatureScore], component: str) -> dict[str, FeatureScore]:
    return {
        name: part
        for name, part in features.items()
        if part.dimension == component and part.scored and part.score.ok
    }


def _part(card: SimulatorCard, at: int) -> Part:
    terms = terms_of(card)
    lost: list[Lost] = []
    by_component: list[Lost] = []
    for component in terms:
        value = card.components[component].value
        if value is None:
            continue
        share = (100 - value) / len(terms)
        by_component.append(Lost(component, component, rounded(share)))
        own = _counted(card.features, component)
        shortfall = {n: 100 - (p.score.value or 0.0) for n, p in own.items()}
        total = sum(shortfall.values())
        if own and total > 0:
            lost += [Lost(n, component, rounded(share * s / total)) for n, s in shortfall.items()]
        else:
            lost.append(Lost(component, component, rounded(share)))
    lost.sort(key=lambda item: (-item.points, item.name))
    points = {item.name: item.points for item in lost}
    furthest = next((item.name for item in lost if item.name in card.features), None)
    ceiling = card.index.ceiling_at_n
    value = card.index.value
    return Part(
        name=card.name,
        at=at,
        lost_points=None if value is None else rounded(100 - value),
        lost=tuple(lost),
        gaps=_gaps(card, points),
        furthest=furthest,
        components_lost=tuple(sorted(by_component, key=lambda item: (-item.points, item.name))),
        below_ceiling=None if value is None or ceiling is None else rounded(ceiling - value),
    )


def furthest_of(part: Part) -> str | None:
    """The largest gap that is more than chance, else what loses most points."""
    return part.gaps[0].feature if part.gaps else part.furthest


def _gaps(card: SimulatorCard, points: dict[str, float]) -> tuple[Gap, ...]:
    found = []
    every = card.features | card.style
    for certain in card.certain_gaps:
        part = every[certain.feature]
        gap, human, own = part.gap, part.human.value, part.simulator.value
        if gap is None or gap.value is None or gap.low is None or gap.high is None:
            continue
        ends = sorted((abs(gap.low), abs(gap.high)))
        found.append(
            Gap(
                feature=certain.feature,
                points=points.get(certain.feature),
                size=rounded(abs(gap.value)),
                effect=certain.effect,
                low=ends[0],
                high=ends[1],
                more=certain.more,
                ratio=rounded(own / human) if human and own is not None else None,
            )
        )
    return tuple(found)
