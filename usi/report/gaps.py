"""Gaps that are more than chance, in sentences for the terminal and Markdown."""

from __future__ import annotations

from usi.estimate import written
from usi.report.html.document import codes_of, unit_of
from usi.report.names import name_of
from usi.report.tables import NOTHING, estimated
from usi.scoring.scorecard import CertainGap, Scorecard, SimulatorCard

SHOWN = 5
"""Gaps of each simulator that stand above everything else."""


def leading(card: Scorecard) -> list[str]:
    """The largest gaps of every simulator that are more than chance, scored or not."""
    return [f"{side.name}: {line}" for side in card.simulators for line in lines(side, SHOWN)]


def lines(side: SimulatorCard, most: int | None = None) -> list[str]:
    """One sentence a gap, largest first; one that says so where there is none.

    Empty where nothing was tested (a profile without bounds).
    """
    if side.gaps_tested is None:
        return []
    if not side.certain_gaps:
        return [f"none of {side.gaps_tested} features differs from people by more than chance"]
    shown = side.certain_gaps[:most]
    found = [_sentence(side, gap) for gap in shown]
    rest = len(side.certain_gaps) - len(shown)
    if rest:
        found.append(
            f"and {rest} more of {side.gaps_tested} features differ by more than chance "
            "(false discovery rate 5 %)"
        )
    return found


def _sentence(side: SimulatorCard, gap: CertainGap) -> str:
    feature = (side.features | side.style)[gap.feature]
    code, difference = codes_of(feature.unit)
    share = " percentage points" if code == "%" else ""
    people, own = (
        NOTHING if part.value is None else written(part.value, code)
        for part in (feature.human, feature.simulator)
    )
    apart = NOTHING if feature.gap is None else estimated(feature.gap, difference)
    text = (
        f"{name_of(gap.feature)} ({unit_of(feature.unit)}): people {people}, simulator {own}, "
        f"difference {apart}{share}"
    )
    if gap.effect is not None:
        text += f", {gap.effect:.2f} sd"
    return text if feature.scored else f"{text}; not in the index"
