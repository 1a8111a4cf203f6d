"""load: bytes become records; one module a format, problems collected, nothing dropped silently."""

from usi.loading.notes import InputFile, LoadNotes, Loss
from usi.loading.registry import FORMATS
from usi.loading.stream import SessionStream, group_by_simulator, open_sessions
from usi.loading.surveys import read_surveys
from usi.loading.validation import Validation, validate
from usi.loading.write import TARGETS, write_sessions, write_usi_jsonl
from usi.options import LoadOptions

__all__ = [
    "FORMATS",
    "TARGETS",
    "InputFile",
    "LoadNotes",
    "LoadOptions",
    "Loss",
    "SessionStream",
    "Validation",
    "group_by_simulator",
    "open_sessions",
    "read_surveys",
    "validate",
    "write_sessions",
    "write_usi_jsonl",
]
