"""The score that endless data would give: what a bound must cover and a gate must decide on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from usi.errors import NotScorable
from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.phantom.population import FloatArray, resolve
from usi.phantom.spec import PhantomSpec
from usi.phantom.tasks import published_difficulty
from usi.phantom.truth import reference_values, true_rates


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


def _dice_of_means(
    feature: FeatureSpec, values: tuple[dict[str, float], dict[str, float]]
) -> float:
    """Score of a feature in the published profile."""
    h, s = (side[feature.name] for side in values)
    return 1.0 if h + s == 0 else 1 - abs(h - s) / (h + s)


def true_distance(
    names: Sequence[str], profile: str, human: PhantomSpec, simulator: PhantomSpec
) -> float:
    """1 - D / 100 of a feature, or of rare marks counted together, over a large draw.

    Parameters
    ----------
    names
        The feature, or the members of a pool; their values are added up.
    """
    from usi.extraction.profile import get_specs
    from usi.scoring.robust.distribution import Grid, cell_values, cut_points

    pole = {spec.name: spec.pole for spec in get_specs(profile)}
    sides = []
    for spec in (human, simulator):
        drawn = reference_values(spec, profile)
        columns = [drawn[name].cast(pl.Float64).drop_nulls().to_numpy() for name in names]
        total = np.sum(columns, axis=0)
        sides.append(1.0 - total if pole[names[0]] == "complement" else total)
    grid = Grid(cut_points(sides[0]))
    people, model = (cell_values(side, grid).mean(axis=0) for side in sides)
    amount = float(people.sum() + model.sum())
    return float(np.abs(model - people).sum()) / amount if amount > 0 else 0.0


def true_scores(
    simulator: PhantomSpec,
    human: PhantomSpec,
    profile: str = "tau-usi",
    *,
    scored: Iterable[str] | None = None,
    bins: Sequence[Iterable[float]] | None = None,
    pools: Mapping[str, Sequence[str]] | None = None,
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
    pools
        Rare marks that a study counts together, by the name that `scored` has for them
        (``robust`` alone).

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

    own = {
        feature.name: feature
        for feature in get_specs(profile)
        if feature.dimension in DIMENSIONS and feature.scored
    }
    members = {name: (name,) for name in own} | {k: tuple(v) for k, v in (pools or {}).items()}
    names = tuple(own) if scored is None else tuple(n for n in members if n in set(scored))
    if profile.partition("@")[0] == "robust":
        scores = {
            name: 1 - true_distance(members[name], profile, human, simulator) for name in names
        }
    else:
        values = true_rates(human, profile), true_rates(simulator, profile)
        scores = {name: _dice_of_means(own[name], values) for name in names}
    components: dict[str, float] = {}
    for dimension in DIMENSIONS:
        parts = [
            score for name, score in scores.items() if own[members[name][0]].dimension == dimension
        ]
        if not parts:
            raise NotScorable(f"no feature of the dimension {dimension} is scored")
        components[dimension] = 100 * sum(parts) / len(parts)
    ece, signed = true_outcome(simulator, human, bins)
    components["outcome"] = 100 * (1 - ece)
    index = sum(components.values()) / len(components)
    return TrueScores(features=scores, components=components, index=index, signed_gap=signed)
