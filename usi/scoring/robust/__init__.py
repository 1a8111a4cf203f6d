"""The profile `robust`: scores that say how sure they are.

Read `profile.py` first (session tables -> scorecard), then `study.py` (one simulator against the
reference), `terms.py` (what a score is made of), `bounds.py` (what it is worth).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from usi.scoring.profiles import Profile

if TYPE_CHECKING:
    import polars as pl

    from usi.extraction.table import SessionTable
    from usi.scoring.options import ScoreContext, ScoreOptions, Surveys
    from usi.scoring.scorecard import Scorecard


def _score_tables(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    surveys: Surveys | None,
    options: ScoreOptions,
    context: ScoreContext,
) -> Scorecard:
    # polars and numpy come in here: naming the profile must stay cheap
    from usi.scoring.robust.profile import score_tables

    return score_tables(human, simulators, surveys=surveys, options=options, context=context)


def _task_sums(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    surveys: Surveys | None,
    options: ScoreOptions,
) -> pl.DataFrame:
    from usi.scoring.robust.profile import task_sums

    return task_sums(human, simulators, surveys=surveys, options=options)


PROFILE = Profile(
    name="robust",
    tag="robust@1",
    index="USI-R",
    description="population-scale index USI-R with bounds, ceiling and reasons (the default)",
    score_tables=_score_tables,
    task_sums=_task_sums,
)
