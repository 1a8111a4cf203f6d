"""What would make a part assessable that a scorecard has no value for."""

from __future__ import annotations

from typing import Literal

from usi.gate.criteria import GATED, Criteria
from usi.gate.verdict import Check, Need
from usi.score.robust.options import MIN_SIMULATOR_SESSIONS
from usi.score.scorecard import SimulatorCard

Kind = Literal["data", "rescore", "tasks", "runs", "nothing"]
MOST_NAMED = 4
"""Features that one line names."""

_WAYS: tuple[tuple[str, Kind, str], ...] = (
    (
        "no human session has an outcome",
        "data",
        "no rewards on the human side: add `reward` (or `outcome`) to the human sessions",
    ),
    (
        "no simulated session has an outcome",
        "data",
        "no rewards on the simulator's side: grade its runs and add `reward` (or `outcome`)",
    ),
    ("declare what counts as success", "rescore", "score again with --success-at N"),
    (
        "people talked to another agent",
        "data",
        "run the simulator with the agent that people talked to, or score again with --other-agent",
    ),
    (
        "--strata COLUMN",
        "rescore",
        "run the simulator on the people's tasks, or score again with --strata COLUMN",
    ),
    (
        "no bin has outcomes on both sides",
        "data",
        "add rewards for tasks of the same difficulty on both sides",
    ),
    ("nothing to resample", "tasks", "sessions of at least two {unit}, and of many for bounds"),
    ("too few sessions show it", "tasks", "more sessions, best on more {unit}"),
    (
        "too few of its features occur",
        "tasks",
        "compare more sessions: its features hardly occur in those that are compared",
    ),
    (
        "people answered no survey",
        "data",
        "add survey answers of people (`survey` in the sessions, or --surveys DIR)",
    ),
    (
        "no second human",
        "data",
        "let other people rate the same sessions once more",
    ),
    (
        "no better than by chance",
        "data",
        "another survey: no number of answers to this one tells a judge from a guesser",
    ),
    (
        "holds sums by task",
        "rescore",
        "score against the corpus itself, not its aggregate",
    ),
    ("--c2st off", "rescore", "score again without --c2st off"),
    ("score the logs themselves", "rescore", "score the logs themselves, not session tables"),
    ("no bounds", "rescore", "score again with the profile robust, which has bounds"),
)
"""Words of a reason, the kind of what is needed, and the way there."""


def assessable(
    check: Check, simulator: SimulatorCard, criteria: Criteria, unit: str
) -> Need | None:
    """What an open check without a value needs; ``None`` where the check has one.

    Parameters
    ----------
    check
        An open check.
    simulator, criteria
        What it was asked of, and by what.
    unit
        What is resampled, in words.
    """
    if check.value is not None:
        return None
    part = check.id
    if part.startswith("subgroup.") and part.count(".") == 1:
        by = part.partition(".")[2]
        text = f"{part}: score again with --by {by} (the sessions must have the field {by})"
        return Need(part=part, kind="rescore", text=text)
    reason = _reason(check)
    if reason is None:
        return None
    kind, way = _way(part, reason, simulator, unit)
    text = f"{part} is not assessed: {_short(way, reason)}{_or_drop(part, criteria)}"
    return Need(part=part, kind=kind, text=text)


def _reason(check: Check) -> str | None:
    """Why it has no value, as the check's message says it."""
    _, mark, reason = check.message.partition("not assessed: ")
    if mark:
        return reason
    if check.id in ("survey_kappa", "survey_bias", "ngram3", "two_sample"):
        return check.message
    return None


def _way(part: str, reason: str, simulator: SimulatorCard, unit: str) -> tuple[Kind, str]:
    if part == "max_user_errors":
        return "data", "review the runs with the harness (tau2 review), which notes such errors"
    if "an index needs at least" in reason:
        have = simulator.n.sessions
        return "runs", f"{MIN_SIMULATOR_SESSIONS} sessions of the simulator (now {have})"
    if "features can be scored" in reason:
        return _features(part, reason, simulator)
    for words, kind, way in _WAYS:
        if words in reason:
            return kind, way.format(unit=unit)
    return "data", f"{reason}; data that mend this"


def _features(part: str, reason: str, simulator: SimulatorCard) -> tuple[Kind, str]:
    """A dimension lacks features: which, and what each waits for."""
    name = part.rpartition(".")[2]
    lacking = {
        feature: score.score.reason
        for feature, score in simulator.features.items()
        if score.dimension == name and score.score.value is None and score.score.reason
    }
    if any("paired designs only" in why for why in lacking.values()):
        return "data", f"{reason}; run the simulator on the tasks that the people did"
    if not lacking:
        return "data", f"{reason}; more human sessions that show the others"
    shown = [f"{feature} ({why})" for feature, why in sorted(lacking.items())[:MOST_NAMED]]
    more = "" if len(lacking) <= MOST_NAMED else f" and {len(lacking) - MOST_NAMED} more"
    return "data", f"{reason}; it lacks {', '.join(shown)}{more}"


def _short(way: str, reason: str) -> str:
    """The way alone where it says the reason, else both."""
    if way.startswith(("no rewards", reason)):
        return way
    return f"{reason}; {way}"


def _or_drop(part: str, criteria: Criteria) -> str:
    """How to do without it: what is not required may be absent."""
    if part in criteria.require.components:
        return f"; or drop {part} from [require]"
    if part in GATED and dict(criteria.minimum.items()).get(part) is not None:
        return f"; or drop the minimum of {part}"
    return ""
