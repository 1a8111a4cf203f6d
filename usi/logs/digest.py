"""Digest of a log's events, whatever the order of its rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from usi.logs.notes import LogNotes
from usi.provenance.content import ContentDigest, frame_records

_PLACE = ("row", "case")
_TURN = "turn"


@dataclass
class LogDigest:
    """Adds the events of frames of whole, sorted cases up, a digest for each file.

    An event counts with every column that is read and with its place among the events of its
    case at the same time: rows may stand in any order, but of events at one time the order of the
    file decides what happened first, so there it is content.

    Attributes
    ----------
    notes
        Of the log; its files must have been read.
    """

    notes: LogNotes
    _found: list[ContentDigest] = field(init=False)

    def __post_init__(self) -> None:
        self._found = [ContentDigest() for _ in self.notes.files]

    def see(self, frame: pl.DataFrame) -> None:
        """Take a frame of whole cases in, sorted by case, time and place in the file."""
        names = sorted(name for name in frame.columns if name not in _PLACE)
        turn = pl.int_range(pl.len()).over("case", "timestamp").alias(_TURN)
        told = frame.select("row", *names, turn)
        end = 0
        for file, found in zip(self.notes.files, self._found, strict=True):
            start, end = end, end + file.sessions
            own = told.filter(pl.col("row").is_between(start, end - 1)).drop("row")
            for line in frame_records(own):
                found.add(line)

    def finish(self) -> None:
        """Put the digests on the files."""
        for file, found in zip(self.notes.files, self._found, strict=True):
            file.content_digest = found.hexdigest()
