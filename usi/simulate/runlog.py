"""The log of a run: append-only, a checksum a line, on disk before an episode counts as done.

A line is ``{"sha256":"<64 hex>","body":<JSON>}``, the checksum that of the bytes of the body. What
a crash leaves of a last line is cut off; any other damage is an error that names the line.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any

from usi.errors import InputError, UsageError

_HEAD, _MIDDLE, _HEX = b'{"sha256":"', b'","body":', 64


def encode_line(body: Any) -> bytes:
    """A line with its line end."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=True).encode()
    return _HEAD + hashlib.sha256(text).hexdigest().encode() + _MIDDLE + text + b"}\n"


def decode_line(line: bytes) -> Any | None:
    """The body of a line, or ``None`` where the line is damaged."""
    start = len(_HEAD) + _HEX
    text = line[start + len(_MIDDLE) : -2]
    if not (line.startswith(_HEAD) and line[start:].startswith(_MIDDLE) and line.endswith(b"}\n")):
        return None
    if hashlib.sha256(text).hexdigest().encode() != line[len(_HEAD) : start]:
        return None
    return json.loads(text)


class RunLog:
    """An open log, held by one process at a time."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self._path.open("a+b")
        except OSError as error:
            raise UsageError(
                f"can't write into {self._path.parent}: {error.strerror}; choose another -o"
            ) from None
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._stream.close()
            raise UsageError(f"{self._path}: another run is writing here") from None
        try:
            self.bodies = self._read()
        except InputError:
            self._stream.close()
            raise

    def _read(self) -> list[Any]:
        self._stream.seek(0)
        lines = self._stream.read().splitlines(keepends=True)
        bodies, good = [], 0
        for row, line in enumerate(lines, start=1):
            body = decode_line(line)
            if body is None:
                if row < len(lines) or line.endswith(b"\n"):
                    raise InputError(
                        "the checksum does not fit: the log was changed or the disk is damaged; "
                        "start again in another folder",
                        file=str(self._path),
                        row=row,
                    )
                self._stream.truncate(good)
                break
            bodies.append(body)
            good += len(line)
        return bodies

    def append(self, body: Any) -> None:
        """Write a line and wait until it is on disk."""
        with self._lock:
            self._stream.write(encode_line(body))
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Close the file and let others have it."""
        self._stream.close()
