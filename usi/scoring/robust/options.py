"""Choices of one scoring that only the profile `robust` knows."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

from usi.errors import UsageError, unknown_name

DesignOption = Literal["auto", "paired", "unpaired"]
TasksOption = Literal["all", "common"]
SurveyDesign = Literal["same-transcript", "same-task"]
TwoSampleMode = Literal["off", "fast", "full"]

MIN_COVERAGE = 0.95
"""Share of the reference's tasks that a paired score must cover."""
MIN_GROUP_OVERLAP = 0.80
"""Share of task groups on both sides from which on the design is paired on the group."""
MIN_HUMAN_HITS = 10
"""Human sessions that must show a feature before it is scored."""
MIN_SIMULATOR_SESSIONS = 50
"""Simulator sessions below which there is no index."""
MIN_CLUSTERS = 30
"""Clusters of a side below which every verdict is INCONCLUSIVE."""
MIN_BIN_TASKS = 10
"""Tasks below which a difficulty bin is merged into its neighbour."""
MIN_ANSWERED = 0.90
"""Share of answered survey items below which the survey key is INCONCLUSIVE."""
Z = 1.6448536269514722
"""One-sided 5 % quantile of the normal distribution."""


@dataclass(frozen=True, kw_only=True)
class RobustOptions:
    """Choices of the profile `robust`; every field has the default of the command line.

    Attributes
    ----------
    design
        ``"paired"`` (same tasks on both sides), ``"unpaired"``, or ``"auto"`` (looked up in the
        data, and said).
    tasks
        ``"all"`` refuses a coverage under 95 %; ``"common"`` scores the tasks in common.
    cluster
        What is resampled: ``"task"``, ``"participant"`` or a column of the session tables.
    group
        Column whose values are the pairing units instead of the tasks (task families).
    strata
        Column with a difficulty known beforehand (priority, the author's level), which takes
        the place of a difficulty pool.
    replicates, seed
        Bootstrap replicates, and the seed of every draw.
    reward_threshold
        Success is a reward of at least this; ``None``: 1, and rewards other than 0 and 1 are
        not assessed before a threshold is declared.
    survey_design
        Whether respondents rated the transcript that the person rated, or another session of
        the same task; ``None``: for survey files as the corpus declares, else the same task.
    survey_files
        What the manifest of the corpus declares of its survey files (set by the pipeline).
    subgroups
        Columns to score by, such as ``"domain"``; ``"difficulty"`` means the difficulty bins.
    other_agent
        Whether success is compared although the two sides talked to different agents.
    human_runs, simulator_runs
        Batches and runs to keep (labels as in the tables); empty keeps all. ``"odd"`` and
        ``"even"`` keep every other session of each task, for data without runs.
    human_where, simulator_where
        Conditions ``COLUMN=VALUE`` that the sessions of a side must meet, all of them.
    c2st
        Two-sample classifier test: ``"full"`` permutes labels (minutes), ``"fast"`` uses a
        closed form, ``"off"`` leaves it out.
    """

    design: DesignOption = "auto"
    tasks: TasksOption = "all"
    cluster: str = "task"
    group: str | None = None
    strata: str | None = None
    replicates: int = 2000
    seed: int = 7
    reward_threshold: float | None = None
    survey_design: SurveyDesign | None = None
    survey_files: SurveyDesign | None = None
    subgroups: tuple[str, ...] = ()
    other_agent: bool = False
    human_runs: tuple[str, ...] = ()
    simulator_runs: tuple[str, ...] = ()
    human_where: tuple[str, ...] = ()
    simulator_where: tuple[str, ...] = ()
    c2st: TwoSampleMode = "fast"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that these choices name, sorted; those that sessions bring along among them."""
        conditions = (*self.human_where, *self.simulator_where)
        named = {self.cluster, self.group, self.strata, *self.subgroups}
        named |= {condition.partition("=")[0] for condition in conditions}
        return tuple(sorted(name for name in named if name))

    def __post_init__(self) -> None:
        for flag, value, known in (
            ("--design", self.design, get_args(DesignOption)),
            ("--tasks", self.tasks, get_args(TasksOption)),
            ("--survey-design", self.survey_design or "same-task", get_args(SurveyDesign)),
            ("--c2st", self.c2st, get_args(TwoSampleMode)),
        ):
            if value not in known:
                raise unknown_name(flag, str(value), known)
        for flag, conditions in (
            ("--human-where", self.human_where),
            ("--sim-where", self.simulator_where),
        ):
            for condition in conditions:
                if "=" not in condition.strip("="):
                    raise UsageError(f"{flag} {condition}: write COLUMN=VALUE")
        if self.replicates < 100:
            raise UsageError("--replicates needs at least 100 replicates (2,000 is the default)")
        if self.reward_threshold is not None and not isfinite(self.reward_threshold):
            raise UsageError("--success-at needs a finite number")
        if self.seed < 0:
            raise UsageError("--seed needs a number of 0 or more")
