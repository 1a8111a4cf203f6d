"""Answers of models and endpoints in sqlite, found again by the hash of what was asked."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from usi.errors import InputError

_TABLE = "create table if not exists answers (key text primary key, answer text not null)"


def canonical(value: Any, *, nan: bool = True) -> str:
    """JSON text that is the same for the same value, whatever the order of keys.

    Without `nan` a number that JSON does not know is a `ValueError`.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=nan
    )


def content_key(request: Mapping[str, Any]) -> str:
    """SHA-256 of a request in canonical JSON. A request never holds a key of a provider."""
    return hashlib.sha256(canonical(request).encode("ascii")).hexdigest()


class Cache:
    """A file of answers; safe for threads. ``None`` as path keeps them in memory."""

    def __init__(self, path: str | Path | None) -> None:
        self._name = str(path)
        self._lock = threading.Lock()
        try:
            if path is not None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                ":memory:" if path is None else str(path), check_same_thread=False, timeout=30
            )
            self._db.execute(_TABLE)
            self._db.commit()
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"no cache of answers: {error}", file=self._name) from None

    def get(self, key: str) -> Any | None:
        """The answer, or ``None``."""
        with self._lock:
            row = self._db.execute("select answer from answers where key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, key: str, answer: Any) -> None:
        """Keep an answer in place of an earlier one."""
        with self._lock:
            self._db.execute(
                "insert or replace into answers values (?, ?)", (key, canonical(answer))
            )
            self._db.commit()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
