"""Doubt it: signature, inputs, what was left out, method, limits, words, how to repeat it.

The command that repeats a scoring, from the options that its run record keeps.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from usi.decisions.criteria import Criteria
from usi.decisions.verdict import Verdict
from usi.errors import UsiError
from usi.options import ScoreOptions, words_of
from usi.provenance.signature import explain
from usi.report.html.document import step
from usi.report.html.source import Source
from usi.scoring.profiles import wording_of


def command(source: Source) -> str:
    """One command line; files stand under their own names, wherever they lie.

    The options are those of the run record; without one the command has the usual ones.
    """
    card, options = source.card, source.beside.options or {}
    files = [f.name for f in card.inputs if f.role == "simulator"]
    human = next((f.name for f in card.inputs if f.role == "human"), "HUMAN")
    people = Path(options["human"]).name if "human" in options else human
    words = ["usi", "score", *files, "--human", people]
    if wording_of(card.profile).kind != "log":  # the options say how a log is read
        words += ["--profile", card.profile.partition("@")[0]]
    words += words_of(ScoreOptions, options)
    if source.verdict is not None:
        words += ["--gate", _criteria(source.verdict)]
    return shlex.join([*words, "-o", "card.json", "-o", "report.html"])


def _criteria(verdict: Verdict) -> str:
    """A tier as shipped, or a file of criteria."""
    criteria = Criteria.model_validate(verdict.criteria)
    return criteria.tier if criteria.tier and not any(criteria.changes()) else "gate.toml"


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
        "warnings": [f"c:/warnings/{k}/text" for k in range(len(card.warnings))],
        "command": command(source),
        "options_known": source.beside.options is not None,
        "phantom": card.synthetic and "|corpus:phantom@" in card.signature,
    }


def _signature(text: str) -> list[str]:
    try:
        return explain(text)
    except (UsiError, ValueError):
        return []
