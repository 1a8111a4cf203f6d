"""docs/validation.md from its template and the numbers of the study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from study.summary import worst

HERE = Path(__file__).resolve().parent
DIMENSIONS = ("conversation", "information", "clarification", "reaction", "outcome")


def points(value: float | None) -> str:
    """One decimal, or a dash."""
    return "–" if value is None else f"{value:.1f}"


def percent(found: dict[str, Any]) -> str:
    """Percent with its Monte-Carlo error, such as ``4.2 ± 1.0``."""
    if found["percent"] is None:
        return "–"
    return f"{found['percent']:.1f} ± {found['error']:.1f}"


def signed(value: float) -> str:
    """One decimal with its sign; no minus before 0.0."""
    text = f"{value:+.1f}"
    return "0.0" if text in ("-0.0", "+0.0") else text


def render(results: dict[str, Any]) -> str:
    """The page as Markdown."""
    room = Environment(
        loader=FileSystemLoader(HERE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    room.filters |= {"points": points, "percent": percent, "signed": signed}
    tested = [
        name for name, own in results["paired"].items() if own["copy"]["gap"]["above"]["n"] >= 50
    ]
    large = [name for name in tested if int(name.split("x")[0]) >= 165]
    nine = [name for name in large if name.endswith("x3x3")]
    return room.get_template("validation.md.jinja").render(
        r=results,
        parts=("index", *DIMENSIONS),
        tested=tested,
        worst_index=worst(results["paired"], large, ("index",)),
        worst_part=worst(results["paired"], nine, DIMENSIONS),
        worst_small=worst(results["paired"], [n for n in tested if n not in nine],
                          ("index", *DIMENSIONS)),
        worst_unpaired=worst(results["unpaired"], list(results["unpaired"]),
                             ("index", *DIMENSIONS)),
        worst_version=_worst_version(results["versions"]),
    )  # fmt: skip


def _worst_version(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The part of a step with the highest share of false passes at its true drop."""
    every = [
        {**part, "part": name, "design": entry["design"], "old": entry["old"], "new": entry["new"]}
        for entry in entries
        for name, part in entry["parts"].items()
        if part["n"] and part["drop"] >= part["smallest"]
    ]
    return max(every, key=lambda part: part["percent"])
