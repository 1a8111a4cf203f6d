"""The scorecard as GitHub-flavoured Markdown: for a pull request, a wiki, a summary of a job."""

from __future__ import annotations

from collections.abc import Sequence

from usi.decisions.verdict import SimulatorVerdict, Verdict
from usi.report import card_text, gaps
from usi.report.html.document import codes_of, unit_of
from usi.report.html.summary import Part, Summary, furthest_of, summarise
from usi.report.names import name_of
from usi.report.tables import Cell, Column, Entry, Table, markdown_lines
from usi.report.text import markdown as esc
from usi.scoring.profiles import wording_of
from usi.scoring.scorecard import COMPONENTS, Component, FeatureScore, Scorecard, SimulatorCard

SYNTHETIC = (
    "> [!WARNING]\n> **SYNTHETIC DATA.** The reference is a generated population with known rates. "
    "No human took part; nothing here is a claim about people or about any model.\n"
)
MOST_FEATURES = 12


def render(card: Scorecard, verdict: Verdict | None = None) -> str:
    """Markdown text of a scorecard, the same from every verb; all text of files is escaped.

    Parameters
    ----------
    card
        The scorecard; identical cards give identical bytes.
    verdict
        Of the gate on this scorecard, where there is one.
    """
    summary = summarise(card)
    lines = [
        f"<!-- written by usi {card.usi_version} -->",
        f"# {wording_of(card.profile).question}",
        "",
    ]
    if card.synthetic:
        lines += [SYNTHETIC]
    lines += [f"- {esc(line)}" for line in card_text.headline(card)]
    lines += ["", *_overview(card, summary, verdict), "", "## Scores", "", *_scores(card)]
    judged = {} if verdict is None else {part.name: part for part in verdict.simulators}
    for part in summary.simulators:
        side = card.simulators[part.at]
        lines += ["", *_simulator(card, side, part, judged.get(part.name))]
    for title, found in card_text.sections(card):
        lines += ["", f"## {title}", "", *(f"- {esc(line)}" for line in found)]
    lines += ["", "## What the numbers rest on", ""]
    lines += [f"- {esc(name)}: {esc(value)}" for name, value in card_text.facts(card)]
    lines += _inputs(card)
    return "\n".join(lines).rstrip("\n") + "\n"


def _scores(card: Scorecard) -> list[str]:
    """Every side with its components and counts, and how to read them."""
    reading = card_text.reading(card_text.sides(card))
    return [*markdown_lines(card_text.scores_table(card)), "", *(f"{esc(x)}  " for x in reading)]


def _overview(card: Scorecard, summary: Summary, verdict: Verdict | None) -> list[str]:
    judged = {} if verdict is None else {part.name: part.verdict for part in verdict.simulators}
    labels = {card_text.index_label(s.index) for s in card.simulators if s.index.ok} or {"index"}
    columns = (
        "simulator",
        "verdict",
        Column(" and ".join(sorted(labels)), "1"),
        Column("ceiling", "1"),
        f"furthest from {card_text.yardstick(card)}",
        Column("success gap (percentage points)", "pp"),
    )
    rows: list[tuple[Entry, ...]] = [(card.human.name, "", card.human.index, "", "", "")]
    for part in summary.simulators:
        side = card.simulators[part.at]
        rows.append(
            (
                part.name,
                judged.get(part.name, "not gated"),
                side.index,
                side.index.ceiling_at_n,
                name_of(furthest) if (furthest := furthest_of(part)) else None,
                side.success_gap,
            )
        )
    return markdown_lines(Table("", columns, tuple(rows), strong=(0,)))


def _simulator(
    card: Scorecard, side: SimulatorCard, part: Part, verdict: SimulatorVerdict | None
) -> list[str]:
    state = verdict.verdict if verdict else "not gated"
    lines = [f"## {esc(side.name)}: {state}", ""]
    if verdict is not None:
        lines += [f"- {esc(reason.text)}" for reason in verdict.reasons]
        lines += [f"- needed: {esc(need.text)}" for need in verdict.needed]
        warned = [check.message for check in verdict.checks if check.state == "warning"]
        lines += [f"- warning (decides nothing): {esc(text)}" for text in warned]
        lines += [""]
    found = gaps.lines(side)
    if found:
        lines += ["**Gaps that are more than chance, scored or not, largest first**", ""]
        lines += [*(f"- {esc(line)}" for line in found), ""]
    lines += [*_components(card, side), "", *_most_lost(side, part)]
    features = side.features | side.style
    if features:
        rows = tuple(_feature(name, feature) for name, feature in features.items())
        table = markdown_lines(Table("", _FEATURES, rows))
        lines += ["", *_folded("All features", table)]
    return lines


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]


def _components(card: Scorecard, side: SimulatorCard) -> list[str]:
    people = card.human
    parts: list[tuple[str, Component, Component | None]] = [
        (card_text.index_label(side.index), side.index, people.index)
    ]
    parts += [
        (card_text.component_title(card, name), side.components[name], people.components.get(name))
        for name in COMPONENTS
        if name in side.components
    ]
    numbers = ("simulator", card_text.yardstick(card), "perfect simulator", "degenerate user")
    rows = tuple((name, own, ref, own.ceiling_at_n, own.floor) for name, own, ref in parts)
    return markdown_lines(Table("", ("part", *(Column(name, "1") for name in numbers)), rows))


def _most_lost(side: SimulatorCard, part: Part) -> list[str]:
    own = [item for item in part.lost if item.name in side.features][:MOST_FEATURES]
    rows = []
    for item in own:
        feature = side.features[item.name]
        code, difference = codes_of(feature.unit)
        rows.append(
            (
                name_of(item.name),
                item.points,
                Cell(feature.human.value, code),
                Cell(feature.simulator.value, code),
                Cell(feature.gap, difference),
                unit_of(feature.unit),
            )
        )
    numbers = ("points lost", "people", "simulator", "gap")
    columns: tuple[Column | str, ...] = (
        "feature",
        *(Column(name, "1") for name in numbers),
        "unit",
    )
    return markdown_lines(Table("", columns, tuple(rows)))


_FEATURES = (
    "feature",
    "identifier",
    "dimension",
    Column("reference", "3"),
    Column("simulator", "3"),
    Column("score", "1"),
)


def _feature(name: str, part: FeatureScore) -> tuple[Entry, ...]:
    score: Entry = part.score if part.scored else "reported only"
    if part.note:
        why = f" ({part.score.reason})" if part.score.reason else ""
        score = f"reported only: {part.note}{why}"
    return (name_of(name), name, part.dimension, part.human, part.simulator, score)


def _inputs(card: Scorecard) -> list[str]:
    if not card.inputs:
        return []
    columns = ("role", "file", "layout", Column("sessions", "i"), "content digest")
    rows = tuple((f.role, f.name, f.layout, f.sessions, f.content_digest[:12]) for f in card.inputs)
    return ["", *markdown_lines(Table("", columns, rows))]
