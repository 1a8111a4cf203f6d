"""The scorecard as Markdown, for a repository, a pull request or a summary of a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from usi.report import view
from usi.report.text import markdown as esc
from usi.scoring.scorecard import FeatureScore, Scorecard, SimulatorCard


def render(card: Scorecard) -> str:
    """Markdown text of a scorecard; identical cards give identical bytes."""
    lines = [f"<!-- written by usi {card.usi_version} -->", "# User-Sim Index scorecard", ""]
    if card.synthetic:
        lines += [
            "> **SYNTHETIC DATA.** The reference is a generated population with known rates. "
            "No human took part; nothing here is a claim about people or about any model.",
            "",
        ]
    lines += [f"- {esc(line)}" for line in view.headline(card)]
    lines += ["", "## Scores", ""]
    rows = view.rows(card)
    head = ["name", *view.head(rows)]
    body = [
        [f"**{esc(row.name)}**" if row.is_human else esc(row.name)]
        + [esc(cell) for cell in view.cells(row, rows)]
        for row in rows
    ]
    lines += [*_table(head, body), ""]
    lines += [f"{esc(line)}  " for line in view.reading(view.sides(card))]
    for title, found in view.sections(card):
        lines += ["", f"## {title}", "", *(f"- {esc(line)}" for line in found)]
    for simulator in view.sides(card)[1:]:
        if isinstance(simulator, SimulatorCard) and simulator.features:
            own = simulator.features | simulator.style
            lines += ["", f"## Features: {esc(simulator.name)}", "", *_features(own)]
    lines += ["", "## What the numbers rest on", ""]
    lines += [f"- {esc(name)}: {esc(value)}" for name, value in view.facts(card)]
    if card.inputs:
        files = [
            [
                esc(f.role),
                esc(f.name),
                esc(f.layout),
                f"{f.sessions:,}",
                f"`{f.content_digest[:12]}`",
            ]
            for f in card.inputs
        ]
        lines += ["", *_table(["role", "file", "layout", "sessions", "content digest"], files)]
    return "\n".join(lines) + "\n"


def _features(features: Mapping[str, FeatureScore]) -> list[str]:
    head = ["feature", "dimension", "reference", "simulator", "score"]
    return _table(head, [_feature(name, part) for name, part in features.items()])


def _feature(name: str, part: FeatureScore) -> list[str]:
    score = view.number(part.score) if part.scored else "reported only"
    if part.note:
        why = f" ({part.score.reason})" if part.score.reason else ""
        score = esc(f"reported only: {part.note}{why}")
    return [
        esc(name),
        esc(part.dimension),
        view.number(part.human, 3),
        view.number(part.simulator, 3),
        score,
    ]


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    rule = ["---", *("---:" for _ in head[1:])]
    return ["| " + " | ".join(row) + " |" for row in (head, rule, *body)]
