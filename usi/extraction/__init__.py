"""Records -> session table: one row of integers a session, under a versioned profile."""

from usi.extraction.extract import extract, extract_table
from usi.extraction.profile import PROFILES, Profile, get_profile, get_specs
from usi.extraction.spec import FeatureSpec
from usi.extraction.table import SessionTable, read_blocks, write_stream, write_values

__all__ = [
    "PROFILES",
    "FeatureSpec",
    "Profile",
    "SessionTable",
    "extract",
    "extract_table",
    "get_profile",
    "get_specs",
    "read_blocks",
    "write_stream",
    "write_values",
]
