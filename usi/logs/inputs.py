"""From logs (or session tables of logs) to the two sides of a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from usi.corpora.resolve import Corpus, resolve
from usi.errors import UsageError
from usi.extraction.table import SessionTable
from usi.loading.labels import simulator_label
from usi.logs import LogConfig, LogFormat, LogNotes, load_config, preset_names
from usi.logs.config import with_columns
from usi.logs.distances import Traces, TraceSample
from usi.logs.extract import run_log
from usi.logs.feature_options import options_of
from usi.options import LogOptions, ScoreOptions
from usi.reasons import (
    CASE_TOO_YOUNG,
    REMARK,
)
from usi.records import Side
from usi.scoring.inputs import (
    ReadFile,
    SideInput,
    in_order,
    is_table,
    read_table,
    split_by_simulator,
    table_file,
    with_keys,
)
from usi.scoring.scorecard import InputFile

SCOPE = "log-observable"
"""What a card of this profile speaks of: wording and feelings leave no trace in a log."""
TIER_LIMIT = "B"
"""The highest tier that logs alone can certify."""
PROFILE = "log"
Paths = Sequence[str | Path] | str | Path
Tables = SessionTable | Mapping[str, SessionTable]
NO_CONFIG = (
    "a log needs a configuration: --preset {presets}, or --log-config FILE.toml (usi logs suggest "
    "FILES -o my.toml writes a draft of one); --no-classes goes on without"
)


@dataclass
class LogSides:
    """Everything that was read.

    Attributes
    ----------
    reference
        Where the real log stands.
    people, candidates
        Both sides, with keys.
    traces
        Label (people: ``""``) -> a sample of its events; empty for session tables.
    """

    reference: Corpus
    people: SideInput
    candidates: SideInput
    traces: dict[str, Traces] = field(default_factory=dict)


def config_of(own: LogOptions) -> LogConfig:
    """Configuration by choice.

    Raises
    ------
    UsageError
        Where none is named, and classes are wanted.
    """
    if own.config is None:
        if not own.no_classes:
            raise UsageError(NO_CONFIG.format(presets=", ".join(preset_names())))
        chosen = LogConfig("none", "1", LogFormat())
    else:
        chosen = load_config(own.config)
    return with_columns(
        chosen, case=own.case, activity=own.activity, time=own.time, timezone=own.timezone
    )


def read_sides(
    simulators: Paths | Tables, human: str | Path | SessionTable, options: ScoreOptions
) -> LogSides:
    """Read the real log and the simulated ones, all with the same choices.

    Raises
    ------
    InputError, UsageError
        See `usi.logs.extract.run_log`; or where two sides were made with different
        choices, or give the same name.
    """
    people, candidates = SideInput(source="human"), SideInput()
    traces: dict[str, Traces] = {}
    if isinstance(human, SessionTable):
        reference = Corpus("reference", ())
        people.tables[""] = _checked(human)
    else:
        reference = resolve(human, held_out=options.held_out)
        parts = _read(list(reference.paths), "human", "", options, people, traces)
        people.tables[""] = parts[0] if len(parts) == 1 else SessionTable.concat(parts)
    people.tables[""] = with_keys(people.tables[""], side="human", run_ids="none")
    if isinstance(simulators, SessionTable):
        simulators = split_by_simulator(simulators, options.name or "simulator")
    if isinstance(simulators, Mapping):
        for label, table in simulators.items():
            _add(candidates, label, _checked(table))
    else:
        paths = in_order([simulators] if isinstance(simulators, str | Path) else simulators)
        if not paths:
            raise UsageError("there is no simulator to score: give its log")
        groups = [paths] if options.name else [[path] for path in paths]
        for group in groups:
            _candidate(group, options, candidates, traces)
    people.synthetic = people.synthetic or people.tables[""].synthetic or reference.synthetic
    candidates.synthetic = any(table.synthetic for table in candidates.tables.values())
    _same_settings(people, candidates)
    return LogSides(reference, people, candidates, traces)


def _candidate(
    paths: list[str | Path], options: ScoreOptions, side: SideInput, traces: dict[str, Traces]
) -> None:
    own: dict[str, Traces] = {}
    for table in _read(paths, "simulated", options.name or "", options, side, own):
        for label, part in split_by_simulator(table, options.name or "simulator").items():
            _add(side, label, part)
            if "" in own:
                traces[label] = own[""]


def _add(side: SideInput, label: str, table: SessionTable) -> None:
    if label in side.tables:
        raise UsageError(
            f"two inputs give the simulator name {label!r}; score them one by one with --name"
        )
    side.tables[label] = with_keys(table, side="simulated", run_ids="none")


def _checked(table: SessionTable) -> SessionTable:
    if table.profile.partition("@")[0] != PROFILE:
        raise UsageError(
            f"a session table of the profile {table.profile!r} is no log: a log is never compared "
            "with conversations"
        )
    return table


def _read(
    paths: Sequence[str | Path],
    side: Side,
    name: str,
    options: ScoreOptions,
    into: SideInput,
    traces: dict[str, Traces],
) -> list[SessionTable]:
    """Tables of one side; the events of logs are one log, each session table by itself."""
    tables = [path for path in paths if is_table(path)]
    logs = in_order([path for path in paths if not is_table(path)])
    found = []
    for path in tables:
        table = read_table(path, PROFILE)
        stem = Path(path).name.removesuffix(".parquet").removesuffix(".sessions")
        if side == "simulated":
            label = name or simulator_label(stem)
            blank = pl.col("simulator").fill_null("") == ""
            column = pl.when(blank | bool(name)).then(pl.lit(label)).otherwise("simulator")
            table = replace(table, frame=table.frame.with_columns(column.alias("simulator")))
        into.files.append(table_file(_role(side), path, table))
        found.append(table)
    if logs:
        config = config_of(options)
        changes = {} if options.horizon is None else {"horizon": options.horizon}
        sample = TraceSample(zone=config.layout.timezone)
        run = run_log(
            logs,
            config,
            side=side,
            name=name or None,
            options=options_of(config, **changes),
            without_classes=options.no_classes,
            watch=sample.see,
            digest=True,
        )
        frame = pl.concat(list(run.blocks()))
        found.append(SessionTable(frame, PROFILE, "none", run.notes.synthetic, run.settings))
        _note(into, run.notes, side, "" if side == "human" else run.label)
        traces[""] = sample.traces()
    return found


def _note(side: SideInput, notes: LogNotes, role: Side, label: str) -> None:
    if notes.too_young:
        side.left_out.setdefault(label, Counter())[CASE_TOO_YOUNG()] += notes.too_young
    facts = {
        "events that repeat another one (kept)": notes.duplicates,
        "events with the time of the one before (file order kept)": notes.ties,
        "events after the horizon": notes.cut_events,
        "rows that are other moments of an event (start, schedule, ...), which counts once": (
            notes.other_moments
        ),
        "events of several cases, repeated": notes.flattened_duplicates,
        "events of no case, dropped": notes.flattened_drops,
    }
    who = "the real log" if role == "human" else label
    told = [f"{who}: {count:,} {what}" for what, count in facts.items() if count]
    told += [f"{who}: {text}" for text in notes.remarks]
    side.remarks += [REMARK(text=text) for text in told]
    if notes.out_of_order:  # says something of the file's rows, nothing of the log
        text = f"{who}: {notes.out_of_order:,} events out of order (sorted by time)"
        side.asides.append(text)
    for file in notes.files:
        card = InputFile(
            role=_role(role),
            name=Path(file.name).name,
            content_digest=file.content_digest or "",
            layout=file.layout,
            sessions=file.sessions,
        )
        side.files.append(ReadFile(card, file.sha256 or "", file.bytes))


def _role(side: Side) -> str:
    return "human" if side == "human" else "simulator"


def _same_settings(people: SideInput, candidates: SideInput) -> None:
    """Both sides are counted and censored alike, or not at all."""
    ours = people.tables[""].settings
    for label, table in candidates.tables.items():
        if table.settings != ours:
            pairs = zip(ours.split("|"), table.settings.split("|"), strict=False)
            odd = [f"{a} against {b}" for a, b in pairs if a != b] or [f"{ours} / {table.settings}"]
            raise UsageError(
                f"{label} was made with other choices than the real log ({'; '.join(odd)}): use "
                "one configuration and one horizon for both"
            )
