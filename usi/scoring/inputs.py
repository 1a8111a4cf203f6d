"""From paths to session tables with keys: what the road needs before a profile can score.

Transcripts are streamed through feature extraction; a session table on disk
(``NAME.sessions.parquet``) is taken as it is. Whatever was read is named with a digest of its
content.

The files that numbers rest on: their content for the card, their bytes for the run record.

A card says what was scored, so it names every input by a digest of its content, which the order
of rows does not change. Whether a file is the very file of then is told by the SHA-256 of its
bytes, which stands in the run record.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Literal

import polars as pl

from usi.corpora.licences import texts_shown
from usi.corpora.resolve import Corpus, terms_near
from usi.errors import InputError, UsageError, UsiError
from usi.extraction.extract import TableOptions, extract_tables
from usi.extraction.language import known_code
from usi.extraction.profile import get_feature_profile
from usi.extraction.spec import IDENTITY_SCHEMA
from usi.extraction.table import SessionTable
from usi.loading import LoadOptions, SessionStream, group_by_simulator, open_sessions
from usi.loading.labels import simulator_label
from usi.loading.notes import Loss
from usi.options import HumanSource, RunIds
from usi.provenance.content import ContentDigest, combined_content, frame_records, value_digest
from usi.provenance.record import combined_sha256, sha256_file
from usi.reasons import (
    REMARK,
    SET_ASIDE,
    Reason,
)
from usi.records import Session, Side
from usi.scoring.batch_rule import STARTED, batch_columns, with_batches
from usi.scoring.episodes import EpisodeTally
from usi.scoring.keys import assign_keys
from usi.scoring.robust.floors import ECHO, echo_sessions
from usi.scoring.scorecard import InputFile
from usi.scoring.session_notes import NotedSessions
from usi.scoring.texts import SaidByPeople, TextStore

_SURVEY_PREFIX = "survey_comparable_"


@dataclass(frozen=True)
class ReadFile:
    """A file that was read.

    Attributes
    ----------
    card
        What a card says of it.
    sha256, bytes
        Of its stored bytes; for the run record.
    """

    card: InputFile
    sha256: str
    bytes: int

    @property
    def order(self) -> tuple[str, str, str]:
        """Place among other files: by role, name, content."""
        return self.card.role, self.card.name, self.card.content_digest


def read_file(
    role: str,
    path: str | Path,
    *,
    layout: str,
    content: str,
    sessions: int = 0,
) -> ReadFile:
    """A file on disk whose content was digested already."""
    card = InputFile(
        role=role, name=Path(path).name, content_digest=content, layout=layout, sessions=sessions
    )
    return ReadFile(card, sha256_file(path), Path(path).stat().st_size)


def table_file(role: str, path: str | Path, table: SessionTable) -> ReadFile:
    """A session table on disk."""
    return read_file(
        role,
        path,
        layout="session-table",
        content=table_digest(table),
        sessions=table.frame.height,
    )


def survey_files(
    directory: str | Path, labels: Iterable[str], *, ordered: Sequence[str] = ()
) -> list[ReadFile]:
    """The survey files of some labels; of those `ordered` the order of entries is content."""
    wanted = tuple(f"{_SURVEY_PREFIX}{label}.json" for label in labels)
    strict = tuple(f"{_SURVEY_PREFIX}{label}.json" for label in ordered)
    return [
        read_file(
            "survey",
            path,
            layout="surveys",
            content=json_digest(path, ordered=path.name.startswith(strict)),
        )
        for path in sorted(Path(directory).iterdir())
        if path.name.startswith(wanted)
    ]


def difficulty_file(path: str | Path) -> ReadFile:
    """The difficulty file."""
    return read_file("difficulty", path, layout="difficulty", content=json_digest(path))


def in_order(paths: Sequence[str | Path]) -> list[str | Path]:
    """Paths by the names of their files: the order in which they were given says nothing."""
    return sorted(paths, key=lambda path: (Path(path).name, str(path)))


def json_digest(path: str | Path, *, ordered: bool = False) -> str:
    """SHA-256 of what a JSON file holds: keys of objects count in any order, white space not.

    With `ordered` the order of keys counts, too.

    A file that is not JSON (or compressed) is taken by its bytes.
    """
    try:
        return value_digest(json.loads(Path(path).read_bytes()), ordered=ordered)
    except OSError as error:
        raise InputError(f"can't read the file ({error.strerror})", file=str(path)) from error
    except (ValueError, RecursionError):
        return sha256_file(path)


def table_digest(table: SessionTable) -> str:
    """Digest of a session table, whatever the order of its rows.

    Only what its file gave counts: keys that were resolved later, the language that was told from
    the texts, and the place in the file, do not.
    """
    later = {"seq", "task", "run", "batch", "language", "word_lists"}
    names = [name for name in IDENTITY_SCHEMA if name not in later]
    names += sorted(name for name in table.frame.columns if name not in IDENTITY_SCHEMA)
    found = ContentDigest()
    for line in frame_records(table.frame.select(names)):
        found.add(line)
    return found.hexdigest()


TABLE_SUFFIX = ".parquet"
SIMULATED_LAYOUTS = ("tau-bench", "tau2", "odyssim")
"""Layouts that hold nothing but simulator output."""

DUPLICATES = "session: duplicate"
"""How loaders name sessions that they left out as copies of others: said on standard error."""
_RESULTS_PREFIX = "eval_results_"
PUBLISHED = "tau-usi"
"""Profile of the published index, which a report shows beside another one."""


@dataclass(frozen=True, kw_only=True)
class ExtraReading:
    """What one reading of the files gives beside the session tables of the profile.

    Attributes
    ----------
    published
        Session tables of the published profile, too.
    texts
        Texts of the sessions, in a temporary file: of each side where they may be shown.
    examples
        What was asked for (`texts_shown`): ``None`` shows what may be passed on.
    """

    published: bool = False
    texts: bool = False
    examples: bool | None = None


NOTHING_ELSE = ExtraReading()
_STRICTEST: tuple[bool | None, ...] = (False, None, True)


@dataclass
class SideInput:
    """One side as it was read.

    Attributes
    ----------
    tables
        Label -> session table with keys (people: the one label ``""``).
    file_labels
        Label -> the label that the file name gives, where ``--name`` says another.
    files, left_out, losses, remarks
        What was read, what loading set aside by label, its lossiness note by label, and what it
        has to say.
    asides
        Remarks on the files as they lie (the order of their rows): for the run record alone.
    synthetic
        Whether a session or a table says that it is a phantom's.
    source
        Cleaning that was used.
    anchors
        Session tables of degenerate users made from these sessions, by name.
    identities
        Label of a recorded candidate -> what it is.
    episodes
        Label -> what its runs recorded beside the reward.
    published
        Tables of the published profile by label, where they were asked for.
    not_published
        Why there are none of some input; ``None`` where nothing lacks.
    texts
        Label -> texts of the sessions, by the ``seq`` of its table.
    said
        Fingerprints of people's messages, where these must not be shown.
    redistribute
        Label -> whether its texts may be passed on, where something is said of it.
    """

    tables: dict[str, SessionTable] = field(default_factory=dict)
    file_labels: dict[str, str] = field(default_factory=dict)
    files: list[ReadFile] = field(default_factory=list)
    left_out: dict[str, Counter[Reason]] = field(default_factory=dict)
    losses: dict[str, list[Loss]] = field(default_factory=dict)
    remarks: list[Reason] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)
    synthetic: bool = False
    source: Side = "simulated"
    anchors: dict[str, SessionTable] = field(default_factory=dict)
    identities: dict[str, Mapping[str, str]] = field(default_factory=dict)
    episodes: dict[str, EpisodeTally] = field(default_factory=dict)
    published: dict[str, SessionTable] = field(default_factory=dict)
    not_published: UsiError | None = None
    texts: dict[str, TextStore] = field(default_factory=dict)
    said: SaidByPeople | None = None
    redistribute: dict[str, bool | None] = field(default_factory=dict)

    def add(self, other: SideInput) -> None:
        """Take what was read of other simulators in, too."""
        self.tables |= other.tables
        self.file_labels |= other.file_labels
        self.files += other.files
        self.left_out |= other.left_out
        self.losses |= other.losses
        self.episodes |= other.episodes
        self.remarks += [remark for remark in other.remarks if remark not in self.remarks]
        self.asides += other.asides
        self.synthetic = self.synthetic or other.synthetic
        self.published |= other.published
        self.not_published = self.not_published or other.not_published
        self.texts |= other.texts
        self.redistribute |= other.redistribute


def _kept_texts(reference: Corpus, extra: ExtraReading) -> TextStore | SaidByPeople | None:
    if not extra.texts:
        return None
    return TextStore() if texts_shown(reference.redistribute, extra.examples) else SaidByPeople()


def is_table(path: str | Path) -> bool:
    """Whether a path is that of a session table; other Parquet files are transcripts."""
    return Path(path).suffix == TABLE_SUFFIX and not _holds_messages(path)


def _holds_messages(path: str | Path) -> bool:
    """Whether a Parquet file is a table of messages: readable, and without a mark of usi."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pairs = pq.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError, ValueError):
        return False
    return not any(key.startswith(b"usi_") for key in pairs)


def with_keys(table: SessionTable, *, side: Side, run_ids: RunIds) -> SessionTable:
    """The table as `side`, its tasks, runs and batches assigned."""
    columns: list[pl.Expr] = [pl.lit(side).alias("side")]
    if side == "human":
        columns.append(pl.lit("").alias("simulator"))
    frame = assign_keys(table.frame.with_columns(columns), side=side, run_ids=run_ids)
    return replace(table, frame=frame)


def split_by_simulator(table: SessionTable, fallback: str) -> dict[str, SessionTable]:
    """One table a simulator, in order of appearance; rows without a label get `fallback`."""
    label = pl.when(pl.col("simulator").fill_null("") == "")
    frame = table.frame.with_columns(
        label.then(pl.lit(fallback)).otherwise(pl.col("simulator")).alias("simulator")
    )
    parts = frame.partition_by("simulator", maintain_order=True)
    return {part["simulator"][0]: replace(table, frame=part) for part in parts}


def read_simulators(
    paths: Sequence[str | Path],
    *,
    profile: str,
    options: LoadOptions,
    run_ids: RunIds,
    columns: Sequence[str] = (),
    language: str | None = None,
    extra: ExtraReading = NOTHING_ELSE,
    streams: Sequence[SessionStream] = (),
    redistribute: bool | None = True,
) -> SideInput:
    """Read every simulator: one a file, unless rows or ``options.name`` say otherwise.

    `streams` are simulators whose sessions do not lie in files. Fields of the sessions named in
    `columns` stay in the tables. Every file is read once, whatever `extra` asks for. `redistribute`
    says whether these simulators' texts may be passed on.

    Raises
    ------
    UsageError
        Two inputs give the same label.
    """
    side = SideInput()
    transcripts = [path for path in paths if not is_table(path)]
    files = group_by_simulator(transcripts, options) if transcripts else []
    for stream in (*files, *streams):
        terms = [redistribute, *map(terms_near, stream.paths)]
        allowed = min(terms, key=_STRICTEST.index)
        shown = texts_shown(allowed, extra.examples)
        watched = NotedSessions(
            stream.with_digests(),
            columns,
            glance=_english_only(profile),
            default=known_code(language),
            texts=TextStore() if extra.texts and shown else None,
        )
        wanted = [
            TableOptions(profile=name, side="simulated", language=language)
            for name in (profile, *([PUBLISHED] if extra.published else []))
        ]
        table, *published = map(watched.noted, extract_tables(watched, wanted))
        parts = split_by_simulator(table, stream.label)
        if allowed is not True:
            side.redistribute |= dict.fromkeys(parts, allowed)
        for other in published:
            for label, part in split_by_simulator(other, stream.label).items():
                side.published[label] = with_keys(part, side="simulated", run_ids=run_ids)
        if isinstance(watched.texts, TextStore):
            side.texts |= dict.fromkeys(parts, watched.texts)
        _note(side, stream, stream.label, "simulator")
        _say(side, watched.remark(stream.label, profile))
        for label, tally in watched.episodes.items():
            _say(side, tally.remark(label or stream.label))
        for label in parts.keys() - {stream.label}:  # what a file lost is told of all in it
            side.losses[label] = [*side.losses.get(label, ()), *stream.notes.losses]
        side.episodes |= {label or stream.label: t for label, t in watched.episodes.items()}
        _add(side, parts, run_ids)
        if options.name and stream.notes.files:
            own = simulator_label(_base(stream.notes.files[0].name))
            side.file_labels[options.name] = own
    for path in paths:
        if not is_table(path):
            continue
        table = read_table(path, profile)
        _not_published(side, path, extra)
        own = simulator_label(Path(path).name.removesuffix(TABLE_SUFFIX).removesuffix(".sessions"))
        if options.name:
            frame = table.frame.with_columns(simulator=pl.lit(options.name))
            table = replace(table, frame=frame)
            side.file_labels[options.name] = own
        side.files.append(table_file("simulator", path, table))
        _add(side, split_by_simulator(table, own), run_ids)
    side.synthetic = any(table.synthetic for table in side.tables.values())
    return side


def _add(side: SideInput, tables: Mapping[str, SessionTable], run_ids: RunIds) -> None:
    for label, table in tables.items():
        if label in side.tables:
            raise UsageError(
                f"two inputs give the simulator name {label!r}; score them one by one with "
                "--name, or together with one --name where they are runs of one simulator"
            )
        side.tables[label] = with_keys(table, side="simulated", run_ids=run_ids)


def read_reference(
    reference: Corpus,
    *,
    profile: str,
    options: LoadOptions,
    run_ids: RunIds,
    source: HumanSource = "auto",
    columns: Sequence[str] = (),
    echo: bool = False,
    language: str | None = None,
    extra: ExtraReading = NOTHING_ELSE,
    stream: SessionStream | None = None,
) -> SideInput:
    """Read the human reference; its cleaning follows `source`, or what the files are.

    A `stream` takes the place of the reference's paths.

    Fields of the sessions named in `columns` stay in the table. With `echo` a user who echoes the
    agent of these sessions is made beside them. Every file is read once, whatever `extra` asks
    for; texts are kept only where the corpus may be passed on, or where they were asked for.
    """
    side = SideInput(synthetic=reference.synthetic)
    tables: list[SessionTable] = []
    chosen: Side | None = None if source == "auto" else source
    echoes: SessionTable | None = None
    transcripts = [path for path in reference.paths if not is_table(path)]
    if transcripts and stream is None:
        stream = open_sessions(transcripts, options=options)
    if stream is not None:
        sessions = stream.with_digests()
        first = next(sessions, None)
        if chosen is None:
            chosen = _kind_of(
                None if first is None else first[0],
                [_base(file.name) for file in stream.notes.files],
            )
        head = () if first is None else (first,)
        spoken = reference.language or language
        watched = NotedSessions(
            chain(head, sessions),
            (*columns, *batch_columns(reference.batch_by)),
            glance=_english_only(profile),
            default=known_code(spoken),
            texts=_kept_texts(reference, extra),
        )
        people = TableOptions(profile=profile, side="human", source=chosen, language=spoken)
        wanted = [people]
        if echo:
            wanted.append(
                TableOptions(profile=profile, side="simulated", change=echo_sessions, words=False)
            )
        if extra.published:
            wanted.append(replace(people, profile=PUBLISHED))
        table, *others = extract_tables(watched, wanted)
        tables.append(watched.noted(table))
        echoes = others.pop(0) if echo else None
        for other in others:
            side.published[""] = _with_people_keys(watched.noted(other), reference, run_ids)
        if isinstance(watched.texts, TextStore):
            side.texts[""] = watched.texts
        else:
            side.said = watched.texts
        _note(side, stream, "", "human")
        _say(side, watched.remark("people", profile))
    for path in reference.paths:
        if is_table(path):
            table = read_table(path, profile)
            _not_published(side, path, extra)
            simulated = bool((table.frame["side"] == "simulated").any())
            chosen = chosen or ("simulated" if simulated else "human")
            tables.append(table)
            side.files.append(table_file("human", path, table))
    joined = tables[0] if len(tables) == 1 else SessionTable.concat(tables)
    side.tables[""] = _with_people_keys(joined, reference, run_ids)
    if echoes is not None and len(tables) == 1:
        side.anchors[ECHO] = _beside(echoes, side.tables[""])
    side.synthetic = side.synthetic or joined.synthetic
    side.source = chosen or "human"
    return side


def _with_people_keys(table: SessionTable, reference: Corpus, run_ids: RunIds) -> SessionTable:
    """The table of people with its keys; batches by the rule of the manifest, where it has one."""
    keyed = with_keys(table, side="human", run_ids=run_ids)
    if reference.batch_by is None:
        return keyed
    frame = with_batches(
        keyed.frame, reference.batch_by, reference.batches, file=reference.manifest
    )
    return replace(keyed, frame=frame.drop(STARTED, strict=False))


def _beside(echoes: SessionTable, people: SessionTable) -> SessionTable:
    """Give the rows of an anchor the keys of the people's rows that they stand beside."""
    keys = people.frame.select(
        "session_id", "domain", "task", "participant", run=pl.col("batch").cast(pl.String)
    )
    own = echoes.frame
    frame = own.drop(keys.columns).hstack(keys).select(own.columns)
    return replace(echoes, frame=frame)


def _kind_of(first: Session | None, names: Sequence[str]) -> Literal["human", "simulated"]:
    """Whether a reference is simulator output, by its layout or the name of its file."""
    results = any(name.startswith(_RESULTS_PREFIX) for name in names)
    layout = first is not None and first.layout in SIMULATED_LAYOUTS
    return "simulated" if results or layout else "human"


def read_table(path: str | Path, profile: str) -> SessionTable:
    """Read a session table of the wanted profile.

    Raises
    ------
    InputError
        Where the file is no session table.
    UsageError
        Where it is one of another profile.
    """
    table = SessionTable.read(path)
    if table.profile != get_feature_profile(profile).name:
        raise UsageError(
            f"{path} is a session table of the profile {table.profile!r}, and {profile!r} is "
            f"wanted: make it again from the transcripts, or score with --profile {table.profile}"
        )
    return table


def _not_published(side: SideInput, path: str | Path, extra: ExtraReading) -> None:
    """Note that a session table of one profile can't give that of another."""
    if not extra.published:
        return
    try:
        read_table(path, PUBLISHED)
    except UsiError as error:
        side.not_published = side.not_published or error


def _note(side: SideInput, stream: SessionStream, label: str, role: str) -> None:
    notes = stream.notes
    aside = {SET_ASIDE(what=what): count for what, count in notes.left_out.items()}
    side.left_out.setdefault(label, Counter()).update(aside)
    side.losses.setdefault(label, []).extend(notes.losses)
    side.asides += [
        f"{label or 'people'}: {count:,} x {what}, left out"
        for what, count in sorted(notes.left_out.items())
        if what.startswith(DUPLICATES)
    ]
    told = [REMARK(text=text) for text in notes.remarks]
    side.remarks += [remark for remark in told if remark not in side.remarks]
    for file in notes.files:
        card = InputFile(
            role=role,
            name=_base(file.name),
            content_digest=file.content_digest or "",
            layout=file.layout,
            sessions=file.sessions,
        )
        side.files.append(ReadFile(card, file.sha256 or "", file.bytes))


def _english_only(profile: str) -> bool:
    """Whether a profile counts English words whatever the language of a session."""
    return get_feature_profile(profile).for_language is None


def _say(side: SideInput, remark: Reason | None) -> None:
    if remark is not None:
        side.remarks.append(remark)


def corpus_digest(reference: Corpus, people: SideInput) -> str:
    """Digest of the reference's content, however it is spread over files and rows."""
    digests = [file.card.content_digest for file in people.files]
    own = combined_content(digests or [table_digest(people.tables[""])])
    if reference.part is None:
        return own
    # Which sessions count is a part of the content.
    return combined_sha256([own, reference.part.sha256])


def _base(name: str) -> str:
    return name.replace("\\", "/").rsplit("/", 1)[-1]
