"""What was not scored, and why: every session of a table is either scored or counted here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import polars as pl

from usi.extraction.language_packs import languages_in, without_lists
from usi.extraction.latency import LATENCY_COLUMNS
from usi.extraction.robust.turns import REPAIR_COLUMNS
from usi.reasons import NO_STAMPS, STAMPS_OUT_OF_ORDER, Reason
from usi.scoring.robust.design import Design
from usi.scoring.robust.outcome import Success
from usi.scoring.scorecard import LeftOut

NO_RATED_OUTCOME = "outcome: none, or a correct refusal"
UNUSABLE = LATENCY_COLUMNS[2]
_WORDS = {
    "no_user_turn": "session: no user turn",
    "failed": "session: failed run",
    "infrastructure_error": "session: infrastructure error",
}


def session_reasons(table: pl.DataFrame, design: Design) -> Counter[str]:
    """Reasons and counts for the sessions of one side that were not scored.

    Parameters
    ----------
    table
        Session table of the side, with keys.
    design
        How it was compared.
    """
    counts: Counter[str] = Counter()
    for status, n in table.group_by("status").len().iter_rows():
        if status != "ok":
            counts[_WORDS.get(status, f"session: {status}")] += n
    ok = table.filter(pl.col("status") == "ok")
    kept = ok.filter(pl.col("keep").fill_null(True))
    counts["session: keep mark is not true"] += ok.height - kept.height
    if design.paired:
        unit = kept[design.unit].cast(pl.String)
        counts["session: names no task"] += unit.null_count()
        other = ~unit.drop_nulls().is_in(list(design.common))
        counts["session: the other side has no session of this task"] += int(other.sum())
    return +counts


def language_counts(table: pl.DataFrame) -> Counter[str]:
    """Sessions in another language than English, by language and whether word lists read it."""
    counts: Counter[str] = Counter()
    unread = without_lists(table)
    for language, n in languages_in(table).items():
        word = "no word lists, so no features of words" if language in unread else "its word lists"
        counts[f"language: session in {language} ({word})"] += n
    return counts


def repair_counts(table: pl.DataFrame) -> Counter[str]:
    """What cleaning repaired on a side, by kind: turns changed, and messages that are no turn."""
    counts: Counter[str] = Counter()
    for name in REPAIR_COLUMNS:
        if name not in table.columns:
            continue
        kind = name.removeprefix("rep_")
        left = kind.removeprefix("no_turn_")
        word = f"repaired turn: {kind}" if left == kind else f"message, no turn: {left}"
        counts[word.replace("_", " ")] += int(table[name].sum() or 0)
    return +counts


def stamp_counts(table: pl.DataFrame) -> Counter[str]:
    """Times between turns that have no logarithm: the user's turn is not after the agent's."""
    if UNUSABLE not in table.columns:
        return Counter()
    word = "time stamp: user turn at or before the agent's message, no latency"
    return +Counter({word: int(table[UNUSABLE].sum() or 0)})


def no_gaps(table: pl.DataFrame) -> Reason:
    """Why no session of a side has a time between turns."""
    return STAMPS_OUT_OF_ORDER() if stamp_counts(table) else NO_STAMPS()


def outcome_counts(success: Success, *, human: bool) -> Counter[str]:
    """Sessions whose behaviour counts and whose outcome does not."""
    values = success.human if human else success.simulator
    if success.reason is not None:
        return Counter()
    return +Counter({NO_RATED_OUTCOME: int(np.isnan(values).sum())})


def merged(*sources: Mapping[str, int]) -> tuple[LeftOut, ...]:
    """Reasons with their counts, sorted by reason; equal reasons add up, zeros are dropped."""
    total: Counter[str] = Counter()
    for source in sources:
        total.update(source)
    return tuple(LeftOut(reason=r, count=c) for r, c in sorted(total.items()) if c)
