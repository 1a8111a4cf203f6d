"""`usi audit LOG`: the other half of a log and attacks on it, from the command line."""

from __future__ import annotations

import json

import pytest
from command import usi

from usi.phantom.log_build import build_phantom_logs


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    return build_phantom_logs(tmp_path_factory.mktemp("logs"), cases=700, simulators=[])


def test_an_audit_of_a_log_admits_no_copy_and_no_zero_waits(logs, tmp_path):
    page = tmp_path / "audit.html"
    done = usi(
        "audit", logs.human, "--log-config", logs.config, "--draws", "1", "--cases", "300",
        "--attack", "copy", "--attack", "waits of zero", "-o", page, "--print", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    rows = {row["name"]: row for row in found["rows"]}
    assert list(rows) == ["other half", "copy", "waits of zero"]
    assert found["synthetic"]
    assert rows["copy"]["verdicts"] == {tier: {"FAIL": 1} for tier in "ABC"}
    for tier in "ABC":
        assert "PASS" not in rows["waits of zero"]["verdicts"][tier]
        assert "FAIL" not in rows["other half"]["verdicts"][tier]
    assert rows["copy"]["numbers"]["copies.twins"] == 1
    body = page.read_text()
    assert "The other half of the cases ought to pass" in body
    assert "USI-log" in body
    assert "USI-R" not in body


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (("--attack", "coppy"), "did you mean 'copy'"),
        (("--design", "165x3x3"), "not for event logs"),
        (("--cases", "90"), "100"),
        (("--tier", "D"), "A, B, C"),
    ],
)
def test_mistakes(logs, more, text):
    done = usi("audit", logs.human, "--log-config", logs.config, *more)
    assert done.code == 2
    assert text in done.err


def test_cases_are_of_logs_alone(tmp_path):
    people = tmp_path / "people.jsonl"
    people.write_text("{}\n")
    done = usi("audit", people, "--cases", "300")
    assert done.code == 2
    assert "event log" in done.err
