"""``usi features``: one row a session."""

from __future__ import annotations

from typing import Annotated

from usi.cli.console import note, out, working
from usi.cli.flags import Files, flags_of, without
from usi.options import Delivery, FeaturesOptions, LoadOptions, values_of


@flags_of("features")
def command(
    files: Files,
    own: FeaturesOptions,
    reading: LoadOptions,
    delivery: Annotated[Delivery, without("print", "exit_zero")],
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
    from usi.cli.inputs import named_corpus, sources
    from usi.extraction.table import VALUE_SUFFIXES, write_values
    from usi.report import files as report_files

    sessions = ".sessions.parquet"
    corpus = named_corpus(files) if own.side == "human" else None
    given = [str(path) for path in corpus.paths] if corpus is not None else list(files)
    forms = report_files.claim(
        delivery.output,
        known=(*VALUE_SUFFIXES, sessions),
        force=delivery.force,
        inputs=sources(given),
    )
    with working("reading ...", quiet=delivery.quiet):
        if corpus is not None:
            table = pipeline.corpus_features(
                corpus, profile=own.profile, language=own.language, **values_of(reading)
            )
        else:
            table = pipeline.features(
                list(files),
                side=own.side,
                profile=own.profile,
                language=own.language,
                options=reading,
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
    note(f"{len(table):,} sessions ({counts}), profile {table.profile}", quiet=delivery.quiet)
    for path in forms:
        note(f"written: {path}", quiet=delivery.quiet)
