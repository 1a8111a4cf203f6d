"""Session tables and feature values on disk, streamed so that memory does not grow."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from usi.errors import InputError, UsageError
from usi.features.profile import Profile
from usi.features.registry import get_profile
from usi.features.spec import SCHEMA_VERSION
from usi.features.table import SessionTable, table_schema, values_of

ROWS_PER_GROUP = 32_768
"""Rows of a Parquet row group: blocks are collected up to here before they are written."""
_VERSION_KEY, _PROFILE_KEY, _LEXICON_KEY = "usi_session_table", "profile", "lexicon"
_SYNTHETIC_KEY = "synthetic"
_SETTINGS_KEY = "settings"
_NOT_OURS = "is no session table that usi wrote"
VALUE_SUFFIXES = (".parquet", ".csv", ".jsonl")


def write_stream(
    blocks: Iterable[pl.DataFrame],
    path: str | Path,
    *,
    profile: str,
    lexicon: str | None = None,
    synthetic: bool = False,
    settings: str = "",
) -> int:
    """Write blocks of a session table (as `extract` yields them) to one Parquet file.

    The file appears under its name only when it is whole.

    Returns
    -------
    int
        Number of rows written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    chosen = get_profile(profile)
    schema = table_schema(chosen)
    metadata = {
        _VERSION_KEY: SCHEMA_VERSION,
        _PROFILE_KEY: chosen.name,
        _LEXICON_KEY: lexicon or chosen.lexicon,
        **({_SYNTHETIC_KEY: "true"} if synthetic else {}),
        **({_SETTINGS_KEY: settings} if settings else {}),
    }
    arrow = _arrow(pl.DataFrame(schema=schema)).schema.with_metadata(metadata)
    rows = 0
    with _whole(path) as part, pq.ParquetWriter(part, arrow, compression="zstd") as writer:
        for frame in _collected(blocks):
            if frame.schema != pl.Schema(schema):
                raise UsageError(f"these are no rows of a session table of profile {profile!r}")
            writer.write_table(pa.Table.from_batches(_arrow(frame).to_batches(), schema=arrow))
            rows += frame.height
    return rows


def read_table(path: str | Path) -> SessionTable:
    """Read a session table; see `SessionTable.read`."""
    with _opened(path) as (file, profile, lexicon):
        frame = cast(pl.DataFrame, pl.from_arrow(file.read()))
        pairs = file.schema_arrow.metadata or {}
        synthetic = _SYNTHETIC_KEY.encode() in pairs
        settings = pairs.get(_SETTINGS_KEY.encode(), b"").decode("utf-8", "replace")
    return SessionTable(frame, profile.name, lexicon, synthetic, settings)


def read_blocks(path: str | Path, rows: int = ROWS_PER_GROUP) -> Iterator[pl.DataFrame]:
    """Read a session table in blocks of at most so many rows."""
    with _opened(path) as (file, _, _):
        for batch in file.iter_batches(batch_size=rows):
            yield cast(pl.DataFrame, pl.from_arrow(batch))


def write_values(table: SessionTable | str | Path, path: str | Path) -> None:
    """Write the view for users (`SessionTable.values`) as .parquet, .csv or .jsonl.

    Parameters
    ----------
    table
        A session table, or the path of one on disk, which is then streamed.
    path
        Where to; its suffix decides the format. Floats are written in full.
    """
    suffix = Path(path).suffix
    if suffix not in VALUE_SUFFIXES:
        raise UsageError(f"{path}: features go to {', '.join(VALUE_SUFFIXES)}, not {suffix!r}")
    if isinstance(table, SessionTable):
        profile, frames = get_profile(table.profile), iter([table.frame])
    else:
        with _opened(table) as (_, profile, _):
            frames = read_blocks(table)
    views = (values_of(frame, profile) for frame in _collected(frames))
    empty = values_of(pl.DataFrame(schema=table_schema(profile)), profile)
    with _whole(path) as part:
        if suffix == ".parquet":
            _values_parquet(views, empty, part)
        else:
            with part.open("wb") as sink:
                _values_text(views, empty, sink, csv=suffix == ".csv")


def _values_parquet(views: Iterable[pl.DataFrame], empty: pl.DataFrame, part: Path) -> None:
    import pyarrow.parquet as pq

    schema = _arrow(empty).schema.with_metadata({"usi_feature_values": SCHEMA_VERSION})
    with pq.ParquetWriter(part, schema, compression="zstd") as writer:
        for view in views:
            writer.write_table(_arrow(view))


def _values_text(
    views: Iterable[pl.DataFrame], empty: pl.DataFrame, sink: IO[bytes], *, csv: bool
) -> None:
    if csv:
        empty.write_csv(sink)
    for view in views:
        if csv:
            view.write_csv(sink, include_header=False)
        else:
            view.write_ndjson(sink)


def _arrow(frame: pl.DataFrame) -> Any:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def _collected(blocks: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows in pieces of `ROWS_PER_GROUP`, so that bytes do not depend on the blocks."""
    waiting: list[pl.DataFrame] = []
    rows = 0
    for block in blocks:
        waiting.append(block)
        rows += block.height
        while rows >= ROWS_PER_GROUP:
            joined = pl.concat(waiting)
            yield joined.head(ROWS_PER_GROUP)
            waiting = [joined.slice(ROWS_PER_GROUP)]
            rows -= ROWS_PER_GROUP
    if rows:
        yield pl.concat(waiting)


@contextmanager
def _whole(path: str | Path) -> Iterator[Path]:
    """A file beside ``path`` that takes its name only when all went well."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.touch()
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}") from error
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _opened(path: str | Path) -> Iterator[tuple[Any, Profile, str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = str(path)
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError as error:
        raise InputError("there is no such file", file=name) from error
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{_NOT_OURS}: it can't be read as Parquet", file=name) from error
    with file:
        profile, lexicon = _checked(file, name)
        yield file, profile, lexicon


def _checked(file: Any, name: str) -> tuple[Profile, str]:
    pairs = file.schema_arrow.metadata or {}
    known = {
        key: pairs[key.encode()].decode("utf-8", "replace")
        for key in (_VERSION_KEY, _PROFILE_KEY, _LEXICON_KEY)
        if key.encode() in pairs
    }
    if len(known) < 3:
        raise InputError(f"{_NOT_OURS}: its metadata lacks {_VERSION_KEY!r}", file=name)
    if known[_VERSION_KEY] != SCHEMA_VERSION:
        raise InputError(
            f"has session table version {known[_VERSION_KEY]}, this usi reads version "
            f"{SCHEMA_VERSION}; make it anew with `usi features`",
            file=name,
        )
    try:
        profile = get_profile(known[_PROFILE_KEY])
    except UsageError as error:
        raise InputError(f"{_NOT_OURS}: {error}", file=name) from error
    if known[_LEXICON_KEY] != profile.lexicon:
        raise InputError(
            f"was made with word lists {known[_LEXICON_KEY]}, this usi has {profile.lexicon}; "
            "make it anew with `usi features`",
            file=name,
        )
    wanted = _arrow(pl.DataFrame(schema=table_schema(profile))).schema
    found = file.schema_arrow
    if found.names != wanted.names:
        odd = sorted(set(found.names) ^ set(wanted.names)) or ["their order"]
        raise InputError(f"{_NOT_OURS}: columns differ ({', '.join(odd[:5])})", file=name)
    for field in wanted:
        if found.field(field.name).type != field.type:
            raise InputError(
                f"{_NOT_OURS}: it is {found.field(field.name).type}, not {field.type}",
                file=name,
                field=field.name,
            )
    return profile, known[_LEXICON_KEY]
