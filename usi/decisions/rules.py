"""What a gate asks of a profile beside the keys of all profiles, and how it speaks of it.

A profile of another subject than conversations has rules of its own: a class below `GateRules`,
and the module that holds it (as the constant ``RULES``) is named by its profile object.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from usi.decisions.criteria import Criteria
from usi.decisions.verdict import Check
from usi.reasons import (
    TASK_MIX_IN_DISTANCE,
    Reason,
)
from usi.scoring.profiles import profile_called, wording_of
from usi.scoring.scorecard import Scorecard, SimulatorCard

TITLES = {
    "index": "USI-R",
    "conversation": "conversation",
    "information": "information",
    "clarification": "clarification",
    "reaction": "reaction",
    "outcome": "outcome",
}
"""Scores that criteria may ask a minimum of, and what they are called."""


def is_unpaired(simulator: SimulatorCard) -> bool:
    """Whether the two sides did different tasks."""
    return simulator.design == "unpaired"


class GateRules:
    """Rules of profiles of conversations; each method is one place where a profile may differ."""

    not_ranked: str = ""
    """Why its simulators stand in no ranking; empty where they do."""
    has_script: bool = True
    """Whether users follow a task script, so that some components need the same tasks."""
    own_two_sample: bool = False
    """Whether the two-sample key is among `more_checks`, in place of the usual one."""
    design_need: str = "run the simulator on the tasks that the people did (a paired design)"
    """What would lift the limit of the design."""

    def criteria(self, card: Scorecard, criteria: Criteria) -> Criteria:
        """Criteria as they are asked of this card."""
        return criteria

    def tier_limit(self, simulator: SimulatorCard) -> tuple[str | None, str]:
        """Highest tier that the design can reach (``None``: any), and what it is called."""
        limit = "C" if is_unpaired(simulator) else simulator.tier_limit
        return limit, simulator.design or "this"

    def title(self, simulator: SimulatorCard, name: str) -> str:
        """What a score is called."""
        return wording_of(simulator.index.name).titles.get(name, TITLES[name])

    def more_checks(
        self, card: Scorecard, simulator: SimulatorCard, criteria: Criteria
    ) -> Sequence[Check]:
        """Keys of the profile alone."""
        return ()

    def revised(
        self, simulator: SimulatorCard, criteria: Criteria, checks: list[Check]
    ) -> list[Check]:
        """The checks, with those decided again that the profile knows more of."""
        return checks

    def context(self, simulator: SimulatorCard) -> Sequence[Reason]:
        """What a reader of the verdict must know about the comparison."""
        if not is_unpaired(simulator):
            return ()
        return (TASK_MIX_IN_DISTANCE(),)


CONVERSATIONS = GateRules()


def rules_of(side: Scorecard | SimulatorCard) -> GateRules:
    """Rules of the profile of a scorecard, or of one of its simulators."""
    name = side.profile if isinstance(side, Scorecard) else side.index.name
    profile = profile_called(name)
    if profile is None or profile.gate is None:
        return CONVERSATIONS
    rules: GateRules = import_module(profile.gate).RULES
    return rules
