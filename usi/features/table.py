"""The session table: one row a session, integers that merge, and what users see of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from usi.errors import UsageError
from usi.features.profile import Profile
from usi.features.registry import get_profile
from usi.features.spec import CORE_COUNTS, IDENTITY_SCHEMA
from usi.features.values import derive

if TYPE_CHECKING:
    import pandas as pd

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


def table_schema(profile: Profile) -> dict[str, pl.DataType]:
    """Columns and types of a profile's session table, in order."""
    own = {name: profile.types.get(name, pl.Int64()) for name in profile.columns}
    return {**IDENTITY_SCHEMA, **CORE_COUNTS, **own}


@dataclass(frozen=True)
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
    """

    frame: pl.DataFrame
    profile: str
    lexicon: str
    synthetic: bool = False
    settings: str = ""
    scorable: tuple[str, ...] | None = None

    def __len__(self) -> int:
        """Return the number of sessions."""
        return self.frame.height

    def values(self) -> pl.DataFrame:
        """View for users: `VALUE_KEYS`, then the raw feature values (rates in 0 to 1).

        Sessions without a user turn and failed runs have nulls and their status.
        """
        return values_of(self.frame, get_profile(self.profile))

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
            frame.with_columns(seq),
            tables[0].profile,
            tables[0].lexicon,
            synthetic,
            tables[0].settings,
        )

    def write(self, path: str | Path) -> None:
        """Write Parquet with the schema version, profile and word lists in its metadata."""
        from usi.features.table_io import write_stream

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
        from usi.features.table_io import read_table

        return read_table(path)


def values_of(frame: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """View for users of any frame with the session table's columns."""
    features = derive(frame, profile.specs, without_denominator=profile.without_denominator)
    return frame.select(VALUE_KEYS).hstack(features)
