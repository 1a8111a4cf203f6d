"""load: bytes become records; one module a format, problems collected, nothing dropped silently."""

from usi.load.notes import InputFile, LoadNotes, Loss
from usi.load.options import LoadOptions
from usi.load.sniff import FORMATS
from usi.load.stream import SessionStream, group_by_simulator, open_sessions
from usi.load.surveys import read_surveys
from usi.load.targets import TARGETS, write_sessions
from usi.load.validation import Validation, validate
from usi.load.write import write_usi_jsonl

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
