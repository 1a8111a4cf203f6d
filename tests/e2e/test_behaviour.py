"""How the command line behaves: files, settings, pipes, terminals, accidents."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from command import refused, usi

from usi.cli.guard import report_text
from usi.cli.settings import find_workspace
from usi.errors import InputError

ROW = {"id": "a", "messages": [{"role": "user", "content": "hello there"}]}


@pytest.fixture
def sim(tmp_path: Path) -> Path:
    path = tmp_path / "sim.jsonl"
    path.write_text(json.dumps(ROW) + "\n")
    return path


def features(*arguments: str | Path, cwd: Path | None = None):
    return usi("features", *arguments, "--side", "simulated", "--profile", "tau-usi", cwd=cwd)


def test_a_foreign_file_is_kept_and_a_file_of_usi_is_replaced(sim: Path, tmp_path: Path) -> None:
    out = tmp_path / "f.csv"
    out.write_text("mine\n")
    refused(features(sim, "-o", out), "--force")
    assert out.read_text() == "mine\n"
    assert features(sim, "-o", out, "--force").code == 0
    first = out.read_bytes()
    assert features(sim, "-o", out).code == 0
    assert out.read_bytes() == first


def test_an_input_is_never_overwritten(sim: Path) -> None:
    before = sim.read_bytes()
    refused(usi("convert", sim, "-o", sim, "--force"), "input")
    assert sim.read_bytes() == before


def test_an_unknown_suffix_is_told_before_any_work(sim: Path, tmp_path: Path) -> None:
    refused(features(sim, "-o", tmp_path / "f.xlsx"), ".parquet", ".csv", ".jsonl")
    refused(
        usi("score", sim, "--human", sim, "--profile", "tau-usi", "-o", tmp_path / "c.docx"),
        ".json", ".md", ".html",
    )  # fmt: skip


def test_quiet_leaves_only_errors_on_stderr(sim: Path, tmp_path: Path) -> None:
    assert usi("convert", sim, "-o", tmp_path / "a.jsonl").err != ""
    assert usi("convert", sim, "-o", tmp_path / "b.jsonl", "--quiet").err == ""
    refused(usi("convert", tmp_path / "absent.json", "--quiet"), "absent.json")


def test_a_workspace_is_made_once_and_never_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "ws"
    assert usi("init", place).code == 0
    for name in ("human_corpus", "simulators", "reports"):
        assert (place / name).is_dir()
    (place / "usi.toml").write_text("[score]\nprofile = 'tau-usi'\n")
    assert usi("init", place).code == 0
    assert (place / "usi.toml").read_text() == "[score]\nprofile = 'tau-usi'\n"
    assert usi("doctor", cwd=place).code == 0


def test_the_template_of_settings_is_valid_with_and_without_its_comments(tmp_path: Path) -> None:
    usi("init", tmp_path)
    template = (tmp_path / "usi.toml").read_text()
    assert find_workspace(tmp_path).file == tmp_path / "usi.toml"
    bare = "\n".join(line.removeprefix("# ") if " = " in line else line
                     for line in template.splitlines())  # fmt: skip
    (tmp_path / "usi.toml").write_text(bare)
    assert find_workspace(tmp_path).settings.of("score")["run_ids"] == "auto"


def test_settings_apply_and_the_command_line_goes_over_them(sim: Path, tmp_path: Path) -> None:
    (tmp_path / "usi.toml").write_text('[features]\nprofile = "no-such-profile"\n')
    base = ("features", sim, "--side", "simulated")
    refused(usi(*base, cwd=tmp_path), "no-such-profile")
    assert usi(*base, "--profile", "tau-usi", cwd=tmp_path).code == 0
    (tmp_path / "usi.toml").unlink()
    (tmp_path / "pyproject.toml").write_text('[tool.usi.features]\nprofile = "nor-this"\n')
    refused(usi(*base, cwd=tmp_path), "nor-this")


def test_an_unknown_key_is_an_error_with_a_suggestion(sim: Path, tmp_path: Path) -> None:
    (tmp_path / "usi.toml").write_text('[score]\nhumann = "x"\n\n[features]\nprofile = 3\n')
    done = usi("features", sim, "--side", "simulated", cwd=tmp_path)
    refused(done, "usi.toml", "score.humann", "did you mean 'human'", "features.profile")
    checked = usi("doctor", cwd=tmp_path)
    assert checked.code == 2
    assert "humann" in checked.out


@pytest.mark.parametrize("text", ["[score", 'score = "x"', "\xff"])
def test_a_settings_file_that_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "usi.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"usi\.toml"):
        find_workspace(tmp_path)


def test_doctor_names_an_unknown_reference(tmp_path: Path) -> None:
    usi("init", tmp_path)
    (tmp_path / "usi.toml").write_text('[score]\nhuman = "nobody"\n')
    done = usi("doctor", cwd=tmp_path)
    assert done.code == 2
    (wrong,) = [item for item in done.json()["findings"] if item["state"] == "wrong"]
    assert "nobody" in wrong["detail"]


def test_a_closed_pipe_is_no_accident(tmp_path: Path) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text("".join(json.dumps({**ROW, "id": str(i)}) + "\n" for i in range(20_000)))
    done = subprocess.run(
        f"{sys.executable} -m usi convert {many} --quiet | head -n 1; echo ${{PIPESTATUS[0]}}",
        shell=True, executable="/bin/bash", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "141"


def terminal(*arguments: str, env: dict[str, str] | None = None) -> str:
    """Stdout of a command that sees a terminal of 80 columns."""
    parent, child = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "usi", *arguments], stdout=child, stderr=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", **(env or {})},
    ) as process:  # fmt: skip
        os.close(child)
        chunks = []
        try:
            while chunk := os.read(parent, 65536):
                chunks.append(chunk)
        except OSError:  # the other end is closed
            pass
        process.wait()
    os.close(parent)
    return b"".join(chunks).decode("utf-8")


def test_a_terminal_gets_a_table_and_a_pipe_gets_json(sim: Path) -> None:
    shown = terminal("validate", str(sim))
    assert "usi-jsonl, 1 sessions" in shown
    assert usi("validate", sim).json()["ok"] is True
    assert "{" not in terminal("explain", "USI|p:tau-usi")


def test_an_internal_error_ends_with_70_and_a_report_without_texts(tmp_path: Path) -> None:
    probe = (
        "import usi.provenance, usi.cli.main\n"
        "def broken(*a, **k): raise ZeroDivisionError('SECRET words of a transcript')\n"
        "usi.provenance.parse = broken\n"
        "usi.cli.main.run(['explain', 'USI|p:tau-usi'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    assert "SECRET" not in done.stderr
    (report,) = tmp_path.glob("usi-crash-*.txt")
    assert str(report) in done.stderr
    text = report.read_text()
    assert "ZeroDivisionError" in text
    assert "SECRET words" not in text.replace("raise ZeroDivisionError", "")
    assert str(Path.home()) not in text


def test_the_report_follows_causes() -> None:
    try:
        try:
            raise KeyError("inner text")
        except KeyError as error:
            raise ValueError("outer text") from error
    except ValueError as error:
        text = report_text(error)
    assert "ValueError" in text
    assert "KeyError" in text
    assert "usi " in text


def test_ctrl_c_ends_with_130() -> None:
    probe = (
        "import usi.provenance, usi.cli.main\n"
        "def stopped(*a, **k): raise KeyboardInterrupt\n"
        "usi.provenance.parse = stopped\n"
        "usi.cli.main.run(['explain', 'x'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
