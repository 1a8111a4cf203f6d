"""What was not scored, and why: every session of a table is either scored or counted here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import polars as pl

from usi.extraction.language_packs import languages_in, without_lists
from usi.extraction.latency import LATENCY_COLUMNS
from usi.extraction.robust.turns import REPAIR_COLUMNS
from usi.reasons import (
    FAILED_RUN,
    INFRASTRUCTURE,
    KEEP_NOT_TRUE,
    LANGUAGE_UNREAD,
    MESSAGE_NO_TURN,
    NO_COUNTERPART,
    NO_LATENCY,
    NO_RATED_OUTCOME,
    NO_SESSION_OF_TASK,
    NO_STAMPS,
    NO_TASK,
    NO_USER_TURN,
    OTHER_LANGUAGE,
    OTHER_STATUS,
    REFUSED_RIGHTLY,
    SILENT_AGENT,
    STAMPS_OUT_OF_ORDER,
    TURN_REPAIRED,
    Code,
    Reason,
    by_text,
)
from usi.scoring.robust.design import Design
from usi.scoring.robust.outcome import Success
from usi.scoring.scorecard import LeftOut

UNUSABLE = LATENCY_COLUMNS[2]
_NOT_OK: Mapping[str, Code] = {
    "no_user_turn": NO_USER_TURN,
    "failed": FAILED_RUN,
    "infrastructure_error": INFRASTRUCTURE,
}
"""Why a session does not count, by its status."""


def session_reasons(table: pl.DataFrame, design: Design) -> Counter[Reason]:
    """Reasons and counts for the sessions of one side that were not scored.

    Parameters
    ----------
    table
        Session table of the side, with keys.
    design
        How it was compared.
    """
    counts: Counter[Reason] = Counter()
    for status, n in table.group_by("status").len().iter_rows():
        if status != "ok":
            known = _NOT_OK.get(status)
            counts[known() if known else OTHER_STATUS(status=status)] += n
    ok = table.filter(pl.col("status") == "ok")
    kept = ok.filter(pl.col("keep").fill_null(True))
    counts[KEEP_NOT_TRUE()] += ok.height - kept.height
    if design.paired:
        unit = kept[design.unit].cast(pl.String)
        counts[NO_TASK()] += unit.null_count()
        other = ~unit.drop_nulls().is_in(list(design.common))
        counts[NO_COUNTERPART()] += int(other.sum())
    return +counts


def language_counts(table: pl.DataFrame) -> Counter[Reason]:
    """Sessions in another language than English, by language and whether word lists read it."""
    counts: Counter[Reason] = Counter()
    unread = without_lists(table)
    for language, n in languages_in(table).items():
        code = LANGUAGE_UNREAD if language in unread else OTHER_LANGUAGE
        counts[code(language=language)] += n
    return counts


def repair_counts(table: pl.DataFrame) -> Counter[Reason]:
    """What cleaning repaired on a side, by kind: turns changed, and messages that are no turn."""
    counts: Counter[Reason] = Counter()
    for name in REPAIR_COLUMNS:
        if name not in table.columns:
            continue
        kind = name.removeprefix("rep_")
        left = kind.removeprefix("no_turn_")
        code = TURN_REPAIRED if left == kind else MESSAGE_NO_TURN
        counts[code(kind=left.replace("_", " "))] += int(table[name].sum() or 0)
    return +counts


def silent_counts(table: pl.DataFrame) -> Counter[Reason]:
    """Sessions in which the agent says nothing: nobody was talked to."""
    ok = table.filter(pl.col("status") == "ok")
    silent = ok.filter((pl.col("user_turns") > 0) & (pl.col("n_turns") <= pl.col("user_turns")))
    return +Counter({SILENT_AGENT(): silent.height})


def absent_counts(frame: pl.DataFrame, design: Design) -> Counter[Reason]:
    """Sessions that a run lacks: tasks that are compared and that it did not do (paired design)."""
    if not design.paired or frame["run"].null_count():
        return Counter()
    known = frame.filter(pl.col(design.unit).cast(pl.String).is_in(list(design.common)))
    done = known.select("run", design.unit).unique().height
    wanted = known["run"].n_unique() * known[design.unit].n_unique()
    return +Counter({NO_SESSION_OF_TASK(): wanted - done})


def stamp_counts(table: pl.DataFrame) -> Counter[Reason]:
    """Times between turns that have no logarithm: the user's turn is not after the agent's."""
    if UNUSABLE not in table.columns:
        return Counter()
    return +Counter({NO_LATENCY(): int(table[UNUSABLE].sum() or 0)})


def no_gaps(table: pl.DataFrame) -> Reason:
    """Why no session of a side has a time between turns."""
    return STAMPS_OUT_OF_ORDER() if stamp_counts(table) else NO_STAMPS()


def outcome_counts(success: Success, *, human: bool) -> Counter[Reason]:
    """Sessions whose behaviour counts and whose outcome does not, or not among the others."""
    values = success.human if human else success.simulator
    if success.reason is not None:
        return Counter()
    refused = success.refused[0 if human else 1]
    without = int(np.isnan(values).sum()) - refused
    return +Counter({NO_RATED_OUTCOME(): without, REFUSED_RIGHTLY(): refused})


def merged(*sources: Mapping[Reason, int]) -> tuple[LeftOut, ...]:
    """Reasons with their counts, sorted by text; equal reasons add up, zeros are dropped."""
    total: Counter[Reason] = Counter()
    for source in sources:
        total.update(source)
    return tuple(LeftOut(reason=r, count=c) for r, c in by_text(total))
