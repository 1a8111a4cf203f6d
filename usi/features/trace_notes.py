"""What is odd in whole cases: ties, events out of order, repeated events."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from usi.load.logs.notes import LogNotes

_ORDER = ("row", "case")


def _twins(frame: pl.DataFrame) -> pl.Expr:
    names = [name for name in frame.columns if name not in _ORDER]
    return ~pl.struct(names).is_first_distinct()


def without_duplicates(frame: pl.DataFrame) -> pl.DataFrame:
    """Events without those that repeat one before them in every column."""
    return frame.filter(~_twins(frame))


@dataclass
class Oddities:
    """Adds the counts of a frame of whole cases to the notes."""

    notes: LogNotes

    def see(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Count; the frame goes on as it is."""
        same = pl.col("case") == pl.col("case").shift(1)
        tie = same & (pl.col("timestamp") == pl.col("timestamp").shift(1))
        late = same & (pl.col("row") < pl.col("row").shift(1))
        ties, moved = frame.select(tie.sum().alias("ties"), late.sum().alias("late")).row(0)
        self.notes.ties += int(ties)
        self.notes.out_of_order += int(moved)
        if ties:  # an event and its repetition have the same time
            near = frame.filter((tie | tie.shift(-1)).fill_null(False))
            self.notes.duplicates += int(near.select(_twins(near).sum()).item())
        return frame
