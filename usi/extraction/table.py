"""The session table: one row a session, integers that merge, and what users see of it.

Session tables and feature values on disk, streamed so that memory does not grow.

Feature values from the integers of the session table.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from usi.csv_cells import COLUMNS_PATTERN, MARK, NUMBER_PATTERN
from usi.errors import InputError, UsageError
from usi.extraction.content import Names, thinned
from usi.extraction.profile import FeatureProfile, get_feature_profile
from usi.extraction.ranges import check_ranges
from usi.extraction.spec import CORE_COUNTS, IDENTITY_SCHEMA, SCHEMA_VERSION, FeatureSpec
from usi.reading import each, reading

if TYPE_CHECKING:
    import pandas as pd


MICROSECONDS_PER_HOUR = 3_600_000_000


def derive(
    frame: pl.DataFrame, specs: Sequence[FeatureSpec], *, without_denominator: float | None
) -> pl.DataFrame:
    """Compute raw feature values (rates in 0 to 1), one column a feature.

    Parameters
    ----------
    frame
        Session table, or any frame with its count columns.
    specs
        Features to compute, in the order of the result.
    without_denominator
        Value where the denominator is 0 (published definition: 0); ``None`` is undefined.

    Returns
    -------
    pl.DataFrame
        Float64 columns with as many rows as ``frame``; null where the counts are null.
    """
    return frame.select(
        [_column(frame, spec, without_denominator).alias(spec.name) for spec in specs]
    )


def _column(frame: pl.DataFrame, spec: FeatureSpec, empty: float | None) -> pl.Expr:
    if spec.kind == "cv":
        return pl.lit(verbosity_cv(frame))
    numerator, denominator = pl.col(spec.numerator), pl.col(spec.denominator)
    if spec.kind == "duration":
        return (numerator / MICROSECONDS_PER_HOUR).cast(pl.Float64)
    if spec.kind == "geometric":
        return pl.when(denominator > 0).then((numerator / denominator).exp())
    if not spec.denominator:
        return numerator.cast(pl.Float64)
    return (
        pl.when(denominator == 0)
        .then(pl.lit(empty, dtype=pl.Float64))
        .otherwise(numerator / denominator)
    )


def verbosity_cv(frame: pl.DataFrame) -> pl.Series:
    r"""Population standard deviation over mean of words a turn, by session.

    With :math:`N` turns of :math:`w_i` words it is
    :math:`\sqrt{N \sum w_i^2 - (\sum w_i)^2} / \sum w_i`, exact under the root; 0 where
    ``N <= 1`` or there are no words; null where the counts are null.
    """
    counted = frame["user_turns"].is_not_null()
    n, words, squares = (
        frame[name].fill_null(0).to_numpy().astype(np.int64)
        for name in ("user_turns", "words", "words_sq")
    )
    value: npt.NDArray[np.float64] = np.zeros(len(n), dtype=np.float64)
    spread = (n > 1) & (words > 0)
    big = spread & (n.astype(np.float64) * squares.astype(np.float64) > 4e18)
    plain = spread & ~big
    under = n[plain] * squares[plain] - words[plain] ** 2
    value[plain] = np.sqrt(under.astype(np.float64)) / words[plain]
    for row in np.flatnonzero(big):  # beyond 64 bits: Python's integers
        exact = int(n[row]) * int(squares[row]) - int(words[row]) ** 2
        value[row] = math.sqrt(exact) / int(words[row])
    return pl.select(
        pl.when(counted).then(pl.Series(value)).otherwise(None).alias("verbosity_cv")
    ).to_series()


VALUE_KEYS = (
    "session_id",
    "side",
    "simulator",
    "domain",
    "task",
    "run",
    "batch",
    "status",
    "n_turns",
)
"""Columns before the features in the view for users."""


def table_schema(profile: FeatureProfile) -> dict[str, pl.DataType]:
    """Columns and types of a profile's session table, in order."""
    own = {name: profile.types.get(name, pl.Int64()) for name in profile.columns}
    return {**IDENTITY_SCHEMA, **CORE_COUNTS, **own}


@dataclass(frozen=True, repr=False)
class SessionTable:
    """Sessions of one side with their integers, under one profile.

    Attributes
    ----------
    frame
        Columns as `table_schema`, one row a session.
    profile
        Name of the profile, such as ``tau-usi``.
    lexicon
        Tag of the word lists, such as ``tau19@1``.
    synthetic
        Whether a session said that it is a phantom's.
    settings
        Choices that the numbers rest on, as signature fields ``name:value`` joined by ``|``
        (logs: definition of ping-pong, clock, ...); empty where there are none.
    scorable
        Of people: features that are scored with them, fixed by their manifest; ``None`` where
        the sessions decide. It is kept in memory alone, not in files.
    names
        Words behind the numbers of hashed words; kept in memory alone.
    """

    frame: pl.DataFrame
    profile: str
    lexicon: str
    synthetic: bool = False
    settings: str = ""
    scorable: tuple[str, ...] | None = None
    names: Names = field(default_factory=Names, repr=False, compare=False)

    def __len__(self) -> int:
        """Return the number of sessions."""
        return self.frame.height

    def __repr__(self) -> str:
        """Say in one line what the table holds."""
        names = self.frame["simulator"].drop_nulls().unique().sort().to_list()
        own = [name for name in names if name]
        whose = f" of {', '.join(map(repr, own[:4]))}" if own else ""
        more = f" and {len(own) - 4} more" if len(own) > 4 else ""
        return f"<SessionTable {self.profile}: {len(self):,} sessions{whose}{more}>"

    def _repr_html_(self) -> str:
        """The values, for notebooks."""
        return self.values()._repr_html_()

    def values(self) -> pl.DataFrame:
        """View for users: `VALUE_KEYS`, then the raw feature values (rates in 0 to 1).

        Sessions without a user turn and failed runs have nulls and their status.
        """
        return values_of(self.frame, get_feature_profile(self.profile))

    def to_pandas(self) -> pd.DataFrame:
        """`values` as a pandas frame; missing numbers are NaN there."""
        return self.values().to_pandas()

    def to_dict(self) -> list[dict[str, Any]]:
        """`values` as one dictionary a session; missing values are ``None``."""
        return self.values().to_dicts()

    @staticmethod
    def concat(tables: Sequence[SessionTable]) -> SessionTable:
        """Tables one below the other; ``seq`` counts on through all of them.

        Raises
        ------
        UsageError
            For no table, or tables of different profiles or word lists.
        """
        if not tables:
            raise UsageError("there is no session table to join")
        if len({table.settings for table in tables}) > 1:
            raise UsageError("session tables made with different settings do not join")
        kinds = {(table.profile, table.lexicon) for table in tables}
        if len(kinds) > 1:
            names = ", ".join(sorted(f"{profile} ({lexicon})" for profile, lexicon in kinds))
            raise UsageError(f"session tables of different profiles do not join: {names}")
        # Tables in memory may have columns beyond those of their profile (fields of sessions).
        frame = pl.concat([table.frame for table in tables], how="diagonal")
        seq = pl.int_range(frame.height, dtype=pl.Int64, eager=True).alias("seq")
        synthetic = any(table.synthetic for table in tables)
        return SessionTable(
            thinned(frame.with_columns(seq)),
            tables[0].profile,
            tables[0].lexicon,
            synthetic,
            tables[0].settings,
            names=Names.joined([table.names for table in tables]),
        )

    def write(self, path: str | Path) -> None:
        """Write Parquet with the schema version, profile and word lists in its metadata."""

        write_stream(
            [self.frame],
            path,
            profile=self.profile,
            lexicon=self.lexicon,
            synthetic=self.synthetic,
            settings=self.settings,
        )

    @staticmethod
    def read(path: str | Path) -> SessionTable:
        """Read what `write` wrote.

        Raises
        ------
        InputError
            For a file that is no session table of this schema version, with the reason.
        """

        return read_table(path)


def values_of(frame: pl.DataFrame, profile: FeatureProfile) -> pl.DataFrame:
    """View for users of any frame with the session table's columns."""
    features = derive(frame, profile.specs, without_denominator=profile.without_denominator)
    return frame.select(VALUE_KEYS).hstack(features)


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

    chosen = get_feature_profile(profile)
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
    with reading(str(path)), _opened(path) as (file, profile, lexicon):
        frame = cast(pl.DataFrame, pl.from_arrow(file.read()))
        pairs = file.schema_arrow.metadata or {}
        synthetic = _SYNTHETIC_KEY.encode() in pairs
        settings = pairs.get(_SETTINGS_KEY.encode(), b"").decode("utf-8", "replace")
        check_ranges(frame, profile.specs, str(path))
    return SessionTable(thinned(frame), profile.name, lexicon, synthetic, settings)


def read_blocks(path: str | Path, rows: int = ROWS_PER_GROUP) -> Iterator[pl.DataFrame]:
    """Read a session table in blocks of at most so many rows."""
    with _opened(path) as (file, profile, _):
        first = 1
        for batch in each(file.iter_batches(batch_size=rows), str(path)):
            frame = cast(pl.DataFrame, pl.from_arrow(batch))
            check_ranges(frame, profile.specs, str(path), first=first)
            first += frame.height
            yield frame


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
        profile, frames = get_feature_profile(table.profile), iter([table.frame])
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
            _safe(view).write_csv(sink, include_header=False)
        else:
            view.write_ndjson(sink)


def _safe(view: pl.DataFrame) -> pl.DataFrame:
    """The view with `usi.csv_cells.safe_cell` in its columns of text."""
    texts = pl.col(pl.String)
    plain = texts.str.contains(NUMBER_PATTERN)
    marked = texts.str.replace(COLUMNS_PATTERN, f"{MARK}$1")
    return view.with_columns(pl.when(plain).then(texts).otherwise(marked))


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
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _opened(path: str | Path) -> Iterator[tuple[Any, FeatureProfile, str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = str(path)
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError as error:
        raise InputError("there is no such file", file=name) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{_NOT_OURS}: it can't be read as Parquet", file=name) from error
    with file:
        profile, lexicon = _checked(file, name)
        yield file, profile, lexicon


def _checked(file: Any, name: str) -> tuple[FeatureProfile, str]:
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
        profile = get_feature_profile(known[_PROFILE_KEY])
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
    for part in wanted:
        if found.field(part.name).type != part.type:
            raise InputError(
                f"{_NOT_OURS}: it is {found.field(part.name).type}, not {part.type}",
                file=name,
                field=part.name,
            )
    return profile, known[_LEXICON_KEY]
