"""What a session's outcome is: success or not, by a declared threshold, and the five labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.reasons import (
    NO_HUMAN_OUTCOME,
    NO_SIMULATED_OUTCOME,
    OTHER_AGENT,
    REWARDS_NOT_BINARY,
    Reason,
)

LABELS: tuple[str, ...] = ("full", "partial", "correct_refusal", "wrong_refusal", "failure")
"""The five outcome labels."""
REFUSAL = "correct_refusal"
_FROM_LABEL = {"full": 1.0, "partial": 0.0, "wrong_refusal": 0.0, "failure": 0.0}


@dataclass(frozen=True)
class Success:
    """Success of every session.

    Attributes
    ----------
    human, simulator
        1, 0, or NaN where a session has no outcome or is a correct refusal.
    threshold
        Success is a reward of at least this; ``None`` where no side has a reward.
    reason
        Why there is none; ``None`` where there is.
    missing
        Sessions without an outcome, simulator side.
    refused
        Correct refusals of the human and the simulator side that have a stratum of their own.
    one_sided
        Correct refusals that are graded by their reward, since the other side has no labels.
    """

    human: NDArray[np.float64]
    simulator: NDArray[np.float64]
    threshold: float | None
    reason: Reason | None
    missing: int
    one_sided: int = 0
    refused: tuple[int, int] = (0, 0)


def binary(frame: pl.DataFrame, threshold: float, *, refusals: bool = True) -> NDArray[np.float64]:
    """Success of each session: reward >= threshold, else by its label.

    A correct refusal is neither a success nor a failure: it leaves the binary rate and is
    compared in a stratum of its own. Where there is no such stratum (`refusals` is false) its
    reward counts as any other.
    """
    reward, label = pl.col("reward"), pl.col("outcome_label")
    value = (
        pl.when((label == REFUSAL) & refusals)
        .then(None)
        .when(reward.is_not_null() & reward.is_not_nan())
        .then((reward >= threshold).cast(pl.Float64))
        .otherwise(label.replace_strict(_FROM_LABEL, default=None, return_dtype=pl.Float64))
    )
    column = frame.select(value.cast(pl.Float64).alias("y"))["y"]
    return column.fill_null(float("nan")).to_numpy().astype(np.float64)


def successes(human: pl.DataFrame, simulator: pl.DataFrame, threshold: float | None) -> Success:
    """Success of both sides by one threshold.

    Rewards other than 0 and 1 need a declared threshold: without one, nothing is assessed. Correct
    refusals have their own stratum only where both sides have labels: else a simulator could
    take any failure out of the comparison by a label that people's sessions can't have.
    """
    rewards = pl.concat([human["reward"], simulator["reward"]]).drop_nulls().drop_nans()
    strange = rewards.filter(~rewards.is_in([0.0, 1.0]))
    cut = 1.0 if threshold is None else threshold
    both = all(frame["outcome_label"].null_count() < frame.height for frame in (human, simulator))
    sides = [binary(frame, cut, refusals=both) for frame in (human, simulator)]
    refusals = [int((frame["outcome_label"] == REFUSAL).sum()) for frame in (human, simulator)]
    refused = (refusals[0], refusals[1]) if both else (0, 0)
    missing = int(np.isnan(sides[1]).sum()) - refused[1]
    one_sided = 0 if both else sum(refusals)
    reason: Reason | None = None
    if threshold is None and len(strange):
        reason = REWARDS_NOT_BINARY(example=strange.sort()[0])
    else:
        for none, values in ((NO_HUMAN_OUTCOME, sides[0]), (NO_SIMULATED_OUTCOME, sides[1])):
            if np.isnan(values).all():
                reason = none()
    if reason:
        sides = [np.full(len(side), np.nan) for side in sides]
    return Success(
        sides[0], sides[1], cut if len(rewards) else None, reason, missing, one_sided, refused
    )


def other_agents(human: pl.DataFrame, simulator: pl.DataFrame) -> Reason | None:
    """Why success can't be compared: no agent of one side occurs on the other; else ``None``.

    Sides that do not say which agent they talked to are taken at their word.
    """
    sides = [sorted(set(side["agent"].drop_nulls())) for side in (human, simulator)]
    if not all(sides) or set(sides[0]) & set(sides[1]):
        return None
    return OTHER_AGENT(people=sides[0][0], simulator=sides[1][0])


def label_indicators(frame: pl.DataFrame) -> NDArray[np.float64]:
    """One column a label: 1 where the session has it, NaN where it has no known label."""
    label = frame["outcome_label"]
    known = label.is_in(list(LABELS)).fill_null(False).to_numpy()
    columns = [(label == name).fill_null(False).to_numpy().astype(float) for name in LABELS]
    result = np.stack(columns, axis=1) if columns else np.empty((frame.height, 0))
    result[~known] = np.nan
    return result


def label_counts(frame: pl.DataFrame) -> dict[str, int]:
    """How many sessions have each label (labels in their order; absent ones are 0)."""
    counts = dict(frame["outcome_label"].drop_nulls().value_counts().iter_rows())
    return {name: int(counts.get(name, 0)) for name in LABELS} if counts else {}
