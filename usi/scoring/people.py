"""A corpus as its session table, read as a scoring reads it."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from usi.corpora.manifest import Counts
from usi.corpora.resolve import Corpus
from usi.extraction.table import SessionTable
from usi.loading import open_sessions
from usi.options import LoadOptions, RunIds
from usi.records import Session
from usi.scoring.corpus_rules import keep_part
from usi.scoring.inputs import SideInput, read_reference

PROFILE = "robust"


def read_people_of(
    reference: Corpus,
    *,
    profile: str = PROFILE,
    run_ids: RunIds = "auto",
    options: LoadOptions | None = None,
) -> SideInput:
    """Session table of a corpus (label ``""``) with keys, of its chosen part alone."""
    given = reference.load_options(options or LoadOptions())
    side = read_reference(reference, profile=profile, options=given, run_ids=run_ids)
    keep_part(side, reference)
    return side


def sessions_of(reference: Corpus, options: LoadOptions | None = None) -> Iterator[Session]:
    """Sessions of all parts of a corpus as they are read, one after the other."""
    return iter(
        open_sessions(
            list(reference.paths), options=reference.load_options(options or LoadOptions())
        )
    )


def counts_of(table: SessionTable) -> Counts:
    """What a manifest says about the content, counted in a session table with keys."""
    frame = table.frame
    ok = frame.filter(pl.col("status").is_in(["ok", "no_user_turn"]))

    def distinct(column: str) -> int:
        return frame[column].drop_nulls().n_unique()

    return Counts(
        sessions=frame.height,
        ok=ok.height,
        user_turns=int(frame["user_turns"].sum() or 0),
        tasks=distinct("task"),
        batches=distinct("batch"),
        participants=distinct("participant"),
        surveys=frame["survey"].count(),
        rewards=frame["reward"].count(),
    )
