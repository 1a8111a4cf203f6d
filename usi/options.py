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
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args, get_type_hints

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
    path
        Whether its text in ``usi.toml`` may be a path, which is then relative to that file.
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
    path: bool = False
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


def values_of(options: Any) -> dict[str, Any]:
    """Values of a group by name."""
    return {name: getattr(options, name) for name in declared(type(options))}


def default_of(group: type[Any], name: str) -> Any:
    """Default of an option; `dataclasses.MISSING` where it is required."""
    item = {item.name: item for item in fields(group)}[name]
    return item.default_factory() if item.default_factory is not MISSING else item.default


def type_of(group: type[Any], name: str) -> Any:
    """Type of an option, such as ``str | None``."""
    key: object = group  # mypy takes a class for unhashable
    return _types(key)[name]


@cache
def _types(group: object) -> dict[str, Any]:
    return get_type_hints(group)


def flag_of(name: str) -> str:
    """Flag of an option that declares no other.

    >>> flag_of("sim_runs"), flag_of("from_")
    ('--sim-runs', '--from')
    """
    return "--" + name.rstrip("_").replace("_", "-")


def told(group: Any) -> dict[str, Any]:
    """Every option of a group with its value, as plain data for the run record."""
    return {name: _told(getattr(group, name)) for name in declared(type(group))}


def _told(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_told(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): _told(one) for key, one in value.items()}
    return value if isinstance(value, int | float | str | None) else str(value)


def words_of(group: type[Any], values: Mapping[str, Any]) -> list[str]:
    """Words of the command line that give the values; usual values are not said.

    Parameters
    ----------
    group
        Class of options.
    values
        Option -> value, from `told`. A file or folder stands under its own name, wherever it lies.
    """
    words: list[str] = []
    for name, declaration in declared(group).items():
        usual = _told(default_of(group, name))
        value = values.get(name, usual)
        if value == usual:
            continue
        flag = next((f for f in declaration.flags if f.startswith("--")), flag_of(name))
        if isinstance(value, bool):
            words.append(flag if value else declaration.off or flag)
            continue
        place = any(word in (declaration.metavar or "") for word in ("FILE", "DIR"))
        if isinstance(value, Mapping):
            value = ",".join(f"{key}={one}" for key, one in value.items())
        several = value if isinstance(value, list) else [value]
        if declaration.parse is not None and len(several) > 1:
            several = [",".join(map(str, several))]
        for one in several:
            text = "none" if one is None else str(one)
            words += [flag, Path(text).name if place else text]
    return words


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


_INSTEAD = "In place of what the preset or configuration says, or of the usual names."
LOG_PRESETS = ("bpic2013", "github-issues", "jira", "servicenow", "uci-incident", "zendesk")
"""Configurations of logs that are shipped."""


LOG_KEYS: dict[str, str] = {
    "preset": "A shipped configuration on which this one stands; its own tables go over it.",
    "name": "Name of the configuration, for signatures.",
    "version": "Its version, for signatures.",
    "title": "What it reads, in a line.",
    "source": "Where its columns and classes come from.",
    "read.delimiter": "Of CSV; without it the header tells.",
    "read.quote": "Quotation mark of CSV; an empty text: none.",
    "read.encoding": "Of CSV, such as cp1252; without it UTF-8, or what a byte order mark says.",
    "read.timezone": "Zone of times that carry none, and clock of the calendar (`--timezone`).",
    "read.date_order": "`day-first` or `month-first`, for dates such as 3/4/2026.",
    "read.epoch": "`s`, `ms` or `us`: the unit of times that are numbers.",
    "read.timestamp_pattern": "A strptime pattern; or a table of one for `human` and one for "
    "`simulated`.",
    "read.missing": "Cells that mean that there is no value, a list.",
    "read.rows": "`event`: a blank cell keeps the value of its field; `update`: a row is the whole "
    "ticket after an update.",
    "read.lifecycle": "Transitions that count as events, a list such as `['complete']`; others are "
    "further moments of an event. Without it `complete` where a log has others, too, else all.",
    "read.object_type": "Of OCEL: the objects that are cases.",
    "columns.case_id": "The case (`--case`). Every column is a name, a list of names of which the "
    "first that is there counts, or a table with `names`, `pattern` and `default`.",
    "columns.activity": "What happened (`--activity`).",
    "columns.timestamp": "When (`--time`).",
    "columns.resource": "Who worked on it.",
    "columns.group": "The group of the one who worked on it.",
    "columns.level": "The line of support.",
    "columns.site": "The organisation or place.",
    "columns.priority": "Priority.",
    "columns.impact": "Impact.",
    "columns.category": "Category.",
    "columns.requester": "Who reported it.",
    "columns.actor": "Who made the event: a person, or a kind (requester, agent, system).",
    "columns.lifecycle": "Which moment of an event a row is: start, complete, ...",
    "columns.csat": "Satisfaction.",
    "columns.start": "When the event began.",
    "columns.due_at": "When the case is due.",
    "columns.resolved_at": "When it was resolved.",
    "columns.reopen_flag": "Whether it was reopened: true or false.",
    "columns.sla_met": "Whether the agreed time was kept: true or false.",
    "columns.synthetic": "Whether the row is made up: true or false.",
    "events.ACTIVITY": "Of tables with a row a case: the columns that may hold its time. Used "
    "where a file has two or more of them.",
    "fields.tracked": "Columns whose changes are followed.",
    "fields.required": "Columns that a complete ticket has.",
    "classes.ACTIVITY": "`work`, `queue`, `wait_user`, `wait_other`, `resolved`, `closed` or "
    "`cancelled`.",
    "features.missing_group": "`drop`: a blank group is left out; `value`: a group of its own.",
    "features.ping_pong_field": "`group`, `resource`, `site`, `level` or `activity`.",
    "features.ping_pong_pattern": "`aba`, `abab` or `revisit`.",
    "features.clock": "`elapsed` or `business` (needs `[calendar]`).",
    "features.horizon": "Hours that are looked at of every case (`--horizon`).",
    "features.duplicates": "`keep` or `drop` events that repeat another one.",
    "features.level_order": "Values of the level from lowest to highest, a list.",
    "features.priority_order": "Values of the priority from lowest to highest, a list.",
    "features.reclassified": "Tracked columns whose change is a reclassification, a list.",
    "features.requester_actors": "Values of `actor` that mean the requester, a list.",
}
"""Keys of a log configuration (``--log-config``, ``--config``), and what each means."""


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """How two operational logs are read and compared (profile ``log``)."""

    preset: str | None = option(
        None,
        f"Both sides are logs of this system: {', '.join(LOG_PRESETS)}.",
        panel=LOGS,
        metavar="NAME",
    )
    log_config: str | None = option(
        None,
        "Both sides are logs read by this file (usi logs suggest drafts one).",
        panel=LOGS,
        path=True,
        metavar="FILE.toml",
    )
    timezone: str | None = option(
        None, "Zone of times that carry none.", panel=LOGS, metavar="ZONE"
    )
    case: str | None = option(
        None, "Column of the case id.", panel=LOGS, metavar="COLUMN", more=_INSTEAD, key=False
    )
    activity: str | None = option(
        None, "Column of the activity.", panel=LOGS, metavar="COLUMN", more=_INSTEAD, key=False
    )
    time: str | None = option(
        None, "Column of the time.", panel=LOGS, metavar="COLUMN", more=_INSTEAD, key=False
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
        said = (
            self.preset, self.log_config, self.timezone, self.horizon, self.case, self.activity,
            self.time,
        )  # fmt: skip
        return self.no_classes or not self.standardise or any(value is not None for value in said)

    def __post_init__(self) -> None:
        if self.preset is not None and self.log_config is not None:
            raise UsageError("--preset and --log-config are two configurations: name one of them")


@dataclass(frozen=True, kw_only=True)
class ProfileOption:
    """How is scored."""

    profile: str | None = option(
        None,
        "Scoring definition.",
        metavar="NAME",
        more="tau-usi (as published), robust (the default) or log (operational logs).",
    )


@dataclass(frozen=True, kw_only=True)
class LanguageOption:
    """The language of what is read."""

    language: str | None = option(
        None,
        "Language of sessions that declare none, such as de.",
        panel=READING,
        metavar="CODE",
    )


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(LoadOptions, RobustOptions, LogOptions, LanguageOption):
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
        path=True,
        metavar="DIR|none",
    )
    difficulty: str = option(
        "frozen",
        "Task difficulties: the published map (default), none, JSON; self with tau-usi.",
        panel=COMPARED,
        path=True,
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


# ---------------------------------------------------------------------- what verbs share

OUTPUT, SAID, CALLS = "Output", "What is said", "Calls and money"


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Where a result goes, and what is said of the work."""

    output: tuple[Path, ...] = option(
        (),
        "Write FILE; several -o may be given.",
        panel=OUTPUT,
        metavar="FILE",
        flags=("--output", "-o"),
        more="The suffix chooses the form.",
    )
    force: bool = option(False, "Overwrite a file that usi did not write.", panel=OUTPUT)
    print: Literal["auto", "table", "json", "none"] = option(
        "auto",
        "To stdout; auto: a table on a terminal, else JSON.",
        panel=SAID,
        shown=True,
    )
    quiet: bool = option(
        False, "On stderr nothing but errors.", panel=SAID, flags=("--quiet", "-q")
    )
    exit_zero: bool = option(
        False, "Exit 0 whatever the data are like; for jobs that only report.", panel=SAID
    )


@dataclass(frozen=True, kw_only=True)
class BootstrapOptions:
    """What counts as success, and how its bounds are drawn."""

    success_at: float = option(
        1.0, "Reward at or above which a session succeeds.", metavar="R", shown=True
    )
    replicates: int = option(2000, "Bootstrap replicates.", least=100, shown=True)
    seed: int = option(7, "Seed of the bootstrap.", shown=True)


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    """What holds for everything that leaves usi: budget, pace, retries, cache."""

    budget: float | None = option(
        None,
        "Stop in good order before a call that would spend more; 0 makes no call.",
        panel=CALLS,
        metavar="USD",
        least=0.0,
    )
    budget_tokens: int | None = option(
        None, "The same in tokens.", panel=CALLS, metavar="N", least=0
    )
    per_minute: float | None = option(
        None, "Calls a minute of each model.", panel=CALLS, metavar="N", least=0.01
    )
    retries: int = option(4, "After a passing fault.", panel=CALLS, least=0, shown=True)
    cache: Path | None = option(
        None,
        "Answers by content (sqlite); default: .answers.sqlite in the output folder.",
        panel=CALLS,
        metavar="FILE",
    )
    replay: bool = option(False, "Answer from the cache alone: no call leaves.", panel=CALLS)


@dataclass(frozen=True, kw_only=True)
class AsOfOption:
    """The day on which something is judged."""

    as_of: str | None = option(None, "Day that expiry counts to.", metavar="DATE")


@dataclass(frozen=True, kw_only=True)
class TrustOption:
    """Scorecards that were changed by hand."""

    trust_edited: bool = option(False, "Take a scorecard that was changed after scoring.")


# ---------------------------------------------------------------------- one verb each


@dataclass(frozen=True, kw_only=True)
class ScoreChoices(ProfileOption):
    """What ``usi score`` is asked beside how it scores (`ScoreOptions`)."""

    human: str | None = option(
        None,
        "The reference: a path, or a name under human_corpus/.",
        panel=COMPARED,
        path=True,
        metavar="CORPUS",
    )
    gate: str | None = option(
        None,
        "Gate the scorecard at once (see: usi gate), with its exit codes.",
        panel="Decide",
        metavar="A|B|C|gate.toml",
        more="stdout then holds the verdict, and -o also takes .verdict.json, .verdict.md and "
        ".junit.xml.",
        key=False,
    )
    examples: bool | None = option(
        None,
        "Sampled texts beside the card and in the page, and words that only people use.",
        off="--no-examples",
        more="Default: of each side whose manifest or licence allows to pass its texts on. "
        "--examples shows all, for your own use; the page says so.",
        key=False,
    )


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Options of ``usi demo``."""

    output: Path | None = option(
        None,
        "Folder of the report (default: reports/demo).",
        metavar="DIR",
        flags=("--output", "-o"),
    )
    seed: int = option(7, "Another draw (default: 7).")


@dataclass(frozen=True, kw_only=True)
class FeaturesOptions(ProfileOption, LanguageOption):
    """Options of ``usi features``."""

    side: Literal["human", "simulated"] = required(
        "Whose sessions; decides how messages are cleaned."
    )


@dataclass(frozen=True, kw_only=True)
class ReportOptions(TrustOption):
    """Options of ``usi report``."""

    verdict: Path | None = option(None, "From usi gate.", metavar="VERDICT.json")
    gate: str | None = option(None, "Gate the scorecard for the report.", metavar="A|B|C|gate.toml")
    figures: Path | None = option(None, "Write every figure there.", metavar="DIR")
    figure: tuple[str, ...] = option(
        (),
        "Only this figure, such as index or SIM.outcome (several times; default: all).",
        metavar="NAME",
    )
    figure_form: str = option("svg", "Form of the figures.", metavar="svg|png", shown=True)
    simulator: str | None = option(None, "Whose badge it is.", metavar="NAME")
    examples: bool | None = option(
        None,
        "Show the texts that were kept, also those that may not be passed on; or none.",
        off="--no-examples",
        more="Default: those that may be passed on.",
    )


@dataclass(frozen=True, kw_only=True)
class SubmitOptions:
    """Options of ``usi submit``."""

    human: str | None = option(
        None, "The reference; NAME@held-out may be read here.", metavar="CORPUS"
    )
    gate: str = option("B", "Criteria.", metavar="A|B|C|gate.toml", shown=True)
    as_of: str | None = option(None, "Day of the record; expiry counts to it.", metavar="DATE")
    reports: Path = option(
        Path("reports"), "Where the record is written.", metavar="DIR", shown=True
    )


@dataclass(frozen=True, kw_only=True)
class AdmissionVerifyOptions(AsOfOption):
    """Options of ``usi admission verify``."""

    scorecard: Path | None = option(
        None,
        "The scorecard; default: the file that the record names, in the record's folder.",
        metavar="CARD.json",
    )


@dataclass(frozen=True, kw_only=True)
class GateOptions(TrustOption):
    """Options of ``usi gate``."""

    criteria: str | None = option(
        None, "Criteria file; default: the table gate of usi.toml.", metavar="gate.toml"
    )
    tier: str | None = option(None, "A tier as shipped.", metavar="A|B|C")
    simulator: str | None = option(None, "Decide on this one.", metavar="NAME")
    family_size: int | None = option(
        None,
        "M candidates are tried and any that passes is accepted: bounds at 5 %/M.",
        metavar="M",
        least=1,
    )
    as_of: str | None = option(None, "Day that max_age_days counts to.", metavar="DATE")
    baseline: Path | None = option(
        None, "Scorecard of the version accepted last.", panel="Regression", metavar="OLD.json"
    )
    anchor: Path | None = option(
        None, "Scorecard of the version accepted first.", panel="Regression", metavar="FIRST.json"
    )
    margin: float | None = option(
        None, "Largest drop of USI-R allowed; default: that of the criteria, else 5.",
        panel="Regression", least=0, most=100,
    )  # fmt: skip
    component_margin: float | None = option(
        None, "The same for a component; default: that of the criteria, else 10.",
        panel="Regression", least=0, most=100,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CompareOptions(TrustOption):
    """Options of ``usi compare``."""

    simulator: str | None = option(
        None,
        "Simulator of A, and of B where --other is not given; needed where a scorecard has "
        "several.",
        metavar="NAME",
    )
    other: str | None = option(None, "Simulator of B.", metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class RankOptions(AsOfOption, TrustOption):
    """Options of ``usi rank``."""

    alpha: float = option(
        0.05, "Chance that some rank lies outside its interval.", least=0.001, most=0.5, shown=True
    )


@dataclass(frozen=True, kw_only=True)
class PlanOptions(TrustOption):
    """Options of ``usi plan``."""

    tier: str | None = option(None, "Default: B.", metavar="A|B|C")
    criteria: str | None = option(None, "Criteria file.", metavar="gate.toml")
    truth: float = option(100.0, "True score of the simulator in every part.", shown=True)
    power: float = option(0.8, "Wanted chance of PASS.", shown=True)
    batches: int = option(3, "Rounds of people.", least=1, shown=True)
    tasks: int | None = option(
        None, "Judge this design; without --runs: how many runs it needs.", least=2
    )
    runs: int | None = option(None, "Runs of the simulator.", least=1)
    pilot: str | None = option(
        None,
        "Take the noise from a scorecard (.json of usi score) or from sessions of people.",
        metavar="CARD|CORPUS",
    )
    simulator: str | None = option(None, "Of the pilot.", metavar="NAME")
    pick: int | None = option(
        None,
        "List N tasks, stratified by difficulty.",
        panel="Tasks to check first",
        metavar="N",
        least=1,
    )
    difficulty: str = option(
        "frozen",
        "Success rate of every task.",
        panel="Tasks to check first",
        metavar="frozen|FILE",
        shown=True,
    )
    domain: str | None = option(
        None, "Only tasks that begin with NAME_.", panel="Tasks to check first", metavar="NAME"
    )
    seed: int = option(7, "Of the choice.", panel="Tasks to check first", shown=True)
    tasks_per_person: int = option(
        4, "For -o FILE.toml, the numbers of a study with people.", least=1, shown=True
    )


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """Options of ``usi audit``."""

    tier: str = option("B", "Tier asked about.", metavar="A|B|C", shown=True)
    draws: int = option(5, "Studies drawn.", least=1, shown=True)
    design: str | None = option(
        None,
        "Size of a study; default: the largest, 165x3x3 at most.",
        metavar="TASKSxBATCHESxRUNS",
    )
    group: str = option(
        "task",
        "Whose sessions count as talks about the same task.",
        metavar="task|domain",
        shown=True,
    )
    mix: tuple[Path, ...] = option(
        (), "Transcripts of a model user, for mixtures; may be repeated.", metavar="FILE"
    )
    cases: int | None = option(
        None, "Cases of each half of an event log; default: all.", metavar="N", least=100
    )
    attack: tuple[str, ...] = option((), "Only this attack; repeatable.", metavar="NAME")
    seed: int = option(1, "Of the first draw.", shown=True)
    resume: Path | None = option(
        None, "Keep finished draws in FILE; take from it those that are there.", metavar="FILE"
    )


@dataclass(frozen=True, kw_only=True)
class PasskOptions:
    """Options of ``usi passk``."""

    k: str = option(
        "1,2,4,8", "Values of k, separated by commas.", metavar="K,K,...", flags=("-k",), shown=True
    )


@dataclass(frozen=True, kw_only=True)
class CorrectOptions:
    """Options of ``usi correct``."""

    human: str = required("Sessions of people with the same agent.", metavar="CORPUS")


@dataclass(frozen=True, kw_only=True)
class AgentsOptions:
    """Options of ``usi agents``."""

    human: tuple[str, ...] = required("An agent's sessions with people.", metavar="AGENT=PATH")
    sim: tuple[str, ...] = required("Its sessions with the simulated user.", metavar="AGENT=PATH")


@dataclass(frozen=True, kw_only=True)
class InstrumentOption:
    """The survey that is filled in."""

    instrument: Path | None = option(None, "Another survey than the published one.", metavar="TOML")


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions(InstrumentOption):
    """Over what and against whom a user is run or plays."""

    domain: str = required("Name of a domain, or its folder.", metavar="D")
    agent: str = required("oracle, a TOML file, a name under agents/, or kind:rest.", metavar="A")
    tasks: str | None = option(
        None, "Ids, a level, a mark of tasks, or the first n; default: all.", metavar="T"
    )
    no_policy: bool = option(False, "The agent works without its rule book.")
    max_turns: int = option(30, "User turns of an episode.", panel="Episodes", least=1, shown=True)


@dataclass(frozen=True, kw_only=True)
class SimulateRunOptions(EpisodeOptions):
    """Options of ``usi simulate run``."""

    output: Path = option(
        Path("runs"),
        "Folder of transcripts and logs.",
        metavar="DIR",
        flags=("--output", "-o"),
        shown=True,
    )
    runs: int = option(1, "Passes over the tasks.", panel="Design", least=1, shown=True)
    user_seeds: int | None = option(
        None, "Cross U user seeds ...", panel="Design", metavar="U", least=1
    )
    agent_seeds: int | None = option(
        None, "... with A agent seeds, for usi passk.", panel="Design", metavar="A", least=1
    )
    seed: int = option(1, "Smallest seed.", panel="Design", least=0, shown=True)
    name: str | None = option(None, "Label in place of the file's.", metavar="LABEL")
    survey: bool = option(False, "The user fills in a survey afterwards.")
    max_steps: int = option(
        20, "Tool rounds of one agent turn.", panel="Episodes", least=1, shown=True
    )
    concurrency: int = option(4, "Episodes at once.", panel="Calls and money", least=1, shown=True)
    retry_failed: bool = option(
        False, "Run episodes again that infrastructure ended.", panel="Calls and money"
    )
    dry_run: bool = option(
        False, "Print calls and a cost estimate; call nothing.", panel="Calls and money"
    )


@dataclass(frozen=True, kw_only=True)
class SimulateJudgeOptions(InstrumentOption):
    """Options of ``usi simulate judge``."""

    judge: str = required("A model: TOML file, name, or model:NAME.", metavar="M")
    output: Path = option(
        Path("judged"),
        "survey_data/ is made in it.",
        metavar="DIR",
        flags=("--output", "-o"),
        shown=True,
    )
    label: str | None = option(None, "Of the survey file; default: the judge's.", metavar="L")
    concurrency: int = option(4, "Talks at once.", least=1, shown=True)


@dataclass(frozen=True, kw_only=True)
class SimulateHumanOptions(EpisodeOptions):
    """Options of ``usi simulate human``."""

    output: Path = option(
        Path("human_corpus/own"),
        "Folder of the human corpus.",
        metavar="DIR",
        flags=("--output", "-o"),
        shown=True,
    )
    batch: int = option(1, "Round of people.", least=1, shown=True)
    participant: str | None = option(None, "Pseudonym; never a name.", metavar="P")
    consent: Path | None = option(None, "Consent text of your own.", metavar="FILE")
    seed: int = option(1, "Seed of the agent.", least=0, shown=True)


@dataclass(frozen=True, kw_only=True)
class StudyNewOptions:
    """Options of ``usi study new``."""

    agent: str = required("As of usi simulate; no oracle.", metavar="A")
    domain: str = option(
        "service_desk", "Name of a domain, or its folder.", metavar="D", shown=True
    )
    people: int = option(3, "People on each task: batches of the corpus.", least=1, shown=True)
    tasks_per_person: int = option(4, "Of one person.", least=1, shown=True)
    subset: int | None = option(
        None, "N tasks of the domain, in proportion to their difficulty.", metavar="N", least=1
    )


@dataclass(frozen=True, kw_only=True)
class SiteOptions:
    """Where a site is served."""

    host: str = option("127.0.0.1", "Address to listen on.", metavar="ADDRESS", shown=True)
    root_path: str = option(
        "", "Path under which a reverse proxy serves the site.", metavar="PATH", shown=True
    )
    trusted_proxy: str | None = option(
        None,
        "Whose X-Forwarded-For is believed, with commas, such as 127.0.0.1.",
        metavar="ADDRESSES",
    )
    trial: bool = option(
        False, "For testers and scripts: everything that comes of it is marked synthetic."
    )


@dataclass(frozen=True, kw_only=True)
class StudyServeOptions(SiteOptions):
    """Options of ``usi study serve``."""

    port: int = option(8000, "0 takes a free one.", least=0, most=65535, shown=True)


@dataclass(frozen=True, kw_only=True)
class BlindServeOptions(SiteOptions):
    """Options of ``usi blind serve``."""

    port: int = option(8001, "0 takes a free one.", least=0, most=65535, shown=True)


@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """Which links to a site are printed."""

    number: int = option(
        10, "How many links.", flags=("--number", "-n"), least=1, most=100_000, shown=True
    )
    first: int = option(1, "Number of the first; the same gives the same.", least=1, shown=True)


@dataclass(frozen=True, kw_only=True)
class BlindNewOptions:
    """Options of ``usi blind new``."""

    human: str = required("A corpus, or transcripts of people.", metavar="H")
    tasks: int = option(30, "Tasks of the check.", least=1, shown=True)
    sessions_per_rater: int = option(20, "Half of people.", least=2, shown=True)
    seed: int = option(7, "Of the choice.", least=0, shown=True)


@dataclass(frozen=True, kw_only=True)
class BlindJoinOptions(TrustOption):
    """Options of ``usi blind join``."""

    output: Path = required("The scorecard with it.", metavar="FILE", flags=("--output", "-o"))


@dataclass(frozen=True, kw_only=True)
class BlindForgetOptions:
    """Options of ``usi blind forget``."""

    rater: tuple[str, ...] = option(
        (), "Delete what this rater answered, as if they had withdrawn.", metavar="CODE"
    )
    identities: bool = option(False, "Delete what recruiting services told about raters.")
    everything: bool = option(False, "Delete all that raters answered.")
    yes: bool = option(False, "Do not ask.", flags=("--yes", "-y"))


@dataclass(frozen=True, kw_only=True)
class StudyExcludeOptions:
    """Options of ``usi study exclude``."""

    reason: str = required("Goes into the export.", metavar="TEXT")


@dataclass(frozen=True, kw_only=True)
class StudyExportOptions:
    """Options of ``usi study export``."""

    output: Path = required("Folder of the human corpus.", metavar="DIR", flags=("--output", "-o"))
    redact: bool = option(False, "Replace what looks like personal data.")


@dataclass(frozen=True, kw_only=True)
class StudyForgetOptions:
    """Options of ``usi study forget``."""

    participant: tuple[str, ...] = option(
        (), "Delete what this person said, as if they had withdrawn.", metavar="CODE"
    )
    identities: bool = option(False, "Delete what recruiting services told about people.")
    dropouts: bool = option(False, "Delete talks that were left in the middle.")
    everything: bool = option(False, "Delete all that people said and answered.")
    yes: bool = option(False, "Do not ask.", flags=("--yes", "-y"))


@dataclass(frozen=True, kw_only=True)
class DomainShowOptions:
    """Options of ``usi domain show``."""

    task: str | None = option(None, "One task whole.", metavar="TASK")
    policy: bool = option(False, "Print the rule book only.")


@dataclass(frozen=True, kw_only=True)
class DomainCheckOptions:
    """Options of ``usi domain check``."""

    runs: tuple[str, ...] = option(
        (),
        "Recorded runs (files or folders); lists tasks that always or never succeed.",
        metavar="FILE",
    )


@dataclass(frozen=True, kw_only=True)
class DomainResultsOptions:
    """Options of ``usi domain results``."""

    k: str = option(
        "1,2,4", "Values of k, separated by commas.", metavar="K,K,...", flags=("-k",), shown=True
    )
    regrade: str | None = option(
        None,
        "Grade recorded conversations anew by this domain (their tool calls run again).",
        metavar="DOMAIN",
    )


@dataclass(frozen=True, kw_only=True)
class CorpusAddOptions:
    """Options of ``usi corpus add``."""

    name: str = required("Name of the corpus.", metavar="NAME")
    surveys: str | None = option(None, "Folder of surveys.", metavar="DIR")
    survey_design: Literal["same-transcript", "same-task"] | None = option(
        None,
        "What the respondents of the survey files saw: the people's own transcripts, or other "
        "talks about the same tasks (assumed where nothing is said).",
    )
    title: str | None = option(
        None, "One line on what it is.", panel="What usi can't know", metavar="TEXT"
    )
    licence: str | None = option(
        None, "SPDX name, or words.", panel="What usi can't know", metavar="TEXT"
    )
    terms: str | None = option(
        None, "What users agree to.", panel="What usi can't know", metavar="TEXT"
    )
    source: str | None = option(
        None, "Where it is from.", panel="What usi can't know", metavar="TEXT"
    )
    language: str | None = option(
        None, "Code such as en or de.", panel="What usi can't know", metavar="TEXT"
    )
    channel: str | None = option(
        None, "chat, phone, e-mail, ticket, ...", panel="What usi can't know", metavar="TEXT"
    )
    protocol: str | None = option(
        None, "Who was asked to do what.", panel="What usi can't know", metavar="TEXT"
    )
    agent: str | None = option(
        None, "Fingerprint of the agent.", panel="What usi can't know", metavar="TEXT"
    )
    task_set: str | None = option(
        None, "Which tasks people did.", panel="What usi can't know", metavar="TEXT"
    )
    collected: str | None = option(None, "When.", panel="What usi can't know", metavar="TEXT")
    batch_by: str | None = option(
        None,
        "What makes a batch of people: date, participant, or a field of the sessions.",
        panel="What usi can't know",
        metavar="FIELD",
        more="Default: what the sessions say (batch, or trial).",
    )
    batches: int | None = option(
        None,
        "Batches by date or participant (default 3).",
        panel="What usi can't know",
        metavar="N",
        least=2,
    )
    expires: str | None = option(
        None, "Day such as 2027-01-31.", panel="What usi can't know", metavar="TEXT"
    )
    redistribute: bool | None = option(
        None,
        "Whether its texts may be passed on.",
        panel="What usi can't know",
        off="--no-redistribute",
        more="Default: where its licence is known to allow it.",
    )
    research_only: bool | None = option(
        None, "Whether it is for research alone.", panel="What usi can't know", off="--any-use"
    )
    freeze: bool = option(False, "Fix the set of scored features now.")
    yes: bool = option(
        False, "Ask nothing; what no option says stays unknown.", flags=("--yes", "-y")
    )


@dataclass(frozen=True, kw_only=True)
class CorpusFetchOptions:
    """Options of ``usi corpus fetch``."""

    list_: bool = option(False, "List what can be fetched.")
    from_: Path | None = option(None, "Files already at hand.", metavar="PATH")
    name: str | None = option(None, "Name of the corpus.", metavar="NAME")
    accept_terms: bool = option(False, "The terms were read and are accepted.")


@dataclass(frozen=True, kw_only=True)
class CorpusSplitOptions:
    """Options of ``usi corpus split``."""

    by: str = option("task", "task, batch, participant or time.", metavar="UNIT", shown=True)
    held_out: float = option(0.0, "Share that only decisions read.", metavar="SHARE", shown=True)
    seed: int = option(7, "Seed of the draw.", least=0, shown=True)


@dataclass(frozen=True, kw_only=True)
class CorpusAggregateOptions:
    """Options of ``usi corpus aggregate``."""

    output: Path = required("Such as aggregate.parquet.", metavar="FILE", flags=("--output", "-o"))
    min_cell: int = option(5, "Fewest people a task may have.", least=2, shown=True)
    drop_small: bool = option(False, "Leave tasks with fewer people out.")
    one_batch: bool = option(False, "Forget which batch a session is of.")


@dataclass(frozen=True, kw_only=True)
class CorpusRedactOptions:
    """Options of ``usi corpus redact``."""

    output: Path = required("usi JSONL to write.", metavar="FILE", flags=("--output", "-o"))
    names: Path | None = option(None, "Names to replace, one a line.", metavar="FILE")
    entities: str | None = option(
        None,
        "Entities of an installed spaCy model, such as en_core_web_sm (extra nlp).",
        metavar="MODEL",
    )


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """Options of ``usi convert``."""

    output: Path | None = option(
        None, "Where; stdout without it.", metavar="FILE", flags=("--output", "-o")
    )
    to: str | None = option(
        None,
        "usi-jsonl (default), openai-chat, sharegpt or csv; by the suffix where it tells.",
        metavar="FORMAT",
    )


@dataclass(frozen=True, kw_only=True)
class LogFileOptions:
    """How a log is read: ``usi logs validate`` and ``usi logs features``."""

    config: str | None = option(
        None,
        f"A preset ({', '.join(LOG_PRESETS)}) or a configuration file.",
        metavar="PRESET|FILE.toml",
        flags=("--config", "-c"),
    )
    timezone: str | None = option(
        None,
        "Zone of times that carry none, and of the calendar, such as Europe/Paris.",
        metavar="ZONE",
    )
    case: str | None = option(
        None, "Column of the case id.", metavar="COLUMN", more=_INSTEAD, key=False
    )
    activity: str | None = option(
        None, "Column of the activity.", metavar="COLUMN", more=_INSTEAD, key=False
    )
    time: str | None = option(
        None, "Column of the time.", metavar="COLUMN", more=_INSTEAD, key=False
    )
    no_classes: bool = option(
        False, "Go on without a class map: waiting, reopening, outcome stay undefined."
    )


@dataclass(frozen=True, kw_only=True)
class LogsSuggestOptions:
    """Options of ``usi logs suggest``."""

    object_type: str | None = option(
        None,
        "OCEL: the objects that are cases.",
        metavar="TYPE",
        more="Without it the draft lists the types, and takes the only one where there is one.",
    )
    case: str | None = option(None, "Column of the case id.", metavar="COLUMN")
    activity: str | None = option(None, "Column of the activity.", metavar="COLUMN")
    time: str | None = option(None, "Column of the time.", metavar="COLUMN")


@dataclass(frozen=True, kw_only=True)
class LogsFeaturesOptions(LogFileOptions):
    """Options of ``usi logs features``."""

    side: Literal["human", "simulated"] = required("Real log (human) or simulated.")
    horizon: float | None = option(
        None,
        "Look at so many hours of every case, and leave out cases seen for less.",
        metavar="HOURS",
    )
    name: str | None = option(None, "Name of the log.", metavar="LABEL")


@dataclass(frozen=True, kw_only=True)
class LogsJointOptions(TrustOption):
    """Options of ``usi logs joint``."""

    simulator: str | None = option(None, "Which, where there are several.", metavar="NAME")
    log_simulator: str | None = option(
        None, "Its name in the log's card, where it has another there.", metavar="NAME"
    )
    case: str = option(
        "session_id",
        "Column of the conversations that holds the case id.",
        metavar="COLUMN",
        shown=True,
    )
