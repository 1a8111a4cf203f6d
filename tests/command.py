"""The real command line, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Stdout as JSON."""
        return json.loads(self.out)


def usi(
    *arguments: str | Path,
    cwd: Path | None = None,
    stdin: bytes = b"",
    env: dict[str, str] | None = None,
) -> Done:
    """Run ``usi`` with these arguments; no terminal, so stdout is JSON where a verb has it."""
    done = subprocess.run(
        [sys.executable, "-m", "usi", *map(str, arguments)],
        input=stdin, capture_output=True, cwd=cwd, timeout=300, check=False,
        env={**os.environ, "COLUMNS": "200", **(env or {})},
    )  # fmt: skip
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def refused(done: Done, *words: str) -> None:
    """Exit code 2, one message that holds these words, no traceback, nothing on stdout."""
    assert done.code == 2, done
    assert done.err.startswith("usi: error: "), done.err
    assert done.err.count("usi: error") == 1
    assert "Traceback" not in done.err
    assert done.out == ""
    for word in words:
        assert word in done.err, done.err
