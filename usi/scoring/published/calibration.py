"""Outcome gap over difficulty bins (the published "ECE"), and where difficulties come from.

For one run against one batch: tasks on both sides that have a difficulty fall into five bins;
the gap is the sum over non-empty bins of (bin size / n) |mean success of the simulator - mean
success of people|, 0 (alike) to 1 (arXiv 2603.11245).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from usi.errors import InputError
from usi.provenance.content import value_digest
from usi.reading import read_json
from usi.reasons import FROZEN_MAP, POOL_OF_OTHERS, POOL_SMALL, Reason

CUTOFFS: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8)
"""A difficulty below the k-th cutoff (and no earlier one) is in bin k; 0.8 is in the last."""

BIN_LABELS: tuple[str, ...] = ("0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1")
MIN_POOL = 10
"""Fewest pooled simulator runs that make the difficulty of a task."""

FROZEN_NAME = "frozen31"


@dataclass(frozen=True)
class Difficulty:
    """Success rates of tasks (high = easy), and what they are called in a signature.

    Attributes
    ----------
    name
        ``"frozen31"``, ``"self"`` or ``"file@"`` and the start of the file's hash.
    rates
        Task -> success rate, 0 to 1.
    missing
        Why a task may have none, for messages.
    """

    name: str
    rates: Mapping[str, float]
    missing: Reason


def bin_of(difficulty: float) -> int:
    """Number of the bin, 0 to 4.

    >>> bin_of(0.0), bin_of(0.2), bin_of(0.7999), bin_of(0.8), bin_of(1.0)
    (0, 1, 3, 4, 4)
    """
    return sum(difficulty >= cutoff for cutoff in CUTOFFS)


def success(reward: float | None) -> int:
    """Binary outcome: 1 where the reward is above 0; a null reward counts as 0.

    >>> success(0.5), success(0.0), success(None)
    (1, 0, 0)
    """
    return 1 if (reward or 0) > 0 else 0


def binned_gap(
    simulator: Mapping[str, float], human: Mapping[str, float], rates: Mapping[str, float]
) -> float | None:
    """Outcome gap of one run against one batch.

    Parameters
    ----------
    simulator, human
        Task -> success (0 to 1).
    rates
        Task -> difficulty; tasks without one do not take part.

    Returns
    -------
    float or None
        In [0, 1]; ``None`` where no task takes part.

    Examples
    --------
    >>> rates = {"a": 0.1, "b": 0.1, "c": 0.9, "d": 0.9}
    >>> binned_gap({"a": 1, "b": 0, "c": 1, "d": 1}, {"a": 0, "b": 0, "c": 1, "d": 1}, rates)
    0.25
    """
    tasks = sorted(task for task in simulator if task in human and task in rates)
    if not tasks:
        return None
    bins: list[list[str]] = [[] for _ in BIN_LABELS]
    for task in tasks:
        bins[bin_of(rates[task])].append(task)
    gap = 0.0
    for members in bins:
        if members:
            sim = float(np.mean([simulator[task] for task in members]))
            people = float(np.mean([human[task] for task in members]))
            gap += len(members) / len(tasks) * abs(sim - people)
    return gap


def pooled(runs: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Difficulty from the outcomes of simulator runs: tasks with at least `MIN_POOL` of them."""
    pool: dict[str, list[float]] = {}
    for run in runs:
        for task, value in run.items():
            pool.setdefault(task, []).append(value)
    return {task: float(np.mean(v)) for task, v in sorted(pool.items()) if len(v) >= MIN_POOL}


@cache
def frozen() -> Difficulty:
    """The frozen map of 165 tau-bench tasks, pooled over 31 baselines."""
    text = (
        resources.files("usi.scoring").joinpath("data/difficulty_frozen31.json").read_text("utf-8")
    )
    return Difficulty(
        FROZEN_NAME,
        json.loads(text)["difficulty"],
        FROZEN_MAP(),
    )


def self_pooled(runs: Iterable[Mapping[str, float]]) -> Difficulty:
    """Difficulty pooled over the simulators being scored (they move their own yardstick)."""
    return Difficulty(
        "self",
        pooled(runs),
        POOL_SMALL(least=MIN_POOL),
    )


def read_difficulty(path: str | Path) -> Difficulty:
    """Difficulty from a JSON file: ``{"difficulty": {task: rate}}`` or ``{task: rate}``.

    Raises
    ------
    InputError
        Where the file can't be read, is not such JSON, or a rate is not a number from 0 to 1.
    """
    path = Path(path)
    name = str(path)
    try:
        data = read_json(path)
    except InputError as error:
        raise InputError(
            f"{error.message}; --difficulty takes frozen, self or a JSON file", file=name
        ) from None
    whole = data
    if isinstance(data, dict) and isinstance(data.get("difficulty"), dict):
        data = data["difficulty"]
    if not isinstance(data, dict) or not data:
        raise InputError('expected {"difficulty": {task: rate}} or {task: rate}', file=name)
    for task, rate in data.items():
        number = isinstance(rate, int | float) and not isinstance(rate, bool)
        if not number or not math.isfinite(rate) or not 0 <= rate <= 1:
            raise InputError(
                f"a difficulty is a success rate from 0 to 1, this is {rate!r:.80}",
                file=name,
                field=str(task)[:80],
            )
    return Difficulty(
        f"file@{value_digest(whole)[:8]}",
        {task: float(rate) for task, rate in data.items()},
        POOL_OF_OTHERS(),
    )
