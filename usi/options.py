"""Every option of usi, once: its name, type, default, help and place.

An option is a field of one of the classes below, made by `option` (or `required`). From that one
declaration come

* the flag of the command line: the name with dashes (``sim_runs``: ``--sim-runs``), its text and
  panel in ``--help`` (`usi.cli.flags`),
* the key of ``usi.toml``, where it has one (`usi.cli.settings`),
* the keyword of `usi.load`, `usi.features` and `usi.score`, and the attribute that code reads,
* its row in ``docs/commands.md`` and ``docs/settings.md`` (``docs/build_options.py``).

The name is the same in all of them. A class is a group of options that belong together; a verb of
the command line has the groups that its function names as types of its parameters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

from usi.errors import UsageError, unknown_name

T = TypeVar("T")


@dataclass(frozen=True)
class Option:
    """What is declared of an option beside its name, type and default.

    Attributes
    ----------
    help
        One line for ``--help``.
    panel
        Heading that it stands under in ``--help``; ``""`` is the general one.
    metavar
        What stands for the value in ``--help``.
    more
        What the documentation says beyond `help`.
    flags
        Flags in place of the one that follows from the name, or in addition (``-o``).
    off
        Flag that says no, of options that are on or undecided by default.
    least, most
        Range of a number.
    key
        Whether it may stand in ``usi.toml``.
    shown
        Whether ``--help`` shows the default (else `help` tells it, where there is one).
    parse
        From the text of the command line or of ``usi.toml`` to the value.
    """

    help: str
    panel: str = ""
    metavar: str | None = None
    more: str = ""
    flags: tuple[str, ...] = ()
    off: str | None = None
    least: float | None = None
    most: float | None = None
    key: bool = True
    shown: bool = False
    parse: Callable[[str], Any] | None = None


def option(default: T, help: str, **more: Any) -> T:  # noqa: A002
    """Declare an option: the field of a group (see `Option` for the keywords)."""
    metadata = {"option": Option(help, **more)}
    made: Any
    if isinstance(default, dict):
        made = field(default_factory=lambda: dict(default), metadata=metadata)
    else:
        made = field(default=default, metadata=metadata)
    return cast(T, made)


def required(help: str, **more: Any) -> Any:  # noqa: A002
    """Declare an option without which a verb does nothing."""
    return field(metadata={"option": Option(help, **more)})


def declared(group: type[Any]) -> dict[str, Option]:
    """Options of a group by name, in the order of their declaration."""
    return {
        item.name: item.metadata["option"] for item in fields(group) if "option" in item.metadata
    }


def default_of(group: type[Any], name: str) -> Any:
    """Default of an option; `dataclasses.MISSING` where it is required."""
    item = {item.name: item for item in fields(group)}[name]
    return item.default_factory() if item.default_factory is not MISSING else item.default


def flag_of(name: str) -> str:
    """Flag of an option that declares no other.

    >>> flag_of("sim_runs"), flag_of("from_")
    ('--sim-runs', '--from')
    """
    return "--" + name.rstrip("_").replace("_", "-")


# ---------------------------------------------------------------------- how values are written

_UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


def parse_size(text: str) -> int:
    """Bytes of a size such as ``64MB`` (units of 1024) or a plain number.

    >>> parse_size("64MB") == 64 * 2**20, parse_size("1000")
    (True, 1000)
    """
    found = re.fullmatch(r"\s*([0-9]+)\s*([KMG]?I?B?|)\s*", text.upper())
    unit = found.group(2).replace("I", "").rstrip("B") + "B" if found else ""
    if found is None or unit not in _UNITS or int(found.group(1)) == 0:
        raise UsageError(f"--max-record {text}: give a size such as 64MB, 1GB or a number of bytes")
    return int(found.group(1)) * _UNITS[unit]


def parse_labels(text: str) -> tuple[str, ...]:
    """Labels of runs, separated by commas.

    >>> parse_labels("0, 1")
    ('0', '1')
    """
    labels = tuple(part.strip() for part in text.split(",") if part.strip())
    if not labels:
        raise UsageError("--human-runs and --sim-runs need labels, such as 0,1")
    return labels


def parse_map(text: str) -> dict[str, str]:
    """Read ``session=conv_id,role=speaker,text=utterance``.

    >>> parse_map("session=conv_id, role=who")
    {'session': 'conv_id', 'role': 'who'}

    Raises
    ------
    UsageError
        For a part without ``=``, an unknown meaning (with near matches) or one given twice.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        meaning, equals, column = part.partition("=")
        meaning, column = meaning.strip(), column.strip()
        if not equals or not column:
            raise UsageError(
                f"--map: {part.strip()!r} is no MEANING=COLUMN; write for instance "
                "--map session=conv_id,role=speaker,text=utterance"
            )
        if meaning in found:
            raise UsageError(f"--map: {meaning} is given twice")
        found[meaning] = column
    check_map(found)
    return found


MEANINGS: tuple[str, ...] = (
    "session", "role", "text", "order", "time", "name", "task", "trial", "batch", "domain",
    "simulator", "participant", "agent", "reward", "outcome", "termination", "status",
    "status_reason", "survey", "layout", "keep", "error_tags",
)  # fmt: skip
"""What a column of a table can mean (`LoadOptions.map`)."""


def check_map(given: Mapping[str, str]) -> None:
    """Refuse an unknown meaning.

    Raises
    ------
    UsageError
        With near matches and the whole list.
    """
    for meaning in given:
        if meaning not in MEANINGS:
            raise unknown_name("meaning of a column", meaning, MEANINGS)


# ---------------------------------------------------------------------- reading and scoring

READING = "Reading"
COMPARED = "What is compared"
SESSIONS = "Which sessions (robust)"
COMPARISON = "How it is compared (robust)"
LOGS = "Operational logs"

MAX_RECORD = 64 * 2**20
"""Largest JSON Lines record or array element, in bytes, that is read without being asked to."""

RunIds = Literal["auto", "suffix", "none"]
HumanSource = Literal["auto", "human", "simulated"]
DesignOption = Literal["auto", "paired", "unpaired"]
TasksOption = Literal["all", "common"]
SurveyDesign = Literal["same-transcript", "same-task"]
TwoSampleMode = Literal["off", "fast", "full"]


@dataclass(frozen=True)
class LoadOptions:
    """How transcripts are read.

    Raises
    ------
    UsageError
        Where two options say who the user is, or `map` names an unknown meaning.
    """

    format: str | None = option(
        None,
        "Read as FORMAT (see: usi formats), not by content.",
        panel=READING,
        metavar="FORMAT",
    )
    domain: str | None = option(
        None, "Domain of files that name none.", panel=READING, metavar="NAME"
    )
    name: str | None = option(
        None,
        "Name of the simulator in place of the file's name.",
        panel=READING,
        metavar="LABEL",
        key=False,
    )
    max_record: int = option(
        MAX_RECORD,
        "Largest record that is read, such as 64MB (default).",
        panel=READING,
        metavar="SIZE",
        more="Of JSON Lines a line, of an array an element, in bytes.",
        parse=parse_size,
    )
    user_role: str | None = option(
        None,
        "Messages of this role are the user's.",
        panel=READING,
        metavar="ROLE",
        more="As it is written in the data; messages of the role user are then the agent's. "
        "A session without this role is read by rule.",
    )
    user_speaker: str | None = option(
        None, "Messages of this speaker are the user's.", panel=READING, metavar="NAME"
    )
    flip: bool = option(
        False,
        "Swap user and assistant: logs that store the simulator as assistant.",
        panel=READING,
        more="Of simulators' transcripts alone, never of people's.",
    )
    map: Mapping[str, str] = option(
        {},
        "Columns of a table: session=COLUMN,role=COLUMN,text=COLUMN,...",
        panel=READING,
        metavar="MAP",
        more=f"Meanings: {', '.join(MEANINGS)}.",
        parse=parse_map,
    )

    def __post_init__(self) -> None:
        chosen = [
            flag_of(name)
            for name, given in (
                ("user_role", self.user_role is not None),
                ("user_speaker", self.user_speaker is not None),
                ("flip", self.flip),
            )
            if given
        ]
        if len(chosen) > 1:
            raise UsageError(f"{' and '.join(chosen)} both say who the user is: give one of them")
        check_map(self.map)


@dataclass(frozen=True, kw_only=True)
class RobustOptions:
    """What only the profile ``robust`` (and, where it fits, ``log``) knows.

    Attributes
    ----------
    survey_files
        What the manifest of the corpus declares of its survey files (set while scoring, and no
        option).
    """

    human_runs: tuple[str, ...] = option(
        (),
        "Batches (or trials) of the reference; odd, even: halves of each task.",
        panel=SESSIONS,
        metavar="0,1",
        more="Labels as in the tables; empty keeps all. odd and even keep every other session of "
        "each task, for data without runs.",
        parse=parse_labels,
    )
    sim_runs: tuple[str, ...] = option(
        (),
        "Runs (trials) of the simulators; odd, even: halves of each task.",
        panel=SESSIONS,
        metavar="2,3",
        parse=parse_labels,
    )
    human_where: tuple[str, ...] = option(
        (),
        "Only people's sessions with this value, as domain=hotel.",
        panel=SESSIONS,
        metavar="COLUMN=VALUE",
    )
    sim_where: tuple[str, ...] = option(
        (), "The same for the simulators' sessions.", panel=SESSIONS, metavar="COLUMN=VALUE"
    )
    tasks: TasksOption = option(
        "all",
        "all: refuse under 95 % of the tasks (default); common: those in common.",
        panel=SESSIONS,
    )
    design: DesignOption = option(
        "auto", "The same tasks on both sides, or not; default: found, and said.", panel=COMPARISON
    )
    cluster: str = option(
        "task",
        "What is drawn again as a whole: task (default), participant, a column.",
        panel=COMPARISON,
        metavar="COLUMN",
    )
    group: str | None = option(
        None,
        "Pair on task families: the values of this column.",
        panel=COMPARISON,
        metavar="COLUMN",
    )
    strata: str | None = option(
        None,
        "Column with a difficulty known beforehand, as priority.",
        panel=COMPARISON,
        metavar="COLUMN",
        more="It takes the place of a difficulty pool.",
    )
    by: tuple[str, ...] = option(
        (),
        "Score within every value of this column, too; may be given again.",
        panel=COMPARISON,
        metavar="COLUMN",
        more="difficulty means the difficulty bins.",
    )
    success_at: float | None = option(
        None,
        "Success is a reward of at least this (default 1).",
        panel=COMPARISON,
        metavar="REWARD",
        more="Rewards other than 0 and 1 are not assessed before a threshold is declared.",
    )
    other_agent: bool = option(
        False,
        "Compare success although the sides talked to different agents.",
        panel=COMPARISON,
    )
    survey_design: SurveyDesign | None = option(
        None,
        "What was rated: the person's own transcript, or the same task.",
        panel=COMPARISON,
        more="Without it: as the corpus declares of its survey files, else the same task.",
    )
    c2st: TwoSampleMode = option(
        "fast",
        "Two-sample test: fast (default), full for tier A (minutes), off.",
        panel=COMPARISON,
        more="full permutes labels, fast uses a closed form.",
    )
    replicates: int = option(
        2000, "Bootstrap replicates (default 2000).", panel=COMPARISON, metavar="N"
    )
    seed: int = option(
        7,
        "Seed of what is drawn at random (tau-usi has the published one).",
        panel=COMPARED,
    )
    survey_files: SurveyDesign | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that these choices name, sorted; those that sessions bring along among them."""
        conditions = (*self.human_where, *self.sim_where)
        named = {self.cluster, self.group, self.strata, *self.by}
        named |= {condition.partition("=")[0] for condition in conditions}
        return tuple(sorted(name for name in named if name))

    def __post_init__(self) -> None:
        for name, value, known in (
            ("design", self.design, get_args(DesignOption)),
            ("tasks", self.tasks, get_args(TasksOption)),
            ("survey_design", self.survey_design or "same-task", get_args(SurveyDesign)),
            ("c2st", self.c2st, get_args(TwoSampleMode)),
        ):
            if value not in known:
                raise unknown_name(flag_of(name), str(value), known)
        for name, conditions in (("human_where", self.human_where), ("sim_where", self.sim_where)):
            for condition in conditions:
                if "=" not in condition.strip("="):
                    raise UsageError(f"{flag_of(name)} {condition}: write COLUMN=VALUE")
        if self.replicates < 100:
            raise UsageError("--replicates needs at least 100 replicates (2,000 is the default)")
        if self.success_at is not None and not isfinite(self.success_at):
            raise UsageError("--success-at needs a finite number")
        if self.seed < 0:
            raise UsageError("--seed needs a number of 0 or more")


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """How two operational logs are read and compared (profile ``log``)."""

    preset: str | None = option(
        None,
        "Both sides are logs of this system: servicenow, uci-incident, bpic2013.",
        panel=LOGS,
        metavar="NAME",
    )
    log_config: str | None = option(
        None,
        "Both sides are logs read by this file (usi logs suggest drafts one).",
        panel=LOGS,
        metavar="FILE.toml",
    )
    timezone: str | None = option(
        None, "Zone of times that carry none.", panel=LOGS, metavar="ZONE"
    )
    no_classes: bool = option(
        False, "Logs without a class map: waiting, outcome not assessed.", panel=LOGS
    )
    horizon: float | None = option(
        None,
        "Look at so many hours of every case, the same on both sides.",
        panel=LOGS,
        metavar="HOURS",
    )
    standardise: bool = option(
        True,
        "Weight simulated cases to the real mix of priority and category (default).",
        panel=LOGS,
        off="--no-standardise",
    )

    @property
    def config(self) -> str | None:
        """Preset or TOML file, where one is named."""
        return self.preset or self.log_config

    @property
    def of_logs(self) -> bool:
        """Whether anything is said that only logs know."""
        said = (self.preset, self.log_config, self.timezone, self.horizon)
        return self.no_classes or not self.standardise or any(value is not None for value in said)

    def __post_init__(self) -> None:
        if self.preset is not None and self.log_config is not None:
            raise UsageError("--preset and --log-config are two configurations: name one of them")


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(LoadOptions, RobustOptions, LogOptions):
    """Choices of one scoring.

    Attributes
    ----------
    held_out
        Whether the held-out part of a corpus may be read: only where the card is gated at once
        (no option of its own).
    """

    surveys: str | Path | None = option(
        "auto",
        "Folder with survey_comparable_<label>.json; default: survey_data/ beside CORPUS.",
        panel=COMPARED,
        metavar="DIR|none",
    )
    difficulty: str = option(
        "frozen",
        "Task difficulties: the published map (default), none, JSON; self with tau-usi.",
        panel=COMPARED,
        metavar="frozen|none|FILE",
        more="JSON holds task -> success rate; self pools over the simulators being scored.",
    )
    run_ids: RunIds = option(
        "auto",
        "Split ids into task and run: published rule (auto, default), always, never.",
        panel=COMPARED,
        more="auto: the published rule on files of tau-usi; suffix: always at the last "
        "underscore; none: never. Files with a trial field use it, except where every trial "
        "occurs with one task only.",
    )
    human_source: HumanSource = option(
        "auto",
        "How the reference is cleaned; default: by what the file is.",
        panel=COMPARED,
        more="A file recognised as output of a simulator defaults to simulated, and the card "
        "says that the reference is no human.",
    )
    language: str | None = option(
        None,
        "Language of sessions that declare none, such as de.",
        panel=READING,
        metavar="CODE",
    )
    held_out: bool = False

    def __post_init__(self) -> None:
        LoadOptions.__post_init__(self)
        RobustOptions.__post_init__(self)
        LogOptions.__post_init__(self)
        if self.run_ids not in get_args(RunIds):
            raise unknown_name(flag_of("run_ids"), str(self.run_ids), get_args(RunIds))
        if self.human_source not in get_args(HumanSource):
            known = get_args(HumanSource)
            raise unknown_name(flag_of("human_source"), str(self.human_source), known)

    def load_options(self, *, human: bool) -> LoadOptions:
        """Options of the loaders for one side: format, name and flip are the simulators' alone."""
        return LoadOptions(
            format=None if human else self.format,
            domain=self.domain,
            name=None if human else self.name,
            max_record=self.max_record,
            user_role=self.user_role,
            user_speaker=self.user_speaker,
            flip=self.flip and not human,
            map=self.map,
        )
