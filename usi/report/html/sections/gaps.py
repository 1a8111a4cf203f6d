"""Mend it: what people do, what the simulator does, by how much. No advice."""

from __future__ import annotations

from typing import Any

from usi.report.html.document import codes_of, step, unit_of
from usi.report.html.source import One
from usi.scoring.scorecard import FeatureScore

EASY, HARD, EVEN, OPEN = "easier", "harder", "alike", "open"
LONG = 30
"""Units of so many characters say too much for a sentence; they stand in the table."""


def context(one: One) -> dict[str, Any]:
    """One sentence for each gap that is more than chance, scored or not, largest first."""
    easy = easy_mode(one)
    return {
        "gaps": [line(one, k) for k in range(len(one.part.gaps))],
        "success": easy if easy and easy["word"] in (EASY, HARD) else None,
        "survey": _survey(one),
        "bounds": any(f.gap is not None for f in one.card.features.values()),
        "tested": f"{one.c}/gaps_tested" if one.card.gaps_tested is not None else None,
        "mix": one.card.design == "unpaired",
    }


def line(one: One, k: int) -> dict[str, Any]:
    """What the sentence about one gap needs."""
    gap = one.part.gaps[k]
    part = "features" if gap.feature in one.card.features else "style"
    feature: FeatureScore = getattr(one.card, part)[gap.feature]
    code, _ = codes_of(feature.unit)
    spec = one.source.specs.get(gap.feature)
    return {
        "name": gap.feature,
        "what": spec.description if spec else "",
        "p": f"{one.c}/{part}/{step(gap.feature)}",
        "s": f"{one.s}/gaps/{k}",
        "code": code,
        "unit": unit_of(feature.unit) if len(feature.unit) < LONG else "",
        "share": code == "%",
        "more": gap.more,
        "scored": feature.scored,
        "ratio": gap.ratio is not None,
        "points": gap.points is not None,
    }


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


def easy_mode(one: One) -> dict[str, Any] | None:
    """Which way success is off, judged by the bounds of the gap."""
    gap = one.card.success_gap
    if gap is None or gap.value is None:
        return None
    word = OPEN
    if gap.low is not None and gap.high is not None:
        word = EASY if gap.low > 0 else HARD if gap.high < 0 else EVEN
    return {"word": word, "p": f"{one.c}/success_gap"}
