"""The road: files -> load -> records -> features -> session table -> score -> scorecard.

The command line and the Python interface (`usi.api`) walk it. Sessions are streamed, each file is
read once; what is held is the session table, a few integers a session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from usi.corpora.licences import texts_shown
from usi.diagnose.diagnosis import diagnose_studies
from usi.errors import UsageError, UsiError
from usi.extraction.extract import extract_table
from usi.extraction.table import SessionTable
from usi.loading import LoadNotes, LoadOptions, open_sessions
from usi.loading.context import Context
from usi.loading.source import Source
from usi.loading.stream import SessionStream, is_paths, open_data
from usi.options import RobustOptions, RunIds, ScoreOptions, declared, default_of
from usi.provenance.record import sha256_bytes
from usi.reasons import (
    AGGREGATE,
    DEFAULT_PROFILE,
)
from usi.records import Session, Side
from usi.scoring.agents import require_same_agent
from usi.scoring.assembly import (
    Paths,
    Streams,
    Tables,
    all_files,
    find_surveys,
    make_context,
    read_candidates,
    read_people,
    with_declared,
)
from usi.scoring.columns import own_columns
from usi.scoring.context import ScoreContext, Surveys
from usi.scoring.inputs import (
    NOTHING_ELSE,
    PUBLISHED,
    ExtraReading,
    ReadFile,
    SideInput,
    difficulty_file,
    split_by_simulator,
    with_keys,
)
from usi.scoring.parts import Diagnosis, Studies, to_parquet
from usi.scoring.people import read_people_of
from usi.scoring.profiles import FALLBACK_PROFILE, PREFERRED_PROFILE, Profile, get_profile
from usi.scoring.robust.aggregated import AggregateTable
from usi.scoring.robust.reference import chosen
from usi.scoring.session_notes import NotedSessions
from usi.scoring.texts import SaidByPeople, TextStore

if TYPE_CHECKING:
    import pandas as pd

    from usi.corpora.resolve import Corpus
    from usi.report.report_data import Beside
    from usi.scoring.scorecard import Scorecard


def _no_bytes() -> Any:
    raise OSError("loaded sessions have no bytes")


@dataclass(frozen=True, repr=False)
class Loaded:
    """Sessions in memory, and what loading has to say about them."""

    sessions: tuple[Session, ...]
    label: str
    notes: LoadNotes

    def __len__(self) -> int:
        """Return the number of sessions."""
        return len(self.sessions)

    def __repr__(self) -> str:
        """Say in one line what was loaded."""
        users = sum(turn.role == "user" for session in self.sessions for turn in session.turns)
        lost = sum(loss.count for loss in self.notes.losses)
        tail = f", {lost:,} losses in .notes" if lost else ""
        return f"<Loaded {self.label!r}: {len(self):,} sessions, {users:,} user messages{tail}>"

    def stream(self, options: LoadOptions) -> SessionStream:
        """The sessions once more, with what loading left out."""

        def read(context: Context) -> Iterator[Session]:
            context.notes.left_out.update(self.notes.left_out)
            context.notes.guessed.update(self.notes.guessed)
            context.notes.merged.update(self.notes.merged)
            yield from self.sessions

        source = Source(self.label, _no_bytes)
        found = SessionStream.of_reader(read, source, self.notes.layout or "usi-jsonl", options)
        found.label = options.name or self.label
        return found

    def to_dict(self) -> list[dict[str, Any]]:
        """One dictionary a session, of plain Python values."""
        rows: list[dict[str, Any]] = msgspec.to_builtins(self.sessions)
        return rows

    def to_pandas(self) -> pd.DataFrame:
        """One row a session, without its messages."""
        import pandas as pd

        columns = ("session_id", "simulator", "domain", "task_id", "trial", "batch", "status")
        return pd.DataFrame(
            {
                **{name: [getattr(s, name) for s in self.sessions] for name in columns},
                "messages": [len(s.turns) for s in self.sessions],
                "reward": [s.outcome.reward for s in self.sessions],
            }
        )


def stream_of(data: object, options: LoadOptions) -> SessionStream:
    """The sessions of whatever stands for transcripts, as a stream that is read once.

    Parameters
    ----------
    data
        Paths, what `load` gave, a frame of pandas or polars, a table of pyarrow, or anything that
        gives one dictionary a row.
    options
        How they are read.

    Raises
    ------
    InputError, UsageError
        See `usi.loading.stream.open_data`.
    """
    if isinstance(data, Loaded):
        return data.stream(options)
    return open_sessions(data, options=options) if is_paths(data) else open_data(data, options)


def load(data: object, options: LoadOptions | None = None) -> Loaded:
    """Read transcripts into memory; `usi.load` says more."""
    stream = stream_of(data, options or LoadOptions())
    return Loaded(tuple(stream), stream.label, stream.notes)


def features(
    data: object,
    *,
    side: Side,
    profile: str | None = None,
    cleaning: Side | None = None,
    run_ids: RunIds = "auto",
    language: str | None = None,
    options: LoadOptions | None = None,
) -> SessionTable:
    """Compute the session table of transcripts; `usi.features` says more."""
    own = get_profile(profile)
    stream = stream_of(data, options or LoadOptions())
    sessions, label = NotedSessions(stream), stream.label
    table = extract_table(sessions, profile=own.name, side=side, source=cleaning, language=language)
    table = replace(table, synthetic=sessions.synthetic)
    if side == "human":
        return with_keys(table, side=side, run_ids=run_ids)
    parts = [
        with_keys(part, side=side, run_ids=run_ids).frame
        for part in split_by_simulator(table, label).values()
    ]
    if not parts:
        return table
    import polars as pl

    return replace(table, frame=pl.concat(parts).sort("seq"))


def corpus_features(
    corpus: Corpus,
    *,
    profile: str | None = None,
    language: str | None = None,
    **reading: Any,
) -> SessionTable:
    """Session table of a human corpus: read by its manifest, of the part that may be read.

    Parameters
    ----------
    corpus
        What `usi.corpora.resolve.resolve` found.
    profile, language
        As for `features`.
    reading
        Fields of `usi.loading.LoadOptions`, where the manifest says nothing.
    """
    side = read_people_of(
        corpus if corpus.language else replace(corpus, language=language),
        profile=get_profile(profile).name,
        options=LoadOptions(**reading),
    )
    table = side.tables[""]
    return replace(table, frame=own_columns(table.frame, table.profile))


@dataclass(frozen=True)
class ScoreResult:
    """A scorecard with what it was made from.

    Attributes
    ----------
    card
        The scorecard; its ``tasks_sha256`` is that of `sums`.
    sums
        Per-task sums as Parquet bytes: the file beside the card.
    profile, studies
        The profile, and what it computed.
    human, simulators
        Session tables with keys, simulators by label.
    options
        The choices, with what the corpus declares.
    files, asides
        The files as they lie, and remarks on them.
    published
        Scorecard of the published index, or why there is none.
    texts
        Label (people: ``""``) -> texts of the sessions, where they were kept.
    said
        Fingerprints of people's messages, where these must not be shown.
    """

    card: Scorecard
    sums: bytes
    profile: Profile
    studies: Studies
    human: SessionTable
    simulators: Mapping[str, SessionTable]
    options: ScoreOptions
    files: tuple[ReadFile, ...] = ()
    asides: tuple[str, ...] = ()
    published: Scorecard | str = "it was not asked for"
    texts: Mapping[str, TextStore] = field(default_factory=dict)
    said: SaidByPeople | None = None

    def counted(self) -> tuple[SessionTable, dict[str, SessionTable]]:
        """The session tables with only those sessions that were chosen to be compared."""
        if not self.profile.has_bounds:
            return self.human, dict(self.simulators)
        people = replace(self.human, frame=chosen(self.human.frame, self.options, human=True))
        return people, {
            name: replace(table, frame=chosen(table.frame, self.options, human=False))
            for name, table in self.simulators.items()
        }


def score_with_tables(
    simulators: Paths | Tables | Streams,
    human: str | Path | SessionTable | SessionStream,
    *,
    profile: str | None = None,
    options: ScoreOptions | None = None,
    extra: ExtraReading = NOTHING_ELSE,
    progress: Callable[[int, int], None] | None = None,
    stage: Callable[[str], None] | None = None,
) -> ScoreResult:
    """Score simulators against a human reference, and keep the parts of the card.

    Parameters
    ----------
    simulators
        Files or folders, one simulator each; session tables by label; or streams of sessions.
    human
        A path, a name of the workspace, a session table, or a stream of sessions.
    profile
        Scoring profile; default: see `usi.scoring.profiles.default_profile`.
    options
        All choices.
    extra
        What the reading of the files is to give beside: each file is read once.
    progress
        Called with (done, total) permutations of a full two-sample test.
    stage
        Called with what is done next.
    """
    options = options or ScoreOptions()
    say = stage or (lambda text: None)
    own = get_profile("log" if profile is None and options.of_logs else profile)
    if own.subject == "logs":
        if isinstance(simulators, Streams) or isinstance(human, SessionStream):
            raise UsageError("logs of events are read from files: give paths or session tables")
        return _score_logs(simulators, human, own, options)
    if options.of_logs:
        raise UsageError(f"a log's configuration was given, and the profile is {own.name!r}")
    why_not = _never_published(own, options)
    extra = replace(extra, published=extra.published and why_not is None)
    say("reading the human reference ...")
    reference, people = read_people(human, own.name, options, extra)
    options = with_declared(options, reference)
    say("reading the simulators ...")
    candidates = read_candidates(simulators, own.name, options, extra)
    say("scoring ...")
    require_same_agent(people.tables[""], candidates.tables, allowed=options.other_agent)
    surveys, files, where = find_surveys(reference, candidates, options)
    if options.difficulty not in ("frozen", "self", "none"):
        files.append(difficulty_file(options.difficulty))
    context = make_context(reference, people, candidates, files)
    context = replace(
        context, surveys=where, show_words=texts_shown(reference.redistribute, extra.examples)
    )
    published: Scorecard | str = why_not or "it was not asked for"
    if extra.published:
        say("the published index of the same sessions ...")
        published = _published(people, candidates, surveys, options, context)
    if profile is None and own.name == FALLBACK_PROFILE:
        default = DEFAULT_PROFILE(preferred=PREFERRED_PROFILE, used=own.name)
        context = replace(context, warnings=(*context.warnings, default))
    from threadpoolctl import threadpool_limits

    # Matrices of a few hundred rows: more threads of BLAS wait longer than they work.
    with threadpool_limits(1, user_api="blas"):
        say("comparing both sides ...")
        studies = own.study(people.tables[""], candidates.tables, surveys=surveys, options=options)
        say("comparing sessions beyond their means ...")
        diagnoses = diagnose_studies(studies, progress=progress)
        read = tuple(all_files(people, candidates, files))
        result = _result(own, studies, context, diagnoses, people, candidates, options, read)
    if own.name == PUBLISHED:
        published = result.card
    texts = {**people.texts, **candidates.texts}
    return replace(result, published=published, texts=texts, said=people.said)


def _never_published(profile: Profile, options: ScoreOptions) -> str | None:
    """Why the published index says nothing of what is scored; ``None`` where it does."""
    if profile.subject != "conversations":
        return "the published index is one of conversations"
    if profile.name == PUBLISHED:
        return "it is the index of the scorecard"
    if any(getattr(options, name) != default_of(RobustOptions, name) for name in _CHOICES):
        return "sessions were chosen by options that the published profile does not have"
    return None


_CHOICES = ("human_runs", "sim_runs", "human_where", "sim_where", "tasks")
"""Choices of sessions that the published profile does not have."""


def _published(
    people: SideInput,
    candidates: SideInput,
    surveys: Surveys | None,
    options: ScoreOptions,
    context: ScoreContext,
) -> Scorecard | str:
    """The published index of the same sessions, or why it is not scorable."""
    try:
        refused = people.not_published or candidates.not_published
        if refused is not None:
            raise refused
        if not people.published or not candidates.published:
            raise UsageError("session tables of another profile were given")
        require_same_agent(people.published[""], candidates.published)
        studies = get_profile(PUBLISHED).study(
            people.published[""],
            candidates.published,
            surveys=surveys,
            options=replace(
                options,
                **{name: default_of(RobustOptions, name) for name in declared(RobustOptions)},
            ),
        )
        return studies.card(context)
    except UsiError as error:
        return f"not scorable as published: {error}"


def report_parts(
    result: ScoreResult, *, examples: bool | None = None, stage: Callable[[str], None] | None = None
) -> Beside:
    """What a report reads beside the card: distributions and, where texts may be kept, evidence.

    Parameters
    ----------
    result
        From `score_with_tables` with an `ExtraReading`; what was not read is not there.
    examples
        Whether texts are kept: ``None`` for what may be passed on.
    stage
        Called with what is done next.
    """
    from usi.diagnose.evidence import build_evidence
    from usi.report.report_data import NO_EXAMPLES, Beside, report_data, why_withheld

    say = stage or (lambda text: None)
    if isinstance(result.human, AggregateTable):
        return Beside(None, None, str(AGGREGATE()))
    people, candidates = result.counted()
    say("distributions ...")
    data = report_data(result.card, people, candidates, published=result.published)
    if result.profile.wording.without_text:
        return Beside(data, None, result.profile.wording.without_text)
    if examples is False:
        return Beside(data, None, NO_EXAMPLES)
    say("drawing examples ...")
    source: Side = (
        "simulated" if result.card.settings.get("human_source") == "simulated" else "human"
    )
    evidence = build_evidence(
        result.card,
        people,
        candidates,
        result.texts,
        said=result.said,
        human_cleaning=source,
        seed=result.options.seed,
    )
    kept = evidence if evidence.sessions else None
    return Beside(data, kept, why_withheld(result.card), asked=examples is True)


def _score_logs(
    simulators: Paths | Tables,
    human: str | Path | SessionTable,
    own: Profile,
    options: ScoreOptions,
) -> ScoreResult:
    """The road of operational logs: cases in place of conversations."""
    from usi.logs.diagnostics import diagnose_logs
    from usi.logs.inputs import read_sides

    sides = read_sides(simulators, human, options)
    real, found = sides.people.tables[""], sides.candidates.tables
    studies = own.study(real, found, surveys=None, options=options)
    scored = {label: table for label, table in found.items() if label not in studies.refused}
    result = _result(
        own,
        studies,
        make_context(sides.reference, sides.people, sides.candidates, []),
        diagnose_logs(real, scored, sides.traces, options),
        sides.people,
        sides.candidates,
        options,
        tuple(all_files(sides.people, sides.candidates, [])),
    )
    return replace(result, published=_never_published(own, options) or result.published)


def _result(
    profile: Profile,
    studies: Studies,
    context: ScoreContext,
    diagnoses: Mapping[str, Diagnosis],
    people: SideInput,
    candidates: SideInput,
    options: ScoreOptions,
    files: tuple[ReadFile, ...],
) -> ScoreResult:
    """Sums and card out of the parts: the one place where they come together."""
    sums = to_parquet(studies.sums())
    card = studies.card(replace(context, tasks_sha256=sha256_bytes(sums)), diagnoses)
    return ScoreResult(
        card=card,
        sums=sums,
        profile=profile,
        studies=studies,
        human=people.tables[""],
        simulators=candidates.tables,
        options=options,
        files=files,
        asides=(*people.asides, *candidates.asides),
    )
