"""The parts of one scoring: reference, candidates, surveys, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from usi.corpora.resolve import Corpus, resolve
from usi.errors import UsageError
from usi.extraction.table import SessionTable
from usi.loading import SessionStream, read_surveys
from usi.options import ScoreOptions
from usi.reasons import (
    REFERENCE_NOT_HUMAN,
    SYNTHETIC,
)
from usi.records import Side
from usi.scoring.aggregate import is_aggregate, read_side
from usi.scoring.context import HUMAN_EVAL, ScoreContext, Surveys
from usi.scoring.corpus_rules import freeze, keep_part, restrictions
from usi.scoring.identity import split_candidates
from usi.scoring.inputs import (
    NOTHING_ELSE,
    ExtraReading,
    ReadFile,
    SideInput,
    corpus_digest,
    in_order,
    read_reference,
    read_simulators,
    split_by_simulator,
    survey_files,
    with_keys,
)
from usi.scoring.load_facts import facts_of, load_notes
from usi.scoring.profiles import PREFERRED_PROFILE
from usi.scoring.published.survey import is_whole

Paths = Sequence[str | Path] | str | Path
Tables = SessionTable | Mapping[str, SessionTable]


@dataclass(frozen=True)
class Streams:
    """Simulators whose sessions do not lie in files, one stream each."""

    streams: tuple[SessionStream, ...]


def read_people(
    human: str | Path | SessionTable | SessionStream,
    profile: str,
    options: ScoreOptions,
    extra: ExtraReading = NOTHING_ELSE,
) -> tuple[Corpus, SideInput]:
    """The human reference: a path, a name of the workspace, a session table, or a stream."""
    if isinstance(human, SessionTable):
        simulated = bool((human.frame["side"] == "simulated").any())
        source: Side = "simulated" if simulated else "human"
        if options.human_source != "auto":
            source = options.human_source
        table = with_keys(human, side="human", run_ids=options.run_ids)
        return Corpus("reference", ()), SideInput(
            tables={"": table}, synthetic=human.synthetic, source=source
        )
    stream = human if isinstance(human, SessionStream) else None
    if isinstance(human, SessionStream):
        reference = Corpus(human.label, ())
    elif is_aggregate(human):
        return read_side(Path(human), profile)
    else:
        reference = resolve(human, held_out=options.held_out)
    side = read_reference(
        reference,
        profile=profile,
        options=reference.load_options(options.load_options(human=True)),
        run_ids=options.run_ids,
        source=options.human_source,
        columns=_columns(options),
        echo=profile == PREFERRED_PROFILE,
        language=options.language,
        extra=extra,
        stream=stream,
    )
    keep_part(side, reference)
    freeze(side, reference, profile)
    return reference, side


def read_candidates(
    simulators: Paths | Tables | Streams,
    profile: str,
    options: ScoreOptions,
    extra: ExtraReading = NOTHING_ELSE,
) -> SideInput:
    """The simulators: paths, session tables by label, or streams of sessions."""
    run_ids = options.run_ids
    if isinstance(simulators, Streams):
        return read_simulators(
            [],
            profile=profile,
            options=options.load_options(human=False),
            run_ids=run_ids,
            columns=_columns(options),
            language=options.language,
            extra=extra,
            streams=simulators.streams,
        )
    if isinstance(simulators, SessionTable):
        simulators = split_by_simulator(simulators, options.name or "simulator")
    if isinstance(simulators, Mapping):
        tables = {
            label: with_keys(table, side="simulated", run_ids=run_ids)
            for label, table in simulators.items()
        }
        return SideInput(tables=tables, synthetic=any(t.synthetic for t in tables.values()))
    paths = in_order([simulators] if isinstance(simulators, str | Path) else simulators)
    if not paths:
        raise UsageError("there is no simulator to score: give its transcripts")
    plain, recorded = split_candidates(paths)
    given, columns = options.load_options(human=False), _columns(options)
    side = read_simulators(
        plain,
        profile=profile,
        options=given,
        run_ids=run_ids,
        columns=columns,
        language=options.language,
        extra=extra,
    )
    for candidate in recorded:
        if candidate.name in side.tables:
            raise UsageError(f"two inputs give the simulator name {candidate.name!r}")
        own = read_simulators(
            candidate.paths,
            profile=profile,
            options=replace(
                given, name=candidate.name, **candidate.load.model_dump(exclude_defaults=True)
            ),
            run_ids=run_ids,
            columns=columns,
            language=candidate.language or options.language,
            extra=extra,
            redistribute=candidate.redistribute,
        )
        side.add(own)
        side.identities[candidate.name] = candidate.identity
    return side


def _columns(options: ScoreOptions) -> tuple[str, ...]:
    return options.columns


def with_declared(options: ScoreOptions, reference: Corpus) -> ScoreOptions:
    """Options with what the corpus declares of its own survey files.

    Of another folder of surveys, which the caller names, the manifest says nothing.
    """
    if reference.survey_design is None or reference.surveys is None:
        return options
    given = options.surveys
    if given is None or (given != "auto" and Path(given).resolve() != reference.surveys.resolve()):
        return options
    return replace(options, survey_files=reference.survey_design)


def find_surveys(
    reference: Corpus, candidates: SideInput, options: ScoreOptions
) -> tuple[Surveys | None, list[ReadFile], str]:
    """Surveys by label, their files, and the name of their folder for the card."""
    where = reference.surveys if options.surveys == "auto" else options.surveys
    if where is None or where == "none":
        return None, [], "none"
    found: dict[str, Any] = dict(read_surveys(where))
    for label, own in candidates.file_labels.items():
        if label not in found and own in found:
            found[label] = found[own]
    wanted = {HUMAN_EVAL, *candidates.tables, *candidates.file_labels.values()}
    # As published, answers that lack in this one file are drawn in its order.
    ordered = [HUMAN_EVAL] if not is_whole(found.get(HUMAN_EVAL, {})) else []
    return found, survey_files(where, sorted(wanted), ordered=ordered), Path(where).name


def all_files(people: SideInput, candidates: SideInput, files: list[ReadFile]) -> list[ReadFile]:
    """Every file that was read, in the order of the card."""
    found = (*people.files, *candidates.files, *files)
    return sorted(found, key=lambda file: file.order)


def make_context(
    reference: Corpus, people: SideInput, candidates: SideInput, files: list[ReadFile]
) -> ScoreContext:
    """What the profile is told about the inputs."""
    is_human = people.source == "human"
    synthetic = people.synthetic or candidates.synthetic
    warnings = [
        *([SYNTHETIC()] if synthetic else []),
        *([] if is_human else [REFERENCE_NOT_HUMAN()]),
        *people.remarks,
        *candidates.remarks,
        *restrictions(reference),
    ]
    return ScoreContext(
        corpus_name=reference.name,
        corpus_digest=corpus_digest(reference, people),
        human_name="Human (inter-ann.)" if is_human else f"Reference {reference.name} (no human)",
        is_human=is_human,
        source=people.source,
        synthetic=synthetic,
        licence=reference.licence,
        research_only=reference.research_only,
        redistribute=reference.redistribute,
        terms=reference.terms,
        expires=reference.expires.isoformat() if reference.expires else None,
        inputs=tuple(file.card for file in all_files(people, candidates, files)),
        left_out={**candidates.left_out, "": people.left_out.get("", {})},
        warnings=tuple(warnings),
        anchors=people.anchors,
        facts={
            label: facts_of(
                table,
                losses=candidates.losses.get(label, ()),
                episodes=candidates.episodes.get(label),
                identity=candidates.identities.get(label),
                redistribute=candidates.redistribute.get(label, True),
            )
            for label, table in candidates.tables.items()
        },
        load_notes=load_notes(people.losses.get("", ())),
    )
