"""The rules of the house: imports one way, small files, a light start, data in the wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from command import usi
from helpers import ROOT

HEAVY = ("numpy", "polars", "pandas", "pyarrow", "scipy", "sklearn", "matplotlib", "litellm",
         "spacy", "jinja2", "msgspec")  # fmt: skip


def test_rooms_import_one_way() -> None:
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert " 0 broken" in done.stdout


def test_an_import_against_the_direction_is_found(tmp_path: Path) -> None:
    """The contract would notice: a copy in which errors imports cli is broken."""
    shutil.copytree(ROOT / "usi", tmp_path / "usi", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "usi" / "errors.py").open("a") as stream:
        stream.write("\nimport usi.cli.verbs  # noqa\n")
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [tool, "--no-cache"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert "usi.errors" in done.stdout


@pytest.mark.parametrize("start", ["import usi.cli.main", "import usi"])
def test_the_command_line_starts_light(start: str) -> None:
    probe = f"{start}, sys; print(*sorted(n for n in {HEAVY!r} if n in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == ""


def test_help_imports_nothing_heavy() -> None:
    probe = (
        "import sys\nfrom usi.cli.main import run\n"
        "try:\n    run(['--help'])\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print('HEAVY', *sorted(n for n in {HEAVY!r} if n in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == "HEAVY"
    assert "Usage: usi" in done.stdout


def test_only_the_command_line_ends_the_process() -> None:
    ends = ("sys.exit(", "raise SystemExit")
    found = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "usi").rglob("*.py")
        if "cli" not in path.parts
        and any(word in path.read_text(encoding="utf-8") for word in ends)
    ]
    assert found == []


def test_extras_are_declared_and_all_holds_the_optional_ones() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert {"nlp", "sim", "logs", "all", "docs", "dev"} <= set(extras)
    assert extras["all"] == ["usi[nlp,sim,logs,fetch,study,excel]"]
    base = " ".join(project["dependencies"])
    for heavy in ("spacy", "litellm", "rustxes", "pm4py", "openpyxl"):
        assert heavy not in base


def test_the_wheel_holds_every_data_file(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    data = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "usi").rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert {path.rpartition(".")[2] for path in data} >= {"toml", "json", "j2", "css", "typed"}
    assert data - packed == set()
    assert any(name.endswith("licenses/LICENSE") for name in packed)


def test_the_makefile_has_its_targets_and_ci_calls_make_test() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "docs", "test", "lint", "bench", "clean"):
        assert f"\n{target}:" in makefile
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")


def test_the_version_is_told() -> None:
    from usi import __version__

    assert usi("--version").out == f"usi {__version__}\n"
