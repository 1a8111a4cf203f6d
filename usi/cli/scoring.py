"""From the options of ``usi score`` to a result, and from a result to files and stdout."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi.cli.options import Printed, parse_size, pick
from usi.errors import UsageError

if TYPE_CHECKING:
    from usi.gate.verdict import Verdict
    from usi.pipeline import ScoreResult
    from usi.score.log.options import LogChoices
    from usi.score.options import ScoreOptions
    from usi.score.scorecard import Scorecard

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
    """Choices of the profile `robust`, from `usi.cli.comparing.given`."""
    log: LogChoices | None = None
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
    """A result, the sums beside its card, how it was made, and a verdict where one was asked."""

    result: ScoreResult
    card: Scorecard
    sums: bytes
    started: str
    human: str
    options: ScoreOptions
    verdict: Verdict | None = None


def scored(request: Request, *, quiet: bool) -> Scored:
    """Check the outputs, then walk the road."""
    from usi.cli.console import working
    from usi.pipeline import score_with_tables
    from usi.run.manifest import sha256_bytes
    from usi.run.record import now
    from usi.score.tasks import to_parquet

    started = now()
    human, profile, options = resolved(request)
    claim(request, human, options)
    with working(f"scoring {len(request.simulators)} input(s) ...", quiet=quiet) as say:
        result = score_with_tables(
            list(request.simulators),
            human,
            profile=profile,
            options=options,
            progress=permuting(quiet=quiet),
            stage=say,
        )
        say("adding up tasks ...")
        sums = to_parquet(result.task_sums(options, difficulties(options, result)))
    card = result.card.model_copy(update={"tasks_sha256": sha256_bytes(sums)})
    return Scored(result, card, sums, started, human, options)


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
    from usi.cli.comparing import robust_options
    from usi.cli.reading import who_and_where
    from usi.cli.settings import ScoreSettings, find_workspace
    from usi.score.options import ScoreOptions

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
        "log": request.log,
        "held_out": request.held_out,
        "language": request.language,
        "robust": robust_options(request.robust, own, profile=profile, subgroups=request.subgroups),
        **who_and_where(
            user_role=request.user_role,
            user_speaker=request.user_speaker,
            flip=request.flip,
            map_=request.map,
        ),
    }
    size: str | int | None = request.max_record or own.max_record
    if size is not None:
        given["max_record"] = parse_size(size)
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


def difficulties(options: ScoreOptions, result: ScoreResult) -> Mapping[str, float]:
    """Task difficulties for the sums beside the card, from where the card has them."""
    from usi.score import calibration

    if result.profile.task_sums is not None:
        return {}  # the profile has bins of its own
    if options.difficulty == "frozen":
        return calibration.frozen().rates
    if options.difficulty != "self":
        return calibration.read_difficulty(options.difficulty).rates
    runs = []
    for table in result.simulators.values():
        rows = table.frame.filter(table.frame["task"].is_not_null())
        for task, reward in rows.select("task", "reward").iter_rows():
            runs.append({task: float(calibration.success(reward))})
    return calibration.pooled(runs)


def known_forms() -> tuple[str, ...]:
    """Suffixes that ``-o`` takes."""
    from usi.report.forms import FORMS

    return (*FORMS, SESSIONS)


def claim(request: Request, human: str, options: ScoreOptions) -> dict[Path, str]:
    """Check all outputs and what is written beside them, before any work."""
    from usi.cli.reading import sources
    from usi.report import files
    from usi.score.people.aggregate import is_aggregate

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
    from usi.cli.beside import drop_stale
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
    from usi.cli.beside import beside_files, made_beside
    from usi.report import files
    from usi.report.forms import FORMS
    from usi.report.html import render

    contents: dict[Path, bytes] = {}
    forms = {path: files.form_of(path, known_forms()) for path in request.outputs}
    wanted = {".json", ".html"} & set(forms.values()) and not request.alone
    beside = made_beside(done, request, stage) if wanted else None
    for path, form in forms.items():
        if form == SESSIONS:
            contents[path] = _sessions(done.result)
        elif form == ".html":
            page = render(done.card, verdict=done.verdict, beside=beside)
            contents[path] = page.encode("utf-8")
        else:
            contents[path] = FORMS[form](done.card, path).encode("utf-8")
        if form == ".json":
            contents[_tasks_path(path)] = done.sums
            contents |= beside_files(path, beside) if beside is not None else {}
    return contents


def _sessions(result: ScoreResult) -> bytes:
    import tempfile

    from usi.features.table import SessionTable
    from usi.score.robust.reference import canonical
    from usi.score.watched import own_columns

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sessions.parquet")
        tables = [result.human, *result.simulators.values()]
        # Not in the order of the files, which no output tells.
        plain = [replace(t, frame=own_columns(canonical(t.frame), t.profile)) for t in tables]
        SessionTable.concat(plain).write(path)
        return path.read_bytes()


def _beside(forms: Mapping[Path, str]) -> list[Path]:
    from usi.cli.beside import beside_paths

    cards = [path for path, form in forms.items() if form == ".json"]
    found = [own for path in cards for own in (_tasks_path(path), *beside_paths(path))]
    record = _record_path(list(forms))
    return [*found, record] if record else found


def _tasks_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}.tasks.parquet")


def _record_path(outputs: list[Path]) -> Path | None:
    """Beside the first ``.json`` scorecard, else beside the first output."""
    from usi.run.record import record_path

    cards = [p for p in outputs if p.suffix == ".json" and not p.name.endswith(".tau-usi.json")]
    first = next(iter(cards or outputs), None)
    return None if first is None else record_path(first)


def _record(done: Scored, request: Request, contents: Mapping[Path, bytes]) -> str:
    from usi.run.manifest import sha256_bytes
    from usi.run.record import FileHash, make_record

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
