"""docs/validation.md from its template and the numbers of the study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from study.summary import worst
from usi.extraction.profile import get_feature_profile

HERE = Path(__file__).resolve().parent
FIRST = "robust@1"
"""Profile of results that do not name theirs."""
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


def cell(verdicts: dict[str, int], draws: int) -> str:
    """Draws by verdict, such as ``0 / 1 / 4``."""
    if not draws:
        return "–"
    counts = [verdicts.get(word, 0) for word in ("PASS", "INCONCLUSIVE", "FAIL")]
    rest = f" ({verdicts['REFUSED']} refused)" if verdicts.get("REFUSED") else ""
    return " / ".join(map(str, counts)) + rest


def stops(found: dict[str, dict[str, int]], most: int = 4) -> str:
    """Checks by how often they stopped a simulator, such as ``content 5, style 3``."""
    counts = sorted(((sum(own.values()), name) for name, own in found.items()), reverse=True)
    return ", ".join(f"{name} {n}" for n, name in counts[:most])


def below_of(found: dict[str, int] | None) -> str:
    """Draws of those that have the score, such as ``1 of 13``, or a dash."""
    return "–" if not found else f"{found['below']} of {found['n']}"


FEWEST_DRAWS = 8
"""Draws below which a share of them says nothing."""
_SHARES = ("people", "mix-5", "mix-10", "mix-20", "mix-30", "mix-50", "model")


def with_mixtures(own: dict[str, Any]) -> dict[str, Any]:
    """A corpus with the tables of its mixtures, by design, where it has some."""
    mixed: list[dict[str, Any]] = []
    for design, rows in own.get("designs", {}).items():
        names = [name for name in _SHARES if rows.get(name, {}).get("draws")]
        if len(names) < 3:
            continue
        lines = []
        for letter in ("B", "C"):
            parts = {part for name in names for part in rows[name]["stops"][letter]}
            for part in sorted(parts, key=lambda p: (p != "index", p)):
                lines.append(
                    {
                        "part": part,
                        "tier": letter,
                        "cells": [_stopped(rows[name], letter, part) for name in names],
                    }
                )
        titles = ["0 %" if n == "people" else "100 %" if n == "model" else n[4:] + " %"
                  for n in names]  # fmt: skip
        mixed.append(
            {"design": design, "shares": titles, "lines": lines, "beyond": _beyond(rows, names)}
        )
    return {**own, "mixed": mixed, "few_design": "50x2x2"}


def _beyond(rows: dict[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """By part: draws with a bound on the wrong side of the mean, by mixture and over all."""
    parts = sorted({part for name in names for part in rows[name].get("beyond", {})},
                   key=lambda p: (p != "index", p))  # fmt: skip
    lines = []
    for part in parts:
        own = [rows[name]["beyond"].get(part) for name in names]
        known = [found for found in own if found is not None and found["n"] >= FEWEST_DRAWS]
        if known:
            wrong, n = (sum(found[key] for found in known) for key in ("wrong", "n"))
            cells = [f"{f['wrong']} of {f['n']}" if f in known else "–" for f in own]
            lines.append({"part": part, "cells": cells, "share": f"{100 * wrong / n:.1f} %"})
    return lines


def _stopped(row: dict[str, Any], letter: str, part: str) -> str:
    share = 100 * sum(row["stops"][letter].get(part, {}).values()) / row["draws"]
    value = row["numbers"].get(f"{part} value")
    return f"{share:.0f} %" + ("" if value is None else f" ({value:.3g})")


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
    room.filters |= {
        "points": points, "percent": percent, "signed": signed, "cell": cell, "stops": stops,
        "below_of": below_of,
    }  # fmt: skip
    people = {
        name: own if "absent" in own else with_mixtures(own)
        for name, own in results.get("people", {}).items()
    }
    results = {**results, "people": people}
    tested = [
        name for name, own in results["paired"].items() if own["copy"]["gap"]["above"]["n"] >= 50
    ]
    large = [name for name in tested if int(name.split("x")[0]) >= 165]
    nine = [name for name in large if name.endswith("x3x3")]
    tags = results.get("profiles", {})
    current = get_feature_profile("robust").tag
    return room.get_template("validation.md.jinja").render(
        r=results,
        current=current,
        stale=[kind for kind in results["studies"] if tags.get(kind, FIRST) != current],
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
