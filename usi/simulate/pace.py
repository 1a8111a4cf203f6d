"""Not faster than a provider allows: a rate a minute, pauses that it asks for, and backoff."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0


def backoff(attempt: int, *, first: float = FIRST_WAIT, longest: float = LONGEST_WAIT) -> float:
    """Seconds before attempt number `attempt` + 1, doubling from `first`.

    >>> [backoff(n) for n in (1, 2, 3)]
    [1.0, 2.0, 4.0]
    """
    return min(longest, first * 2.0 ** (attempt - 1))


class Pace:
    """Spaces calls evenly and honours pauses; shared by all threads of a run."""

    def __init__(
        self,
        per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait for this call's turn."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._gap
        if start > now:
            self._sleep(start - now)

    def pause(self, seconds: float) -> None:
        """Let no call begin within the next `seconds`."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)
