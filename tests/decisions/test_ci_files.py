"""The composite action and the GitLab job: their shell steps are run as they stand."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from decisions.cards import card, part, simulator
from helpers import ROOT

ACTION = ROOT / "action.yml"
GITLAB = ROOT / "docs" / "gitlab-ci.example.yml"
CARDS = {
    "pass": (card(), 0, "PASS"),
    "fail": (card(simulator(components={"reaction": part(10.0)})), 1, "FAIL"),
    "open": (card(simulator(gaming_suspected=True)), 3, "INCONCLUSIVE"),
}


def action() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    return data


def step(name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(s for s in action()["runs"]["steps"] if s["name"] == name)
    return found


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """Environment with a `usi` on the path: the real gate, and a score that copies a file."""
    folder = tmp_path / "bin"
    folder.mkdir()
    fake = folder / "usi"
    fake.write_text(
        f"#!{sys.executable}\n"
        "import json, os, shutil, sys\n"
        "if sys.argv[1] == 'score':\n"
        "    json.dump(sys.argv[1:], open(os.environ['SEEN'], 'w'))\n"
        "    outs = [sys.argv[k + 1] for k, a in enumerate(sys.argv) if a == '-o']\n"
        "    shutil.copy(os.environ['CARD'], outs[0])\n"
        "    sys.exit(0)\n"
        "from usi.cli.main import run\n"
        "run()\n"
    )
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "USI_"))}
    return {
        **env,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SEEN": str(tmp_path / "seen.json"),
        "CARD": str(tmp_path / "card.json"),
    }


def bash(script: str, env: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        env=env, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def inputs(name: str, **values: str) -> dict[str, str]:
    """Environment of a step: expressions replaced by inputs or their defaults."""
    declared = action()["inputs"]
    result = {}
    for key, expression in step(name)["env"].items():
        found = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", expression)
        if found:
            result[key] = values.get(found[1], str(declared[found[1]]["default"]))
        else:
            assert expression == "${{ github.action_path }}"
            result[key] = str(ROOT)
    return result


@pytest.mark.parametrize("name", sorted(CARDS))
def test_gate_step(name: str, machine: dict[str, str], tmp_path: Path) -> None:
    scorecard, code, word = CARDS[name]
    Path(machine["CARD"]).write_text(scorecard.to_json(), encoding="utf-8")
    env = {
        **machine,
        **inputs("Gate", scorecard="card.json", tier="B"),
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    done = bash(step("Gate")["run"], env, tmp_path)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith(word)
    verdict = json.loads((tmp_path / "usi-report" / "verdict.json").read_text())
    assert (verdict["verdict"], verdict["exit_code"]) == (word, code)
    assert f"# usi: {word}" in (tmp_path / "usi-report" / "verdict.md").read_text()
    assert (tmp_path / "usi-report" / "verdict.junit.xml").read_text().startswith("<?xml")
    assert f"# usi: {word}" in (tmp_path / "summary.md").read_text()
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    # every declared output of the action is one that the step sets
    for key, declared in action()["outputs"].items():
        assert declared["value"] == f"${{{{ steps.gate.outputs.{key} }}}}"
        assert key in outputs
    assert outputs["verdict"] == word
    env |= inputs("Gate", scorecard="card.json", tier="B", **{"exit-zero": "true"})
    assert bash(step("Gate")["run"], env, tmp_path).returncode == 0


def test_gate_step_passes_all_inputs_on(machine: dict[str, str], tmp_path: Path) -> None:
    fake = Path(machine["PATH"].split(os.pathsep)[0]) / "usi"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$SEEN"\n')
    values = {
        "scorecard": "my card.json", "criteria": "gate.toml", "baseline": "old.json",
        "anchor": "first.json", "simulator": "$(touch hacked) `x`", "as-of": "2026-01-31",
        "output-dir": "out dir",
    }  # fmt: skip
    done = bash(step("Gate")["run"], {**machine, **inputs("Gate", **values)}, tmp_path)
    assert done.returncode == 0, done.stderr
    seen = Path(machine["SEEN"]).read_text().splitlines()
    assert seen == [
        "gate", "my card.json", "--criteria", "gate.toml", "--baseline", "old.json",
        "--anchor", "first.json", "--simulator", "$(touch hacked) `x`", "--as-of", "2026-01-31",
        "--print", "table", "-o", "out dir/verdict.json", "-o", "out dir/verdict.md",
        "-o", "out dir/verdict.junit.xml",
    ]  # fmt: skip
    assert not (tmp_path / "hacked").exists()


def test_score_step(machine: dict[str, str], tmp_path: Path) -> None:
    Path(machine["CARD"]).write_text(CARDS["pass"][0].to_json(), encoding="utf-8")
    values = {"sim": "a b.json\nc.json\n", "human": "people", "score-options": "--c2st\nfull"}
    done = bash(step("Score")["run"], {**machine, **inputs("Score", **values)}, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(Path(machine["SEEN"]).read_text()) == [
        "score", "a b.json", "c.json", "--human", "people", "--c2st", "full", "--print", "none",
        "-o", "usi-report/scorecard.json", "-o", "usi-report/scorecard.md",
    ]  # fmt: skip
    # then the gate reads what was scored
    gate = {**machine, **inputs("Gate", tier="B")}
    assert bash(step("Gate")["run"], gate, tmp_path).returncode == 0
    missing = bash(step("Score")["run"], {**machine, **inputs("Score")}, tmp_path)
    assert missing.returncode == 2
    assert "::error" in missing.stdout


def test_install_step(machine: dict[str, str], tmp_path: Path) -> None:
    folder = Path(machine["PATH"].split(os.pathsep)[0])
    fake = folder / "python"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$SEEN"\n')
    fake.chmod(0o755)
    for install, wanted in (("self", str(ROOT)), ("usi==1.2.3", "usi==1.2.3")):
        env = {**machine, **inputs("Install usi", install=install)}
        assert bash(step("Install usi")["run"], env, tmp_path).returncode == 0
        seen = Path(machine["SEEN"]).read_text().splitlines()
        assert seen == ["-m", "pip", "install", "--quiet", wanted]


def test_no_step_pastes_inputs_into_its_script() -> None:
    # an expression inside a script would let text of a pull request become code
    for found in action()["runs"]["steps"]:
        assert "${{" not in found.get("run", "")
        assert "run" not in found or found["shell"] == "bash"


@pytest.mark.parametrize("name", sorted(CARDS))
def test_gitlab_job(name: str, machine: dict[str, str], tmp_path: Path) -> None:
    scorecard, code, word = CARDS[name]
    Path(machine["CARD"]).write_text(scorecard.to_json(), encoding="utf-8")
    job = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))["usi-gate"]
    env = {**machine, **{k: str(v) for k, v in job["variables"].items()}, "USI_INSTALL": ""}
    script = "\n".join([*job["before_script"], *job["script"]])
    done = bash(script, env, tmp_path)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith(word)
    assert "::" not in done.stderr
    report = tmp_path / job["artifacts"]["reports"]["junit"]
    assert f'value="{word}"' in report.read_text()
    assert job["allow_failure"] == {"exit_codes": [3]}
    assert str(report.parent.relative_to(tmp_path)) + "/" in job["artifacts"]["paths"]
