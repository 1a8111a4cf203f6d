"""The score that endless data would give: what a bound must cover and a gate must decide on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from phantom_truth.rates import REFERENCE_SESSIONS, reference_values, true_rates
from usi.errors import NotScorable, UsageError
from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.phantom.population import FloatArray, resolve
from usi.phantom.spec import PhantomSpec
from usi.phantom.tasks import published_difficulty


def true_success(spec: PhantomSpec, difficulty: Sequence[float] | FloatArray) -> FloatArray:
    """Expected success of tasks of these difficulties (task and person effects averaged)."""
    p = resolve(spec)
    return p.success_by_difficulty(
        np.asarray(difficulty, dtype=np.float64), p.intercepts["success"]
    )


@dataclass(frozen=True)
class TrueScores:
    """What a scorer would say with endless data.

    Attributes
    ----------
    features
        Feature -> score in [0, 1], for the features that enter a dimension.
    components
        ``conversation, information, clarification, reaction, outcome`` in points.
    index
        Mean of the five components, in points.
    signed_gap
        Success of the simulator minus success of the people, in [-1, 1].
    """

    features: dict[str, float]
    components: dict[str, float]
    index: float
    signed_gap: float


def true_outcome(
    simulator: PhantomSpec, human: PhantomSpec, bins: Sequence[Iterable[float]] | None = None
) -> tuple[float, float]:
    """(ECE in [0, 1], signed gap) over difficulty bins of the frozen map.

    Parameters
    ----------
    simulator, human
        The populations.
    bins
        Difficulties of the tasks of every bin; default: the five published bins.
    """
    if bins is None:
        from usi.scoring.published.calibration import bin_of

        pool = [value for _, value in published_difficulty()]
        bins = [[d for d in pool if bin_of(d) == k] for k in range(5)]
    groups = [np.array(list(members), dtype=np.float64) for members in bins]
    groups = [members for members in groups if len(members)]
    total = sum(len(members) for members in groups)
    gaps = [
        (true_success(simulator, members) - true_success(human, members)).mean()
        for members in groups
    ]
    shares = [len(members) / total for members in groups]
    ece = sum(w * abs(g) for w, g in zip(shares, gaps, strict=True))
    signed = sum(w * g for w, g in zip(shares, gaps, strict=True))
    return float(ece), float(signed)


def _dice(feature: FeatureSpec, values: tuple[dict[str, float], dict[str, float]]) -> float:
    """Similarity of two means, as the published index has it."""
    h, s = (side[feature.name] for side in values)
    return 1.0 if h + s == 0 else 1 - abs(h - s) / (h + s)


def _sorted_values(
    spec: PhantomSpec, profile: str, feature: FeatureSpec, members: tuple[str, ...]
) -> FloatArray:
    """Defined values of the reference draw on the scale that is averaged, ascending."""
    found = reference_values(spec, profile)
    values = sum(found[name].astype(np.float64) for name in members)
    own = np.asarray(values)[~np.isnan(values)]
    if feature.scale == "ratio":
        own = np.log(own[own > 0])
    elif feature.pole == "complement":
        own = 1 - own
    return np.sort(own)


@lru_cache(maxsize=4096)
def _distribution_score(
    simulator: PhantomSpec,
    human: PhantomSpec,
    profile: str,
    feature: FeatureSpec,
    members: tuple[str, ...],
) -> float:
    """D / 100 of one feature, or of a pool: the sum of its members' values in a session.

    The gap of the means is exact where the means are; what a distribution adds to it comes from
    the reference draw.
    """
    h, s = (_sorted_values(spec, profile, feature, members) for spec in (human, simulator))
    if not len(h) or not len(s):
        return 1.0
    levels = (np.arange(REFERENCE_SESSIONS) + 0.5) / REFERENCE_SESSIONS
    distance = float(
        np.abs(h[(levels * len(h)).astype(np.int64)] - s[(levels * len(s)).astype(np.int64)]).mean()
    )
    if feature.scale == "ratio":
        return 1 - math.tanh(distance / 2)
    if feature.scale != "amount":
        raise UsageError(f"no true score is defined for the scale {feature.scale!r}")
    total = float(h.mean() + s.mean())
    if total == 0:
        return 1.0
    more = (distance - abs(float(h.mean() - s.mean()))) / total
    means = [
        sum(true_rates(spec, profile)[name] for name in members) for spec in (human, simulator)
    ]
    if feature.pole == "complement":
        means = [1 - mean for mean in means]
    return 1 - abs(means[0] - means[1]) / sum(means) - more


def true_feature(
    simulator: PhantomSpec, human: PhantomSpec, name: str, members: Sequence[str] = ()
) -> float:
    """Score in [0, 1] of one feature of the profile ``robust`` with endless data.

    Parameters
    ----------
    simulator, human
        The populations.
    name
        Feature, or pool of rare ones (``rare_reaction``).
    members
        Features that a pool counts together.
    """
    from usi.extraction.profile import get_specs
    from usi.scoring.robust.scorable import POOL, pool_spec

    if name.startswith(POOL):
        spec = pool_spec(name.removeprefix(POOL))
    else:
        spec = next(spec for spec in get_specs("robust") if spec.name == name)
    own = tuple(members) if name.startswith(POOL) else (name,)
    return _distribution_score(simulator, human, "robust", spec, own)


def true_scores(
    simulator: PhantomSpec,
    human: PhantomSpec,
    profile: str = "tau-usi",
    *,
    scored: Iterable[str] | None = None,
    pools: Mapping[str, Sequence[str]] | None = None,
    bins: Sequence[Iterable[float]] | None = None,
) -> TrueScores:
    """Components and index of a simulator with endless tasks, batches and runs.

    Parameters
    ----------
    simulator, human
        The populations.
    profile
        ``"tau-usi"`` (five terms) or ``"robust"``.
    scored
        Names of the features that a study scores; default: all scored features of the profile.
        (The profile ``robust`` leaves features out that people hardly show; a study passes what
        its own humans made scorable.)
    pools
        Pool of rare features -> its members, for the names of pools among `scored`
        (``rare_reaction`` and the like, profile ``robust``).
    bins
        As in `true_outcome`.

    Raises
    ------
    NotScorable
        Where a dimension has no scored feature.

    Examples
    --------
    >>> from usi.phantom import get_simulator, load_spec
    >>> true_scores(get_simulator("copy"), load_spec("human")).index
    100.0
    """
    from usi.extraction.profile import get_specs
    from usi.scoring.robust.scorable import POOL

    wanted = None if scored is None else set(scored)
    features = [
        feature
        for feature in get_specs(profile)
        if feature.dimension in DIMENSIONS
        and feature.scored
        and (wanted is None or feature.name in wanted)
    ]
    dimensions: dict[str, str] = {feature.name: feature.dimension for feature in features}
    if profile.partition("@")[0] == "robust":
        members = {
            name: tuple(m) for name, m in (pools or {}).items() if wanted is None or name in wanted
        }
        dimensions |= {name: name.removeprefix(POOL) for name in members}
        scores = {
            name: true_feature(simulator, human, name, members.get(name, ())) for name in dimensions
        }
    else:
        values = true_rates(human, profile), true_rates(simulator, profile)
        scores = {feature.name: _dice(feature, values) for feature in features}
    components: dict[str, float] = {}
    for dimension in DIMENSIONS:
        own = [scores[name] for name, of in dimensions.items() if of == dimension]
        if not own:
            raise NotScorable(f"no feature of the dimension {dimension} is scored")
        components[dimension] = 100 * sum(own) / len(own)
    ece, signed = true_outcome(simulator, human, bins)
    components["outcome"] = 100 * (1 - ece)
    index = sum(components.values()) / len(components)
    return TrueScores(features=scores, components=components, index=index, signed_gap=signed)
