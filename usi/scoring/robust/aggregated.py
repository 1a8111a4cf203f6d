"""A reference that is numbers by task alone: a population of stand-ins with the same numbers.

Everything of the profile that rests on the values of each feature in a task, on outcome counts and
answer counts is a function of these numbers. Stand-ins are made up so that every such number is
that of the people; which of them has which value means nothing: the values of every feature are in
ascending order, each feature by itself. What needs a real session (batches among themselves,
two-sample tests, distances, surveys by session, who did which session) is not assessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.errors import InputError, UsageError
from usi.estimate import not_assessed
from usi.extraction.profile import get_feature_profile
from usi.extraction.spec import FeatureSpec
from usi.extraction.table import SessionTable, table_schema
from usi.options import RobustOptions
from usi.reasons import AGGREGATE, Reason
from usi.scoring.parts import Diagnosis
from usi.scoring.robust.distribution import grids
from usi.scoring.robust.reference import Reference
from usi.scoring.robust.scorable import Scorable, scored_values, with_pool_specs
from usi.scoring.scorecard import TwoSample

Array = NDArray[np.float64]

TASK_COLUMNS = ("domain", "difficulty")
"""What subgroups of an aggregate can be made by."""


@dataclass(frozen=True, repr=False)
class AggregateTable(SessionTable):
    """Stand-ins as a session table, with what the sums do not say.

    Attributes
    ----------
    matrix
        Natural feature values of the stand-ins, shape (sessions, features).
    verdicts, pools
        Which features the people can be scored with, and which rare marks are counted together.
    frozen
        Whether the corpus fixed that once.
    left_out
        Sessions that were not added up, by reason.
    """

    matrix: Array = field(default_factory=lambda: np.empty((0, 0)))
    verdicts: Mapping[str, Scorable] = field(default_factory=dict)
    pools: Mapping[str, Sequence[str]] = field(default_factory=dict)
    frozen: bool = False
    left_out: Mapping[Reason, int] = field(default_factory=dict)

    def people(self, own: RobustOptions) -> Reference:
        """The human side of a scoring.

        Raises
        ------
        UsageError
            For choices that need sessions.
        """
        refuse_choices(own)
        specs, verdicts = with_pool_specs(self.profile, self.pools), dict(self.verdicts)
        return Reference(
            self.frame,
            self.matrix,
            specs,
            verdicts,
            {pool: tuple(members) for pool, members in self.pools.items()},
            grids(scored_values(self.matrix, specs), specs, verdicts),
            frozen=self.frozen,
            aggregated=True,
        )


def refuse_choices(own: RobustOptions) -> None:
    """Refuse what an aggregate can't answer, with the way out.

    Raises
    ------
    UsageError
    """
    asked = [
        flag
        for flag, given in (
            ("--human-runs", bool(own.human_runs)),
            ("--human-where", bool(own.human_where)),
            ("--group", own.group is not None),
            ("--strata", own.strata is not None),
            ("--cluster", own.cluster != "task"),
            ("--by", bool(set(own.by) - set(TASK_COLUMNS))),
        )
        if given
    ]
    if asked:
        raise UsageError(f"{', '.join(asked)}: {AGGREGATE()}; score against the corpus itself")


def stand_ins(
    rows: pl.DataFrame,
    *,
    profile: str,
    pools: Iterable[str],
    batches: int,
    agents: tuple[str, ...],
    file: str,
) -> tuple[pl.DataFrame, Array]:
    """Session table and values of the stand-ins of all tasks.

    Parameters
    ----------
    rows
        One row a task, as `usi.scoring.aggregate` writes them.
    pools
        Pools of rare marks that the people are scored with.
    batches
        Number of batches that the people had.
    agents
        Agents that they talked to.
    file
        For messages.
    """
    chosen = get_feature_profile(profile)
    names = [spec.name for spec in with_pool_specs(profile, pools)]
    sizes = rows["sessions"].to_list()
    matrix = np.full((sum(sizes), len(names)), np.nan)
    columns: dict[str, list[Any]] = {
        name: [] for name in ("session_id", "domain", "task", "batch", "reward",
                              "outcome_label", "survey", "user_turns")
    }  # fmt: skip
    at = 0
    for number, row in enumerate(rows.iter_rows(named=True)):
        n = int(row["sessions"])
        for k, name in enumerate(names):
            values = row[f"{name}.values"]
            if len(values) > n:
                text = f"task {row['task']!r} has more values than sessions"
                raise InputError(text, file=file, field=f"{name}.values")
            matrix[at : at + len(values), k] = values
        outcomes = _outcomes(row["outcomes"], n, number, batches)
        sheets = _sheets(row["survey"], [slot for slot, _, _ in outcomes])
        share, rest = divmod(int(row["user_turns"]), n)
        for i, (slot, reward, label) in enumerate(outcomes):
            columns["session_id"].append(f"{row['task']}#{i + 1}")
            columns["domain"].append(row["domain"])
            columns["task"].append(row["task"])
            columns["batch"].append(slot + 1)
            columns["reward"].append(reward)
            columns["outcome_label"].append(label)
            columns["survey"].append(json.dumps(sheets[i]) if sheets[i] else None)
            columns["user_turns"].append(share + (i < rest))
        at += n
    schema = table_schema(chosen)
    total = len(columns["task"])
    fixed: dict[str, list[Any]] = {
        "seq": list(range(total)),
        "side": ["human"] * total,
        "simulator": [""] * total,
        "layout": ["aggregate"] * total,
        "status": ["ok"] * total,
        "keep": [True] * total,
        "keep_is_false": [False] * total,
        "agent": [agents[i % len(agents)] if agents else None for i in range(total)],
        "task_id": columns["task"],
    }
    found = {**fixed, **columns}
    series = [
        pl.Series(name, found.get(name, [None] * total), dtype=dtype)
        for name, dtype in schema.items()
    ]
    return pl.DataFrame(series), matrix


def _outcomes(
    text: str, n: int, number: int, batches: int
) -> list[tuple[int, float | None, str | None]]:
    """Batch, reward and label of each stand-in of a task."""
    found: list[tuple[int, float | None, str | None]] = []
    for slot, reward, label, count in json.loads(text):
        for _ in range(count):
            # Where every batch had one session, which one it was is not kept: all serve in turn.
            place = (number + len(found)) % batches if slot is None else int(slot)
            found.append((place, reward, label))
    return found[:n]


def _sheets(text: str | None, slots: list[int]) -> list[dict[str, str]]:
    """Answers of each stand-in: by item, in any order within its batch."""
    sheets: list[dict[str, str]] = [{} for _ in slots]
    for item, counts in (json.loads(text) if text else {}).items():
        free: dict[int | None, list[int]] = {None: list(range(len(slots)))}
        for i, slot in enumerate(slots):
            free.setdefault(slot, []).append(i)
        for slot, answer, count in counts:
            for _ in range(count):
                i = free[slot].pop(0)
                if answer is not None:
                    sheets[i][item] = answer
    return sheets


def undiagnosed(specs: Sequence[FeatureSpec]) -> Diagnosis:
    """What is said of a simulator where the people are an aggregate: that sessions are needed."""
    none = not_assessed(AGGREGATE)
    return Diagnosis(
        two_sample=tuple(
            TwoSample(classifier=kind, mode="full", auc=not_assessed(AGGREGATE, unit="share"))
            for kind in ("logistic", "trees")
        ),
        task_tracking=none,
        content_tracking=none,
        turn_adjacency=none,
        spread_index=none,
        correlation_difference=none,
        distances={
            spec.name: dict.fromkeys(("wasserstein", "jensen_shannon"), none) for spec in specs
        },
    )
