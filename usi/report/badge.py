"""A badge: index with bounds and verdict, as SVG or for a shields endpoint."""

from __future__ import annotations

import json
from dataclasses import dataclass

from markupsafe import escape

from usi.decisions.verdict import Verdict
from usi.report import card_text
from usi.report.text import printable
from usi.scoring.scorecard import Scorecard, SimulatorCard

COLOURS = {
    "PASS": ("brightgreen", "#0b6b3c"),
    "FAIL": ("red", "#a92318"),
    "INCONCLUSIVE": ("orange", "#7a4f00"),
}
PLAIN = ("blue", "#0a5a94")
MOST = 60


@dataclass(frozen=True)
class Badge:
    """What a badge says; `state` is a verdict, or empty."""

    label: str
    message: str
    state: str


def badge(card: Scorecard, verdict: Verdict | None, simulator: str | None = None) -> Badge:
    """The badge of one simulator, or of all together.

    Parameters
    ----------
    simulator
        Whose; default: the only one, or all (then the verdict of the worst, with counts).
    """
    prefix = "SYNTHETIC " if card.synthetic else ""
    cards = [s for s in card.simulators if simulator is None or s.name == simulator]
    unsure = verdict is not None and bool(verdict.unverified)
    verdicts = {} if verdict is None else {part.name: part.verdict for part in verdict.simulators}
    if len(cards) == 1:
        one = cards[0]
        state = verdicts.get(one.name, "")
        words = [_value(one), state, "unverified" if state and unsure else ""]
        return Badge(
            prefix + card_text.index_label(one.index), " ".join(w for w in words if w)[:MOST], state
        )
    labels = sorted({card_text.index_label(s.index) for s in cards if s.index.ok}) or ["USI"]
    if not verdicts:
        return Badge(prefix + labels[0], f"{len(cards)} simulators", "")
    told = [
        f"{count} {word}"
        for word in ("PASS", "INCONCLUSIVE", "FAIL")
        if (count := sum(verdicts.get(s.name) == word for s in cards))
    ]
    told += ["unverified"] if unsure else []
    return Badge(prefix + labels[0], ", ".join(told), verdict.verdict if verdict else "")


def _value(card: SimulatorCard) -> str:
    return card_text.number(card.index) if card.index.ok else "not scored"


def endpoint(found: Badge) -> str:
    """JSON of the shields endpoint schema (which allows no other keys)."""
    data = {
        "schemaVersion": 1,
        "label": printable(found.label),
        "message": printable(found.message),
        "color": COLOURS.get(found.state, PLAIN)[0],
    }
    return json.dumps(data, ensure_ascii=False) + "\n"


def svg(found: Badge, version: str) -> str:
    """The badge as SVG, without script, font or request."""
    label, message = printable(found.label), printable(found.message)
    colour = COLOURS.get(found.state, PLAIN)[1]
    left, right = 14 + round(6.6 * len(label)), 14 + round(6.6 * len(message))
    name = escape(f"{label}: {message}")
    return (
        f"<!-- written by usi {escape(version)} -->\n"
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{name}"><title>{name}</title>'
        f'<rect width="{left}" height="20" fill="#3a444e"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" '
        f'text-anchor="middle"><text x="{left / 2:g}" y="14">{escape(label)}</text>'
        f'<text x="{left + right / 2:g}" y="14">{escape(message)}</text></g></svg>\n'
    )
