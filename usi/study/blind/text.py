"""A blind check as Markdown."""

from __future__ import annotations

from usi.estimate import Estimate, with_bounds
from usi.report.card_text import practitioners
from usi.report.text import printable
from usi.study.blind.results import BlindCard


def markdown_of(card: BlindCard) -> str:
    """The whole result, for people."""
    synthetic = "SYNTHETIC: scripts or synthetic people took part.\n\n" if card.synthetic else ""
    lines = [
        f"# Blind check: {_plain(card.title)}",
        "",
        f"{synthetic}{_first_up(practitioners(card.auc))}.",
        "",
        f"{card.raters} raters, {card.sessions} sessions, {card.ratings} ratings "
        f"({card.incomplete} not given). Agreement of the verdicts (Krippendorff's alpha): "
        f"{_value(card.agreement)}. People were called programs in "
        f"{_value(card.people_called_program)} of their ratings.",
        "",
        f"| simulator | AUC | called a program | realism (people: {_value(card.people_realism)}) |",
        "|---|---|---|---|",
        *(
            f"| {_plain(s.name)} | {_value(s.auc)} | {_value(s.called_program)} "
            f"| {_value(s.realism)} |"
            for s in card.simulators
        ),
        "",
        "| experience | raters | AUC |",
        "|---|---|---|",
        *(f"| {_plain(g.experience)} | {g.raters} | {_value(g.auc)} |" for g in card.experience),
        "",
    ]
    if card.marked:
        lines += [
            "| marked by | simulator | turn that gave it away |",
            "|---|---|---|",
            *(
                f"| {m.marks} of {m.ratings} | {_plain(m.simulator)} | {_plain(m.text)} |"
                for m in card.marked
            ),
            "",
        ]
    lines += [
        "AUC: 0.5 = raters can't tell, 1 = they always can; bounds are the 5th and 95th percentile "
        "over raters and sessions.",
        "",
        f"`{card.signature}`",
        "",
        "written by usi",
    ]
    return "\n".join(lines) + "\n"


def _value(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"not assessed ({estimate.reason})"
    return with_bounds(estimate.value, estimate.low, estimate.high, 2)


def _plain(text: str) -> str:
    """Text from outside in a cell: one line, marks without effect."""
    line = " ".join(printable(text).split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>|" else char for char in line)


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]
