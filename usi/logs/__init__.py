"""Operational logs: files of any layout -> events in one shape -> whole cases."""

from usi.logs.config import LogConfig, load_config, preset_names
from usi.logs.events import EventStream, open_log
from usi.logs.notes import LogNotes
from usi.logs.partition import CaseStore
from usi.logs.tables import FIELD, ROLES, Column, LogFormat

__all__ = [
    "FIELD",
    "ROLES",
    "CaseStore",
    "Column",
    "EventStream",
    "LogConfig",
    "LogFormat",
    "LogNotes",
    "load_config",
    "open_log",
    "preset_names",
]
