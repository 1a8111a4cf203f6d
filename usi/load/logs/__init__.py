"""Operational logs: files of any layout -> events in one shape -> whole cases."""

from usi.load.logs.cases import iter_cases
from usi.load.logs.columns import FIELD, ROLES, Column, LogFormat
from usi.load.logs.config import LogConfig, load_config, preset_names
from usi.load.logs.events import EventStream, open_log
from usi.load.logs.notes import LogNotes
from usi.load.logs.partition import CaseStore

__all__ = [
    "FIELD",
    "ROLES",
    "CaseStore",
    "Column",
    "EventStream",
    "LogConfig",
    "LogFormat",
    "LogNotes",
    "iter_cases",
    "load_config",
    "open_log",
    "preset_names",
]
