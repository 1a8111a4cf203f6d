"""Task tracking, content tracking and turn adjacency of one simulator, from session tables.

The three ratios stand on the scorecard, and what each session adds to them goes into the
two-sample test, which can't see otherwise which task a session belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed
from usi.extraction.spec import FeatureSpec
from usi.extraction.table import derive
from usi.reasons import (
    FEW_EXCHANGES,
    NO_WORDS_KEPT,
    PEOPLE_DO_NOT_ANSWER,
    PEOPLE_SHOW_NO_TASK,
    TRACKING_ONE_BATCH,
    UNPAIRED_TRACKING,
    Reason,
)
from usi.scoring.robust.adjacency import FEWEST_SESSIONS, AdjacencyModel, turn_adjacency
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.sums import SideSums, side_sums
from usi.scoring.robust.tracking import (
    ContentModel,
    Ratio,
    content_tracking,
    human_scale,
    standardised_means,
    task_tracking,
)
from usi.scoring.robust.wording import Wording

Array = NDArray[np.float64]
Index = NDArray[np.int64]

INPUTS = ("task_tracking", "content_tracking", "turn_adjacency")
"""Names of what a session adds to the two-sample test."""
REPLICATES = 1000
UNIT = "ratio to people"


@dataclass(frozen=True)
class People:
    """What is learned once on people and serves for every simulator on the same tasks.

    Attributes
    ----------
    frame
        Their sessions that are compared.
    units
        Names of the tasks (paired) or clusters, sorted.
    unit, split
        Task and batch of each session.
    values
        Feature values, NaN = undefined, shape (sessions, features).
    names
        Names of the features.
    sums
        Sums by task and batch.
    words
        Wording, ``None`` where the table holds none.
    content, adjacency
        Models of the wording; ``None`` where they can't be made.
    """

    frame: pl.DataFrame
    units: tuple[str, ...]
    unit: Index
    split: Index
    values: Array
    names: tuple[str, ...]
    sums: SideSums
    words: Wording | None
    content: ContentModel | None
    adjacency: AdjacencyModel | None

    @classmethod
    def of(
        cls, frame: pl.DataFrame, specs: Sequence[FeatureSpec], *, column: str, paired: bool
    ) -> People:
        """Learn on the people's sessions that are compared."""
        labels = unit_labels(frame, column)
        units = tuple(sorted(set(labels)))
        unit, split = _codes(labels, units), _splits(frame, "batch")
        values = _values(frame, specs)
        words = Wording.of(frame, unit, split)
        batches = int(split.max()) + 1 if len(split) else 0
        return cls(
            frame=frame,
            units=units,
            unit=unit,
            split=split,
            values=values,
            names=tuple(spec.name for spec in specs),
            sums=_sums(values, specs, unit, units, split),
            words=words,
            content=(
                ContentModel.fit(words, len(units)) if words and paired and batches > 1 else None
            ),
            adjacency=AdjacencyModel.fit(words, len(units)) if words else None,
        )

    @property
    def batches(self) -> int:
        """How many batches there are."""
        return len(self.sums.splits)


@dataclass(frozen=True)
class SessionTracking:
    """The three ratios of a simulator, and what each session adds to the two-sample test.

    Attributes
    ----------
    task, content, adjacency
        T, K and R.
    people, simulator
        Shape (sessions, 3), columns `INPUTS`, NaN where undefined.
    words
        Wording of the simulator, ``None`` where its table holds none.
    """

    task: Estimate
    content: Estimate
    adjacency: Estimate
    people: Array
    simulator: Array
    words: Wording | None


def unit_labels(frame: pl.DataFrame, column: str) -> list[str]:
    """What each session is compared or resampled by: `column`, else the session by itself."""
    alone = pl.format("session {}", pl.int_range(pl.len()))
    label = pl.coalesce(pl.col(column).cast(pl.String), alone)
    return frame.select(label.alias("unit"))["unit"].to_list()


def _codes(labels: Sequence[str], units: Sequence[str]) -> Index:
    place = {name: k for k, name in enumerate(units)}
    return np.array([place.get(label, -1) for label in labels], dtype=np.int64)


def _splits(frame: pl.DataFrame, column: str) -> Index:
    labels = frame[column].cast(pl.String).fill_null("1").to_numpy().astype(np.str_)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def _values(frame: pl.DataFrame, specs: Sequence[FeatureSpec]) -> Array:
    found = derive(frame, tuple(specs), without_denominator=None).cast(pl.Float64)
    values = found.fill_null(float("nan")).to_numpy()
    ratio_scale = np.array([spec.scale == "ratio" for spec in specs])
    positive = np.where(values > 0, values, np.nan)
    return np.asarray(np.where(ratio_scale, np.log(positive), values), dtype=np.float64)


def _sums(
    values: Array, specs: Sequence[FeatureSpec], unit: Index, units: Sequence[str], split: Index
) -> SideSums:
    n = len(unit)
    return side_sums(
        unit=unit,
        units=units,
        split=[str(k) for k in split.tolist()],
        bin_index=np.full(n, -1, dtype=np.int64),
        bins=(),
        features=[spec.name for spec in specs],
        values=values,
        hits=np.zeros_like(values),
        success=np.full(n, np.nan),
        labels=np.full((n, 5), np.nan),
    )


def track_sessions(
    people: People,
    simulated: pl.DataFrame,
    specs: Sequence[FeatureSpec],
    *,
    column: str,
    paired: bool,
    seed: int,
) -> SessionTracking:
    """T, K and R of a simulator, and the inputs of its sessions and of people's.

    Parameters
    ----------
    people
        From `People.of`, with the same features, column and design.
    simulated
        The simulator's sessions that are compared.
    column
        Column of the tasks (or groups); sessions without one stand by themselves.
    """
    labels = unit_labels(simulated, column)
    units = people.units if paired else tuple(sorted(set(labels)))
    unit, split = _codes(labels, units), _splits(simulated, "run")
    values = _values(simulated, specs)
    words = Wording.of(simulated, unit, split)
    sums = _sums(values, specs, unit, units, split)
    human = np.column_stack(
        [_task_inputs(people, people.values, people.unit, people.split, paired),
         *_word_inputs(people, people.words, len(people.unit))]
    )  # fmt: skip
    own = np.column_stack(
        [_task_inputs(people, values, unit, split, paired),
         *_word_inputs(people, words, len(unit))]
    )  # fmt: skip
    return SessionTracking(
        task=_task(people, sums, paired, seed),
        content=_content(people, words, paired, seed),
        adjacency=_adjacency(people, words, len(units), paired, seed),
        people=human,
        simulator=own,
        words=words,
    )


def _estimate(found: Ratio | None, reason: Reason) -> Estimate:
    if found is None:
        return not_assessed(reason, unit=UNIT)
    return Estimate(
        value=tidy(found.value), low=tidy(found.low), high=tidy(found.high), n=found.units,
        unit=UNIT,
    )  # fmt: skip


def _open(people: People, paired: bool) -> Reason | None:
    """Why neither task nor content tracking can be had."""
    if not paired:
        return UNPAIRED_TRACKING()
    return TRACKING_ONE_BATCH() if people.batches < 2 else None


def _task(people: People, sums: SideSums, paired: bool, seed: int) -> Estimate:
    reason = _open(people, paired)
    if reason is not None:
        return not_assessed(reason, unit=UNIT)
    found = task_tracking(people.sums, sums, people.names, replicates=REPLICATES, seed=seed)
    return _estimate(found, PEOPLE_SHOW_NO_TASK(what="behaviour"))


def _content(people: People, words: Wording | None, paired: bool, seed: int) -> Estimate:
    reason = _open(people, paired)
    if reason is None and (people.words is None or words is None):
        reason = NO_WORDS_KEPT()
    if reason is not None or people.content is None or words is None:
        return not_assessed(reason or NO_WORDS_KEPT(), unit=UNIT)
    cluster = np.arange(len(people.units))
    found = content_tracking(people.content, words, cluster, replicates=REPLICATES, seed=seed)
    return _estimate(found, PEOPLE_SHOW_NO_TASK(what="words"))


def _adjacency(
    people: People, words: Wording | None, units: int, paired: bool, seed: int
) -> Estimate:
    if people.words is None or words is None:
        return not_assessed(NO_WORDS_KEPT, unit=UNIT)
    if people.adjacency is None:
        return not_assessed(FEW_EXCHANGES, unit=UNIT, least=FEWEST_SESSIONS, who="people")
    if len(np.unique(words.session[words.exchanges()])) < FEWEST_SESSIONS:
        return not_assessed(FEW_EXCHANGES, unit=UNIT, least=FEWEST_SESSIONS, who="the simulator")
    clusters = np.arange(len(people.units)), np.arange(units)
    found = turn_adjacency(
        people.adjacency, words, clusters, paired=paired, replicates=REPLICATES, seed=seed
    )
    return _estimate(found, PEOPLE_DO_NOT_ANSWER())


# ---------------------------------------------------------------- inputs of sessions


def _task_inputs(people: People, values: Array, unit: Index, split: Index, paired: bool) -> Array:
    """Sum over features of a session's value times people's mean on its task, standardised.

    People's own batch is left out of the mean; a run of the simulator leaves out one batch, too.
    """
    found = np.full(len(unit), np.nan)
    if not paired or people.batches < 2:
        return found
    names, mean, sd = human_scale(people.sums, people.names)
    if not names:
        return found
    at = [people.names.index(name) for name in names]
    z = np.nan_to_num((values[:, at] - mean) / sd)
    means, present = standardised_means(people.sums, names, mean, sd)
    weighted = means * present[:, :, None]
    for left_out in range(people.batches):
        rows = np.flatnonzero((split % people.batches == left_out) & (unit >= 0))
        there = present.sum(axis=0) - present[left_out]
        total = weighted.sum(axis=0) - weighted[left_out]
        others = total / np.where(there > 0, there, 1.0)[:, None]
        own = (z[rows] * others[unit[rows]]).sum(axis=1)
        found[rows] = np.where(there[unit[rows]] > 0, own, np.nan)
    return found


def _word_inputs(people: People, words: Wording | None, sessions: int) -> tuple[Array, Array]:
    """Content lift and share of preferred replies of each session."""
    content, fits = np.full(sessions, np.nan), np.full(sessions, np.nan)
    if words is not None:
        if people.content is not None:
            content = people.content.session_lift(words)
        if people.adjacency is not None:
            fits = people.adjacency.session_preference(words)
    return content, fits
