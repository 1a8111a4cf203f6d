"""Records -> session table: one row of integers a session, under a versioned profile."""

from usi.features.extract import extract, extract_table
from usi.features.profile import Profile
from usi.features.registry import PROFILES, get_profile, get_specs
from usi.features.spec import FeatureSpec
from usi.features.table import SessionTable
from usi.features.table_io import read_blocks, write_stream, write_values

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
