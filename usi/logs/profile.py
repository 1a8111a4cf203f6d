"""The profile `log`: operational logs (tickets, traces) of people and of simulated desks.

What it is called, what a gate asks of it and where its score is computed: `usi.logs.scoring`
(session tables of cases -> scorecard), `usi.logs.checks` (the gate).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from usi.logs.features import TITLES
from usi.scoring.profiles import Profile, Wording

if TYPE_CHECKING:
    from usi.extraction.table import SessionTable
    from usi.options import ScoreOptions
    from usi.scoring.context import Surveys
    from usi.scoring.parts import Studies

WORDING = Wording(
    kind="log",
    question="Do these simulated cases behave like real ones?",
    session="case",
    sessions="cases",
    yardstick="the real log",
    no_people="the real log",
    among="random halves",
    among_figure="real log, random halves",
    titles={**TITLES, "survey": "satisfaction"},
    without_text="a log of events holds no texts of conversations",
)


def _study(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    surveys: Surveys | None,
    options: ScoreOptions,
) -> Studies:
    from usi.logs.scoring import study_tables  # naming the profile must stay cheap

    return study_tables(human, simulators, surveys=surveys, options=options)


PROFILE = Profile(
    name="log",
    tag="log@1",
    index="USI-log",
    description="operational logs: index USI-log over what a log can tell (scope log-observable)",
    study=_study,
    subject="logs",
    has_bounds=True,
    wording=WORDING,
    gate="usi.logs.checks",
)
