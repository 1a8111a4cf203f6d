"""``usi score``: simulators against a human reference.

From the options of ``usi score`` to a result, and from a result to files and stdout.

Making the files beside a scorecard from what it was scored from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from usi.cli.log_options import Config as LogConfigFile
from usi.cli.log_options import Horizon, NoClasses, Preset, Standardise, Zone
from usi.cli.options import (
    Domain,
    ExitZero,
    Files,
    Flip,
    Force,
    Format,
    Language,
    Map,
    MaxRecord,
    Name,
    Outputs,
    Print,
    Printed,
    Profile,
    Quiet,
    RunIds,
    SideName,
    UserRole,
    UserSpeaker,
    pick,
)
from usi.cli.robust_options import (
    By,
    Cluster,
    Design,
    Group,
    HumanRuns,
    HumanWhere,
    OtherAgent,
    Replicates,
    SimRuns,
    SimWhere,
    Strata,
    SuccessAt,
    SurveyDesign,
    Tasks,
    TwoSampleTest,
)
from usi.errors import UsageError

if TYPE_CHECKING:
    from usi.decisions.verdict import Verdict
    from usi.options import ScoreOptions
    from usi.pipeline import ScoreResult
    from usi.report.data import Beside
    from usi.scoring.scorecard import Scorecard


SESSIONS = ".sessions.parquet"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the command line asked for; ``None`` is taken from the settings, else the default."""

    simulators: tuple[str, ...]
    human: str | None = None
    profile: str | None = None
    surveys: str | None = None
    difficulty: str | None = None
    run_ids: str | None = None
    human_source: str | None = None
    seed: int | None = None
    domain: str | None = None
    name: str | None = None
    format: str | None = None
    max_record: str | None = None
    user_role: str | None = None
    user_speaker: str | None = None
    flip: bool = False
    map: str | None = None
    robust: Mapping[str, Any] = field(default_factory=dict)
    """Choices of the profile `robust`, from `usi.cli.robust_options.given`."""
    log: Mapping[str, Any] | None = None
    """How operational logs are read; ``None`` for conversations."""
    subgroups: tuple[str, ...] = ()
    """Columns that a gate's criteria ask for."""
    plain: bool = False
    """Whether the defaults take the place of the settings of a workspace."""
    alone: bool = False
    """Whether the files that a report reads are left out."""
    examples: bool = True
    """Whether texts of transcripts may be kept beside the card and shown in a page."""
    held_out: bool = False
    """Whether the held-out part of a corpus may be read: where the card is gated at once."""
    language: str | None = None
    outputs: tuple[Path, ...] = ()
    force: bool = False


@dataclass(frozen=True)
class Scored:
    """A result, how it was made, and a verdict where one was asked."""

    result: ScoreResult
    started: str
    human: str
    options: ScoreOptions
    verdict: Verdict | None = None

    @property
    def card(self) -> Scorecard:
        """The scorecard."""
        return self.result.card


def scored(request: Request, *, quiet: bool) -> Scored:
    """Check the outputs, then walk the road."""
    from usi.cli.console import working
    from usi.pipeline import score_with_tables
    from usi.provenance.record import now
    from usi.scoring.inputs import ExtraReading

    started = now()
    human, profile, options = resolved(request)
    claim(request, human, options)
    with working(f"scoring {len(request.simulators)} input(s) ...", quiet=quiet) as say:
        result = score_with_tables(
            list(request.simulators),
            human,
            profile=profile,
            options=options,
            extra=ExtraReading(
                published=_with_report(request), texts=_with_report(request) and request.examples
            ),
            progress=permuting(quiet=quiet),
            stage=say,
        )
    return Scored(result, started, human, options)


def _with_report(request: Request) -> bool:
    """Whether files that a report reads are to be written, or a page that shows them."""
    forms = {path.suffix for path in request.outputs}
    return bool({".json", ".html"} & forms) and not request.alone


def permuting(*, quiet: bool) -> Callable[[int, int], None]:
    """Say how far a full two-sample test is, and how long it may still take."""
    from time import monotonic

    from usi.cli.console import note

    begun = [monotonic()]

    def say(done: int, total: int) -> None:
        if done == 1:  # the next classifier or simulator
            begun[0] = monotonic()
        if done % 20 == 0:
            left = (monotonic() - begun[0]) / max(1, done - 1) * (total - done)
            note(
                f"two-sample test: {done} of at most {total} permutations, "
                f"at most {left:.0f} s left for this classifier",
                quiet=quiet,
            )

    return say


def resolved(request: Request) -> tuple[str, str | None, ScoreOptions]:
    """Reference, profile and options: command line over settings over default.

    Raises
    ------
    UsageError
        Where no reference is named.
    """
    from usi.cli.options import who_and_where
    from usi.cli.robust_options import robust_options
    from usi.cli.settings import ScoreSettings, find_workspace
    from usi.options import ScoreOptions, parse_size

    workspace = find_workspace()
    own = ScoreSettings() if request.plain else workspace.settings.score
    profile = pick(request.profile, own.profile) if request.log is None else "log"
    human = pick(request.human, workspace.path(own.human))
    if human is None:
        raise UsageError("name the human reference: --human CORPUS (a path, or see: usi doctor)")
    surveys = pick(request.surveys, workspace.path(own.surveys), "auto")
    given: dict[str, Any] = {
        "difficulty": _difficulty(pick(request.difficulty, workspace.path(own.difficulty))),
        "run_ids": pick(request.run_ids, own.run_ids),
        "human_source": pick(request.human_source, own.human_source),
        "seed": pick(request.seed, own.seed),
        "domain": pick(request.domain, own.domain),
        "format": pick(request.format, own.format),
        "name": request.name,
        **(request.log or {}),
        "held_out": request.held_out,
        "language": request.language,
        **robust_options(request.robust, own, profile=profile, subgroups=request.subgroups),
        **who_and_where(
            user_role=request.user_role,
            user_speaker=request.user_speaker,
            flip=request.flip,
            map_=request.map,
        ),
    }
    size: str | int | None = request.max_record or own.max_record
    if size is not None:
        given["max_record"] = parse_size(str(size))
    options = ScoreOptions(
        surveys=None if surveys == "none" else surveys,
        **{key: value for key, value in given.items() if value is not None},
    )
    return human, profile, options


def _difficulty(option: str | None) -> str | None:
    """The option as given, where it is a known word or a file."""
    if option in (None, "frozen", "self", "none") or Path(option).exists():
        return option
    raise UsageError(
        f"--difficulty {option}: takes frozen, self (tau-usi), none or a JSON file, and there is "
        "no such file"
    )


def known_forms() -> tuple[str, ...]:
    """Suffixes that ``-o`` takes."""
    from usi.report.files import FORMS

    return (*FORMS, SESSIONS)


def claim(request: Request, human: str, options: ScoreOptions) -> dict[Path, str]:
    """Check all outputs and what is written beside them, before any work."""
    from usi.cli.options import sources
    from usi.report import files
    from usi.scoring.aggregate import is_aggregate

    if is_aggregate(human) and any(path.name.endswith(SESSIONS) for path in request.outputs):
        raise UsageError(
            f"{human} is an aggregate and holds no sessions, so there is no session table to "
            f"write: leave -o ...{SESSIONS} out, or score against the corpus itself"
        )
    named = [*request.simulators, human, str(options.surveys or ""), options.difficulty]
    inputs = sources(name for name in named if Path(name).exists())
    forms = files.claim(request.outputs, known=known_forms(), force=request.force, inputs=inputs)
    beside = [path for path in _beside(forms) if path not in forms]
    files.claim(beside, known=(".json", ".parquet"), force=request.force, inputs=inputs)
    return forms


def write(done: Scored, request: Request, *, quiet: bool = True) -> list[Path]:
    """Write all files and the run record, or none; return their paths."""
    from usi.cli.console import working
    from usi.report import files

    with working("writing ...", quiet=quiet) as say:
        contents = _contents(done, request, say)
    writers = {path: files.raw(data) for path, data in contents.items()}
    record = _record_path(list(request.outputs))
    if record is not None:
        writers[record] = files.text(_record(done, request, contents))
    files.write_all(writers)
    drop_stale(request.outputs, writers)
    return list(writers)


def deliver(done: Scored, request: Request, *, show: Printed, quiet: bool) -> None:
    """Write the files, then print."""
    from usi.cli.console import console, note, out, printed
    from usi.report.table import print_scorecard

    written = write(done, request, quiet=quiet)
    choice = printed(show)
    if choice is Printed.TABLE:
        print_scorecard(done.card, console())
    elif choice is Printed.JSON:
        out(done.card.to_json())
    for path in written:
        note(f"written: {path}", quiet=quiet)
    if choice is not Printed.TABLE:
        for warning in done.card.warnings:
            note(f"note: {warning.message}", quiet=quiet)
    for text in done.result.asides:
        note(f"note: {text}", quiet=quiet)


def _contents(done: Scored, request: Request, stage: Callable[[str], None]) -> dict[Path, bytes]:
    from usi.pipeline import report_parts
    from usi.report import files
    from usi.report.files import FORMS
    from usi.report.html import render

    contents: dict[Path, bytes] = {}
    forms = {path: files.form_of(path, known_forms()) for path in request.outputs}
    beside = (
        report_parts(done.result, examples=request.examples, stage=stage)
        if _with_report(request)
        else None
    )
    for path, form in forms.items():
        if form == SESSIONS:
            contents[path] = _sessions(done.result)
        elif form == ".html":
            page = render(done.card, verdict=done.verdict, beside=beside)
            contents[path] = page.encode("utf-8")
        else:
            contents[path] = FORMS[form](done.card, path).encode("utf-8")
        if form == ".json":
            contents[_tasks_path(path)] = done.result.sums
            contents |= beside_files(path, beside) if beside is not None else {}
    return contents


def _sessions(result: ScoreResult) -> bytes:
    import tempfile

    from usi.extraction.table import SessionTable
    from usi.scoring.columns import own_columns
    from usi.scoring.robust.reference import canonical

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sessions.parquet")
        tables = [result.human, *result.simulators.values()]
        # Not in the order of the files, which no output tells.
        plain = [replace(t, frame=own_columns(canonical(t.frame), t.profile)) for t in tables]
        SessionTable.concat(plain).write(path)
        return path.read_bytes()


def _beside(forms: Mapping[Path, str]) -> list[Path]:

    cards = [path for path, form in forms.items() if form == ".json"]
    found = [own for path in cards for own in (_tasks_path(path), *beside_paths(path))]
    record = _record_path(list(forms))
    return [*found, record] if record else found


def _tasks_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}.tasks.parquet")


def _record_path(outputs: list[Path]) -> Path | None:
    """Beside the first ``.json`` scorecard, else beside the first output."""
    from usi.provenance.record import record_path

    cards = [p for p in outputs if p.suffix == ".json" and not p.name.endswith(".tau-usi.json")]
    first = next(iter(cards or outputs), None)
    return None if first is None else record_path(first)


def _record(done: Scored, request: Request, contents: Mapping[Path, bytes]) -> str:
    from usi.provenance.record import FileHash, make_record, sha256_bytes

    return make_record(
        ["usi", *sys.argv[1:]],
        started=done.started,
        inputs=[
            FileHash(role=f.card.role, name=f.card.name, sha256=f.sha256, bytes=f.bytes)
            for f in done.result.files
        ],
        outputs=[
            FileHash(role="output", name=path.name, sha256=sha256_bytes(data), bytes=len(data))
            for path, data in contents.items()
        ],
        signature=done.card.signature,
        remarks=[*(warning.message for warning in done.card.warnings), *done.result.asides],
    ).to_json()


def beside_paths(scorecard: Path) -> tuple[Path, ...]:
    """Where it stands: ``card.report.json`` and ``card.evidence.json``."""
    from usi.diagnose.evidence_files import EVIDENCE, REPORT_DATA, beside

    return beside(scorecard, REPORT_DATA), beside(scorecard, EVIDENCE)


def beside_files(scorecard: Path, made: Beside) -> dict[Path, bytes]:
    """The files to write beside a scorecard; no text where none may be kept."""
    from usi.diagnose.evidence_files import encode

    parts = (made.data, made.evidence)
    paths = beside_paths(scorecard)
    return {path: encode(part) for path, part in zip(paths, parts, strict=True) if part is not None}


def drop_stale(outputs: Iterable[Path], written: Iterable[Path]) -> None:
    """Remove texts of an earlier run that this run was not to keep."""
    from usi.report.files import written_by_usi

    kept = set(written)
    for path in outputs:
        if path.suffix == ".json" and path in kept:
            texts = beside_paths(path)[1]
            if texts not in kept and texts.is_file() and written_by_usi(texts):
                texts.unlink()


_COMPARED = "What is compared"


def command(
    simulators: Files,
    human: Annotated[
        str | None,
        typer.Option(
            "--human",
            metavar="CORPUS",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="The reference: a path, or a name under human_corpus/.",
        ),
    ] = None,
    profile: Profile = None,
    surveys: Annotated[
        str | None,
        typer.Option(
            "--surveys",
            metavar="DIR|none",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="Folder with survey_comparable_<label>.json; default: survey_data/ beside CORPUS.",
        ),
    ] = None,
    difficulty: Annotated[
        str | None,
        typer.Option(
            "--difficulty",
            metavar="frozen|none|FILE",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="Task difficulties: the published map (default), none, JSON; self with tau-usi.",
        ),
    ] = None,
    run_ids: Annotated[
        RunIds | None,
        typer.Option(
            "--run-ids",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="Split ids into task and run: published rule (auto, default), always, never.",
        ),
    ] = None,
    human_source: Annotated[
        SideName | None,
        typer.Option(
            "--human-source",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="How the reference is cleaned; default: by what the file is.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="Seed of what is drawn at random (tau-usi has the published one).",
        ),
    ] = None,
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            metavar="A|B|C|gate.toml",
            show_default=False,
            rich_help_panel="Decide",
            help="Gate the scorecard at once (see: usi gate), with its exit codes.",
        ),
    ] = None,
    human_runs: HumanRuns = None,
    sim_runs: SimRuns = None,
    human_where: HumanWhere = None,
    sim_where: SimWhere = None,
    tasks: Tasks = None,
    design: Design = None,
    cluster: Cluster = None,
    group: Group = None,
    strata: Strata = None,
    by: By = None,
    success_at: SuccessAt = None,
    other_agent: OtherAgent = False,
    survey_design: SurveyDesign = None,
    c2st: TwoSampleTest = None,
    replicates: Replicates = None,
    outputs: Outputs = None,
    examples: Annotated[
        bool,
        typer.Option(
            "--examples/--no-examples",
            help="Keep sampled texts beside the card and in the page (never where the corpus "
            "forbids to pass them on).",
        ),
    ] = True,
    force: Force = False,
    print_: Print = Printed.AUTO,
    quiet: Quiet = False,
    exit_zero: ExitZero = False,
    domain: Domain = None,
    name: Name = None,
    format_: Format = None,
    max_record: MaxRecord = None,
    user_role: UserRole = None,
    user_speaker: UserSpeaker = None,
    flip: Flip = False,
    map_: Map = None,
    preset: Preset = None,
    log_config: LogConfigFile = None,
    timezone: Zone = None,
    no_classes: NoClasses = False,
    horizon: Horizon = None,
    standardise: Standardise = True,
    language: Language = None,
) -> None:
    """Score simulators against a human reference.

    Each file is one simulator; with --name all files are runs of one. -o takes .json, .md,
    .html, .csv, .tau-usi.json (the published scorer's shape) and .sessions.parquet (the session
    table). A run record is written beside the scorecard. With --gate the exit code is that of
    the verdict, stdout holds it, and -o also takes .verdict.json, .verdict.md and .junit.xml.

    \b
    Examples:
      usi score sim.json --human people.json --profile tau-usi
      usi score runs/*.json --human NAME -o reports/card.json -o reports/card.md
      usi score sim.json --human NAME --gate B -o card.json -o card.junit.xml
      usi score trials.json --human trials.json --human-runs 0,1 --sim-runs 2,3
      usi score simulated.csv --human tickets.csv --preset servicenow --gate B
    """  # fmt: skip
    from dataclasses import replace

    from usi.cli.console import note
    from usi.cli.gate import after_scoring
    from usi.cli.log_options import log_choices
    from usi.cli.robust_options import given
    from usi.errors import NotScorable

    decision = after_scoring(gate, outputs or (), force=force)
    request = Request(
        simulators=tuple(simulators),
        human=human,
        profile=profile,
        surveys=surveys,
        difficulty=difficulty,
        run_ids=run_ids.value if run_ids else None,
        human_source=human_source.value if human_source else None,
        seed=seed,
        domain=domain,
        name=name,
        format=format_,
        max_record=max_record,
        user_role=user_role,
        user_speaker=user_speaker,
        flip=flip,
        map=map_,
        log=log_choices(
            preset=preset,
            config=log_config,
            timezone=timezone,
            no_classes=no_classes,
            horizon=horizon,
            standardise=standardise,
            profile=profile,
        ),
        robust=given(
            human_runs=human_runs,
            sim_runs=sim_runs,
            human_where=human_where,
            sim_where=sim_where,
            tasks=tasks,
            design=design,
            cluster=cluster,
            group=group,
            strata=strata,
            by=by,
            success_at=success_at,
            other_agent=other_agent,
            survey_design=survey_design,
            c2st=c2st,
            replicates=replicates,
        ),
        subgroups=decision.subgroups,
        held_out=gate is not None,
        language=language,
        examples=examples,
        outputs=decision.scorecards,
        force=force,
    )
    try:
        done = scored(request, quiet=quiet)
        verdict = decision.verdict(done.card)
        done = replace(done, verdict=verdict)
        deliver(done, request, show=decision.show_card(print_), quiet=quiet)
    except NotScorable as error:
        if not exit_zero:
            raise
        note(f"usi: not scored: {error}")
        return
    decision.deliver(verdict, show=print_, quiet=quiet, exit_zero=exit_zero)
