"""All figures of a report by name, for files."""

from __future__ import annotations

import re

from usi.gate.verdict import Verdict
from usi.report.evidence_view import Beside
from usi.report.figures import build
from usi.report.figures.model import Figure
from usi.score.scorecard import Scorecard

FORMS = ("svg", "png")


def named(card: Scorecard, verdict: Verdict | None, beside: Beside) -> dict[str, Figure]:
    """Figures by a name that is safe as a file's: ``index``, ``NAME.components``, ..."""
    verdicts = {} if verdict is None else {part.name: part for part in verdict.simulators}
    asked = {name: build.thresholds(part).get("index") for name, part in verdicts.items()}
    found: dict[str, Figure] = {"index": build.overview(card, asked)}
    taken: set[str] = set()
    for simulator in card.simulators:
        stem = _stem(simulator.name, taken)
        judged = verdicts.get(simulator.name)
        found[f"{stem}.components"] = build.components(card, simulator, judged)
        outcome = build.outcome(simulator)
        if outcome is not None:
            found[f"{stem}.outcome"] = outcome
        if beside.data is None:
            continue
        if simulator.name in beside.data.passk:
            curve = beside.data.passk[simulator.name]
            found[f"{stem}.passk"] = build.passk(curve, simulator.name)
        for feature, data in beside.data.distributions.items():
            bars = build.bars(feature, data, simulator.name)
            if bars is not None:
                found[f"{stem}.{_safe(feature)}"] = bars
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
