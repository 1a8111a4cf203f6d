"""Making the files beside a scorecard from what it was scored from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from usi.cli.scoring import Request, Scored
    from usi.features.table import SessionTable
    from usi.pipeline import ScoreResult
    from usi.report.evidence_view import Beside
    from usi.score.options import ScoreOptions
    from usi.score.robust.options import RobustOptions
    from usi.score.scorecard import Scorecard

PUBLISHED, ROBUST, LOG = "tau-usi", "robust", "log"
_CHOICES = ("human_runs", "simulator_runs", "human_where", "simulator_where", "tasks")
"""Choices of sessions that the published profile does not have."""


def made_beside(done: Scored, request: Request, stage: Callable[[str], None]) -> Beside:
    """What a report reads beside the card of a run of ``usi score``."""
    return make_beside(
        done.card,
        done.result,
        request.simulators,
        done.human,
        done.options,
        examples=request.examples,
        stage=stage,
    )


def beside_paths(scorecard: Path) -> tuple[Path, ...]:
    """Where it stands: ``card.report.json`` and ``card.evidence.json``."""
    from usi.diagnose.evidence_records import EVIDENCE, REPORT_DATA, beside

    return beside(scorecard, REPORT_DATA), beside(scorecard, EVIDENCE)


def beside_files(scorecard: Path, made: Beside) -> dict[Path, bytes]:
    """The files to write beside a scorecard; no text where none may be kept."""
    from usi.diagnose.evidence_records import encode

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


def make_beside(
    card: Scorecard,
    result: ScoreResult,
    simulators: Sequence[str | Path],
    human: str | Path,
    options: ScoreOptions,
    *,
    examples: bool = True,
    stage: Callable[[str], None] = lambda text: None,
) -> Beside:
    """Distributions and, where texts may be kept, evidence: what a report reads.

    The published index is computed too where the profile is another one: a report shows it
    beside its own, marked as such.
    """
    from usi.corpus.resolve import resolve
    from usi.diagnose.evidence import Sources, build_evidence
    from usi.report.data import report_data
    from usi.report.evidence_view import NO_LOG_TEXT, NO_TEXT, Beside, text_refused
    from usi.score.identity import split_candidates
    from usi.score.robust.aggregated import NO_SESSIONS, AggregateTable

    if isinstance(result.human, AggregateTable):
        return Beside(None, None, NO_SESSIONS)
    reference = resolve(human, held_out=options.held_out)
    people, candidates = _counted(result, options)
    stage("the published index of the same sessions ...")
    published = _published(card, simulators, human, options)
    stage("distributions ...")
    data = report_data(card, people, candidates, published=published)
    if result_of_logs(card):
        return Beside(data, None, NO_LOG_TEXT)
    refused = text_refused(card, examples=examples)
    if refused is not None:
        return Beside(data, None, refused)
    stage("drawing examples ...")
    plain, recorded = split_candidates(simulators)
    runs = options.load_options(human=False)
    for candidate in recorded:
        keys = candidate.load.model_dump(exclude_defaults=True)
        runs = replace(runs, name=None if plain or recorded[1:] else candidate.name, **keys)
    sources = Sources(
        human=reference.paths,
        simulators=[*plain, *(path for candidate in recorded for path in candidate.paths)],
        human_options=reference.load_options(options.load_options(human=True)),
        simulator_options=runs,
        human_cleaning="simulated" if card.settings.get("human_source") == "simulated" else "human",
    )
    evidence = build_evidence(card, people, candidates, sources, seed=options.seed)
    return Beside(data, evidence if evidence.sessions else None, NO_TEXT)


def result_of_logs(card: Scorecard) -> bool:
    """Whether a card is about operational logs, which hold no texts."""
    return card.profile.partition("@")[0] == LOG


def _counted(
    result: ScoreResult, options: ScoreOptions
) -> tuple[SessionTable, dict[str, SessionTable]]:
    """The tables with only those sessions that were scored."""
    if result.profile.name not in (ROBUST, LOG):
        return result.human, dict(result.simulators)
    from usi.score.robust.choose import chosen
    from usi.score.robust.profile import robust_options

    own = robust_options(options)
    people = replace(result.human, frame=chosen(result.human.frame, own, human=True))
    return people, {
        name: replace(table, frame=chosen(table.frame, own, human=False))
        for name, table in result.simulators.items()
    }


def _published(
    card: Scorecard, simulators: Sequence[str | Path], human: str | Path, options: ScoreOptions
) -> Scorecard | str:
    """The published index of the same sessions, or why there is none."""
    from usi.errors import UsiError
    from usi.pipeline import score
    from usi.score.options import ScoreOptions as Options

    if card.profile.partition("@")[0] == PUBLISHED:
        return card
    if result_of_logs(card):
        return "the published index is one of conversations"
    if not all(_again(path) for path in (*simulators, human)):
        return "stdin and pipes can't be read twice"
    if _selective(options.robust):
        return "sessions were chosen by options that the published profile does not have"
    try:
        return score(
            list(simulators),
            human,
            profile=PUBLISHED,
            options=replace(options, seed=Options().seed, robust=None),
        )
    except UsiError as error:
        return f"not scorable as published: {error}"


def _again(path: str | Path) -> bool:
    """Whether a path can be read a second time (a name of the workspace can)."""
    found = Path(path)
    return str(path) != "-" and (found.is_file() or found.is_dir() or not found.exists())


def _selective(options: RobustOptions | None) -> bool:
    if options is None:
        return False
    defaults = {f.name: f.default for f in fields(options)}
    return any(getattr(options, name) != defaults[name] for name in _CHOICES if name in defaults)
