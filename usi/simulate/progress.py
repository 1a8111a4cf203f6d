"""How far a run is, what it has cost and how long it will take: on stderr, on a terminal only."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from usi.simulate.ledger import Ledger


class Progress:
    """One line that is drawn anew after every episode."""

    def __init__(self, total: int, done: int, ledger: Ledger, *, label: str, quiet: bool) -> None:
        self.total, self.done, self.ledger, self.label = total, done, ledger, label
        self.first, self.began = done, time.monotonic()
        shown = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.stream: Any = sys.stderr if shown else None
        self._draw()

    def step(self) -> None:
        """One episode more."""
        self.done += 1
        self._draw()

    def close(self) -> None:
        """Leave the line."""
        if self.stream is not None:
            self.stream.write("\n")
            self.stream.flush()

    def _draw(self) -> None:
        if self.stream is not None:
            self.stream.write(f"\r\x1b[K{self.line()}")
            self.stream.flush()

    def line(self) -> str:
        """What is shown."""
        spent = self.ledger.spent
        text = f"{self.label}: {self.done} of {self.total} episodes, ${spent.cost:.4f}"
        new = self.done - self.first
        if new and self.done < self.total:
            left = (time.monotonic() - self.began) / new * (self.total - self.done)
            text += f", {duration(left)} left"
        return text


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(59), duration(90), duration(7300)
    ('59 s', '1 min 30 s', '2 h 1 min')
    """
    s = round(seconds)
    if s < 60:
        return f"{s} s"
    if s < 3600:
        return f"{s // 60} min {s % 60} s"
    return f"{s // 3600} h {s % 3600 // 60} min"
