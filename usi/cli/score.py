"""``usi score``: simulators against a human reference.

From the options of ``usi score`` to a result, and from a result to files and stdout.

Making the files beside a scorecard from what it was scored from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi.cli.flags import Files, Given, flags
from usi.errors import UsageError, unknown_name
from usi.options import (
    Delivery,
    LogOptions,
    RobustOptions,
    ScoreChoices,
    ScoreOptions,
    declared,
    flag_of,
)

if TYPE_CHECKING:
    from usi.decisions.verdict import Verdict
    from usi.pipeline import ScoreResult
    from usi.report.report_data import Beside
    from usi.scoring.scorecard import Scorecard


SESSIONS = ".sessions.parquet"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of one scoring; what it leaves open is taken from the settings.

    Attributes
    ----------
    simulators
        Files, folders or recorded candidates.
    choices, options
        What is said of `ScoreChoices` and `ScoreOptions`, by name.
    by
        Columns that a gate's criteria ask for.
    plain
        Whether the defaults take the place of the settings of a workspace.
    alone
        Whether the files that a report reads are left out.
    examples
        Whether texts of transcripts are kept beside the card and shown in a page: ``None`` for
        those that may be passed on.
    held_out
        Whether the held-out part of a corpus may be read: where the card is gated at once.
    outputs, force
        Files to write, and whether others may be overwritten.
    """

    simulators: tuple[str, ...]
    choices: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    plain: bool = False
    alone: bool = False
    examples: bool | None = None
    held_out: bool = False
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
                published=_with_report(request),
                texts=_with_report(request) and request.examples is not False,
                examples=request.examples,
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
        Where no reference is named, or options belong to another profile.
    """
    from usi.cli.settings import Workspace, find_workspace, over
    from usi.scoring.profiles import get_profile

    def settings(workspace: Workspace, group: type[Any]) -> dict[str, Any]:
        return {} if request.plain else workspace.values(group, "score")

    workspace = find_workspace()
    choices = ScoreChoices(**over(settings(workspace, ScoreChoices), request.choices))
    if choices.human is None:
        raise UsageError("name the human reference: --human CORPUS (a path, or see: usi doctor)")
    own = settings(workspace, ScoreOptions)
    profile = _profile(request, choices.profile)
    if profile is not None and get_profile(profile).subject != "logs":
        own = {name: value for name, value in own.items() if name not in declared(LogOptions)}
    if not get_profile(profile).has_bounds:
        robust = declared(RobustOptions).keys() - {"seed"}
        for name in request.options:
            if name in robust:
                raise UsageError(
                    f"{flag_of(name)} belongs to the profile robust, and {profile} is asked for"
                )
        own = {name: value for name, value in own.items() if name not in robust}
    said = over(own, request.options)
    if get_profile(profile).has_bounds:
        said["by"] = tuple(dict.fromkeys((*said.get("by", ()), *request.by)))
    if said.get("surveys") == "none":
        said["surveys"] = None
    _check_difficulty(said.get("difficulty"))
    return choices.human, profile, ScoreOptions(**said, held_out=request.held_out)


def _profile(request: Request, named: str | None) -> str | None:
    """Profile by name; that of logs where the command line says how logs are read."""
    from usi.logs import preset_names
    from usi.scoring.profiles import profile_called

    if not request.options.keys() & declared(LogOptions).keys():
        return named
    asked = request.choices.get("profile")
    called = None if asked is None else profile_called(asked)
    if asked is not None and (called is None or called.subject != "logs"):
        raise UsageError(f"options of logs were given, and the profile is {asked}")
    preset = request.options.get("preset")
    if preset is not None and preset not in preset_names():
        raise unknown_name("log preset", preset, preset_names())
    return "log"


def _check_difficulty(option: str | None) -> None:
    """Refuse what is neither a known word nor a file."""
    if option not in (None, "frozen", "self", "none") and not Path(option).exists():
        raise UsageError(
            f"--difficulty {option}: takes frozen, self (tau-usi), none or a JSON file, and there "
            "is no such file"
        )


def known_forms() -> tuple[str, ...]:
    """Suffixes that ``-o`` takes."""
    from usi.report.files import FORMS

    return (*FORMS, SESSIONS)


def claim(request: Request, human: str, options: ScoreOptions) -> dict[Path, str]:
    """Check all outputs and what is written beside them, before any work."""
    from usi.cli.inputs import sources
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


def deliver(done: Scored, request: Request, *, show: str, quiet: bool) -> None:
    """Write the files, then print."""
    from usi.cli.console import console, note, out, printed
    from usi.report.terminal import print_scorecard

    written = write(done, request, quiet=quiet)
    choice = printed(show)
    if choice == "table":
        print_scorecard(done.card, console())
    elif choice == "json":
        out(done.card.to_json())
    for path in written:
        note(f"written: {path}", quiet=quiet)
    if choice != "table":
        for warning in done.card.warnings:
            note(f"note: {warning.text}", quiet=quiet)
    for text in done.result.asides:
        note(f"note: {text}", quiet=quiet)


def _contents(done: Scored, request: Request, stage: Callable[[str], None]) -> dict[Path, bytes]:
    from usi.pipeline import report_parts
    from usi.report import files
    from usi.report.files import FORMS
    from usi.report.html import render
    from usi.report.report_data import Beside

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
            known = replace(beside or Beside(), options=options_told(done))
            page = render(done.card, verdict=done.verdict, beside=known)
            contents[path] = page.encode("utf-8")
        else:
            contents[path] = FORMS[form](done.card, path, done.verdict).encode("utf-8")
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
        options=options_told(done),
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
        remarks=[*(warning.text for warning in done.card.warnings), *done.result.asides],
    ).to_json()


def options_told(done: Scored) -> dict[str, Any]:
    """Reference, profile and every option of a run, as its record keeps them."""
    from usi.options import told

    profile = done.card.profile.partition("@")[0]
    return {"human": done.human, "profile": profile, **told(done.options)}


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


@flags
def command(
    simulators: Files,
    own: Given[ScoreChoices],
    options: Given[ScoreOptions],
    delivery: Delivery,
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
    from usi.cli.console import note
    from usi.cli.gate import after_scoring
    from usi.errors import NotScorable

    gate = own.values.get("gate")
    decision = after_scoring(gate, delivery.output, force=delivery.force)
    request = Request(
        simulators=tuple(simulators),
        choices=own.values,
        options=options.values,
        by=decision.subgroups,
        examples=own.values.get("examples"),
        held_out=gate is not None,
        outputs=decision.scorecards,
        force=delivery.force,
    )
    try:
        done = scored(request, quiet=delivery.quiet)
        verdict = decision.verdict(done.card, done.started)
        done = replace(done, verdict=verdict)
        deliver(done, request, show=decision.show_card(delivery.print), quiet=delivery.quiet)
    except NotScorable as error:
        if not delivery.exit_zero:
            raise
        note(f"usi: not scored: {error}")
        return
    if gate is None and done.card.refused and not delivery.exit_zero:
        import typer

        from usi.decisions.verdict import EXIT_CODES

        raise typer.Exit(EXIT_CODES["INCONCLUSIVE"])
    decision.deliver(
        verdict, show=delivery.print, quiet=delivery.quiet, exit_zero=delivery.exit_zero
    )
