"""What is true of a simulator: from expected rates, never from estimates.

The true score of a study is the score that endless data would give for the features that its own
people made scorable and for its own difficulty bins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from phantom_truth.scores import true_feature, true_success

from study.cells import people, simulator
from usi.phantom.tasks import published_difficulty
from usi.scoring.robust.difficulty import interval_labels
from usi.scoring.robust.study import Study
from usi.scoring.robust.terms import PARTS

Array = NDArray[np.float64]


@cache
def pool_values() -> Array:
    """Difficulties of the super-population of tasks (all equally likely)."""
    return np.array([value for _, value in published_difficulty()])


@dataclass(frozen=True)
class Truth:
    """True values of one simulator.

    Attributes
    ----------
    name
        Of `study.cells`.
    gap
        Success of the simulator minus success of the people at every difficulty of the pool.
    """

    name: str
    gap: Array

    def features(
        self, names: Sequence[str], pools: Mapping[str, Sequence[str]] | None = None
    ) -> list[float]:
        """True scores in [0, 1] of these features and pools of rare ones."""
        own = {name: tuple(pools[name]) for name in names if pools and name in pools}
        known = tuple(sorted(own.items()))
        return [_feature(self.name, name, dict(known).get(name, (name,))) for name in names]

    def outcome(self, labels: Sequence[str], cuts: Sequence[float]) -> float:
        """True outcome component in points, for these (merged) bins between these cut-offs."""
        bins = interval_labels(cuts)
        place = np.searchsorted(np.asarray(cuts), pool_values(), side="right")
        loss = 0.0
        for label in labels:
            own = np.isin(place, [bins.index(part) for part in label.split(" + ")])
            loss += abs(self.gap[own].sum()) / len(self.gap)
        return 100 * (1 - loss)

    def scores(self, study: Study, cuts: Sequence[float]) -> dict[str, float]:
        """True component scores for the terms of a study, and ``index`` where all five exist."""
        found = {}
        for name, own in study.terms.items():
            if name == "outcome":
                found[name] = self.outcome(own.names, cuts)
            else:
                true = self.features(own.names, study.reference.pools)
                found[name] = 100 * float(np.mean(true))
        if all(name in found for name in PARTS):
            found["index"] = float(np.mean([found[name] for name in PARTS]))
        return found

    @property
    def signed_gap(self) -> float:
        """True signed success gap."""
        return float(self.gap.mean())


@cache
def _feature(name: str, feature: str, members: tuple[str, ...]) -> float:
    return true_feature(simulator(name), people(), feature, members)


@cache
def truth_of(name: str) -> Truth:
    """True values of a simulator of `study.cells`."""
    own, pool = simulator(name), pool_values()
    return Truth(name, true_success(own, pool) - true_success(people(), pool))
