"""Records -> session table: one row of integers a session, under a versioned profile."""

from usi.extraction.extract import TableOptions, extract, extract_table, extract_tables
from usi.extraction.profile import PROFILES, FeatureProfile, get_feature_profile, get_specs
from usi.extraction.spec import FeatureSpec
from usi.extraction.table import SessionTable, read_blocks, write_stream, write_values

__all__ = [
    "PROFILES",
    "FeatureProfile",
    "FeatureSpec",
    "SessionTable",
    "TableOptions",
    "extract",
    "extract_table",
    "extract_tables",
    "get_feature_profile",
    "get_specs",
    "read_blocks",
    "write_stream",
    "write_values",
]
