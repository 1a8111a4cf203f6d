"""The real command line, in a process of its own.

The interpreter and the libraries of a command take two seconds to load and tests run some
hundreds of commands, so these processes are forked from one that has loaded the libraries and has
not yet computed anything. A command whose environment the libraries read while they load, and
every command of a test that asks for it (``fresh``), starts an interpreter of its own.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READ_WHILE_LOADING = ("PYTHON", "OMP_", "OPENBLAS_", "POLARS_", "NPY_", "GLIBC_", "LD_", "MPL")
TIMEOUT = 300

# What the process that forks runs: a request a line, an answer a line.
SERVER = r"""
import importlib, json, os, signal, sys
for name in (
    "pydantic", "msgspec", "jinja2", "typer", "rich.console", "rich.table", "pyarrow.parquet",
    "polars", "pandas", "scipy.special", "scipy.stats", "sklearn.linear_model",
    "sklearn.feature_extraction.text", "usi.pipeline", "usi.report.html.page", "usi.simulate",
):
    importlib.import_module(name)
import usi.cli.main
answers = os.fdopen(os.dup(1), "w")
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.setsid()
        for number, path, flags in (
            (0, asked["stdin"], os.O_RDONLY),
            (1, asked["out"], os.O_WRONLY), (2, asked["err"], os.O_WRONLY),
        ):
            opened = os.open(path, flags)
            os.dup2(opened, number)
            os.close(opened)
        answers.close()
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.argv = ["usi", *asked["arguments"]]
        sys.path[0] = asked["cwd"]
        sys.stdin = open(0, encoding="utf-8", closefd=False)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", 1, encoding="utf-8", closefd=False)
        code = 0
        try:
            usi.cli.main.run()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        except BaseException:
            import traceback
            traceback.print_exc()
            code = 1
        finally:
            try:
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                import atexit
                atexit._run_exitfuncs()
                os._exit(code)
    print(child, file=answers, flush=True)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
"""


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Stdout as JSON."""
        return json.loads(self.out)


class Forker:
    """The process that has loaded the libraries."""

    def __init__(self) -> None:
        """Start it; it ends with the tests."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        atexit.register(self.process.kill)

    def run(self, arguments: list[str], cwd: str, env: dict[str, str], stdin: bytes) -> Done:
        """Run one command and wait for its end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            files = {name: os.path.join(folder, name) for name in ("stdin", "out", "err")}
            for name, path in files.items():
                Path(path).write_bytes(stdin if name == "stdin" else b"")
            asked = {"arguments": arguments, "cwd": cwd, "env": env, **files}
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
            child = int(self.process.stdout.readline())
            alarm = signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
            signal.alarm(TIMEOUT)
            try:
                code = int(self.process.stdout.readline())
            finally:
                signal.alarm(0)
                signal.signal(signal.SIGALRM, alarm)
            out, err = (Path(files[name]).read_bytes().decode("utf-8") for name in ("out", "err"))
        return Done(code, out, err)


_forker: list[Forker] = []


def usi(
    *arguments: str | Path,
    cwd: Path | None = None,
    stdin: bytes = b"",
    env: dict[str, str] | None = None,
    fresh: bool = False,
) -> Done:
    """Run ``usi`` with these arguments; no terminal, so stdout is JSON where a verb has it."""
    given = [str(argument) for argument in arguments]
    own = {**os.environ, "COLUMNS": "200", **(env or {})}
    if fresh or any(name.startswith(READ_WHILE_LOADING) for name in env or {}):
        done = subprocess.run(
            [sys.executable, "-m", "usi", *given],
            input=stdin, capture_output=True, cwd=cwd, timeout=TIMEOUT, check=False, env=own,
        )  # fmt: skip
        return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
    if not _forker:
        _forker.append(Forker())
    return _forker[0].run(given, str(cwd or Path.cwd()), own, stdin)


def refused(done: Done, *words: str) -> None:
    """Exit code 2, one message that holds these words, no traceback, nothing on stdout."""
    assert done.code == 2, done
    assert done.err.startswith("usi: error: "), done.err
    assert done.err.count("usi: error") == 1
    assert "Traceback" not in done.err
    assert done.out == ""
    for word in words:
        assert word in done.err, done.err
