"""Recorded candidates: read, checked, in the signature, and expired when they change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import usi as run

from usi.corpora.candidate import candidate_called, find_candidate
from usi.errors import InputError
from usi.phantom import build_phantom

TOML = """kind = "recorded"
runs = "../runs/mild.jsonl"
licence = "MIT"
[identity]
model = "m-1"
provider = "p"
prompt_sha256 = "ab"
harness = "h 1"
date = "2026-01-01"
"""


def test_unknown_keys_and_absent_runs_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "simulators"
    folder.mkdir()
    (folder / "a.toml").write_text('kind = "recorded"\nruns = "x"\n[identity]\nmodle = "m"\n')
    with pytest.raises(InputError, match=r"identity\.modle.*did you mean 'model'"):
        find_candidate("a", tmp_path)
    (folder / "a.toml").write_text('kind = "recorded"\nruns = "x"\n')
    with pytest.raises(InputError, match="there is no 'x' beside this file"):
        find_candidate("a", tmp_path)
    (folder / "b.toml").write_text('kind = "scripted"\n')
    assert find_candidate("b", tmp_path) is None
    assert find_candidate("../b", folder) is None


def test_a_candidate_is_found_by_the_name_that_cards_have(tmp_path: Path) -> None:
    folder = tmp_path / "simulators"
    folder.mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mild.jsonl").write_text("")
    (folder / "broken.toml").write_text("[[[")
    (folder / "mine.toml").write_text('name = "Other"\n' + TOML)
    found = candidate_called("Other", tmp_path)
    assert found is not None
    assert found.file == folder / "mine.toml"
    assert candidate_called("mine", tmp_path) is None


def test_a_submission_is_recorded_and_expires_with_its_identity(tmp_path: Path) -> None:
    build_phantom(tmp_path, seed=3, tasks=40, simulators=("mild",))
    (tmp_path / "simulators").mkdir()
    file = tmp_path / "simulators" / "mine.toml"
    file.write_text(TOML.replace('licence = "MIT"\n', ""))
    refused = run("submit", "mine", "--human", "phantom", cwd=tmp_path)
    assert refused.code == 2
    assert "needs licence" in refused.err
    file.write_text(TOML)
    done = run("submit", "mine", "--human", "phantom", "--gate", "C", cwd=tmp_path)
    assert done.code in (0, 1, 3)
    record = json.loads((tmp_path / "reports" / "mine.admission.json").read_text())
    assert record["admitted"] == (record["verdict"] == "PASS") == (done.code == 0)
    assert record["identity"]["model"] == "m-1"
    assert f"sim:{record['identity_sha256']}" in record["signature"]
    card = tmp_path / "reports" / "mine.json"
    scored = json.loads(card.read_text())
    scored["simulators"][0]["identity"]["agent"] = "oracle@0123456789ab"  # of the sessions
    card.write_text(json.dumps(scored))
    asked = ("gate", "reports/mine.json", "--tier", "C", "--print", "table", "--trust-edited")
    gated = run(*asked, cwd=tmp_path)
    assert "has changed since it was scored" not in gated.out
    file.write_text(TOML.replace("m-1", "m-2"))
    gated = run(*asked, cwd=tmp_path)
    assert gated.code == 3
    assert "mine has changed since it was scored (model)" in gated.out
