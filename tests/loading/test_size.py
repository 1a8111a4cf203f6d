"""Many files and one long record are read in linear time; ``USI_SIZE=1`` tries the full sizes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from usi.extraction import extract_table
from usi.loading import open_sessions

FULL = bool(os.environ.get("USI_SIZE"))


def folder_of(root: Path, files: int) -> Path:
    folder = root / f"{files}"
    folder.mkdir()
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]
    for k in range(files):
        (folder / f"{k}.json").write_text(json.dumps({"id": str(k), "messages": talk}))
    return folder


def record_of(root: Path, turns: int) -> Path:
    talk = [
        {"role": ("user", "assistant")[k % 2], "content": f"hello there {k}"} for k in range(turns)
    ]
    path = root / f"{turns}.jsonl"
    path.write_text(json.dumps({"id": "a", "messages": talk}) + "\n")
    return path


@pytest.mark.parametrize(
    ("made", "size"),
    [(folder_of, 50_000 if FULL else 240), (record_of, 900_000 if FULL else 12_000)],
    ids=["files", "turns"],
)
def test_four_times_as_much_takes_about_four_times_as_long(
    made: Callable[[Path, int], Path], size: int, tmp_path: Path
) -> None:
    def seconds(path: Path) -> float:
        began = time.process_time()
        table = extract_table(open_sessions([path]), profile="robust", side="human")
        assert table.frame["user_turns"].sum() in (size, size // 2, size // 4, size // 8)
        return time.process_time() - began

    small, large = made(tmp_path, size // 4), made(tmp_path, size)
    seconds(small)  # what is loaded at first use
    # Squared time would be sixteen times; the rest is room for what else the machine does.
    assert seconds(large) < 9 * seconds(small) + 0.5
