"""The profile `log`: operational logs (tickets, traces) of people and of simulated desks.

Read `profile.py` first (session tables of cases -> scorecard), then `inputs.py` (files -> tables),
`mix.py` (standardisation), `real.py` (the real log against itself).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from usi.score.profiles import Profile

if TYPE_CHECKING:
    import polars as pl

    from usi.features.table import SessionTable
    from usi.score.options import ScoreContext, ScoreOptions, Surveys
    from usi.score.scorecard import Scorecard


def _score_tables(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    surveys: Surveys | None,
    options: ScoreOptions,
    context: ScoreContext,
) -> Scorecard:
    # polars and numpy come in here: naming the profile must stay cheap
    from usi.score.log.profile import score_tables

    return score_tables(human, simulators, surveys=surveys, options=options, context=context)


def _task_sums(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    surveys: Surveys | None,
    options: ScoreOptions,
) -> pl.DataFrame:
    from usi.score.log.profile import task_sums

    return task_sums(human, simulators, options=options)


PROFILE = Profile(
    name="log",
    tag="log@1",
    index="USI-log",
    description="operational logs: index USI-log over what a log can tell (scope log-observable)",
    score_tables=_score_tables,
    task_sums=_task_sums,
)
