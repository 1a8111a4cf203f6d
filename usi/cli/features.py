"""``usi features``: one row a session."""

from __future__ import annotations

from typing import Annotated

import typer

from usi.cli.console import note, out, working
from usi.cli.options import (
    Domain,
    Files,
    Flip,
    Force,
    Format,
    Language,
    Map,
    MaxRecord,
    Name,
    Outputs,
    Profile,
    Quiet,
    SideName,
    UserRole,
    UserSpeaker,
)


def command(
    files: Files,
    side: Annotated[
        SideName,
        typer.Option(
            "--side", show_default=False, help="Whose sessions; decides how messages are cleaned."
        ),
    ],
    profile: Profile = None,
    outputs: Outputs = None,
    force: Force = False,
    quiet: Quiet = False,
    domain: Domain = None,
    name: Name = None,
    format_: Format = None,
    max_record: MaxRecord = None,
    user_role: UserRole = None,
    user_speaker: UserSpeaker = None,
    flip: Flip = False,
    map_: Map = None,
    language: Language = None,
) -> None:
    """Compute the behavioural features, one row a session, in input order.

    Columns: session_id, side, simulator, domain, task, run, batch, status, n_turns, then the
    features by name, raw (rates from 0 to 1). Sessions without a user turn and failed runs have
    nulls and their status. A corpus (its name or folder, or NAME@half-1) is read by its manifest
    and without its held-out part. -o takes .parquet, .csv, .jsonl, and .sessions.parquet for the
    session table with its integer counts; without -o, JSON Lines go to stdout.

    \b
    Examples:
      usi features airline.json --side simulated --profile tau-usi -o features.parquet
      usi features people.json --side human --profile tau-usi -o people.sessions.parquet
    """  # fmt: skip
    from functools import partial
    from pathlib import Path

    from usi import pipeline
    from usi.cli.options import named_corpus, pick, sources, who_and_where
    from usi.cli.settings import find_workspace
    from usi.extraction.table import VALUE_SUFFIXES, write_values
    from usi.options import MAX_RECORD, parse_size
    from usi.report import files as report_files

    own = find_workspace().settings.features
    sessions = ".sessions.parquet"
    corpus = named_corpus(files) if side is SideName.HUMAN else None
    given = [str(path) for path in corpus.paths] if corpus is not None else list(files)
    forms = report_files.claim(
        outputs or [], known=(*VALUE_SUFFIXES, sessions), force=force, inputs=sources(given)
    )
    size: str | int | None = max_record or own.max_record
    reading = {
        "format": pick(format_, own.format),
        "domain": pick(domain, own.domain),
        "name": name,
        "max_record": MAX_RECORD if size is None else parse_size(str(size)),
        **who_and_where(user_role=user_role, user_speaker=user_speaker, flip=flip, map_=map_),
    }
    chosen = pick(profile, own.profile)
    with working("reading ...", quiet=quiet):
        if corpus is not None:
            table = pipeline.corpus_features(corpus, profile=chosen, language=language, **reading)
        else:
            table = pipeline.features(
                list(files),
                side="human" if side is SideName.HUMAN else "simulated",
                profile=chosen,
                language=language,
                **reading,
            )
    writers: dict[Path, report_files.Writer] = {
        path: table.write if form == sessions else partial(write_values, table)
        for path, form in forms.items()
    }
    report_files.write_all(writers)
    if not forms:
        out(table.values().write_ndjson())
    statuses = table.frame["status"].value_counts(sort=True).sort("status").iter_rows()
    counts = ", ".join(f"{status} {count:,}" for status, count in statuses)
    note(f"{len(table):,} sessions ({counts}), profile {table.profile}", quiet=quiet)
    for path in forms:
        note(f"written: {path}", quiet=quiet)
