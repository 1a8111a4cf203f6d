"""The published scorer's own result shape, for those who compare with its tables."""

from __future__ import annotations

import json
from typing import Any

from usi.estimate import Estimate
from usi.score.scorecard import Component, Scorecard, SideCard

_COLUMNS = {
    "D1_conv": "conversation",
    "D2_info": "information",
    "D3_clarif": "clarification",
    "D4_react": "reaction",
    "eval_agree": "survey",
}
HUMAN_NAME = "Human (inter-ann.)"


def render(card: Scorecard) -> str:
    """JSON ``{"rows": [{"name", "D1_conv": [mean, sd], ..., "usi": [mean, sd]}, ...]}``.

    Points from 0 to 100, except ``ece``, which is a share from 0 to 1; ``null`` where a cell
    has no value. The human row comes first, simulators follow in the card's order.
    """
    data = {
        "written_by": f"usi {card.usi_version}",
        "difficulty": card.difficulty,
        "rows": [_row(card.human, HUMAN_NAME), *(_row(s, s.name) for s in card.simulators)],
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _row(side: SideCard, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name}
    for column, component in _COLUMNS.items():
        row[column] = _pair(side.components.get(component))
    row["ece"] = _ece(side.components.get("outcome"))
    row["usi"] = _pair(side.index)
    return row


def _pair(part: Component | None) -> list[float] | None:
    return None if part is None or part.value is None else [part.value, part.sd or 0.0]


def _ece(part: Component | None) -> list[float] | None:
    """The component is 100 (1 - ECE); its detail has the ECE itself where the profile gives it."""
    if part is None or part.value is None:
        return None
    exact: Estimate | None = part.detail.get("ece")
    value = 1 - part.value / 100 if exact is None or exact.value is None else exact.value
    return [value, (part.sd or 0.0) / 100]
