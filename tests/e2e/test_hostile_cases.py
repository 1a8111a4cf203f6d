"""Every case of the shared folder of hostile inputs: one message that names the file, code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import refused, usi
from tests.helpers import SHARED

HOSTILE = SHARED / "cases" / "hostile"
pytestmark = pytest.mark.skipif(not HOSTILE.is_dir(), reason="the shared cases are absent")

TRANSCRIPTS = {
    "abcd_list.json": ["row 1", "original[0]"],
    "damaged.zip": ["b.jsonl", "damaged"],
    "deep.json": ["nested too deeply"],
    "deep.jsonl": ["nested too deeply"],
    "deep_in.json": ["nested too deeply"],
    "openai_type.jsonl": ["type", "another kind"],
    "otel_values.json": ["values", "another kind"],
    "part_type.json": ["row 1", "messages[0].content[0]"],
    "star_list.json": ["Events[0]"],
    "start_inf.jsonl": ["row 1", "start"],
    "start_nan.jsonl": ["row 1", "start"],
    "version.zip": ["version 9.9"],
}
LOGS = {
    "log_damaged.parquet": [],
    "mbyte.xes": ["encoding"],
    "unk.xes": ["encoding"],
}
CONFIGURATIONS = {
    "quote.toml": ["read.quote"],
    "quote2.toml": ["read.quote"],
    "tz.toml": ["read.timezone"],
}
CRITERIA = {"gate_deep.toml": ["nested too deeply"], "gate_digits.toml": ["too large"]}
CARDS = ["card_df.json", "card_impossible.json"]
ALONE = {"roles.jsonl", "binary_text.parquet", "log.parquet"}


def test_every_case_is_tried_here() -> None:
    tried = {*TRANSCRIPTS, *LOGS, *CONFIGURATIONS, *CRITERIA, *CARDS, *ALONE}
    assert {path.name for path in HOSTILE.iterdir()} == tried


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_transcript_is_refused_by_every_verb(name: str, tmp_path: Path) -> None:
    path = HOSTILE / name
    words = [name, *TRANSCRIPTS[name]]
    refused(usi("score", path, "--human", path), *words)
    refused(usi("features", path, "--side", "human", "-o", tmp_path / "f.parquet"), *words)
    told = usi("validate", path, "--print", "json")
    assert told.code == 2
    assert all(word in told.out for word in words), told.out


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_refused(name: str) -> None:
    refused(usi("logs", "suggest", HOSTILE / name), name, *LOGS[name])
    told = usi("logs", "validate", HOSTILE / name, "--no-classes")
    assert told.code == 2
    assert all(word in told.out + told.err for word in [name, *LOGS[name]]), told


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_log_configuration_is_refused(name: str) -> None:
    done = usi("logs", "validate", HOSTILE / "log.parquet", "--config", HOSTILE / name)
    assert done.code == 2
    assert all(word in done.err for word in [name, *CONFIGURATIONS[name]]), done


@pytest.mark.parametrize("name", CRITERIA)
def test_criteria_are_refused(name: str) -> None:
    done = usi("gate", HOSTILE / "card_df.json", "--criteria", HOSTILE / name)
    refused(done, name, *CRITERIA[name])


@pytest.mark.parametrize("name", CARDS)
def test_a_card_decides_nothing(name: str) -> None:
    refused(usi("gate", HOSTILE / name, "--tier", "C"), name)
    refused(usi("compare", HOSTILE / name, HOSTILE / name), name)
    refused(usi("rank", HOSTILE / name), name)


def test_an_undamaged_log_is_read(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[read]\ntimezone = "UTC"\n[classes]\n')
    done = usi("logs", "validate", HOSTILE / "log.parquet", "--no-classes", "--config", own)
    assert done.code == 0, done


def test_every_spelling_of_the_user_is_counted() -> None:
    told = usi("validate", HOSTILE / "roles.jsonl", "--print", "json")
    assert told.json()["inputs"][0]["user_turns"] == 20


def test_binary_text_is_read_as_text(tmp_path: Path) -> None:
    done = usi("convert", HOSTILE / "binary_text.parquet", "-o", tmp_path / "o.jsonl")
    assert done.code == 0
    assert "b'" not in (tmp_path / "o.jsonl").read_text()
