"""From the numbers of the published score to cards that say what they are and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from usi.estimate import Estimate
from usi.features.spec import DIMENSIONS, FeatureSpec
from usi.score.index import TERMS_WITH_SURVEY, TERMS_WITHOUT_SURVEY, index_of_batch, mean_sd
from usi.score.scorecard import Component, FeatureScore, Index, LeftOut
from usi.score.tau_usi_data import SideData
from usi.score.tau_usi_score import BatchScore

NO_INDEX = "the index needs the four dimensions and the outcome of at least one batch: "


def missing(reason: str) -> Component:
    """A component whose data are not there."""
    return Component(value=None, status="not_assessed", reason=reason)


def over_batches(per_batch: Sequence[float | None], n: int, reason: str) -> Component:
    """Mean and population standard deviation over the batches that have a value (points)."""
    known = [value for value in per_batch if value is not None]
    if not known:
        return missing(reason)
    mean, sd = mean_sd(known)
    return Component(value=mean, sd=sd, per_batch=tuple(per_batch), n=n)


def dimension_components(batches: Sequence[BatchScore | None], n: int) -> dict[str, Component]:
    """The four dimensions; `n` = sessions that they rest on."""
    return {
        dimension: over_batches(
            [None if batch is None else batch.dimensions[dimension] for batch in batches],
            n,
            "no batch shares a task",
        )
        for dimension in DIMENSIONS
    }


def outcome_component(gaps: Sequence[float | None], n: int, reason: str) -> Component:
    """The outcome, 100 (1 - ECE) points; the ECE itself (0 to 1) stands in its details."""
    known = [gap for gap in gaps if gap is not None]
    if not known:
        return missing(reason)
    points = over_batches([None if gap is None else (1 - gap) * 100 for gap in gaps], n, reason)
    mean, sd = mean_sd(known)
    detail = {
        "ece": Estimate(value=mean, n=n, unit="share"),
        "ece_sd": Estimate(value=sd, n=len(known), unit="share"),
    }
    return points.model_copy(update={"detail": detail})


def index_over_batches(
    behaviour: Sequence[BatchScore | None],
    gaps: Sequence[float | None],
    survey: float | None,
    outcome_reason: str,
) -> Index:
    """The index: mean of its batches; a batch without an outcome gives none.

    Five terms are never silently averaged as six: `terms` says how many there are.
    """
    per_batch = [
        None
        if batch is None or gap is None
        else index_of_batch([batch.dimensions[d] for d in DIMENSIONS], gap, survey)
        for batch, gap in zip(behaviour, gaps, strict=True)
    ]
    known = [value for value in per_batch if value is not None]
    if not known:
        return Index(value=None, status="not_assessed", reason=NO_INDEX + outcome_reason, terms=0)
    mean, sd = mean_sd(known)
    terms = TERMS_WITHOUT_SURVEY if survey is None else TERMS_WITH_SURVEY
    return Index(value=mean, sd=sd, per_batch=tuple(per_batch), terms=terms, n=len(known))


def feature_scores(
    batches: Sequence[BatchScore],
    specs: Sequence[FeatureSpec],
    human: SideData,
    human_rows: set[int],
    simulator: SideData,
    simulator_rows: set[int],
) -> dict[str, FeatureScore]:
    """Every feature: raw values of both sides and Dice score, each the mean over batches.

    The human value is the mean over batches of the batch's row; the simulator's value is the mean
    over batches of the mean row of its runs. Both are raw (rates from 0 to 1), as in the session
    table, although the published rows multiply rates by 100.
    """
    scores: dict[str, FeatureScore] = {}
    for k, spec in enumerate(specs):
        scale = float(human.scale[k])
        people = mean_sd([float(batch.human[k]) for batch in batches])[0] / scale
        model = mean_sd([float(batch.simulator[k]) for batch in batches])[0] / scale
        likeness = mean_sd([batch.features[spec.name] * 100 for batch in batches])[0]
        scores[spec.name] = FeatureScore(
            dimension=spec.dimension,
            unit=spec.unit,
            scored=spec.scored,
            human=Estimate(value=people, n=len(human_rows), unit=spec.unit),
            simulator=Estimate(value=model, n=len(simulator_rows), unit=spec.unit),
            score=Estimate(value=likeness, n=len(batches)),
            human_hits=_hits(human, human_rows, k),
            simulator_hits=_hits(simulator, simulator_rows, k),
        )
    return scores


def _hits(side: SideData, rows: set[int], k: int) -> int:
    return int((side.values[sorted(rows), k] > 0).sum())


def feature_without_score(
    spec: FeatureSpec, value: float, n: int, hits: int, reason: str
) -> FeatureScore:
    """A feature of people alone."""
    none = Estimate(value=None, status="not_assessed", reason=reason, unit=spec.unit)
    return FeatureScore(
        dimension=spec.dimension,
        unit=spec.unit,
        scored=spec.scored,
        human=Estimate(value=value, n=n, unit=spec.unit),
        simulator=none,
        score=Estimate(value=None, status="not_assessed", reason=reason),
        human_hits=hits,
    )


def left_out(*sources: Mapping[str, int]) -> tuple[LeftOut, ...]:
    """Reasons with their counts, sorted by reason; equal reasons add up."""
    total: dict[str, int] = {}
    for source in sources:
        for reason, count in source.items():
            total[reason] = total.get(reason, 0) + count
    return tuple(LeftOut(reason=r, count=c) for r, c in sorted(total.items()) if c)
