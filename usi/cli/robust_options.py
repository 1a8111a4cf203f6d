"""Options of ``usi score`` that only the profile ``robust`` knows."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from usi.errors import UsageError

if TYPE_CHECKING:
    from usi.cli.settings import ScoreSettings


class DesignName(StrEnum):
    """How the sides are put beside each other."""

    AUTO = "auto"
    PAIRED = "paired"
    UNPAIRED = "unpaired"


class TasksName(StrEnum):
    """Which tasks a paired score asks for."""

    ALL = "all"
    COMMON = "common"


class TestMode(StrEnum):
    """How the two-sample classifier test is made."""

    OFF = "off"
    FAST = "fast"
    FULL = "full"


class SurveyDesignName(StrEnum):
    """What the respondents of a survey rated."""

    SAME_TRANSCRIPT = "same-transcript"
    SAME_TASK = "same-task"


_CHOSEN, _SURE = "Which sessions (robust)", "How it is compared (robust)"


def _option(flag: str, words: str, panel: str, metavar: str | None = None) -> Any:
    return typer.Option(
        flag, metavar=metavar, help=words, show_default=False, rich_help_panel=panel
    )


HumanRuns = Annotated[
    str | None,
    _option("--human-runs", "Batches (or trials) of the reference; odd, even: halves of each task.",
            _CHOSEN, "0,1"),
]  # fmt: skip
SimRuns = Annotated[
    str | None,
    _option("--sim-runs", "Runs (trials) of the simulators; odd, even: halves of each task.",
            _CHOSEN, "2,3"),
]  # fmt: skip
HumanWhere = Annotated[
    list[str] | None,
    _option("--human-where", "Only people's sessions with this value, as domain=hotel.", _CHOSEN,
            "COLUMN=VALUE"),
]  # fmt: skip
SimWhere = Annotated[
    list[str] | None,
    _option("--sim-where", "The same for the simulators' sessions.", _CHOSEN, "COLUMN=VALUE"),
]
Tasks = Annotated[
    TasksName | None,
    _option("--tasks", "all: refuse under 95 % of the tasks (default); common: those in common.",
            _CHOSEN),
]  # fmt: skip
Design = Annotated[
    DesignName | None,
    _option("--design", "The same tasks on both sides, or not; default: found, and said.", _SURE),
]
Cluster = Annotated[
    str | None,
    _option("--cluster", "What is drawn again as a whole: task (default), participant, a column.",
            _SURE, "COLUMN"),
]  # fmt: skip
Group = Annotated[
    str | None,
    _option("--group", "Pair on task families: the values of this column.", _SURE, "COLUMN"),
]
Strata = Annotated[
    str | None,
    _option("--strata", "Column with a difficulty known beforehand, as priority.", _SURE,
            "COLUMN"),
]  # fmt: skip
By = Annotated[
    list[str] | None,
    _option("--by", "Score within every value of this column, too; may be given again.", _SURE,
            "COLUMN"),
]  # fmt: skip
SuccessAt = Annotated[
    float | None,
    _option("--success-at", "Success is a reward of at least this (default 1).", _SURE, "REWARD"),
]
OtherAgent = Annotated[
    bool,
    typer.Option(
        "--other-agent", rich_help_panel=_SURE,
        help="Compare success although the sides talked to different agents.",
    ),
]  # fmt: skip
SurveyDesign = Annotated[
    SurveyDesignName | None,
    _option("--survey-design", "What was rated: the person's own transcript, or the same task.",
            _SURE),
]  # fmt: skip
TwoSampleTest = Annotated[
    TestMode | None,
    _option("--c2st", "Two-sample test: fast (default), full for tier A (minutes), off.", _SURE),
]
Replicates = Annotated[
    int | None,
    _option("--replicates", "Bootstrap replicates (default 2000).", _SURE, "N"),
]


def given(**choices: Any) -> dict[str, Any]:
    """The choices that the command line makes; lists of runs are split at commas."""
    made = {k: v for k, v in choices.items() if v is not None and v is not False and v != []}
    return {name: _plain(name, value) for name, value in made.items()}


def _plain(name: str, value: Any) -> Any:
    if name in ("human_runs", "sim_runs"):
        labels = tuple(part.strip() for part in value.split(",") if part.strip())
        if not labels:
            raise UsageError("--human-runs and --sim-runs need labels, such as 0,1")
        return labels
    if isinstance(value, StrEnum):
        return value.value
    return tuple(value) if isinstance(value, list) else value


def robust_options(
    choices: Mapping[str, Any],
    settings: ScoreSettings,
    *,
    profile: str | None,
    subgroups: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Options of the profile ``robust``: command line over settings over default.

    Parameters
    ----------
    choices
        What `given` found on the command line.
    settings
        The table ``[score]`` of the workspace.
    profile
        The profile that will score; those without bounds take none of these.
    subgroups
        Columns that the criteria of a gate ask for, beside those that are named.

    Raises
    ------
    UsageError
        Where the command line makes such a choice for another profile.
    """
    from usi.options import RobustOptions, declared, flag_of
    from usi.scoring.profiles import get_profile

    if not get_profile(profile).has_bounds:
        if choices:
            flag = flag_of(next(iter(choices)))
            raise UsageError(f"{flag} belongs to the profile robust, and {profile} is asked for")
        return {}
    own = {name: getattr(settings, name) for name in declared(RobustOptions) if name != "seed"}
    found = {name: value for name, value in own.items() if value not in (None, (), False)}
    found |= choices
    found["by"] = tuple(dict.fromkeys((*found.get("by", ()), *subgroups)))
    return found
