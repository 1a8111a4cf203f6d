"""One result file a run is usual: each begins with trial 0, and none is thrown away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from usi.options import LoadOptions
from usi.pipeline import features, load

NAMED = LoadOptions(name="m")


def talk(words: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": words}, {"role": "assistant", "content": "ok"}]


def files(folder: Path, layout: str, tasks: int, runs: int) -> list[Path]:
    """A file a run, trial 0 in each."""
    found = []
    for run in range(runs):
        rows = [
            {"task_id": task, "trial": 0, "reward": 1.0, "domain": "retail",
             {"tau-bench": "traj", "tau2": "messages"}[layout]: talk(f"words {task} {run}")}
            for task in range(tasks)
        ]  # fmt: skip
        whole: Any = (
            rows if layout == "tau-bench" else {"simulations": rows, "tasks": [], "info": {}}
        )
        found.append(folder / f"run_{run}.json")
        found[-1].write_text(json.dumps(whole), encoding="utf-8")
    return found


@pytest.mark.parametrize("layout", ["tau-bench", "tau2"])
@pytest.mark.parametrize("tasks", [1, 4])
def test_files_of_one_simulator_become_runs(tmp_path: Path, layout: str, tasks: int) -> None:
    paths = files(tmp_path, layout, tasks, 3)
    table = features(paths, side="simulated", profile="robust", options=NAMED).frame
    assert table.height == 3 * tasks
    assert table["run"].n_unique() == 3
    assert table["task"].n_unique() == tasks


@pytest.mark.parametrize("layout", ["tau-bench", "tau2"])
def test_the_same_file_twice_is_read_once_and_counted(tmp_path: Path, layout: str) -> None:
    (path,) = files(tmp_path, layout, 4, 1)
    again = tmp_path / "again.json"
    again.write_bytes(path.read_bytes())
    found = load([path, again], NAMED)
    assert len(found.sessions) == 4
    assert found.notes.left_out["session: duplicate task and trial"] == 4


def test_files_that_divide_the_tasks_are_one_run(tmp_path: Path) -> None:
    (path,) = files(tmp_path, "tau-bench", 6, 1)
    rows = json.loads(path.read_text(encoding="utf-8"))
    halves = [tmp_path / "a.json", tmp_path / "b.json"]
    for half, own in zip(halves, (rows[:3], rows[3:]), strict=True):
        half.write_text(json.dumps(own), encoding="utf-8")
    table = features(halves, side="simulated", profile="robust", options=NAMED).frame
    assert table["task"].n_unique() == 6
    assert table["run"].n_unique() == 1
