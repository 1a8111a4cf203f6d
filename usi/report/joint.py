"""One simulator in conversations and in a log: both scorecards side by side."""

from __future__ import annotations

import json

from usi._version import __version__
from usi.logs.joint import UNSAID, Joint
from usi.report import card_text
from usi.report.tables import Column, Entry, Table, markdown_lines
from usi.report.text import markdown
from usi.scoring.scorecard import COMPONENTS, Scorecard, SimulatorCard

SHOWN = 15
"""Pairs of features in the Markdown; the JSON has all."""


def _scores(
    chat: Scorecard, log: Scorecard, one: SimulatorCard, other: SimulatorCard
) -> tuple[tuple[Entry, ...], ...]:
    rows: list[tuple[Entry, ...]] = [
        (
            card_text.index_label(one.index),
            one.index,
            card_text.index_label(other.index),
            other.index,
        )
    ]
    for name in COMPONENTS:
        a, b = (card.components.get(name) for card in (one, other))
        words = tuple(card_text.component_title(card, name) for card in (chat, log))
        rows.append((words[0], a, words[1], b))
    return tuple(rows)


def to_markdown(
    chat: Scorecard, log: Scorecard, one: SimulatorCard, other: SimulatorCard, found: Joint
) -> str:
    """The report as Markdown; names are escaped."""
    lines = [
        f"# {markdown(one.name)}: conversations and log",
        "",
        f"Written by usi {__version__}."
        + (" SYNTHETIC DATA." if chat.synthetic or log.synthetic else ""),
        "",
        "Two scorecards of one simulator. Their numbers are of different things and are never "
        "ranked with each other.",
        "",
    ]
    score = Column("score", "1", why=True)
    columns = ("conversations", score, "log", score)
    lines += [
        *markdown_lines(Table("", columns, _scores(chat, log, one, other))),
        "",
        "## Case by case",
        "",
        f"{found.both:,} cases have both; {found.chat_only:,} have a transcript alone, "
        f"{found.log_only:,} a log alone. Spearman correlations with 95 % bounds, one pair at a "
        "time (no correction for their number):",
        "",
    ]
    known = [pair for pair in found.pairs if pair.correlation.value is not None]
    pairs = tuple((p.chat, p.log, p.correlation, p.correlation.n) for p in known[:SHOWN])
    names = ("chat feature", "log feature", Column("correlation", "2"), Column("cases", "i"))
    lines += markdown_lines(Table("", names, pairs))
    more = len(known) - SHOWN
    rest = len(found.pairs) - len(known)
    lines += ["", f"{max(0, more)} weaker pairs are in the JSON; {rest} can't be assessed.", ""]
    lines += ["## What the log cannot say", "", UNSAID[0].upper() + UNSAID[1:] + ".", ""]
    for title, card in (("conversations", chat), ("log", log)):
        lines.append(f"- Signature of the {title}: `{card.signature.replace('`', '')}`")
    return "\n".join(lines) + "\n"


def to_json(
    chat: Scorecard, log: Scorecard, one: SimulatorCard, other: SimulatorCard, found: Joint
) -> str:
    """Everything, as JSON."""
    plain = {
        "usi_version": __version__,
        "synthetic": chat.synthetic or log.synthetic,
        "signatures": {"chat": chat.signature, "log": log.signature},
        "simulators": {"chat": one.name, "log": other.name},
        "scores": {
            kind: {
                "index": card.index.model_dump(mode="json"),
                "components": {k: p.model_dump(mode="json") for k, p in card.components.items()},
            }
            for kind, card in (("chat", one), ("log", other))
        },
        "cases": {"both": found.both, "chat_only": found.chat_only, "log_only": found.log_only},
        "correlations": [
            {"chat": p.chat, "log": p.log, **p.correlation.model_dump(mode="json")}
            for p in found.pairs
        ],
        "log_cannot_say": UNSAID,
    }
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
