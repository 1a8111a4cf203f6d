"""The score that endless data would give: what a bound must cover and a gate must decide on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from usi.errors import NotScorable, UsageError
from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.phantom.population import FloatArray, resolve
from usi.phantom.spec import PhantomSpec
from usi.phantom.tasks import published_difficulty
from usi.phantom.truth import reference_means, true_rates


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


def _feature_score(
    feature: FeatureSpec,
    profile: str,
    human: PhantomSpec,
    simulator: PhantomSpec,
    values: tuple[dict[str, float], dict[str, float]],
) -> float:
    scale = getattr(feature, "scale", "amount")
    if scale == "ratio":
        logs = [reference_means(spec, profile)[feature.name][1] for spec in (human, simulator)]
        return 1 - math.tanh(abs(logs[0] - logs[1]) / 2)
    if scale != "amount":
        raise UsageError(f"no true score is defined for the scale {scale!r} of {feature.name!r}")
    h, s = (side[feature.name] for side in values)
    if feature.pole == "complement":
        h, s = 1 - h, 1 - s
    return 1.0 if h + s == 0 else 1 - abs(h - s) / (h + s)


def true_scores(
    simulator: PhantomSpec,
    human: PhantomSpec,
    profile: str = "tau-usi",
    *,
    scored: Iterable[str] | None = None,
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
    bins
        As in `usi.phantom.truth.true_outcome`.

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

    wanted = None if scored is None else set(scored)
    features = [
        feature
        for feature in get_specs(profile)
        if feature.dimension in DIMENSIONS
        and feature.scored
        and (wanted is None or feature.name in wanted)
    ]
    values = true_rates(human, profile), true_rates(simulator, profile)
    scores = {
        feature.name: _feature_score(feature, profile, human, simulator, values)
        for feature in features
    }
    components: dict[str, float] = {}
    for dimension in DIMENSIONS:
        own = [scores[feature.name] for feature in features if feature.dimension == dimension]
        if not own:
            raise NotScorable(f"no feature of the dimension {dimension} is scored")
        components[dimension] = 100 * sum(own) / len(own)
    ece, signed = true_outcome(simulator, human, bins)
    components["outcome"] = 100 * (1 - ece)
    index = sum(components.values()) / len(components)
    return TrueScores(features=scores, components=components, index=index, signed_gap=signed)
