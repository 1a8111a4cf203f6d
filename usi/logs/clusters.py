"""What is drawn again as a whole: the week of a case's start, unless a few weeks hold most cases.

Clusters of unequal size are worth fewer than they are: n_eff = (sum n)^2 / sum n^2 (Kish 1965).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from usi.reasons import CLUSTER_CHOSEN, Reason
from usi.scoring.robust.thresholds import MIN_CLUSTERS

WEEK = "week"
TIMES = (WEEK, "day")
COLUMNS = ("team", "site", "requester")
CASE = "session_id"
"""Every case by itself, where nothing else gives clusters enough."""


def effective_clusters(labels: pl.Series) -> float:
    """Kish's effective number of clusters, (sum n)^2 / sum n^2; 0 without any label.

    A case without a label is a cluster by itself.

    Examples
    --------
    >>> effective_clusters(pl.Series(["a"] * 5 + ["b"] * 5))
    2.0
    >>> round(effective_clusters(pl.Series(["a"] * 72 + list("bcdefgh") * 4)), 2)
    1.89
    """
    counts = labels.drop_nulls().value_counts()["count"].to_numpy().astype(np.float64)
    sizes = np.append(counts, np.ones(labels.null_count()))
    return float(sizes.sum() ** 2 / np.square(sizes).sum()) if len(sizes) else 0.0


def worth(frames: Iterable[pl.DataFrame], column: str) -> float:
    """Effective number of clusters of the side that has fewer; 0 where a side lacks the column."""
    found = []
    for frame in frames:
        if not frame.height:
            continue  # a side without a case is refused elsewhere
        known = column in frame.columns and frame[column].null_count() < frame.height
        found.append(effective_clusters(frame[column]) if known else 0.0)
    return min(found, default=0.0)


def clusters_worth(frame: pl.DataFrame, column: str) -> int:
    """Effective number of clusters of one side, rounded down, as a scorecard shows it."""
    return int(effective_clusters(frame[column]) + 1e-9)


def chosen_cluster(frames: list[pl.DataFrame]) -> tuple[str, Reason | None]:
    """The column whose values are drawn again, and what to say where it is not the week.

    The week, else the day, of a case's start where each side is worth `MIN_CLUSTERS` and more;
    else the one of `COLUMNS` that is worth most; else the cases themselves.
    """
    by_week = worth(frames, WEEK)
    columns = sorted(COLUMNS, key=lambda name: -worth(frames, name))
    for column in (*TIMES, columns[0], CASE):
        own = worth(frames, column)
        if own >= MIN_CLUSTERS:
            break
    else:
        return WEEK, None
    if column == WEEK:
        return WEEK, None
    alone = " (cases of one day share conditions, so bounds may be too narrow)"
    return column, CLUSTER_CHOSEN(
        weeks=by_week,
        column="case" if column == CASE else column,
        worth=own,
        least=MIN_CLUSTERS,
        note=alone if column == CASE else "",
    )
