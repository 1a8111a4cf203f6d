"""Which comparison the data allow: the same tasks on both sides, the same groups, or neither.

Where every session stands: its unit (task or cluster) and what is drawn together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.errors import NotScorable, unknown_name
from usi.options import RobustOptions
from usi.reasons import (
    LOW_COVERAGE,
    NO_TASK_IN_COMMON,
    PAIRED_ON_GROUP,
    PAIRED_ON_TASK,
    UNPAIRED_ASKED,
    UNPAIRED_FEW,
    UNPAIRED_NONE,
    Reason,
)
from usi.records import UNKNOWN_DOMAIN
from usi.scoring.robust.thresholds import MIN_COVERAGE, MIN_GROUP_OVERLAP


@dataclass(frozen=True)
class Design:
    """How the two sides are put beside each other.

    Attributes
    ----------
    paired
        Whether units are compared with themselves on the other side.
    unit
        Column that is paired on (paired) or resampled by (unpaired, human side).
    grouped
        Whether the unit is a group of sessions of different tasks (task set, family).
    reason
        Why, for the card.
    common
        Units on both sides, sorted (empty in unpaired designs).
    coverage
        Share of the reference's units that the simulator has; of the union where grouped.
    human_only, simulator_only
        Units that only one side has.
    """

    paired: bool
    unit: str
    grouped: bool
    reason: Reason
    common: tuple[str, ...] = ()
    coverage: float | None = None
    human_only: int = 0
    simulator_only: int = 0


def require_column(frame: pl.DataFrame, column: str, flag: str) -> None:
    """Raise `UsageError` where a column named by the user does not exist."""
    if column not in frame.columns:
        raise unknown_name(f"column for {flag}", column, frame.columns)


def _values(frame: pl.DataFrame, column: str) -> set[str]:
    return {str(value) for value in frame[column].drop_nulls().unique()}


def _holds_groups(frame: pl.DataFrame, split: str) -> bool:
    """Whether most tasks have several sessions in one batch or run: then it is a task set."""
    known = frame.filter(pl.col("task").is_not_null())
    if not known.height:
        return False
    sizes = known.group_by("task", split).len().group_by("task").agg(pl.col("len").max())
    return float((sizes["len"] > 1).sum()) > 0.5 * sizes.height


def _failed(every: pl.DataFrame | None, column: str, missing: set[str], units: str) -> str:
    """Which runs of the missing tasks failed, to stand in a reason; empty where none did."""
    if every is None or column not in every.columns:
        return ""
    lost = every.filter(
        pl.col(column).cast(pl.String).is_in(sorted(missing)) & (pl.col("status") != "ok")
    )
    if not lost.height:
        return ""
    counts = sorted(lost.group_by("status").len().iter_rows(), key=lambda row: (-row[1], row[0]))
    listed = ", ".join(f"{status} {n:,}" for status, n in counts)
    done = lost[column].n_unique()
    return f"; {done} of the {len(missing)} missing {units} have runs that failed ({listed})"


def _domains(human: pl.DataFrame, simulator: pl.DataFrame, column: str) -> str:
    """What would make the tasks of both sides meet, where only their domains differ."""
    if column != "task" or "domain" not in human.columns:
        return ""

    def bare(frame: pl.DataFrame) -> set[str]:
        return {
            str(task).removeprefix(f"{domain}_")
            for task, domain in frame.select("task", "domain").drop_nulls().unique().iter_rows()
        }

    names = [sorted(set(frame["domain"].drop_nulls())) for frame in (human, simulator)]
    if names[0] == names[1] or not bare(human) & bare(simulator):
        return ""
    theirs, ours = (
        ", ".join(name if name != UNKNOWN_DOMAIN else "not named" for name in found[:3])
        for found in names
    )
    return (
        f"; their ids are the same without the domain (people: {theirs}, simulator: {ours}), and "
        "--domain NAME names that of files that name none"
    )


def detect_design(
    human: pl.DataFrame,
    simulator: pl.DataFrame,
    options: RobustOptions,
    *,
    every: pl.DataFrame | None = None,
) -> Design:
    """Find the design, or check the one that was asked for.

    Paired on the task where at least half of the smaller side's tasks occur on the other side;
    paired on the group where at least 80 % of the groups do; else unpaired.

    Parameters
    ----------
    human, simulator
        Session table rows that may be scored, with the keys of `usi.scoring.keys`.
    every
        All rows of the simulator, to name the runs that failed.

    Raises
    ------
    NotScorable
        Where a paired design covers less than 95 % of the reference's tasks and ``--tasks
        common`` is not set, or where nothing is in common.
    UsageError
        For a column that does not exist.
    """
    if options.design == "unpaired":
        return Design(False, "task", False, UNPAIRED_ASKED())
    column = options.group or "task"
    for frame in (human, simulator):
        require_column(frame, column, "--group")
    ours, theirs = _values(simulator, column), _values(human, column)
    common = tuple(sorted(ours & theirs))
    grouped = options.group is not None or (
        _holds_groups(human, "batch") or _holds_groups(simulator, "run")
    )
    word = "groups" if grouped else "tasks"
    told: dict[str, Any] = {"common": len(common), "all": len(theirs), "units": word}
    union, smaller = len(ours | theirs), min(len(ours), len(theirs))
    asked = options.design == "paired"
    if not common:
        hint = _domains(human, simulator, column)
        if asked:
            raise NotScorable(NO_TASK_IN_COMMON(unit=word[:-1], hint=hint))
        return Design(False, "task", False, UNPAIRED_NONE(unit=word[:-1], hint=hint))
    overlap = len(common) / (union if grouped else smaller)
    if not asked and overlap < (MIN_GROUP_OVERLAP if grouped else 0.5):
        return Design(False, "task", False, UNPAIRED_FEW(**told))
    coverage = len(common) / (union if grouped else len(theirs))
    needed = MIN_GROUP_OVERLAP if grouped else MIN_COVERAGE
    if coverage < needed and options.tasks == "all":
        raise NotScorable(
            LOW_COVERAGE(
                common=len(common),
                all=len(theirs),
                units=word,
                share=100 * coverage,
                needed=100 * needed,
                failed=_failed(every, column, theirs - ours, word),
            )
        )
    return Design(
        True,
        column,
        grouped,
        PAIRED_ON_GROUP(column=column, **told) if grouped else PAIRED_ON_TASK(**told),
        common,
        coverage,
        len(theirs) - len(common),
        len(ours) - len(common),
    )


def own_clusters(frame: pl.DataFrame, cluster: str) -> tuple[str, pl.Series]:
    """Clusters of one side of an unpaired design: what it is called, and one label a session.

    The task where there is one, else the participant, else every session by itself.
    """
    alone = pl.format("session {}", pl.int_range(pl.len()))
    if cluster not in ("task", "participant"):
        require_column(frame, cluster, "--cluster")
    for column in dict.fromkeys((cluster, "task", "participant")):
        if frame[column].null_count() < frame.height:
            label = pl.coalesce(pl.format("= {}", pl.col(column).cast(pl.String)), alone)
            return column, frame.select(label.alias("cluster"))["cluster"]
    return "session", frame.select(alone.alias("cluster"))["cluster"]


def joined_clusters(
    units: Sequence[NDArray[np.int64]], labels: Sequence[pl.Series]
) -> NDArray[np.int64]:
    """Connected components of units and a second label (participant), over both sides.

    Parameters
    ----------
    units
        Per side, the unit index of every session; units are 0 to n - 1 in all of them.
    labels
        Per side, the second label of every session; null = nobody in particular.

    Returns
    -------
    array of shape (n,)
        Component of each unit, numbered in the order of first occurrence.
    """
    n = max((int(index.max()) + 1 for index in units if len(index)), default=0)
    parent = list(range(n))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for index, column in zip(units, labels, strict=True):
        first: dict[str, int] = {}
        for unit, label in zip(index.tolist(), column.to_list(), strict=True):
            if label is not None:
                seen = first.setdefault(str(label), unit)
                one, other = sorted((root(seen), root(unit)))
                parent[other] = one
    roots = np.array([root(node) for node in range(n)], dtype=np.int64)
    _, component = np.unique(roots, return_inverse=True)
    return component.astype(np.int64)


Index = NDArray[np.int64]


@dataclass(frozen=True)
class Placement:
    """Units of both sides.

    Attributes
    ----------
    human, simulator
        Unit index of every session, -1 = not compared.
    human_units, simulator_units
        Names of the units; the same in paired designs.
    cluster
        Cluster of each unit where several are drawn together; else ``None``.
    unit_name
        What is resampled, for messages.
    """

    human: Index
    simulator: Index
    human_units: tuple[str, ...]
    simulator_units: tuple[str, ...]
    cluster: Index | None
    unit_name: str


def unit_index(labels: pl.Series, units: Sequence[str]) -> Index:
    """Index of every label among the units, -1 where it is none of them."""
    place = {unit: k for k, unit in enumerate(units)}
    values = labels.cast(pl.String).to_list()
    return np.array([place.get(v, -1) if v is not None else -1 for v in values], dtype=np.int64)


def placement(
    human: pl.DataFrame, simulator: pl.DataFrame, design: Design, options: RobustOptions
) -> Placement:
    """Place the sessions of both sides.

    Raises
    ------
    UsageError
        For a cluster column that does not exist.
    """
    if not design.paired:
        (name_h, labels_h), (name_s, labels_s) = (
            own_clusters(side, options.cluster) for side in (human, simulator)
        )
        units_h, units_s = (tuple(sorted(set(labels))) for labels in (labels_h, labels_s))
        name = name_h if name_h == name_s else f"{name_h} (people), {name_s} (simulator)"
        return Placement(
            unit_index(labels_h, units_h), unit_index(labels_s, units_s), units_h, units_s,
            None, name,
        )  # fmt: skip
    units = design.common
    index = [unit_index(side[design.unit], units) for side in (human, simulator)]
    cluster, name = None, design.unit
    # participants are the second way of the variance (usi.scoring.robust.crossed): joined with
    # the tasks they would leave few clusters, or one
    if options.cluster not in ("task", "participant", design.unit):
        labels = []
        for side, own in zip((human, simulator), index, strict=True):
            require_column(side, options.cluster, "--cluster")
            labels.append(side[options.cluster].filter(pl.Series(own >= 0)))
        cluster = joined_clusters([own[own >= 0] for own in index], labels)
        name = f"{design.unit} joined with {options.cluster}"
    return Placement(index[0], index[1], units, units, cluster, name)
