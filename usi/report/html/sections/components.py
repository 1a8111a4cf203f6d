"""Why: features by lost points, distributions, outcome, survey, two-sample test, pass^k,
subgroups."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from usi.report.figures import model as figures
from usi.report.figures.inline import draw
from usi.report.html.document import codes_of, step, unit_of
from usi.report.html.source import One

FIRST = 6
"""Distributions that are open at once; the rest is folded."""


def context(one: One) -> dict[str, Any]:
    """What the template of this part needs."""
    card = one.card
    drawn = _distributions(one)
    outcome = figures.outcome(card)
    curve = one.source.beside.data.passk.get(card.name) if one.source.beside.data else None
    return {
        "features": _features(one),
        "style": [_feature(one, name, f"{one.c}/style/{step(name)}", None) for name in card.style],
        "first": drawn[:FIRST],
        "rest": drawn[FIRST:],
        "outcome": Markup(draw(outcome)) if outcome else None,
        "bins": [f"{one.c}/outcome_bins/{k}" for k in range(len(card.outcome_bins))],
        "items": _items(one),
        "tests": _tests(one),
        "passk": _passk(one, Markup(draw(figures.passk(curve, card.name)))) if curve else None,
        "episodes": _episodes(one),
        "blind": f"{one.c}/blind" if card.blind is not None else None,
        "subgroups": _subgroups(one),
        "tripwires": [
            (f"{one.c}/tripwires/{k}", wire.alarm) for k, wire in enumerate(card.tripwires)
        ],
        "tracking": [
            (name, f"{one.c}/{name}")
            for name in ("task_tracking", "content_tracking", "turn_adjacency")
            if getattr(card, name) is not None
        ],
        "copies": [
            (kind, f"{one.c}/{kind}")
            for kind in ("copies", "self_copies", "run_copies")
            if getattr(card, kind) is not None
        ],
        "terms": [
            (kind, [f"{one.c}/{kind}/{k}" for k in range(len(getattr(card, kind)))])
            for kind in ("telltales", "unsaid")
            if getattr(card, kind)
        ],
        "gaming": [
            (name, f"{one.c}/gaming/{step(name)}")
            for name, value in card.gaming.items()
            if value.ok
        ],
    }


def _episodes(one: One) -> dict[str, Any] | None:
    """Rules broken on the way and findings, where the runs recorded any."""
    found, at = one.card.episodes, f"{one.c}/episodes"
    if found is None or not (found.checked or found.failed):
        return None
    return {
        "p": at,
        "checked": found.checked,
        "broken": [f"{at}/broken/{k}" for k in range(len(found.broken))],
        "hidden": found.hidden.ok,
        "findings": [f"{at}/findings/{k}" for k in range(len(found.findings))],
        "paid": bool(found.cost_usd),
    }


def _order(one: One) -> list[tuple[str, str | None]]:
    """Features by the points that they lose; then those that lose none."""
    own = one.card.features
    lost = {
        item.name: f"{one.s}/lost/{k}/points"
        for k, item in enumerate(one.part.lost)
        if item.name in own
    }
    rest = [(name, None) for name in own if name not in lost]
    return [*lost.items(), *rest]


def _features(one: One) -> list[dict[str, Any]]:
    return [
        _feature(one, name, f"{one.c}/features/{step(name)}", points)
        for name, points in _order(one)
    ]


def _feature(one: One, name: str, pointer: str, points: str | None) -> dict[str, Any]:
    card = one.card
    part = card.features[name] if name in card.features else card.style[name]
    code, difference = codes_of(part.unit)
    spec = one.source.specs.get(name)
    return {
        "name": name,
        "p": pointer,
        "points": points,
        "code": code,
        "difference": difference,
        "unit": unit_of(part.unit),
        "dimension": part.dimension,
        "what": spec.description if spec else "",
        "scored": part.scored and part.score.ok,
        "why": part.note is not None and not part.score.ok,
    }


def _distributions(one: One) -> list[dict[str, Any]]:
    data = one.source.beside.data
    if data is None:
        return []
    found = []
    for name, points in _order(one):
        if name not in data.distributions or not _shown(one, name):
            continue
        figure = figures.bars(name, data.distributions[name], one.card.name)
        if figure is None:
            continue
        base = f"d:/distributions/{step(name)}"
        row = _feature(one, name, f"{one.c}/features/{step(name)}", points)
        found.append(
            {
                **row,
                "figure": Markup(draw(figure)),
                "d": base,
                "own": f"{base}/simulators/{step(one.card.name)}",
                "bins": range(len(figure.labels)),
            }
        )
    return found


def _shown(one: One, name: str) -> bool:
    """Whether a feature has a picture: those in the index; all, where none is."""
    own = one.card.features
    return (own[name].scored and own[name].score.ok) or not any(f.scored for f in own.values())


def _items(one: One) -> list[dict[str, Any]]:
    found = []
    for k, item in enumerate(one.card.survey_items):
        pointer = f"{one.c}/survey_items/{k}"
        options = list(dict.fromkeys((*item.human_distribution, *item.simulator_distribution)))
        total_h, total_s = (
            sum(d.values()) for d in (item.human_distribution, item.simulator_distribution)
        )
        found.append(
            {
                "name": item.item,
                "p": pointer,
                "options": [
                    {
                        "label": option,
                        "human": f"{pointer}/human_distribution/{step(option)}",
                        "own": f"{pointer}/simulator_distribution/{step(option)}",
                        "wh": _width(item.human_distribution.get(option, 0), total_h),
                        "ws": _width(item.simulator_distribution.get(option, 0), total_s),
                    }
                    for option in options
                ],
            }
        )
    return found


def _width(count: int, total: int) -> str:
    return f"{100 * count / total:.1f}" if total else "0"


def _tests(one: One) -> list[dict[str, Any]]:
    return [
        {
            "p": f"{one.c}/two_sample/{k}",
            "kind": test.classifier,
            "features": [
                (name, f"{one.c}/two_sample/{k}/features/{n}/1")
                for n, (name, _) in enumerate(test.features[:6])
            ],
        }
        for k, test in enumerate(one.card.two_sample)
    ]


def _passk(one: One, figure: Markup) -> dict[str, Any]:
    base = f"d:/passk/{step(one.card.name)}"
    count = len(one.source.docs.get(f"{base}/ks") or ())
    return {"figure": figure, "p": base, "rows": range(count)}


def _subgroups(one: One) -> list[str]:
    return [f"{one.c}/subgroups/{k}" for k in range(len(one.card.subgroups))]
