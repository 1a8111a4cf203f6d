"""Mend it: what people do, what the simulator does, by how much. No advice."""

from __future__ import annotations

from typing import Any

from usi.report.html.document import codes_of, step, unit_of
from usi.report.html.sections.verdict import EASY, HARD, easy_mode
from usi.report.html.source import One

LONG = 30
"""Units of so many characters say too much for a sentence; they stand in the table."""


def context(one: One) -> dict[str, Any]:
    """One sentence for each gap whose bounds leave out 0."""
    easy = easy_mode(one)
    return {
        "gaps": _gaps(one),
        "success": easy if easy and easy["word"] in (EASY, HARD) else None,
        "survey": _survey(one),
        "bounds": any(f.gap is not None for f in one.card.features.values()),
    }


def _gaps(one: One) -> list[dict[str, Any]]:
    found = []
    for k, gap in enumerate(one.part.gaps):
        feature = one.card.features[gap.feature]
        code, _ = codes_of(feature.unit)
        spec = one.source.specs.get(gap.feature)
        share = code == "%"
        found.append(
            {
                "name": gap.feature,
                "what": spec.description if spec else "",
                "p": f"{one.c}/features/{step(gap.feature)}",
                "s": f"{one.s}/gaps/{k}",
                "code": code,
                "unit": unit_of(feature.unit) if len(feature.unit) < LONG else "",
                "share": share,
                "more": gap.more,
                "scored": feature.scored,
                "ratio": gap.ratio is not None,
                "points": gap.points is not None,
            }
        )
    return found


def _survey(one: One) -> list[dict[str, Any]]:
    """Items whose answers lean one way, by the bounds of their bias."""
    found = []
    for k, item in enumerate(one.card.survey_items):
        bias = item.bias
        if bias.low is None or bias.high is None or not (bias.low > 0 or bias.high < 0):
            continue
        found.append(
            {
                "name": item.item,
                "p": f"{one.c}/survey_items/{k}/bias",
                "more": bias.low > 0,
            }
        )
    return found
