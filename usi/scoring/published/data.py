"""One side of the published score, read off its session table: rows, outcomes, surveys.

Three different rules say which sessions take part, and all are kept (arXiv 2603.11245 and its
public scorer): behaviour and survey ask whether the keep mark is true, the outcomes of people
too, the outcomes of a simulator only leave out a mark that is exactly ``false``. Outcomes read
task and run off the id by a rule of their own, so that a fourth run counts there alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from usi.extraction.spec import FeatureSpec
from usi.extraction.table import SessionTable
from usi.options import RunIds
from usi.reasons import (
    FAILED_RUN,
    FAILED_RUN_OTHER,
    FAILED_RUN_TOLD,
    INFRASTRUCTURE,
    INFRASTRUCTURE_TOLD,
    KEEP_NOT_TRUE,
    NO_TASK,
    NULL_REWARD,
    OUTCOME_ALONE,
    Reason,
)
from usi.records import Side
from usi.scoring.keys import names_run_by_id
from usi.scoring.published.calibration import success
from usi.scoring.published.survey import Answers, answers_from_json

Row = npt.NDArray[np.float64]
"""One value a feature, in the order of the profile's features, in published units."""

NOT_A_SESSION = ("failed", "infrastructure_error")
_TASK = re.compile(r"(airline|retail)_\d+")
_RUN = re.compile(r"(?:airline|retail)_\d+_(\d+)$")
_REASON_LENGTH = 100
_REASONS = 20


@dataclass
class SideData:
    """What the published score needs of one side.

    Attributes
    ----------
    values
        Shape (sessions, features), raw; NaN where a session has no user turn.
    spoke
        Whether a session has a user turn.
    kept
        Batch (people) or run (simulator) -> task -> rows that take part in behaviour.
    outcomes
        Batch or run -> task -> success, by the rule of the outcomes.
    surveys
        Batch -> task -> answers (people).
    all_rewards_null
        Whether there are sessions and none has a reward.
    left_out
        Reason -> number of sessions.
    """

    name: str
    values: npt.NDArray[np.float64]
    scale: Row
    spoke: npt.NDArray[np.bool_]
    groups: list[str] = field(default_factory=list)
    kept: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    outcomes: dict[str, dict[str, float]] = field(default_factory=dict)
    surveys: dict[str, dict[str, Answers]] = field(default_factory=dict)
    all_rewards_null: bool = False
    several_per_task: bool = False
    left_out: Counter[Reason] = field(default_factory=Counter)

    def rows_of(self, group: str, tasks: Iterable[str]) -> list[int]:
        """Rows of a batch or run with a user turn, for tasks in sorted order."""
        own = self.kept[group]
        return [i for task in sorted(tasks) for i in own[task] if self.spoke[i]]

    def pooled(self, group: str, tasks: Iterable[str]) -> Row | None:
        """Mean over conversations, in published units; ``None`` where none has a user turn."""
        rows = self.rows_of(group, tasks)
        if not rows:
            return None
        chosen = self.values[rows]
        means = [float(np.mean(np.ascontiguousarray(column))) for column in chosen.T]
        return np.array(means) * self.scale

    def task_set(self) -> set[str]:
        """Tasks with a session that takes part in behaviour."""
        return {task for own in self.kept.values() for task in own}


def natural_order(groups: Iterable[str]) -> list[str]:
    """Batches in numeric order, runs by their text."""
    return sorted(set(groups), key=lambda g: (0, int(g), g) if g.isdecimal() else (1, 0, g))


def published_outcome_key(session_id: str) -> tuple[str, str]:
    """Task and run of an id as the outcomes read them, whatever the number of entries.

    >>> published_outcome_key("retail_7_5"), published_outcome_key("airline_3")
    (('retail_7', '5'), ('airline_3', '1'))
    """
    task = _TASK.match(session_id)
    run = _RUN.match(session_id)
    return (task[0] if task else session_id), (run[1] if run else "1")


def read_side(
    table: SessionTable, specs: Sequence[FeatureSpec], *, side: Side, name: str, run_ids: RunIds
) -> SideData:
    """Read one side off its session table, whose keys are assigned.

    Rows are taken in sorted order of task and id, so the order of a file changes nothing (where
    two sessions share both, their own counts and then all else break the tie).
    """
    shown = table.values().select(spec.name for spec in specs)
    frame = table.frame.with_columns(
        shown.select(pl.all().name.prefix("value:")),
        by_id=names_run_by_id() & pl.lit(run_ids == "auto"),
    )
    counts = [column for column in table.frame.columns if frame.schema[column] == pl.Int64]
    ties = [column for column in counts if column not in ("seq", "batch", "batch_id")]
    known = ("task", "session_id", "run", "batch", "reward", "seq", *ties)
    rest = sorted(column for column in table.frame.columns if column not in known)
    frame = frame.sort(
        "task", "session_id", "run", "batch", "reward", *ties, *rest, nulls_last=True
    )
    values = frame.select(pl.col("^value:.*$").cast(pl.Float64)).to_numpy()
    data = SideData(
        name=name,
        values=values,
        scale=np.array([100.0 if spec.percent else 1.0 for spec in specs]),
        spoke=(frame["status"] == "ok").to_numpy(),
    )
    _fill(data, frame, side)
    return data


def _fill(data: SideData, frame: pl.DataFrame, side: Side) -> None:
    group_column = "batch" if side == "human" else "run"
    columns = frame.select(
        "session_id", "task", "status", "status_reason", "keep", "keep_is_false", "reward",
        "survey", "by_id", group=pl.col(group_column).cast(pl.String),
    )  # fmt: skip
    data.groups = natural_order(g for g in columns["group"].to_list() if g is not None)
    data.kept = {group: {} for group in data.groups}
    data.surveys = {group: {} for group in data.groups}
    shares: dict[str, dict[str, list[float]]] = {}
    rewards = nulls = 0
    for i, row in enumerate(columns.iter_rows(named=True)):
        task, status = row["task"], row["status"]
        if status in NOT_A_SESSION:
            data.left_out[_why(status, row["status_reason"])] += 1
            continue
        if task is None:
            data.left_out[NO_TASK()] += 1
            continue
        if not row["keep"]:
            data.left_out[KEEP_NOT_TRUE()] += 1
        else:
            data.kept[row["group"]].setdefault(task, []).append(i)
            data.surveys[row["group"]][task] = answers_from_json(row["survey"])
            if status != "ok":
                data.left_out[OUTCOME_ALONE()] += 1
        counts = row["keep"] if side == "human" else not row["keep_is_false"]
        if not counts:
            continue
        rewards += 1
        if row["reward"] is None:
            nulls += 1
        key, group = _outcome_key(row, side)
        found = shares.setdefault(group, {}).setdefault(key, [])
        if row["by_id"]:
            found.clear()  # as published: of several ids that read the same, the last one stands
        found.append(success(row["reward"]))
    if nulls:
        data.left_out[NULL_REWARD()] += nulls
    data.all_rewards_null = rewards == nulls
    data.several_per_task = any(
        len(rows) > 1 for own in data.kept.values() for rows in own.values()
    )
    data.outcomes = {
        group: {task: float(np.mean(marks)) for task, marks in shares[group].items()}
        for group in natural_order(shares)
    }
    _cap_reasons(data.left_out)


def _outcome_key(row: Mapping[str, str], side: Side) -> tuple[str, str]:
    if not row["by_id"]:
        return row["task"], row["group"]
    if side == "human":
        return published_outcome_key(row["task"])[0], row["group"]
    return published_outcome_key(row["session_id"])


def _why(status: str, told: str | None) -> Reason:
    bare, with_words = (
        (FAILED_RUN, FAILED_RUN_TOLD)
        if status == "failed"
        else (INFRASTRUCTURE, INFRASTRUCTURE_TOLD)
    )
    text = " ".join((told or "").split())[:_REASON_LENGTH]
    return with_words(why=text) if text else bare()


def _cap_reasons(left_out: Counter[Reason]) -> None:
    """Keep the list readable where every failed run has an error text of its own."""
    failed = sorted((r for r in left_out if r.is_a(FAILED_RUN_TOLD)), key=str)
    for reason in failed[_REASONS:]:
        left_out[FAILED_RUN_OTHER()] += left_out.pop(reason)
