"""The profile `robust`: scores that say how sure they are.

Read `profile.py` first (session tables -> scorecard), then `study.py` (one simulator against the
reference), `terms.py` (what a score is made of), `bounds.py` (what it is worth).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from usi.scoring.profiles import Profile, Wording

if TYPE_CHECKING:
    from usi.extraction.table import SessionTable
    from usi.options import ScoreOptions
    from usi.scoring.context import Surveys
    from usi.scoring.parts import Studies


def _study(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    surveys: Surveys | None,
    options: ScoreOptions,
) -> Studies:
    # polars and numpy come in here: naming the profile must stay cheap
    from usi.scoring.robust.profile import study_tables

    return study_tables(human, simulators, surveys=surveys, options=options)


PROFILE = Profile(
    name="robust",
    tag="robust@2",
    index="USI-R",
    description="population-scale index USI-R with bounds, ceiling and reasons (the default)",
    study=_study,
    has_bounds=True,
    wording=Wording(kind="robust"),
)
