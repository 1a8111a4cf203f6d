"""From session tables and survey files to one simulator's survey result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.score.options import HUMAN_EVAL
from usi.score.robust.aggregated import NO_SESSIONS
from usi.score.robust.instrument import Item, items_for
from usi.score.robust.options import RobustOptions, SurveyDesign
from usi.score.robust.placement import unit_index
from usi.score.robust.study import Study
from usi.score.robust.survey import SurveyResult, survey_agreement
from usi.score.robust.survey_pairs import (
    Pairs,
    among_humans,
    by_session,
    by_task,
    levels_of,
    sheets,
    transcript_labels,
)
from usi.score.robust.survey_tables import item_tables

if TYPE_CHECKING:
    from usi.score.options import Surveys


@dataclass(frozen=True)
class SurveySide:
    """A simulator's answers beside the people's, or the reason why there are none."""

    reason: str | None
    pairs: Pairs | None = None
    own: Pairs | None = None
    items: tuple[Item, ...] = ()
    design: SurveyDesign = "same-task"


def _units(frame: pl.DataFrame, result: Study) -> NDArray[np.int64]:
    return unit_index(frame[result.design.unit], result.human.units)


def survey_side(
    result: Study, name: str, surveys: Surveys | None, options: RobustOptions
) -> SurveySide:
    """Find what is compared with what.

    A survey file names human sessions and is paired with them; without one, the simulator's own
    answers are paired with the people's on the task, or (same transcript) with those sessions of
    the task whose turns are the same. Two people are paired in the same design.
    """
    if not result.design.paired:
        return SurveySide("answers are compared on the same tasks only (paired design)")
    human = result.reference.frame
    theirs = sheets(human)
    items = items_for(theirs)
    if not items:
        return SurveySide("people answered no survey")
    unit, levels = _units(human, result), levels_of(theirs, items)
    file = surveys.get(name) if surveys is not None else None
    # What a corpus declares holds for its survey files, not for the answers of a simulator's runs.
    declared = options.survey_files if file is not None else None
    design: SurveyDesign = options.survey_design or declared or "same-task"
    if result.reference.aggregated and (file is not None or design == "same-transcript"):
        return SurveySide(f"{NO_SESSIONS}, and the survey is paired by session")
    same = design == "same-transcript"
    label = transcript_labels(human) if same else None
    if file is not None:
        pairs = by_session(human, unit, levels, file, items)
    else:
        sim = sheets(result.frame)
        if not any(sim):
            return SurveySide(
                "no survey files given (--surveys DIR)"
                if surveys is None
                else f"there is no survey_comparable_{name}.json among the surveys"
            )
        both = (label, transcript_labels(result.frame)) if label is not None else None
        other = levels_of(sim, items)
        pairs = by_task(unit, levels, _units(result.frame, result), other, both)
    if not len(pairs.unit):
        return SurveySide(
            "no two sessions of a task are the same transcript (--survey-design same-task "
            "compares answers on the task)"
            if same and file is None
            else "the survey names no session of the reference"
        )
    second = surveys.get(HUMAN_EVAL) if surveys is not None else None
    if same and second is not None:
        own: Pairs | None = by_session(human, unit, levels, second, items)
    else:
        batches = human["batch"].cast(pl.String).fill_null("1").to_list()
        own = among_humans(unit, batches, levels, label)
    return SurveySide(None, pairs, own, items, design)


def survey_result(side: SurveySide, result: Study, options: RobustOptions) -> SurveyResult | None:
    """Score the answers; ``None`` where `side` says why there are none."""
    if side.pairs is None:
        return None
    return survey_agreement(
        side.pairs,
        side.items,
        units=len(result.human.units),
        cluster=result.human.cluster,
        design=side.design,
        own=side.own,
        rule=result.rule,
        replicates=options.replicates,
        seed=options.seed,
    )


def survey_frame(side: SurveySide, result: Study, simulator: str) -> pl.DataFrame | None:
    """Joint distributions of answers by task, as rows of the per-task sums (side ``survey``)."""
    if side.pairs is None:
        return None
    units = result.human.units
    data: dict[str, Sequence[object] | NDArray[np.float64]] = {
        "side": ["survey"] * len(units),
        "simulator": [simulator] * len(units),
        "unit": list(units),
        "cluster": result.human.cluster.astype(np.float64),
    }
    columns: Mapping[str, NDArray[np.float64]] = {
        f"survey.{t.item.name}.{h}.{s}": t.table[:, h * t.item.size + s]
        for t in item_tables(side.pairs, side.items, len(units))
        for h in range(t.item.size)
        for s in range(t.item.size)
    }
    frame = pl.DataFrame({**data, **columns})
    return frame.with_columns(pl.col("cluster").cast(pl.Int64))
