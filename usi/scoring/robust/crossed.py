"""Two-way clustering: few people behind many sessions.

Drawing tasks again keeps all sessions of a task together, but takes tasks as independent, which
they are not where one participant did many of them. The variance of any first-order statistic,
clustered by task and by participant (Cameron, Gelbach and Miller 2011), is

    V = V_task + max(0, V_participant - V_both)

with V_participant and V_both the sums of squares of the effects of people's sessions, added up by
participant, and by participant within a task. V_task comes from the bootstrap; this module gives
what is added to it. Simulated sessions have no participant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.scoring.robust.bootstrap import added_up
from usi.scoring.robust.distribution import Grid, cell_values

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Effects:
    """First-order effects on some numbers, added up by participant and within tasks.

    Attributes
    ----------
    participant
        Shape (participants, numbers).
    both
        By participant within a task, shape (pairs, numbers).
    """

    participant: Array
    both: Array

    def added_variance(self) -> Array:
        """max(0, V_participant - V_both) of every number, shape (numbers,).

        With P participants and B pairs V_participant = P / (P - 1) Σ e², V_both = B / (B - 1) Σ e².
        """
        by_participant, within = (_variance(part) for part in (self.participant, self.both))
        return np.asarray(np.maximum(0.0, by_participant - within))


def mean_effects(parts: Sequence[Effects | None]) -> Effects | None:
    """Effects on the mean of several numbers; ``None`` where some have none."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return Effects(
        np.mean([part.participant for part in known], axis=0),
        np.mean([part.both for part in known], axis=0),
    )


def _variance(effects: Array) -> Array:
    n = len(effects)
    return np.asarray(n / max(1, n - 1) * np.square(effects).sum(axis=0))


@dataclass(frozen=True)
class Block:
    """One feature (or bin) of a side: its sessions' values and their weights in its mean.

    Attributes
    ----------
    column
        Column of its mean.
    values, weight
        Shape (sessions,); a session that has no part in the mean has weight 0.
    cells
        First column of its cells, and the cells; ``None`` where it has none.
    """

    column: int
    values: Array
    weight: Array
    cells: tuple[int, Grid] | None = None

    def columns(self) -> Index:
        """Columns of the block, the mean first."""
        if self.cells is None:
            return np.array([self.column])
        first, grid = self.cells
        return np.concatenate([[self.column], np.arange(first, first + grid.cells)])

    def moved(self, mean: Array) -> Array:
        """Effect of each session on each mean of the block, shape (sessions, columns)."""
        columns = [self.values[:, None]]
        if self.cells is not None:
            columns.append(cell_values(self.values, self.cells[1]))
        gap = np.where(self.weight[:, None] > 0, np.hstack(columns) - mean, 0.0)
        return np.asarray(gap * self.weight[:, None])


@dataclass(frozen=True)
class People:
    """People's sessions as effects on the columns of a contrast.

    Attributes
    ----------
    participant, pair
        Index of each session's participant, and of participant and task together. A session
        without a participant is a participant of its own.
    blocks
        Features, and success by difficulty bin.
    mean
        Mean of every column, shape (columns,).
    """

    participant: Index
    pair: Index
    blocks: tuple[Block, ...]
    mean: Array

    @property
    def participants(self) -> int:
        """How many there are."""
        return int(self.participant.max()) + 1

    def effects(self, slopes: Array) -> Effects:
        """Effects on numbers with these derivatives in the column means.

        A session of weight w and value x moves a mean m by w (x - m).

        Parameters
        ----------
        slopes
            Shape (columns, numbers).
        """
        total = np.zeros((len(self.participant), slopes.shape[1]))
        for block in self.blocks:
            columns = block.columns()
            own = slopes[columns]
            if own.any():
                total += block.moved(self.mean[columns]) @ own
        return self._added(total)

    def column_variance(self) -> Array:
        """What is added to the variance of every column, shape (columns,)."""
        found = np.zeros(len(self.mean))
        for block in self.blocks:
            columns = block.columns()
            found[columns] = self._added(block.moved(self.mean[columns])).added_variance()
        return found

    def _added(self, effects: Array) -> Effects:
        parts = []
        for index in (self.participant, self.pair):
            parts.append(added_up(effects, index, int(index.max()) + 1))
        return Effects(*parts)


def session_weights(known: NDArray[np.bool_], unit: Index, share: Array) -> Array:
    """Weight of each session in the mean of a column, shape (sessions,); weights add up to 1.

    The sessions of a task share its part of the mean equally.

    Parameters
    ----------
    known
        Whether a session has a value in the column.
    unit
        Index of each session's task, -1 = not compared.
    share
        Part of each task in the mean, shape (tasks,).
    """
    inside = known & (unit >= 0)
    weight = np.zeros(len(unit))
    count = np.bincount(unit[inside], minlength=len(share))
    weight[inside] = share[unit[inside]] / count[unit[inside]]
    return weight


def people_of(
    labels: Sequence[str | None], unit: Index, blocks: Sequence[Block], mean: Array
) -> People | None:
    """People behind the sessions compared; ``None`` where nobody is known to have done two.

    Parameters
    ----------
    labels
        Participant of every session, ``None`` = unknown.
    unit
        Index of each session's task.
    """
    codes: dict[str, int] = {}
    known = [-1 if label is None else codes.setdefault(label, len(codes)) for label in labels]
    participant = np.array(known, dtype=np.int64)
    named = participant[participant >= 0]
    if not len(named) or np.bincount(named).max() < 2:
        return None
    alone = participant < 0
    participant[alone] = len(codes) + np.arange(alone.sum())
    _, pair = np.unique(np.stack([participant, unit]), axis=1, return_inverse=True)
    return People(participant, pair.ravel(), tuple(blocks), mean)
