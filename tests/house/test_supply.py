"""The targets about dependencies and the wheel: what their scripts say and make."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def ran(*arguments: str | Path, **env: str) -> str:
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=ROOT, check=True, capture_output=True,
        text=True, env={**os.environ, **env},
    ).stdout  # fmt: skip


def test_every_dependency_has_a_lower_bound_that_is_tested() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert [line.replace("==", ">=") for line in ran(".ci/lowest").split()] == wanted


def test_the_audit_names_the_licence_of_every_dependency() -> None:
    lines = ran(".ci/audit").splitlines()
    assert [line for line in lines if line.startswith("numpy ")]
    assert not [line for line in lines if line.endswith(": not said")]


def test_the_wheel_has_the_same_bytes_twice(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        ran(".ci/wheel", tmp_path / name, SOURCE_DATE_EPOCH="1700000000")
        made += [path.read_bytes() for path in (tmp_path / name).glob("*.whl")]
    assert len(made) == 2
    assert made[0] == made[1]
