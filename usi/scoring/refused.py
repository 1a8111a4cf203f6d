"""Simulators that can't be scored are refused alone, so that the others still are."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from usi.errors import NotScorable
from usi.reasons import SIDE_NOT_SCORABLE, Reason
from usi.scoring.scorecard import Refused


def require_one(scored: Collection[object], refused: Mapping[str, Reason]) -> None:
    """See that a simulator is left.

    Raises
    ------
    NotScorable
        Where all were refused, with the reason of the first.
    """
    if not scored:
        label, cause = next(iter(refused.items()))
        raise NotScorable(SIDE_NOT_SCORABLE(label=label, cause=cause))


def told_refused(refused: Mapping[str, Reason]) -> list[Reason]:
    """The refusals as warnings of a scorecard."""
    return [SIDE_NOT_SCORABLE(label=label, cause=cause) for label, cause in refused.items()]


def refused_part(refused: Mapping[str, Reason]) -> tuple[Refused, ...]:
    """The refusals as a part of a scorecard."""
    return tuple(Refused(name=label, reason=cause) for label, cause in refused.items())
