"""A scorecard in one call, with the options as one object."""

from __future__ import annotations

from typing import Any

from usi.options import ScoreOptions
from usi.pipeline import score_with_tables
from usi.scoring.scorecard import Scorecard


def score(
    simulators: Any, human: Any, *, profile: str | None = None, options: ScoreOptions | None = None
) -> Scorecard:
    """The card alone of `usi.pipeline.score_with_tables`."""
    return score_with_tables(simulators, human, profile=profile, options=options).card
