"""``usi corpus split``: halves, and a part that only decisions read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from usi.corpora.manifest import MANIFEST, SplitKeys, read_manifest
from usi.corpora.parts import COLUMNS, By, Split, make_split
from usi.corpora.resolve import resolve
from usi.curation.add import write_manifest
from usi.errors import UsageError
from usi.records import Session
from usi.scoring.batch_rule import TIME_KEYS, session_moment
from usi.scoring.people import read_people_of, sessions_of


def split_corpus(home: Path, *, by: By, seed: int = 7, held_out: float = 0.0) -> Split:
    """Divide a corpus and write ``split.toml`` and the key ``split`` of its manifest.

    All sessions of a unit (a task, say) go into one part. The same corpus and seed give the same
    split, whatever the order of the files.

    Raises
    ------
    UsageError
        Where sessions do not say what they are split by, or there are too few units.
    """
    path = home / MANIFEST
    manifest = read_manifest(path)
    reference = replace(resolve(home), part=None)
    frame = read_people_of(reference).tables[""].frame
    column = frame[COLUMNS[by]].cast(pl.String)
    if column.null_count():
        raise UsageError(
            f"{column.null_count()} of {frame.height} sessions name no {by}: split by another "
            f"unit, or give them one"
        )
    ordered = None
    if by == "time":
        if column.n_unique() < frame.height:
            raise UsageError("session ids are not unique: they can't be split by time")
        ordered = by_time(sessions_of(reference), column.to_list())
    split = make_split(column.to_list(), by=by, seed=seed, held_out=held_out, ordered=ordered)
    keys = SplitKeys(by=by, seed=seed)
    target = home / keys.file
    part = target.with_suffix(".part")
    part.write_text(split.to_toml(), encoding="utf-8")
    part.replace(target)
    write_manifest(home, manifest.model_copy(update={"split": keys}))
    return split


def by_time(sessions: Iterable[Session], ids: list[str]) -> list[str]:
    """Session ids from the earliest to the latest, ties by id.

    Raises
    ------
    UsageError
        Where a session has no time that can be read.
    """
    times = {}
    for session in sessions:
        moment = session_moment(session)
        if moment is None:
            raise UsageError(
                f"session {session.session_id!r} (row {session.row}) has no time that can be read: "
                f"its messages need one, or its metadata one of {', '.join(TIME_KEYS)}, such as "
                "2026-01-31T12:00:00Z"
            )
        times[session.session_id] = moment
    return sorted(ids, key=lambda name: (times[name], name))
