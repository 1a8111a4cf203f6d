"""An audit as one self-contained page."""

from __future__ import annotations

from usi._version import __version__
from usi.audit.audit import Audit, blockers
from usi.audit.gauntlet import TIERS
from usi.audit.tables import headline, size_line, verdict_cell
from usi.report.html.page import fill
from usi.report.text import printable


def render(found: Audit) -> str:
    """HTML text of an audit; identical inputs give identical bytes."""
    rows = [
        {
            "name": row.name,
            "about": row.about,
            "cells": [verdict_cell(row, letter) for letter in TIERS],
            "index": f"{row.numbers['index']:.1f}" if "index" in row.numbers else "–",
            "why": printable(row.reason) if row.reason else blockers(row, found.tier),
            "badge": _badge(row.attack, row.admitted(found.tier), row.draws),
        }
        for row in found.rows
    ]
    return fill(
        "audit.html.j2",
        version=__version__,
        synthetic=found.synthetic,
        corpus=printable(found.corpus),
        found=found,
        tiers=TIERS,
        rows=rows,
        sizes=[(size, [size.passes[letter] for letter in TIERS]) for size in found.sizes],
        headline=headline(found),
        size_line=size_line(found),
        notes=[printable(note) for note in found.notes],
    )


def _badge(attack: bool, admitted: int, draws: int) -> str:
    """Class of the mark: people ought to pass, attacks ought not."""
    if not draws:
        return "none"
    if attack:
        return "FAIL" if admitted else "PASS"
    return "PASS" if admitted == draws else "INCONCLUSIVE"
