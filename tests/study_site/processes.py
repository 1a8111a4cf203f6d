"""A study server and its agent as processes, which tests may kill."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from study_site.support import OWNER, SECRET

HERE = Path(__file__).parent
_PATHS = (str(HERE.parent), os.environ.get("PYTHONPATH", ""))
ENVIRONMENT = {
    "USI_STUDY_SECRET": SECRET,
    "USI_STUDY_OWNER": OWNER,
    "PYTHONPATH": os.pathsep.join(path for path in _PATHS if path),
}


def first_line(process: subprocess.Popen[str], stream: str, seconds: float = 60.0) -> str:
    """The first line that a process writes."""
    source = getattr(process, stream)
    readable, _, _ = select.select([source], [], [], seconds)
    assert readable, "the process said nothing"
    return str(source.readline())


@contextmanager
def agent_server(sleep: float = 0.0) -> Iterator[str]:
    """An OpenAI-compatible server; its address."""
    process = subprocess.Popen(
        [sys.executable, str(HERE / "agent_server.py"), "0", str(sleep)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield first_line(process, "stdout").strip()
    finally:
        process.kill()
        process.wait()


@dataclass
class StudyServer:
    """``usi study serve``: the same folder and port each time it is started."""

    folder: Path
    port: int = 0
    arguments: tuple[str, ...] = ("--trial",)
    verb: str = "study"
    process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> str:
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "usi", self.verb, "serve", str(self.folder), "--port",
             str(self.port), *self.arguments],
            stderr=subprocess.PIPE, text=True, env={**os.environ, **ENVIRONMENT},
        )  # fmt: skip
        line = first_line(self.process, "stderr")
        assert "http://" in line, line + str(self.process.stderr and self.process.stderr.read())
        self.port = int(line.rpartition("127.0.0.1:")[2].partition("/")[0])
        return self.url

    def kill(self) -> None:
        """Kill it as the system would: nothing of it runs any more."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """End it in good order; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        end = time.monotonic() + 20
        while self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()
