"""The two files of the public scorer: the table of all rows, and one file a simulator.

Both hold ``[mean, population standard deviation]`` pairs under the published names (arXiv
2603.11245): dimensions, survey agreement and index in points, the outcome gap from 0 to 1.
"""

from __future__ import annotations

import json
from typing import Any

from usi.errors import UsageError
from usi.scoring.scorecard import Component, Scorecard, SideCard, SimulatorCard

CELLS: dict[str, str] = {
    "D1_conv": "conversation",
    "D2_info": "information",
    "D3_clarif": "clarification",
    "D4_react": "reaction",
    "eval_agree": "survey",
}
"""Published name -> component; ``ece`` and ``usi`` follow."""

HUMAN_ROW = "Human (inter-ann.)"

Pair = list[float | None] | None


def _pair(component: Component | None) -> Pair:
    if component is None or not component.ok:
        return None
    return [component.value, component.sd]


def _cells(card: SideCard) -> dict[str, Pair]:
    cells = {name: _pair(card.components.get(part)) for name, part in CELLS.items()}
    outcome = card.components.get("outcome")
    if outcome is not None and outcome.ok and "ece" in outcome.detail:
        cells["ece"] = [outcome.detail["ece"].value, outcome.detail["ece_sd"].value]
    else:
        cells["ece"] = None
    cells["usi"] = _pair(card.index)
    return cells


def _check(card: Scorecard) -> None:
    if card.profile != "tau-usi":
        raise UsageError(
            f"this export is that of the published index; the scorecard has the profile "
            f"{card.profile!r}: score with --profile tau-usi"
        )


def published_rows(card: Scorecard) -> dict[str, Any]:
    """The table of the public scorer: ``{"difficulty", "rows": [{"name", "D1_conv": ...}]}``.

    A cell without a value is ``None``; a row without ``eval_agree`` has the five-term index.

    Raises
    ------
    UsageError
        For a scorecard of another profile.
    """
    _check(card)
    difficulty = "frozen" if card.difficulty.startswith("frozen") else card.difficulty
    rows: list[dict[str, Any]] = []
    for side in (card.human, *card.simulators):
        name = side.name if isinstance(side, SimulatorCard) else HUMAN_ROW
        rows.append({"name": name, **_cells(side)})
    return {"difficulty": difficulty, "rows": rows}


def aggregate_metrics(card: Scorecard, simulator: str) -> dict[str, Any]:
    """The file ``<label>_aggregate_metrics.json``: the model and ``human_inter_annotator``.

    Raises
    ------
    UsageError
        For a scorecard of another profile, or a simulator that is not on it.
    """
    _check(card)
    for side in card.simulators:
        if side.name == simulator:
            return {"model": _cells(side), "human_inter_annotator": _cells(card.human)}
    known = ", ".join(side.name for side in card.simulators)
    raise UsageError(f"no simulator {simulator!r} on this scorecard. Known: {known}")


def to_text(data: dict[str, Any]) -> str:
    """Deterministic JSON text with a final newline."""
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
