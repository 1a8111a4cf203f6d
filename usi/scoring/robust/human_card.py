"""The human row of a robust scorecard: what the people are, and how they agree among themselves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from usi.estimate import Estimate, not_assessed
from usi.extraction.spec import FeatureSpec
from usi.reasons import (
    AGGREGATE,
    BATCHES_SHARE_LITTLE,
    BATCHES_SHARE_LITTLE_MOST,
    NO_SESSION_VALUE,
    NO_SHARED_TASKS,
    NO_SURVEY,
    ONE_BATCH,
    ONE_SIDE_ALONE,
    PARTICIPANTS_UNKNOWN,
    SURVEY_ELSEWHERE,
    Reason,
)
from usi.scoring.context import ScoreContext
from usi.scoring.robust.batches import MOST_SPLITS, Context, icc1
from usi.scoring.robust.bounds import maybe, tidy
from usi.scoring.robust.card_parts import note_of
from usi.scoring.robust.left_out import merged, no_gaps
from usi.scoring.robust.reference import Reference
from usi.scoring.robust.scorable import natural, scored_values
from usi.scoring.robust.survey import sheets
from usi.scoring.robust.terms import PARTS
from usi.scoring.scorecard import (
    COMPONENTS,
    Component,
    FeatureScore,
    HumanCard,
    Index,
    LeftOut,
    Sizes,
)


def human_card(
    ref: Reference,
    context: ScoreContext,
    among: Context | None,
    dropped: Mapping[Reason, int],
    warnings: tuple[Reason, ...] = (),
) -> HumanCard:
    """What is said about the reference.

    Parameters
    ----------
    ref
        The human sessions that count.
    context
        What is known about the inputs.
    among
        One batch against another; ``None`` where the reference has no tasks.
    dropped
        Sessions of the reference that no simulator was compared with, by reason.
    """
    parts: dict[str, Component] = {}
    alone = _alone(ref, among)
    survey = SURVEY_ELSEWHERE() if any(sheets(ref.frame)) else NO_SURVEY()
    for name in COMPONENTS:
        value = among.components.get(name) if among else None
        if value is None:
            reason = survey if name == "survey" else alone
            parts[name] = Component(value=None, status="not_assessed", reason=reason)
        else:
            parts[name] = Component(value=maybe(value))
    index = Index(
        value=None,
        status="not_assessed",
        reason=alone,
        name="USI-R",
        terms=0,
        terms_possible=len(PARTS),
    )
    if among is not None and among.index is not None:
        index = Index(value=among.index, name="USI-R", terms=len(PARTS), terms_possible=len(PARTS))
    frame = ref.frame
    left: tuple[LeftOut, ...] = merged(dropped, context.left_out.get("", {}))
    return HumanCard(
        name=context.human_name,
        n=Sizes(
            tasks=frame["task"].drop_nulls().n_unique(),
            sessions=frame.height,
            batches=frame["batch"].drop_nulls().n_unique() or None,
            turns=int(frame["user_turns"].sum()),
        ),
        components=parts,
        index=index,
        features={spec.name: _feature(ref, k, spec) for k, spec in enumerate(ref.specs)},
        left_out=left,
        warnings=(*warnings, *_unknown_people(ref)),
        is_human=context.is_human,
        synthetic=context.synthetic,
        licence=context.licence,
        research_only=context.research_only,
        redistribute=context.redistribute,
        terms=context.terms,
        expires=context.expires,
        load_notes=context.load_notes,
    )


def _unknown_people(ref: Reference) -> tuple[Reason, ...]:
    """That sessions do not say who took part; an aggregate holds none to look at."""
    if ref.aggregated:
        return ()
    unknown = ref.frame["participant"].null_count()
    if not unknown:
        return ()
    return (PARTICIPANTS_UNKNOWN(sessions=unknown, all=ref.frame.height),)


def _alone(ref: Reference, among: Context | None) -> Reason:
    """Why people are not compared with each other, where they are not."""
    batches = ref.frame["batch"].drop_nulls().n_unique()
    if ref.aggregated:
        return AGGREGATE()
    if batches < 2:
        return ONE_BATCH()
    if among is None:
        return NO_SHARED_TASKS(batches=batches)
    if batches > MOST_SPLITS:
        return BATCHES_SHARE_LITTLE_MOST(most=MOST_SPLITS, batches=batches)
    return BATCHES_SHARE_LITTLE(batches=batches)


def _feature(ref: Reference, column: int, spec: FeatureSpec) -> FeatureScore:
    values = scored_values(ref.values, ref.specs)[:, column]
    known = ~np.isnan(values)
    n = int(known.sum())
    none = not_assessed(ONE_SIDE_ALONE)
    if n:
        mean = natural(float(values[known].mean()), spec)
        human = Estimate(value=tidy(mean), n=n, unit=spec.unit)
    else:
        reason = no_gaps(ref.frame) if spec.harness else NO_SESSION_VALUE()
        human = not_assessed(reason, unit=spec.unit)
    verdict = ref.verdicts[spec.name]
    return FeatureScore(
        dimension=spec.dimension,
        unit=spec.unit,
        scored=spec.scored and verdict.reason is None,
        note=note_of(spec, ref.pools),
        human=human,
        simulator=not_assessed(ONE_SIDE_ALONE, unit=spec.unit),
        score=none,
        icc=_icc(ref.frame, values, known),
        human_hits=verdict.hits,
    )


def _icc(frame: pl.DataFrame, values: np.ndarray, known: np.ndarray) -> Estimate:
    sums = (
        pl.DataFrame({"task": frame["task"], "x": values})
        .filter(pl.Series(known) & pl.col("task").is_not_null())
        .group_by("task")
        .agg(s=pl.col("x").sum(), q=(pl.col("x") ** 2).sum(), n=pl.len())
        .sort("task")
    )
    return icc1(*(sums[c].to_numpy().astype(np.float64) for c in ("s", "q", "n")))
