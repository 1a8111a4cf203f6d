"""The scorecard as GitHub-flavoured Markdown: for a pull request, a wiki, a summary of a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from usi.decisions.verdict import SimulatorVerdict, Verdict
from usi.report import card_text
from usi.report.html.document import codes_of, interval, unit_of, written
from usi.report.html.summary import Part, Summary, summarise
from usi.report.text import markdown as esc
from usi.report.text import markdown_table
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
    rows = card_text.rows(card)
    body = [
        [f"**{esc(row.name)}**" if row.is_human else esc(row.name)]
        + [esc(cell) for cell in card_text.cells(row, rows)]
        for row in rows
    ]
    table = markdown_table(["name", *card_text.head(rows)], body)
    return [*table, "", *(f"{esc(line)}  " for line in card_text.reading(card_text.sides(card)))]


def _with_bounds(value: object, code: str) -> str:
    data = value.model_dump() if hasattr(value, "model_dump") else None
    if not isinstance(data, dict) or data["value"] is None:
        return "–"
    limits = interval(data, code)
    spread = f" ± {written(data['sd'], code)}" if not limits and data.get("sd") else ""
    return " ".join(filter(None, (written(data["value"], code), limits))) + spread


def _overview(card: Scorecard, summary: Summary, verdict: Verdict | None) -> list[str]:
    judged = {} if verdict is None else {part.name: part.verdict for part in verdict.simulators}
    labels = {card_text.index_label(s.index) for s in card.simulators if s.index.ok} or {"index"}
    head = ["simulator", "verdict", " and ".join(sorted(labels)), "ceiling", "furthest"]
    head += ["success against people"]
    rows = [
        [f"**{esc(card.human.name)}**", "", _with_bounds(card.human.index, "1"), "", "", ""],
    ]
    for part in summary.simulators:
        side = card.simulators[part.at]
        rows.append(
            [
                esc(part.name),
                judged.get(part.name, "not gated"),
                _with_bounds(side.index, "1"),
                written(side.index.ceiling_at_n, "1"),
                esc((part.furthest or "–").replace("_", " ")),
                _with_bounds(side.success_gap, "pp") if side.success_gap else "–",
            ]
        )
    return markdown_table(head, rows)


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
    lines += [*_components(card, side), "", *_most_lost(side, part)]
    gaps = [_gap(side, gap.feature) for gap in part.gaps]
    if gaps:
        lines += ["", *_folded("Gaps whose bounds leave out 0", [f"1. {gap}" for gap in gaps])]
    features = side.features | side.style
    if features:
        lines += ["", *_folded("All features", _all_features(features))]
    return lines


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]


def _components(card: Scorecard, side: SimulatorCard) -> list[str]:
    def row(name: str, own: Component, people: Component | None) -> list[str]:
        found = [name, _with_bounds(own, "1"), _with_bounds(people, "1")]
        return [*found, written(own.ceiling_at_n, "1"), written(own.floor, "1")]

    rows = [row(card_text.index_label(side.index), side.index, card.human.index)]
    rows += [
        row(
            card_text.component_title(card, name),
            side.components[name],
            card.human.components.get(name),
        )
        for name in COMPONENTS
        if name in side.components
    ]
    return markdown_table(["part", "simulator", "people", "perfect", "degenerate"], rows)


def _most_lost(side: SimulatorCard, part: Part) -> list[str]:
    own = [item for item in part.lost if item.name in side.features][:MOST_FEATURES]
    rows = []
    for item in own:
        feature = side.features[item.name]
        code, difference = codes_of(feature.unit)
        rows.append(
            [
                esc(item.name.replace("_", " ")),
                written(item.points, "1"),
                written(feature.human.value, code),
                written(feature.simulator.value, code),
                _with_bounds(feature.gap, difference),
                esc(unit_of(feature.unit)),
            ]
        )
    return markdown_table(["feature", "points lost", "people", "simulator", "gap", "unit"], rows)


def _gap(side: SimulatorCard, name: str) -> str:
    feature: FeatureScore = side.features[name]
    code, difference = codes_of(feature.unit)
    human, own = (written(v.value, code) for v in (feature.human, feature.simulator))
    share = " percentage points" if code == "%" else ""
    return (
        f"**{esc(name.replace('_', ' '))}** ({esc(unit_of(feature.unit))}): people {human}, "
        f"{esc(side.name)} {own}, {_with_bounds(feature.gap, difference)}{share}"
    )


def _all_features(features: Mapping[str, FeatureScore]) -> list[str]:
    head = ["feature", "dimension", "reference", "simulator", "score"]
    return markdown_table(head, [_feature(name, part) for name, part in features.items()])


def _feature(name: str, part: FeatureScore) -> list[str]:
    score = card_text.number(part.score) if part.scored else "reported only"
    if part.note:
        why = f" ({part.score.reason})" if part.score.reason else ""
        score = esc(f"reported only: {part.note}{why}")
    return [
        esc(name),
        esc(part.dimension),
        card_text.number(part.human, 3),
        card_text.number(part.simulator, 3),
        score,
    ]


def _inputs(card: Scorecard) -> list[str]:
    if not card.inputs:
        return []
    rows = [
        [esc(f.role), esc(f.name), esc(f.layout), f"{f.sessions:,}", f"`{f.content_digest[:12]}`"]
        for f in card.inputs
    ]
    return ["", *markdown_table(["role", "file", "layout", "sessions", "content digest"], rows)]
