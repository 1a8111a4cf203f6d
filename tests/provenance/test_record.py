"""The run record holds what a scorecard must not, and never a secret."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from usi.errors import InputError
from usi.provenance.record import (
    FileHash,
    combined_sha256,
    make_record,
    now,
    record_path,
    sha256_file,
    without_secrets,
)

SECRET = "sk-abcdefghijklmnop1234"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--api-key", "hunter2hunter2"],
        ["--api-key=hunter2hunter2"],
        ["OPENAI_API_KEY=hunter2hunter2"],
        ["--password", "hunter2hunter2"],
        ["--header", "Authorization: Bearer hunter2hunter2"],
        ["https://me:hunter2hunter2@host/data.json"],
        ["https://host/data.json?access_token=hunter2hunter2&x=1"],
        [f"--note={SECRET}hunter2hunter2"],
        ["ghp_hunter2hunter2hunter2"],
        ["hf_hunter2hunter2"],
    ],
)
def test_secrets_are_hidden(arguments: list[str]) -> None:
    shown = without_secrets(arguments)
    assert len(shown) == len(arguments)
    assert "hunter2" not in " ".join(shown)


def test_other_arguments_stay() -> None:
    arguments = ["score", "a=b.json", "--human", "dir/people.json", "--difficulty=self", "-o", "x"]
    assert without_secrets(arguments) == tuple(arguments)


def test_a_record_is_json_with_time_versions_and_hashes() -> None:
    started = now()
    record = make_record(
        ["score", "--api-key", SECRET],
        started=started,
        inputs=[FileHash(role="human", name="people.json", sha256="ab", bytes=2)],
    )
    data = json.loads(record.to_json())
    assert data["started"] == started <= data["finished"]
    assert data["inputs"] == [{"role": "human", "name": "people.json", "sha256": "ab", "bytes": 2}]
    assert data["packages"]["numpy"].count(".") >= 1
    assert SECRET not in record.to_json()
    import platform

    assert platform.node() not in (data["system"], data["machine"])
    assert "host" not in data


def test_the_record_stands_beside_the_scorecard() -> None:
    assert record_path("out/card.json") == Path("out/card.run.json")


def test_hashes(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abc" * 1_000_000)
    assert sha256_file(path) == hashlib.sha256(b"abc" * 1_000_000).hexdigest()
    assert combined_sha256(["a"]) == "a"
    assert combined_sha256(["a", "b"]) == combined_sha256(["b", "a"])
    assert combined_sha256(["a", "b"]) != combined_sha256(["a", "c"])
    with pytest.raises(InputError, match="can't read"):
        sha256_file(tmp_path / "absent")
