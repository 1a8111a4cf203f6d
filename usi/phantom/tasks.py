"""The tasks of a phantom: names, difficulties, and the effects that every user of a task shares.

The default set is the 165 published tasks (airline_0..49, retail_0..114) with their frozen
difficulties; beyond 165, tasks ``phantom_165``, ... are invented with difficulties drawn from the
same map. The effects belong to the task, so people and simulators share them: that is what a
paired design gains from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usi.errors import UsageError
from usi.phantom.spec import RATE_NAMES

EFFECT_NAMES = (*RATE_NAMES, "turns", "words")
FloatArray = NDArray[np.float64]

_STREAM_EFFECTS, _STREAM_DIFFICULTY = 11, 12


@dataclass(frozen=True)
class TaskSet:
    """Tasks with their shared effects.

    Attributes
    ----------
    names, domains
        (n,) names such as ``airline_3`` and domains ``airline``, ``retail``, ``phantom``.
    difficulty
        (n,) success rates in (0, 1) of the frozen pool: high is easy.
    effects
        (n, len(EFFECT_NAMES)) standard normal effects, one column a rate or length.
    """

    names: tuple[str, ...]
    domains: tuple[str, ...]
    difficulty: FloatArray
    effects: FloatArray

    def __len__(self) -> int:
        return len(self.names)

    @property
    def difficulty_map(self) -> dict[str, float]:
        """Task -> difficulty, as a ``--difficulty`` file holds it."""
        return dict(zip(self.names, self.difficulty.tolist(), strict=True))


@cache
def published_difficulty() -> tuple[tuple[str, float], ...]:
    """The 165 tasks of the frozen map in natural order (airline first)."""
    from usi.scoring.published.calibration import frozen

    found = frozen().rates
    order = [f"airline_{i}" for i in range(50)] + [f"retail_{i}" for i in range(115)]
    return tuple((name, float(found[name])) for name in order)


def default_tasks(n: int = 165, *, seed: int = 0) -> TaskSet:
    """The first `n` tasks: published ones (a fixed spread over both domains), then invented ones.

    Parameters
    ----------
    n
        How many, at least 1. Below 165 a subset evenly spread over the published list.
    seed
        Of the task effects and of the invented difficulties.
    """
    if n < 1:
        raise UsageError(f"a phantom needs at least one task, not {n}")
    published = published_difficulty()
    if n < len(published):
        published = tuple(published[(i * len(published)) // n] for i in range(n))
    names = [name for name, _ in published]
    difficulty = [value for _, value in published]
    extra = n - len(names)
    if extra > 0:
        pool = np.array(difficulty)
        rng = np.random.default_rng([seed, _STREAM_DIFFICULTY])
        names += [f"phantom_{i}" for i in range(len(pool), n)]
        difficulty += rng.choice(pool, size=extra).tolist()
    return with_effects(tuple(names), np.array(difficulty), seed)


def with_effects(names: tuple[str, ...], difficulty: FloatArray, seed: int) -> TaskSet:
    """Tasks with effects drawn from the standard normal distribution."""
    rng = np.random.default_rng([seed, _STREAM_EFFECTS])
    effects: Any = rng.standard_normal((len(names), len(EFFECT_NAMES)))
    domains = tuple(name.rpartition("_")[0] for name in names)
    return TaskSet(names, domains, difficulty, effects)
