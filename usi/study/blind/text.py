"""A blind check as Markdown."""

from __future__ import annotations

from usi.report.card_text import practitioners
from usi.report.tables import Column, Table, markdown_lines, shown
from usi.report.text import markdown, printable
from usi.study.blind.results import BlindCard


def markdown_of(card: BlindCard) -> str:
    """The whole result, for people."""
    synthetic = "SYNTHETIC: scripts or synthetic people took part.\n\n" if card.synthetic else ""
    lines = [
        f"# Blind check: {markdown(_line(card.title))}",
        "",
        f"{synthetic}{_first_up(practitioners(card.auc))}.",
        "",
        f"{card.raters} raters, {card.sessions} sessions, {card.ratings} ratings "
        f"({card.incomplete} not given). Agreement of the verdicts (Krippendorff's alpha): "
        f"{shown(card.agreement, '2')}. People were called programs in "
        f"{shown(card.people_called_program, '2')} of their ratings.",
        "",
        *markdown_lines(_simulators(card)),
        "",
        *markdown_lines(_experience(card)),
        "",
    ]
    if card.marked:
        lines += [
            *markdown_lines(_marked(card)),
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


def _simulators(card: BlindCard) -> Table:
    realism = f"realism (people: {shown(card.people_realism, '2')})"
    names = ("AUC", "called a program", realism)
    return Table(
        "",
        ("simulator", *(Column(name, "2", why=True) for name in names)),
        tuple((_line(s.name), s.auc, s.called_program, s.realism) for s in card.simulators),
    )


def _experience(card: BlindCard) -> Table:
    columns = ("experience", Column("raters", "i"), Column("AUC", "2", why=True))
    return Table(
        "", columns, tuple((_line(g.experience), g.raters, g.auc) for g in card.experience)
    )


def _marked(card: BlindCard) -> Table:
    return Table(
        "",
        ("marked by", "simulator", "turn that gave it away"),
        tuple(
            (f"{m.marks} of {m.ratings}", _line(m.simulator), _line(m.text)) for m in card.marked
        ),
    )


def _line(text: str) -> str:
    """Text from outside in one line."""
    return " ".join(printable(text).split())


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]
