"""What stands beside a simulator's place on a leaderboard: bounds, doubts, admissions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from usi.estimate import Estimate
from usi.gate.admission import Admission, Found, admissions
from usi.gate.evidence import Evidence
from usi.score.scorecard import Component, SimulatorCard

CHANCE = 0.5
"""AUC of a classifier that can't tell two sides apart."""


@dataclass(frozen=True)
class Entry:
    """What stands beside a simulator's place.

    Attributes
    ----------
    file
        Name of its scorecard.
    index, ceiling
        The score with the bounds that a gate decides by; what a perfect simulator would score.
    success_gap
        Simulator success minus human success; ``None`` where it is not assessed.
    identity
        What the simulator is (model, prompt, harness, ...), as far as the data say.
    admissions
        What gates said on these very numbers.
    doubts
        What the index does not show and the scorecard does: no variety, signs of gaming, a test
        that tells the simulator from people.
    """

    file: str
    signature: str
    index: Estimate
    ceiling: float | None
    success_gap: Estimate | None
    tasks: int
    sessions: int
    runs: int | None
    identity: dict[str, str]
    admissions: tuple[Admission, ...] = ()
    doubts: tuple[str, ...] = ()


def entry_of(found: Evidence, records: Found, as_of: str | None) -> Entry:
    """Collect what stands beside the place of one simulator.

    Parameters
    ----------
    found
        The simulator's evidence.
    records
        What may be about it, from `usi.gate.admission.find_records`.
    as_of
        Day that expiry counts to; without it nothing is called expired.
    """
    card = found.simulator
    return Entry(
        file=Path(found.path).name,
        signature=found.signature,
        index=plain_estimate(card.index),
        ceiling=card.index.ceiling_at_n,
        success_gap=card.success_gap,
        tasks=card.n.tasks,
        sessions=card.n.sessions,
        runs=card.n.runs,
        identity=dict(card.identity),
        admissions=admissions(found.path, found.card, card, records, as_of=as_of),
        doubts=tuple(doubts_of(card)),
    )


def doubts_of(card: SimulatorCard) -> list[str]:
    """What a high index can hide."""
    found = []
    if card.collapsed:
        found.append("collapsed: its variety is gone, which a comparison of means can't see")
    if card.gaming_suspected:
        found.append("gaming suspected: words stand in the wrong places")
    tells = [test.auc for test in card.two_sample if test.auc.low is not None]
    surest = max(tells, key=lambda auc: auc.low or 0.0, default=None)
    if surest is not None and surest.low is not None and surest.low > CHANCE:
        found.append(f"a classifier tells it from people (AUC {surest.value:.2f})")
    return found


def plain_estimate(part: Component) -> Estimate:
    """A component without what only components have."""
    return Estimate(**part.model_dump(include=set(Estimate.model_fields)))
