"""Columns that session tables have in memory alone, and the table without them."""

from __future__ import annotations

import polars as pl

from usi.extraction.profile import get_feature_profile
from usi.extraction.table import table_schema

CONTENT = "content_digest"
"""Column of a table in memory: the beginning of the digest of each session's content. It puts
sessions that share all their keys into an order, and tells them apart when they are read again."""
CONTENT_DIGITS = 32


def own_columns(frame: pl.DataFrame, profile: str) -> pl.DataFrame:
    """The columns that the profile's session table has, without noted ones."""
    return frame.select(list(table_schema(get_feature_profile(profile))))
