"""Ctrl-C and SIGTERM: the first one ends the work in good order, at whatever instant it comes.

Nothing heavy is imported here, since an interruption may come before anything else is there.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

INTERRUPTED = 130
TERMINATED = 143
"""Exit codes, as a shell reports a program that a signal ended."""
_WAIT = b"usi: ending; once more to end at once\n"


class Terminated(KeyboardInterrupt):
    """SIGTERM came; whatever ends well at Ctrl-C ends well here."""


class _Interruption:
    """What came so far; the second signal is answered, the third ends the process."""

    def __init__(self) -> None:
        self.count, self.number, self.said = 0, 0, False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        self.number = self.number or number
        if self.count == 1:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        if self.count > 2:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        with suppress(OSError):
            os.write(2, _WAIT)

    def lost(self, raised: Any) -> None:
        """An interruption that Python drops, since it came inside a destructor: once more."""
        if issubclass(raised.exc_type, KeyboardInterrupt):
            self.count = 0
            signal.raise_signal(self.number or signal.SIGINT)
        else:
            sys.__unraisablehook__(raised)


_installed: list[_Interruption] = []


def code_of(error: BaseException) -> int:
    """The exit code of an interruption; libraries may have raised another one in its place."""
    terminated = isinstance(error, Terminated) or interruption_code() == TERMINATED
    return TERMINATED if terminated else INTERRUPTED


def interruption_code() -> int | None:
    """The exit code of the interruption that came; ``None`` where none did."""
    number = _installed[0].number if _installed else 0
    return 128 + number if number else None


def check() -> None:
    """Raise the interruption that came and was lost, since some library caught it.

    Raises
    ------
    KeyboardInterrupt
        Where one came.
    """
    came = interruption_code()
    if came is not None:
        raise Terminated if came == TERMINATED else KeyboardInterrupt


def say(error: BaseException) -> None:
    """One line on stderr, once."""
    if _installed:
        if _installed[0].said:
            return
        _installed[0].said = True
    word = "terminated" if code_of(error) == TERMINATED else "interrupted"
    with suppress(OSError):
        os.write(2, f"usi: {word}\n".encode())


@contextmanager
def interruptible() -> Iterator[None]:
    """Answer Ctrl-C and SIGTERM inside; signals that somebody else answers or ignores are left."""
    if _installed or threading.current_thread() is not threading.main_thread():
        yield
        return
    own, hook = _Interruption(), sys.unraisablehook
    usual: dict[int, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    taken = [number for number, handler in usual.items() if signal.getsignal(number) is handler]
    _installed.append(own)
    sys.unraisablehook = own.lost
    for number in taken:
        signal.signal(number, own)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, usual[number])
        sys.unraisablehook = hook
        _installed.clear()


def leave_quietly() -> None:
    """From here on a signal ends the process at once: all is done, and Python clears up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if threading.current_thread() is threading.main_thread():
            signal.signal(number, signal.SIG_DFL)


def own_streams() -> None:
    """Put something in the place of standard streams that were closed.

    Otherwise the next file that is opened would get the number of standard output. What is
    written to a closed standard output fails when it is written.
    """
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def process(load: Callable[[], Callable[[], None]]) -> None:
    """A process from its first import to its exit code; `load` imports what is then run.

    After an interruption nothing is waited for: threads that hang can't keep the process.
    """
    own_streams()
    try:
        with interruptible():
            try:
                load()()
            except KeyboardInterrupt as error:
                say(error)
                _end(code_of(error))
            except SystemExit as end:
                came = interruption_code()
                if came is not None:
                    say(end)
                    _end(came)
                raise
    finally:
        leave_quietly()


def _end(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
