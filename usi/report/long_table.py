"""Every number of a report as one long table: a row for each part of each simulator."""

from __future__ import annotations

from typing import Any

from usi.decisions.verdict import Verdict
from usi.report import card_text
from usi.report.html.summary import Summary, summarise
from usi.report.tables import csv_text
from usi.scoring.scorecard import COMPONENTS, Component, Scorecard, SimulatorCard

HEAD = (
    "simulator", "kind", "part", "unit", "people", "value", "low", "high", "gap", "gap_low",
    "gap_high", "ceiling", "floor", "asked", "state", "points_lost", "n", "status", "reason",
)  # fmt: skip


def render(card: Scorecard, verdict: Verdict | None = None) -> str:
    """CSV text with a header; empty cells stand for what is not there."""
    summary = summarise(card)
    rows: list[dict[str, Any]] = []
    for side in card_text.sides(card)[1:]:
        if isinstance(side, SimulatorCard):
            rows += _rows(card, side, summary, verdict)
    return csv_text(HEAD, ([row.get(name) for name in HEAD] for row in rows))


def _rows(
    card: Scorecard, side: SimulatorCard, summary: Summary, verdict: Verdict | None
) -> list[dict[str, Any]]:
    part = next(p for p in summary.simulators if p.name == side.name)
    lost = {item.name: item.points for item in (*part.components_lost, *part.lost)}
    judged = {} if verdict is None else {v.name: v for v in verdict.simulators}
    checks = {c.id: c for c in judged[side.name].checks} if side.name in judged else {}
    rows = []
    for name in ("index", *COMPONENTS):
        own = side.index if name == "index" else side.components.get(name)
        people = card.human.index if name == "index" else card.human.components.get(name)
        if own is None:
            continue
        check = checks.get(name)
        rows.append(
            {
                **_component(own),
                "simulator": side.name,
                "kind": "index" if name == "index" else "component",
                "part": card_text.index_label(side.index) if name == "index" else name,
                "people": people.value if people else None,
                "asked": check.threshold if check else None,
                "state": check.state if check else None,
                "points_lost": part.lost_points if name == "index" else lost.get(name),
            }
        )
    for name, feature in (*side.features.items(), *side.style.items()):
        gap = feature.gap
        rows.append(
            {
                "simulator": side.name,
                "kind": "feature" if name in side.features else "style",
                "part": name,
                "unit": feature.unit,
                "people": feature.human.value,
                "value": feature.simulator.value,
                "gap": gap.value if gap else None,
                "gap_low": gap.low if gap else None,
                "gap_high": gap.high if gap else None,
                "points_lost": lost.get(name),
                "n": feature.simulator.n,
                "status": feature.score.status,
                "reason": "; ".join(str(w) for w in (feature.note, feature.score.reason) if w)
                or None,
            }
        )
    return rows


def _component(own: Component) -> dict[str, Any]:
    return {
        "unit": own.unit,
        "value": own.value,
        "low": own.low,
        "high": own.high,
        "ceiling": own.ceiling_at_n,
        "floor": own.floor,
        "n": own.n,
        "status": own.status,
        "reason": str(own.reason) if own.reason else None,
    }
