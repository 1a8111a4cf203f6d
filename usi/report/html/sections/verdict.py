"""Top: verdict, index, components, what a reader must know in a minute."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from usi.decisions.rules import is_unpaired
from usi.decisions.verdict import Check
from usi.estimate import Estimate
from usi.report import card_text
from usi.report.figures import model as figures
from usi.report.figures.inline import draw
from usi.report.html.document import codes_of, step, unit_of
from usi.report.html.sections.gaps import easy_mode, line
from usi.report.html.source import One
from usi.scoring.scorecard import COMPONENTS

MOST_GAPS = 3
"""Gaps that the top of the page names."""


def context(one: One) -> dict[str, Any]:
    """What the template of the top needs."""
    card, docs = one.card, one.source.docs
    return {
        "label": card_text.index_label(card.index),
        "state": one.verdict.verdict if one.verdict else None,
        "needed": [f"{one.v}/needed/{k}" for k in range(len(one.verdict.needed))]
        if one.verdict
        else [],
        "more": _more_tasks(one),
        "unit": "clusters" if is_unpaired(card) else "tasks",
        "warned": [
            said(f"{one.v}/checks/{k}", check)
            for k, check in enumerate(one.verdict.checks)
            if check.state == "warning"
        ]
        if one.verdict
        else [],
        "reasons": [f"{one.v}/reasons/{k}/text" for k in range(len(one.verdict.reasons))]
        if one.verdict
        else [],
        "gaps": [line(one, k) for k in range(min(MOST_GAPS, len(one.part.gaps)))],
        "furthest": _furthest(one),
        "easy": easy_mode(one),
        "published": f"d:/published/simulators/{step(card.name)}"
        if docs.get(f"d:/published/simulators/{step(card.name)}/value") is not None
        else None,
        "floors": [name for name, value in card.floors.items() if value.ok],
        "figure": Markup(draw(figures.components(one.source.card, card, one.verdict))),
        "rows": _rows(one),
        "missing": [
            (name, f"{one.c}/components/{name}/reason/text")
            for name in COMPONENTS
            if name in card.components and not card.components[name].ok
        ],
        "warnings": [f"{one.c}/warnings/{k}/text" for k in range(len(card.warnings))],
        "checks": _checks(one),
    }


def said(pointer: str, check: Check) -> list[str]:
    """Pointers to what a check found and to the notes that are added to it."""
    notes = (f"{pointer}/notes/{k}/text" for k in range(len(check.notes)))
    return [f"{pointer}/found/text", *notes]


def _furthest(one: One) -> dict[str, Any] | None:
    name = one.part.furthest
    if name is None:
        return None
    feature = one.card.features[name]
    spec = one.source.specs.get(name)
    code, difference = codes_of(feature.unit)
    place = next(k for k, lost in enumerate(one.part.lost) if lost.name == name)
    return {
        "name": name,
        "p": f"{one.c}/features/{step(name)}",
        "code": code,
        "difference": difference,
        "unit": unit_of(feature.unit),
        "points": f"{one.s}/lost/{place}/points",
        "what": spec.description if spec else "",
        "gap": feature.gap is not None and feature.gap.ok,
        "chance": _may_be_chance(feature.gap),
    }


def _may_be_chance(gap: Estimate | None) -> bool:
    """Whether the bounds of a gap hold 0."""
    if gap is None or gap.low is None or gap.high is None:
        return False
    return gap.low <= 0 <= gap.high


def _more_tasks(one: One) -> str | None:
    """The need that asks for most tasks; ``None`` where tasks alone don't settle every part."""
    if one.verdict is None:
        return None
    tasks = {
        need.part: (need.amount, k)
        for k, need in enumerate(one.verdict.needed)
        if need.kind == "tasks" and need.amount is not None and need.now is not None
    }
    if not tasks or {need.part for need in one.verdict.needed} - set(tasks):
        return None
    return f"{one.v}/needed/{max(tasks.values())[1]}"


def _rows(one: One) -> list[dict[str, Any]]:
    """The table of the figure: index first."""
    asked = figures.thresholds(one.verdict)
    places = {c.id: k for k, c in enumerate(one.verdict.checks)} if one.verdict else {}
    found = []
    for name in ("index", *COMPONENTS):
        part = one.card.index if name == "index" else one.card.components.get(name)
        if part is None:
            continue
        tail = "index" if name == "index" else f"components/{name}"
        found.append(
            {
                "name": name,
                "p": f"{one.c}/{tail}",
                "floor": part.floor is not None,
                "human": f"c:/human/{tail}",
                "asked": f"{one.v}/checks/{places[name]}/threshold" if name in asked else None,
                "state": one.verdict.checks[places[name]].state
                if one.verdict and name in places
                else None,
            }
        )
    return found


def _checks(one: One) -> list[dict[str, Any]]:
    if one.verdict is None:
        return []
    return [
        {
            "p": f"{one.v}/checks/{k}",
            "state": check.state,
            "id": check.id,
            "said": said(f"{one.v}/checks/{k}", check),
        }
        for k, check in enumerate(one.verdict.checks)
    ]
