"""A process that is asked in lines: one goes in, one comes out, within a time."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import time
from collections.abc import Callable

MOST_BYTES = 8 * 2**20
_PIECE = 2**16
_LOOK = 0.2
"""Seconds between two looks at whether an answer is still wanted."""


class Broken(Exception):
    """The process gave no line that answers; the text says why."""


class LineProcess:
    """A running command; it is split as a shell would, and no shell runs it.

    Parameters
    ----------
    command
        Program and arguments. What it writes to stderr is shown as it comes.

    Raises
    ------
    Broken
        It can't be started.
    """

    def __init__(self, command: str) -> None:
        try:
            self._process = subprocess.Popen(
                shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
        except (OSError, ValueError) as error:
            raise Broken(str(error)) from None
        if self._process.stdin is None or self._process.stdout is None:
            raise Broken("it has no pipes")
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._read = bytearray()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def ask(
        self, line: bytes, timeout: float, given_up: Callable[[], bool] = lambda: False
    ) -> bytes:
        """Write a line and read the one that answers it.

        A process that reads slowly, writes half a line or writes byte by byte is given `timeout`
        seconds in all. A line that came unasked would be taken for the answer to a question that
        it does not know, so it is an error, too. Where `given_up` says so, nothing is waited for.

        Raises
        ------
        Broken
            No whole line came, or one too many.
        """
        if not self._read and select.select([self._out], [], [], 0)[0]:
            self._take()  # which tells where it has ended
        if self._read:
            raise Broken("wrote a line that nobody asked for (print to stderr instead)")
        end, unsent = time.monotonic() + timeout, memoryview(line)
        while unsent or b"\n" not in self._read:
            left = end - time.monotonic()
            writing = [self._in] if unsent else []
            patience = max(0.0, min(left, _LOOK))
            readable, writable, _ = select.select([self._out], writing, [], patience)
            if given_up():
                raise Broken("was not waited for any longer")
            if left <= 0:
                raise Broken(f"no answer in {timeout:g} s")
            if writable:
                try:
                    unsent = unsent[os.write(self._in, unsent[:_PIECE]) :]
                except OSError:
                    raise Broken("ended without an answer") from None
            if readable:
                self._take()
        answer, _, rest = bytes(self._read).partition(b"\n")
        self._read = bytearray(rest)
        return answer

    def _take(self) -> None:
        try:
            piece = os.read(self._out, _PIECE)
        except OSError:
            piece = b""
        if not piece:
            raise Broken("ended without an answer")
        self._read += piece
        if len(self._read) > MOST_BYTES:
            raise Broken(f"an answer of more than {MOST_BYTES // 2**20} MB")

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self.close()

    def close(self, patience: float = 2.0) -> None:
        """Let it end by itself, which its closed input tells it to, or end it."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
