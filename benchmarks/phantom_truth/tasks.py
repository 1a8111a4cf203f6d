"""New tasks of the super-population that the published tasks are drawn from."""

from __future__ import annotations

import numpy as np

from usi.errors import UsageError
from usi.phantom.tasks import TaskSet, published_difficulty, with_effects

STREAM = 13
"""Of the draws of difficulties; those of the phantom itself are others."""


def sample_tasks(n: int, *, seed: int) -> TaskSet:
    """`n` new tasks of the super-population, for studies: difficulties drawn from the map.

    Names are ``phantom_0``, ...: give their difficulties by `TaskSet.difficulty_map`.
    """
    if n < 1:
        raise UsageError(f"a phantom needs at least one task, not {n}")
    pool = np.array([value for _, value in published_difficulty()])
    rng = np.random.default_rng([seed, STREAM])
    return with_effects(tuple(f"phantom_{i}" for i in range(n)), rng.choice(pool, size=n), seed)
