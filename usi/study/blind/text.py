"""The result of a blind check out of its file, and as Markdown."""

from __future__ import annotations

from usi.errors import UsageError
from usi.report.card_text import practitioners
from usi.report.tables import Column, Table, markdown_lines, shown
from usi.report.text import markdown, printable
from usi.study.blind.raters import Blind, ratings_of
from usi.study.blind.results import BlindCard, results_of
from usi.study.blind.status import left_out


def result_of(blind: Blind) -> BlindCard:
    """Everything that raters said until now.

    Raises
    ------
    UsageError
        Where no rating was given yet.
    """
    db = blind.database.read()
    ratings, incomplete = ratings_of(db)
    if not ratings:
        raise UsageError(f"{blind.place.folder}: no rating was given yet")
    return results_of(
        list(blind.items.values()),
        ratings,
        title=blind.place.study.title,
        seed=blind.place.study.seed,
        incomplete=incomplete,
        synthetic=blind.trial,
        left_out=left_out(db),
    )


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
        lines += [*markdown_lines(_marked(card)), ""]
    if card.left_out:
        lines += [*markdown_lines(_left_out(card)), ""]
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


def _left_out(card: BlindCard) -> Table:
    columns = ("rater left out", Column("ratings", "i"), "reason")
    return Table(
        "", columns, tuple((_line(m.rater), m.ratings, _line(m.reason)) for m in card.left_out)
    )


def _line(text: str) -> str:
    """Text from outside in one line."""
    return " ".join(printable(text).split())


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]
