"""A call with a deadline over the whole of it, whatever the other side does or leaves undone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from usi.simulate.faults import RunStopped

GRACE = 5.0
"""Seconds that a call under way is given to end once the run was interrupted."""
_LOOK = 0.1
Result = TypeVar("Result")


def all_ended(futures: Sequence[Future[Any]]) -> None:
    """Wait until all have ended; an interruption is seen at once, whichever thread it reaches."""
    while wait(futures, timeout=_LOOK).not_done:
        continue


def within(
    seconds: float,
    call: Callable[[], Result],
    interrupted: threading.Event,
    *,
    give_up: Callable[[], object] = lambda: None,
) -> Result:
    """What a call gives, if it gives it in time.

    The call runs in a thread of its own, so that no step of it (name resolution, connecting, a
    status line or a body that comes byte by byte) can outlast the deadline.

    Parameters
    ----------
    seconds
        For the whole call.
    call
        What is done; whatever it raises is raised here.
    interrupted
        Set where the run was interrupted: the call is given `GRACE` more seconds at most.
    give_up
        Called where the call is not waited for any longer, to end it.

    Raises
    ------
    TimeoutError
        After `seconds`.
    RunStopped
        Where the run was interrupted and the call did not end soon.
    """
    found: list[Result] = []
    raised: list[BaseException] = []
    ended = threading.Event()

    def work() -> None:
        try:
            found.append(call())
        except BaseException as error:  # noqa: BLE001  (raised again by who waits)
            raised.append(error)
        ended.set()

    end = time.monotonic() + seconds
    threading.Thread(target=work, daemon=True).start()
    stop: float | None = None
    while not ended.wait(max(0.0, min(_LOOK, end - time.monotonic()))):
        now = time.monotonic()
        if stop is None and interrupted.is_set():
            stop = now + GRACE
        if now >= end or (stop is not None and now >= stop):
            give_up()
            if now < end:
                raise RunStopped("interrupted")
            raise TimeoutError
    if raised:
        raise raised[0]
    return found[0]
