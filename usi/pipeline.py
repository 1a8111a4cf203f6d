"""The road: files -> load -> records -> features -> session table -> score -> scorecard.

The three verbs of the Python interface (`usi.load`, `usi.features`, `usi.score`) and the command
line walk it. Sessions are streamed; what is held is the session table, a few integers a session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from usi.diagnose.attach import diagnose_studies
from usi.errors import UsageError, unknown_name
from usi.extraction.extract import extract_table
from usi.extraction.table import SessionTable
from usi.loading import LoadNotes, LoadOptions, open_sessions
from usi.loading.stream import is_frame, open_frame
from usi.options import MAX_RECORD, RunIds, ScoreOptions
from usi.provenance.record import sha256_bytes
from usi.records import Session, Side
from usi.scoring.agents import require_same_agent
from usi.scoring.assembly import (
    Paths,
    Tables,
    all_files,
    find_surveys,
    make_context,
    read_candidates,
    read_people,
    with_declared,
)
from usi.scoring.context import ScoreContext
from usi.scoring.inputs import (
    ReadFile,
    SideInput,
    difficulty_file,
    split_by_simulator,
    with_keys,
)
from usi.scoring.parts import Diagnosis, Studies
from usi.scoring.people import read_people_of
from usi.scoring.profiles import FALLBACK_PROFILE, PREFERRED_PROFILE, Profile, get_profile
from usi.scoring.task_sums import to_parquet
from usi.scoring.watched import Watched, own_columns

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from usi.corpora.resolve import Reference
    from usi.scoring.scorecard import Scorecard


@dataclass(frozen=True)
class Loaded:
    """Sessions in memory, and what loading has to say about them."""

    sessions: tuple[Session, ...]
    label: str
    notes: LoadNotes

    def __len__(self) -> int:
        """Return the number of sessions."""
        return len(self.sessions)

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


def load(
    paths: Paths | pd.DataFrame | pl.DataFrame,
    *,
    format: str | None = None,  # noqa: A002
    domain: str | None = None,
    name: str | None = None,
    user_role: str | None = None,
    user_speaker: str | None = None,
    flip: bool = False,
    map: Mapping[str, str] | None = None,  # noqa: A002
) -> Loaded:
    """Read transcripts of any known format into memory.

    Parameters
    ----------
    paths
        Files, folders or archives; or a frame of pandas or polars with one message a row.
    format, domain, name, user_role, user_speaker, flip, map
        See `usi.loading.LoadOptions`.

    Raises
    ------
    InputError
        With every bad row, its file, row and field.
    """
    options = LoadOptions(
        format=format,
        domain=domain,
        name=name,
        user_role=user_role,
        user_speaker=user_speaker,
        flip=flip,
        map=map or {},
    )
    if is_frame(paths):
        stream = open_frame(paths, options)
    else:
        stream = open_sessions(cast(Paths, paths), options=options)
    return Loaded(tuple(stream), stream.label, stream.notes)


def features(
    source: Paths | Loaded | pd.DataFrame | pl.DataFrame,
    *,
    side: Side,
    profile: str | None = None,
    cleaning: Side | None = None,
    format: str | None = None,  # noqa: A002
    domain: str | None = None,
    name: str | None = None,
    max_record: int = MAX_RECORD,
    run_ids: RunIds = "auto",
    user_role: str | None = None,
    user_speaker: str | None = None,
    flip: bool = False,
    map: Mapping[str, str] | None = None,  # noqa: A002
    language: str | None = None,
) -> SessionTable:
    """Compute the session table of transcripts: one row a session, in input order, with keys.

    Parameters
    ----------
    source
        Paths, what `load` gave, or a frame of pandas or polars with one message a row.
    side
        ``"human"`` or ``"simulated"``: decides keys and, unless `cleaning` says otherwise,
        which messages are dropped.
    profile
        Scoring profile; default: see `usi.scoring.profiles.default_profile`.
    format, domain, name, max_record, run_ids, user_role, user_speaker, flip, map
        As for `load` and `score`.
    language
        Code of the language of sessions that declare none, such as ``"de"``.
    """
    chosen = get_profile(profile)
    if isinstance(source, Loaded):
        sessions, label = Watched(source.sessions), source.label
    else:
        options = LoadOptions(
            format=format,
            domain=domain,
            name=name,
            max_record=max_record,
            user_role=user_role,
            user_speaker=user_speaker,
            flip=flip,
            map=map or {},
        )
        if is_frame(source):
            stream = open_frame(source, options)
        else:
            stream = open_sessions(cast(Paths, source), options=options)
        sessions, label = Watched(stream), stream.label
    table = extract_table(
        sessions, profile=chosen.name, side=side, source=cleaning, language=language
    )
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
    corpus: Reference,
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
    files, asides
        The files as they lie, and remarks on them.
    """

    card: Scorecard
    sums: bytes
    profile: Profile
    studies: Studies
    human: SessionTable
    simulators: Mapping[str, SessionTable]
    files: tuple[ReadFile, ...] = ()
    asides: tuple[str, ...] = ()


def score(
    simulators: Paths | Tables,
    human: str | Path | SessionTable,
    *,
    profile: str | None = None,
    options: ScoreOptions | None = None,
    **choices: Any,
) -> Scorecard:
    """Score simulators against a human reference.

    Parameters
    ----------
    simulators
        Files or folders, one simulator each; or session tables by label.
    human
        A path, a name under ``human_corpus/`` of the workspace, or a session table.
    profile
        Scoring profile; default: see `usi.scoring.profiles.default_profile`.
    options
        All choices at once; or name single ones by the name of the flag, such as ``difficulty``,
        ``run_ids``, ``sim_runs``, ``by``, ``seed`` (all: `usi.options.ScoreOptions`).

    Returns
    -------
    Scorecard
        With ``.to_pandas()``, ``.to_dict()`` and ``.to_json()``.

    Raises
    ------
    InputError, UsageError
        For data or options that can't be used.
    NotScorable
        Where no honest score follows from the data.
    """
    return score_with_tables(
        simulators, human, profile=profile, options=options_of(options, choices)
    ).card


def options_of(options: ScoreOptions | None, choices: Mapping[str, Any]) -> ScoreOptions:
    """Options with single choices put in; an unknown choice lists near matches."""
    known = ScoreOptions.__dataclass_fields__
    for name in choices:
        if name not in known:
            raise unknown_name("option", name, list(known))
    return replace(options or ScoreOptions(), **choices)


def score_with_tables(
    simulators: Paths | Tables,
    human: str | Path | SessionTable,
    *,
    profile: str | None = None,
    options: ScoreOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
    stage: Callable[[str], None] | None = None,
) -> ScoreResult:
    """As `score`, keeping the session tables (for the sums beside the card).

    `progress` is called with (done, total) permutations of a full two-sample test, `stage` with
    what is done next.
    """
    options = options or ScoreOptions()
    say = stage or (lambda text: None)
    chosen = get_profile("log" if profile is None and options.of_logs else profile)
    if chosen.subject == "logs":
        return _score_logs(simulators, human, chosen, options)
    if options.of_logs:
        raise UsageError(f"a log's configuration was given, and the profile is {chosen.name!r}")
    say("reading the human reference ...")
    reference, people = read_people(human, chosen.name, options)
    options = with_declared(options, reference)
    say("reading the simulators ...")
    candidates = read_candidates(simulators, chosen.name, options)
    say("scoring ...")
    require_same_agent(people.tables[""], candidates.tables, allowed=options.other_agent)
    surveys, files, where = find_surveys(reference, candidates, options)
    if options.difficulty not in ("frozen", "self", "none"):
        files.append(difficulty_file(options.difficulty))
    context = make_context(reference, people, candidates, files)
    context = replace(context, surveys=where)
    if profile is None and chosen.name == FALLBACK_PROFILE:
        text = f"no profile named, and {PREFERRED_PROFILE!r} is not installed: {chosen.name!r} used"
        context = replace(context, warnings=(*context.warnings, ("default_profile", text)))
    studies = chosen.study(people.tables[""], candidates.tables, surveys=surveys, options=options)
    say("comparing sessions beyond their means ...")
    diagnoses = diagnose_studies(studies, progress=progress)
    return _result(
        chosen,
        studies,
        context,
        diagnoses,
        people,
        candidates,
        tuple(all_files(people, candidates, files)),
    )


def _score_logs(
    simulators: Paths | Tables,
    human: str | Path | SessionTable,
    chosen: Profile,
    options: ScoreOptions,
) -> ScoreResult:
    """The road of operational logs: cases in place of conversations."""
    from usi.logs.diagnostics import diagnose_logs
    from usi.logs.inputs import read_sides

    sides = read_sides(simulators, human, options)
    real, found = sides.people.tables[""], sides.candidates.tables
    return _result(
        chosen,
        chosen.study(real, found, surveys=None, options=options),
        make_context(sides.reference, sides.people, sides.candidates, []),
        diagnose_logs(real, found, sides.traces, options),
        sides.people,
        sides.candidates,
        tuple(all_files(sides.people, sides.candidates, [])),
    )


def _result(
    profile: Profile,
    studies: Studies,
    context: ScoreContext,
    diagnoses: Mapping[str, Diagnosis],
    people: SideInput,
    candidates: SideInput,
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
        files=files,
        asides=(*people.asides, *candidates.asides),
    )
