"""load: bytes become records; one module a format, problems collected, nothing dropped silently."""

from usi.load.notes import InputFile, LoadNotes
from usi.load.options import LoadOptions
from usi.load.sniff import FORMATS
from usi.load.stream import SessionStream, group_by_simulator, open_sessions
from usi.load.surveys import read_surveys

__all__ = [
    "FORMATS",
    "InputFile",
    "LoadNotes",
    "LoadOptions",
    "SessionStream",
    "group_by_simulator",
    "open_sessions",
    "read_surveys",
]
