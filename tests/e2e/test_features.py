"""`usi features` against golden values, through files of every form."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command import usi
from helpers import shared

KEYS = ["session_id", "side", "simulator", "domain", "task", "run", "batch", "status", "n_turns"]
PROFILE = ("--profile", "tau-usi")


def same(wanted: dict[str, float], row: dict[str, Any]) -> None:
    for name, value in wanted.items():
        found = float(row[name])
        if name == "verbosity_cv":
            assert found == pytest.approx(value, rel=1e-12, abs=0)
        else:
            assert found == value, name


@pytest.mark.parametrize(("side", "source"), [("human", "human"), ("simulated", "llm")])
def test_adversarial_conversations_are_usi_jsonl(side: str, source: str, tmp_path: Path) -> None:
    path = shared("golden/features_adversarial.jsonl")
    golden = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    outputs = [tmp_path / f"f.{form}" for form in ("parquet", "csv", "jsonl", "sessions.parquet")]
    done = usi("features", path, "--side", side, *PROFILE, *(x for o in outputs for x in ("-o", o)))
    assert done.code == 0, done.err
    frames: dict[str, list[dict[str, Any]]] = {
        "parquet": pl.read_parquet(outputs[0]).to_dicts(),
        "csv": list(csv.DictReader(outputs[1].open(encoding="utf-8", newline=""))),
        "jsonl": [
            json.loads(line) for line in outputs[2].read_text(encoding="utf-8").split("\n") if line
        ],
    }
    for rows in frames.values():
        assert len(rows) == len(golden) == 1054
        assert list(rows[0])[:9] == KEYS
        assert len(rows[0]) == 9 + 19
        for wanted, row in zip(golden, rows, strict=True):
            assert row["session_id"] == str(wanted["id"])
            if wanted[source] is None:
                assert row["status"] == "no_user_turn"
                assert row["politeness_rate"] in (None, "")
            else:
                same(wanted[source], row)
    table = pl.read_parquet(outputs[3])
    assert table.height == 1054
    assert table["user_turns"].dtype == pl.Int64


def test_airline_trajectories_row_for_row() -> None:
    golden = [
        json.loads(line)
        for line in shared("golden/features_taubench_airline.jsonl").read_text().split("\n")
        if line
    ]
    done = usi(
        "features", shared("data/taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json"),
        "--side", "simulated", *PROFILE,
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in done.out.split("\n") if line]
    assert len(rows) == len(golden) == 200
    for wanted, row in zip(golden, rows, strict=True):
        assert row["task"] == f"airline_{wanted['task_id']}"
        assert row["run"] == str(wanted["trial"])
        same(wanted["llm"], row)


@pytest.mark.parametrize("folder", ["taubench", "tau2"])
def test_every_public_file_is_read(folder: str) -> None:
    files = sorted(shared(f"data/{folder}").glob("*.json"))
    for path in files:
        done = usi("features", path, "--side", "simulated", *PROFILE)
        assert done.code == 0, done.err
        rows = [json.loads(line) for line in done.out.split("\n") if line]
        assert rows
        broken = [row for row in rows if row["status"] != "ok"]
        if "all_errors" in path.name:
            assert broken == rows
        for row in broken:
            assert row["politeness_rate"] is None
    checked = usi("validate", *files)
    assert checked.code == 0, checked.err
    assert checked.json()["ok"] is True
    assert len(checked.json()["inputs"]) == len(files)


def test_stdin_and_conversion_keep_every_value(tmp_path: Path) -> None:
    path = shared("data/tau2/telecom_agent-gpt-4o_user-gpt-4o_20x1.json")
    converted = tmp_path / "out.jsonl"
    done = usi("convert", path, "-o", converted)
    assert done.code == 0, done.err
    direct = usi("features", path, "--side", "simulated", *PROFILE)
    piped = usi("features", "-", "--side", "simulated", *PROFILE, stdin=converted.read_bytes())
    assert piped.code == 0, piped.err
    names = [k for k in json.loads(direct.out.split("\n")[0]) if k not in ("run",)]
    for one, two in zip(direct.out.split("\n")[:-1], piped.out.split("\n")[:-1], strict=True):
        left, right = json.loads(one), json.loads(two)
        assert [left[n] for n in names] == [right[n] for n in names]
