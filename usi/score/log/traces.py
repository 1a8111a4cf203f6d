"""Sequences of a log for its distances: a sample of whole cases, in bounded memory."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import polars as pl

MOST_CASES = 5_000
"""Cases whose events are kept; which they are depends on their ids alone."""


@dataclass(frozen=True)
class Traces:
    """Events of some cases.

    Attributes
    ----------
    frame
        ``case_id``, ``activity``, ``start``, ``timestamp`` (UTC); whole cases, each in order.
    zone
        Wall clock of the log.
    """

    frame: pl.DataFrame
    zone: str | None = None


@dataclass
class TraceSample:
    """Keeps the cases with the smallest checksums of their ids, as frames of whole cases go by."""

    most: int = MOST_CASES
    zone: str | None = None
    _held: list[pl.DataFrame] = field(default_factory=list)
    _cases: int = 0
    _limit: int = 2**32

    def see(self, frame: pl.DataFrame) -> None:
        """Take what belongs to the sample out of a frame of whole, sorted cases."""
        ids = frame["case_id"].unique(maintain_order=True)
        sums = [zlib.crc32(str(name).encode("utf-8", "surrogatepass")) for name in ids]
        marks = pl.DataFrame({"case_id": ids, "mark": pl.Series(sums, dtype=pl.Int64)})
        marks = marks.filter(pl.col("mark") < self._limit)
        start = pl.col("start") if "start" in frame.columns else pl.col("timestamp")
        own = frame.select(
            "case_id", "activity", start.fill_null(pl.col("timestamp")).alias("start"), "timestamp"
        ).join(marks, on="case_id", how="inner", maintain_order="left")
        self._held.append(own)
        self._cases += marks.height
        if self._cases > 2 * self.most:
            self._shrink()

    def _shrink(self) -> None:
        whole = pl.concat(self._held)
        marks = whole.select("mark", "case_id").unique().sort("mark", "case_id")
        kept = marks.head(self.most)
        self._limit = int(kept["mark"].max() or 0) + 1  # type: ignore[arg-type]
        self._held = [whole.join(kept, on=["mark", "case_id"], how="semi", maintain_order="left")]
        self._cases = kept.height

    def traces(self) -> Traces:
        """The sample, by case id, then by start, end and place in the file."""
        if self._cases > self.most:
            self._shrink()
        whole = pl.concat(self._held)
        ordered = whole.sort("case_id", "start", "timestamp", maintain_order=True)
        return Traces(ordered.drop("mark"), self.zone)
