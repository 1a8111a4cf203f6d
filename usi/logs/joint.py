"""One simulator with transcripts and a log: chat and log features of the same cases together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from usi.errors import NotScorable
from usi.estimate import Estimate, not_assessed
from usi.extraction.profile import get_feature_profile
from usi.extraction.spec import DIMENSIONS
from usi.extraction.table import SessionTable, derive
from usi.reasons import FEW_PAIRS, ONE_CONSTANT
from usi.scoring.robust.bounds import tidy

MIN_PAIRS = 30
"""Cases with both values below which a correlation says nothing."""
Z95 = 1.959963984540054
UNSAID = (
    "politeness, wording, frustration and accusation have no trace in a log: a case that is "
    "reopened or bounced is behaviour, not feeling. Only the transcripts speak of them"
)


@dataclass(frozen=True)
class Pair:
    """How a chat feature and a log feature go together, case by case.

    Attributes
    ----------
    chat, log
        Feature names.
    correlation
        Spearman's rank correlation with 95 % bounds (Fisher's z, n - 3).
    """

    chat: str
    log: str
    correlation: Estimate


@dataclass(frozen=True)
class Joint:
    """Cases that have both a transcript and a log.

    Attributes
    ----------
    both, chat_only, log_only
        How many cases have which.
    pairs
        All pairs of scored features, strongest first; those that can't be assessed last.
    """

    both: int
    chat_only: int
    log_only: int
    pairs: tuple[Pair, ...]


def _values(table: SessionTable, column: str) -> pl.DataFrame:
    """Scored features by case; a case with several transcripts has their mean."""
    specs = [
        s
        for s in get_feature_profile(table.profile).specs
        if s.dimension in DIMENSIONS and s.scored
    ]
    rows = table.frame.filter(pl.col("status") == "ok")
    found = derive(rows, specs, without_denominator=None).cast(pl.Float64)
    keyed = found.with_columns(rows[column].alias("case")).drop_nulls("case")
    return keyed.group_by("case").agg(pl.all().mean()).sort("case")


def joint(chat: SessionTable, log: SessionTable, *, case: str = "session_id") -> Joint:
    """Correlate chat and log features over the cases that both tables have.

    Parameters
    ----------
    chat, log
        Session tables of one side: of its conversations, and of its log.
    case
        Column of the conversations that holds the case id (such as ``session_id`` or
        ``task_id``).

    Raises
    ------
    NotScorable
        Where no case id occurs in both.
    """
    talk, work = _values(chat, case), _values(log, "session_id")
    both = talk.join(work, on="case", how="inner", suffix=" (log)").sort("case")
    if not both.height:
        raise NotScorable(
            f"no case id of the log is a {case} of the conversations: which column holds it?"
        )
    others = [name for name in work.columns if name != "case"]
    pairs = []
    for one in talk.columns:
        if one == "case":
            continue
        for other in others:
            name = f"{other} (log)" if other in talk.columns else other
            found = _spearman(both[one].to_numpy(), both[name].to_numpy())
            pairs.append(Pair(one, other, found))
    pairs.sort(key=lambda p: (-abs(p.correlation.value or 0.0), p.chat, p.log))
    known = both.height
    return Joint(known, talk.height - known, work.height - known, tuple(pairs))


def _spearman(x: np.ndarray, y: np.ndarray) -> Estimate:
    known = np.isfinite(x) & np.isfinite(y)
    n = int(known.sum())
    if n < MIN_PAIRS:
        return not_assessed(FEW_PAIRS, have=n, least=MIN_PAIRS, n=n)
    a, b = x[known], y[known]
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return not_assessed(ONE_CONSTANT, n=n)
    from scipy.stats import spearmanr

    r = float(spearmanr(a, b).statistic)
    if abs(r) >= 1:
        return Estimate(value=tidy(r), n=n, low=tidy(r), high=tidy(r))
    reach = Z95 / np.sqrt(n - 3)
    low, high = (float(np.tanh(np.arctanh(r) + side * reach)) for side in (-1, 1))
    return Estimate(value=tidy(r), low=tidy(low), high=tidy(high), n=n)
