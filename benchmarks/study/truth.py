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

from study.cells import people, simulator
from usi.extraction.profile import get_specs
from usi.extraction.spec import DIMENSIONS
from usi.phantom import true_scores
from usi.phantom.tasks import published_difficulty
from usi.phantom.true_scores import true_distance, true_success
from usi.scoring.robust.difficulty import interval_labels
from usi.scoring.robust.terms import PARTS, Terms

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
    simulator
        Its name.
    features
        Feature -> true score in [0, 1].
    gap
        Success of the simulator minus success of the people at every difficulty of the pool.
    """

    simulator: str
    features: dict[str, float]
    gap: Array

    def outcome(self, labels: Sequence[str], cuts: Sequence[float]) -> float:
        """True outcome component in points, for these (merged) bins between these cut-offs."""
        bins = interval_labels(cuts)
        place = np.searchsorted(np.asarray(cuts), pool_values(), side="right")
        loss = 0.0
        for label in labels:
            own = np.isin(place, [bins.index(part) for part in label.split(" + ")])
            loss += abs(self.gap[own].sum()) / len(self.gap)
        return 100 * (1 - loss)

    def feature(self, name: str, pools: Mapping[str, Sequence[str]]) -> float:
        """True score of a feature, or of rare marks counted together, in [0, 1]."""
        if name in pools:
            return 1 - true_distance(pools[name], "robust", people(), simulator(self.simulator))
        return self.features[name]

    def scores(
        self,
        terms: Mapping[str, Terms],
        cuts: Sequence[float],
        pools: Mapping[str, Sequence[str]],
    ) -> dict[str, float]:
        """True component scores for the terms of a study, and ``index`` where all five exist."""
        found = {}
        for name, own in terms.items():
            if name == "outcome":
                found[name] = self.outcome(own.names, cuts)
            else:
                found[name] = 100 * float(np.mean([self.feature(k, pools) for k in own.names]))
        if all(name in found for name in PARTS):
            found["index"] = float(np.mean([found[name] for name in PARTS]))
        return found

    @property
    def signed_gap(self) -> float:
        """True signed success gap."""
        return float(self.gap.mean())


@cache
def truth_of(name: str) -> Truth:
    """True values of a simulator of `study.cells`."""
    own = simulator(name)
    names = [f.name for f in get_specs("robust") if f.dimension in DIMENSIONS and f.scored]
    found = true_scores(own, people(), "robust", scored=names)
    pool = pool_values()
    return Truth(name, found.features, true_success(own, pool) - true_success(people(), pool))
