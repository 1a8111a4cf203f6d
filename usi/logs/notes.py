"""What reading a log has to tell: counts of everything that was odd, dropped or guessed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from usi.errors import InputError
from usi.loading.notes import MAX_PROBLEMS, InputFile


@dataclass
class LogNotes:
    """Complete when the log was read to its end; counts of cases once features were computed.

    Attributes
    ----------
    events, cases
        Events read; cases found.
    ties
        Events with the time of the event before them in their case (file order decides).
    out_of_order
        Events that stand in the file before an earlier event of their case (they were sorted).
    duplicates
        Events that equal another one of their case in every column that is read.
    open_cases
        Cases whose last event is of no class resolved, closed or cancelled; ``None`` without a
        class map.
    missing
        Role or field -> events without a value.
    constant
        Columns that hold one value throughout.
    activities
        Activity -> events.
    transitions
        Transition of the lifecycle, in small letters -> rows.
    other_moments
        Rows that are another moment of an event that counts, such as its start.
    first, last
        Earliest and latest time.
    too_young, cut_events
        Cases left out and events cut off by the horizon.
    clock_gaps, clock_repeats
        Times that did not exist, or existed twice, in the declared zone (summer time); the
        first of two was taken, a time that did not exist was moved on by an hour.
    flattened_duplicates, flattened_drops
        OCEL: events that belong to several cases and were repeated; to none and were dropped.
    problems, more_problems
        Bad rows with their place; how many beyond the kept ones.
    remarks
        What the user should know and need not mend.
    files
        The files, in the order in which they were read.
    """

    events: int = 0
    cases: int = 0
    ties: int = 0
    out_of_order: int = 0
    duplicates: int = 0
    open_cases: int | None = None
    missing: Counter[str] = field(default_factory=Counter)
    constant: tuple[str, ...] = ()
    activities: Counter[str] = field(default_factory=Counter)
    transitions: Counter[str] = field(default_factory=Counter)
    other_moments: int = 0
    first: datetime | None = None
    last: datetime | None = None
    too_young: int = 0
    cut_events: int = 0
    clock_gaps: int = 0
    clock_repeats: int = 0
    flattened_duplicates: int = 0
    flattened_drops: int = 0
    synthetic: bool = False
    problems: list[InputError] = field(default_factory=list)
    more_problems: int = 0
    remarks: list[str] = field(default_factory=list)
    files: list[InputFile] = field(default_factory=list)

    def add_problem(self, problem: InputError) -> None:
        """Keep a bad row, up to `MAX_PROBLEMS`."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        else:
            self.more_problems += 1

    def remark(self, text: str) -> None:
        """Keep a remark, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain = dict(self.__dict__)
        plain["files"] = [vars(file) for file in self.files]
        plain["problems"] = [str(problem) for problem in self.problems]
        for name in ("first", "last"):
            time = plain[name]
            plain[name] = None if time is None else time.isoformat()
        for name in ("missing", "activities", "transitions"):
            plain[name] = dict(sorted(plain[name].items()))
        return plain
