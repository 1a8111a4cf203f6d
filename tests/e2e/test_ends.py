"""Full disks, full and closed standard output, Ctrl-C and SIGTERM: message, whole files, code."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

SIMULATE = ("simulate", "scripted:terse", "--domain", "service_desk", "--agent", "oracle")
PLAN = ("plan", "--tasks", "20", "--truth", "90")


def started(
    *arguments: str | Path, limit: int | None = None, **more: object
) -> subprocess.Popen[str]:
    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen(
        [sys.executable, "-m", "usi", *map(str, arguments)], text=True,
        preexec_fn=limited,  # noqa: PLW1509
        **streams,
    )  # type: ignore[call-overload, no-any-return]  # fmt: skip


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert "xception ignored" not in err
    assert "internal error" not in err
    return process.returncode, out or "", err


def whole(folder: Path) -> None:
    """No file below the folder is half of one."""
    for path in folder.rglob("*"):
        assert not path.name.startswith(".usi-")
        assert not path.name.endswith(".part")
        if path.suffix == ".json":
            json.loads(path.read_text())
        if path.suffix == ".jsonl":
            text = path.read_text()
            assert text.endswith("\n")
            assert [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    assert ended(started(*SIMULATE, "--tasks", "12", "--runs", "2", "-o", folder))[0] == 0
    return folder / "terse.jsonl"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [PLAN, ("--help",), ("explain", "USI|profile:tau-usi")])
def test_a_full_standard_output_is_said(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        code, _, err = ended(started(*arguments, stdout=full))
    assert code == 2
    assert "No space left" in err or arguments[0] == "explain"


def test_a_closed_standard_output_is_said() -> None:
    command = f'exec "{sys.executable}" -m usi {" ".join(PLAN)} >&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "can't be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_ends_quietly() -> None:
    command = f'"{sys.executable}" -m usi {" ".join(PLAN)} | true; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 141)
    assert done.stderr == ""


@pytest.mark.parametrize(
    "made",
    [
        lambda people, out: ("features", people, "--side", "simulated", "-o", out / "f.csv"),
        lambda people, out: ("convert", people, "-o", out / "c.csv"),
        lambda people, out: ("score", people, "--human", people, "--difficulty", "self",
                             "--profile", "tau-usi", "-o", out / "c.json", "-o", out / "c.html"),
    ],
)  # fmt: skip
def test_a_full_disk_is_said_and_leaves_no_half_file(
    made: Callable[[Path, Path], tuple[str | Path, ...]], people: Path, tmp_path: Path
) -> None:
    code, out, err = ended(started(*made(people, tmp_path), limit=3000))
    assert (code, out) == (2, "")
    assert "too large" in err
    assert list(tmp_path.iterdir()) == []


def test_a_run_on_a_full_disk_goes_on_where_there_is_room(tmp_path: Path) -> None:
    arguments = (*SIMULATE, "--tasks", "16", "--runs", "2", "-o", tmp_path / "runs")
    code, _, err = ended(started(*arguments, limit=40_000))
    assert code == 2
    assert "goes on from there" in err
    whole(tmp_path)
    code, out, _ = ended(started(*arguments))
    assert code == 0
    assert ended(started(*arguments[:-1], tmp_path / "whole"))[0] == 0
    again, straight = (tmp_path / name / "terse.jsonl" for name in ("runs", "whole"))
    assert again.read_bytes() == straight.read_bytes()
    assert json.loads(out)[0]["episodes"] == 32


@pytest.mark.parametrize(
    ("number", "code", "wait"),
    [
        (signal.SIGINT, 130, 0.15), (signal.SIGTERM, 143, 0.5), (signal.SIGINT, 130, 1.4),
        (signal.SIGTERM, 143, 1.6),
    ],
)  # fmt: skip
def test_an_interrupted_run_keeps_its_talks(
    number: int, code: int, wait: float, tmp_path: Path
) -> None:
    process = started(*SIMULATE, "--runs", "60", "-o", tmp_path / "runs")
    log = tmp_path / "runs" / ".terse.runlog"
    time.sleep(wait)
    if wait > 1:  # until talks are there
        while not log.exists() or log.stat().st_size < 50_000:
            time.sleep(0.05)
    process.send_signal(number)
    began = time.monotonic()
    found, _, err = ended(process)
    assert time.monotonic() - began < 15
    assert found == code, err
    assert err.strip().endswith("terminated" if number == signal.SIGTERM else "interrupted")
    whole(tmp_path)
    if wait > 1:
        talks = (tmp_path / "runs" / "terse.jsonl").read_text().splitlines()
        assert len(talks) == log.read_bytes().count(b'"kind":"episode"')


@pytest.mark.parametrize("wait", [0.3, 1.0])
def test_an_interrupted_score_leaves_whole_files(wait: float, people: Path, tmp_path: Path) -> None:
    process = started("score", people, "--human", people, "-o",
                      tmp_path / "c.json", "-o", tmp_path / "c.html")  # fmt: skip
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] in (130, 0, 2)
    whole(tmp_path)
