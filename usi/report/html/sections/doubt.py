"""Doubt it: signature, inputs, what was left out, method, limits, words, how to repeat it."""

from __future__ import annotations

from typing import Any

from usi.errors import UsiError
from usi.report.html.docs import step
from usi.report.html.sections.again import command
from usi.report.html.source import Source
from usi.run.signature import explain


def context(source: Source) -> dict[str, Any]:
    """What the template of this part needs."""
    card = source.card
    sides = [("c:/human", card.human)] + [
        (f"c:/simulators/{k}", side) for k, side in enumerate(card.simulators)
    ]
    return {
        "signature": _signature(card.signature),
        "inputs": [f"c:/inputs/{k}" for k in range(len(card.inputs))],
        "settings": [(name, f"c:/settings/{step(name)}") for name in card.settings],
        "left_out": [
            (f"{pointer}/name", f"{pointer}/left_out/{k}")
            for pointer, side in sides
            for k in range(len(side.left_out))
        ],
        "load_notes": [
            (f"{pointer}/name", f"{pointer}/load_notes/{k}")
            for pointer, side in sides
            for k in range(len(side.load_notes))
        ],
        "warnings": [f"c:/warnings/{k}/message" for k in range(len(card.warnings))],
        "command": command(source),
        "phantom": card.synthetic and "|corpus:phantom@" in card.signature,
    }


def _signature(text: str) -> list[str]:
    try:
        return explain(text)
    except (UsiError, ValueError):
        return []
