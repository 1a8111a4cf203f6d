"""Doubt it: signature, inputs, what was left out, method, limits, words, how to repeat it.

The command that repeats a scoring, told from the scorecard and the verdict alone.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from usi.errors import UsiError
from usi.provenance.signature import explain, parse
from usi.report.html.document import step
from usi.report.html.source import Source
from usi.scoring.scorecard import Scorecard

_FLAGS = (
    ("--run-ids", "run_ids", "auto"),
    ("--human-source", "human_source", "human"),
    ("--design", "design", "auto"),
    ("--tasks", "tasks", "all"),
    ("--cluster", "cluster", "task"),
    ("--replicates", "replicates", "2000"),
    ("--c2st", "c2st", "fast"),
)
"""Flag, setting of the card, and its usual value, which is not said."""

_OWN_BINS = ("leave-one-batch-out", "one-bin")
"""Where bins of difficulty come from without a pool."""


def command(source: Source) -> str:
    """One command line; files stand under their own names, wherever they lie."""
    card = source.card
    fields = _fields(card)
    files = [f.name for f in card.inputs if f.role == "simulator"]
    human = next((f.name for f in card.inputs if f.role == "human"), "HUMAN")
    people = fields.get("corpus", "").partition("@")[0] or human
    if card.profile.startswith("log"):
        people = human
    parts = ["usi score", *map(_quoted, files), f"--human {_quoted(people)}"]
    if card.profile.startswith("log"):
        parts += _log(card)
    else:
        parts.append(f"--profile {card.profile.partition('@')[0]}")
    parts += _settings(card, fields)
    parts += _signed(card, fields)
    parts += _gate(source)
    return " ".join((*parts, "-o card.json -o report.html"))


def _quoted(name: str) -> str:
    return shlex.quote(name)


def _fields(card: Scorecard) -> dict[str, str]:
    from usi.errors import UsiError

    try:
        return dict(parse(card.signature).fields)
    except (UsiError, ValueError):
        return {}


def _settings(card: Scorecard, fields: dict[str, str]) -> Iterator[str]:
    robust = card.profile.startswith("robust")
    if not card.profile.startswith("tau-usi") and card.settings.get("seed"):
        yield f"--seed {card.settings['seed']}"
    for flag, key, usual in () if card.profile.startswith("log") else _FLAGS:
        value = card.settings.get(key)
        if value and value != usual:
            yield f"{flag} {_quoted(value)}"
    pools = [f.name for f in card.inputs if f.role == "difficulty"]
    if pools:
        yield f"--difficulty {_quoted(pools[0])}"
    elif robust and fields.get("bins") in _OWN_BINS and not _pool_failed(card):
        yield "--difficulty none"
    if card.settings.get("surveys") == "none":
        yield "--surveys none"


def _pool_failed(card: Scorecard) -> bool:
    """Whether bins are their own because the usual pool did not know the tasks."""
    return any(w.code == "difficulty" for part in card.simulators for w in part.warnings)


def _log(card: Scorecard) -> Iterator[str]:
    """How a log was read: a preset of usi, or a configuration of one's own."""
    from usi.logs.config import preset_names

    said = card.settings.get("log", "")
    name = next((p.removeprefix("map:") for p in said.split("|") if p.startswith("map:")), "")
    name = name.partition("@")[0]
    known = name in preset_names()
    yield f"--preset {name}" if known else f"--log-config {_quoted(name or 'log')}.toml"
    horizon = next((p for p in said.split("|") if p.startswith("horizon:")), "horizon:none")
    if horizon != "horizon:none":
        yield f"--horizon {_quoted(horizon.removeprefix('horizon:'))}"
    if card.settings.get("standardise") == "no":
        yield "--no-standardise"
    if card.settings.get("cluster", "week") != "week":
        yield f"--cluster {_quoted(card.settings['cluster'])}"


def _signed(card: Scorecard, fields: dict[str, str]) -> Iterator[str]:
    """Choices that only the signature and the cards of the simulators tell."""
    if card.profile.startswith("log"):
        return
    for name, flag in (("cluster", "--group"), ("bins", "--strata")):
        kind, _, column = fields.get(name, "").partition("@")
        if column and (name == "cluster" or kind == "strata"):
            yield f"{flag} {_quoted(column)}"
    if fields.get("reward", "1") != "1":
        yield f"--success-at {_quoted(fields['reward'])}"
    if fields.get("survey") == "same-transcript":
        yield "--survey-design same-transcript"
    for piece in filter(None, fields.get("subset", "").split(",")):
        side = {"h": "human", "s": "sim"}.get(piece[0])
        if piece != "common" and side:
            labels = piece[1:].split("+")
            runs = [label for label in labels if "=" not in label]
            if runs:
                yield f"--{side}-runs {_quoted(','.join(runs))}"
            yield from (f"--{side}-where {_quoted(one)}" for one in labels if "=" in one)
    by = {group.by: None for simulator in card.simulators for group in simulator.subgroups}
    yield from (f"--by {_quoted(column)}" for column in by)


def _gate(source: Source) -> Iterator[str]:
    if source.verdict is None:
        return
    label = source.verdict.criteria_label
    tier = label.removeprefix("tier ")
    yield f"--gate {tier if tier in 'ABC' and label != tier else 'gate.toml'}"


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
