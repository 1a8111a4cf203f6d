"""Logs of Jira, Zendesk and GitHub: presets, a row a case, columns and patterns by choice."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest

from tests.command import usi
from tests.helpers import ROOT
from usi.errors import InputError, UsageError
from usi.logs import ROLES, LogFormat, load_config, open_log, preset_names
from usi.logs.config import parse_config, with_columns
from usi.logs.extract import run_log
from usi.logs.feature_options import TraceOptions
from usi.logs.suggest import suggest
from usi.options import LOG_KEYS, LOG_PRESETS

CHANGES = (
    "Issue key,Status,Changed,Author\n"
    "A-1,Open,03/Jan/26 10:00 AM,bob\n"
    "A-1,Waiting for customer,03/Jan/26 12:00 PM,ann\n"
    "A-1,Closed,4/Jan/26 1:05 AM,bob\n"
)
ISSUES = (
    "Issue key,Status,Created,Resolved,Labels,Labels\n"
    "A-1,Done,03/Jan/26 10:00 AM,04/Jan/26 10:00 AM,x,y\n"
    "A-2,Open,05/Jan/26 10:00 AM,,,\n"
)


def put(tmp_path, text, name="log.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def events(path, config, side="human"):
    frame = pl.concat(list(open_log(path, config.layout_of(side))))
    return [
        (case, activity, time.isoformat()[:16])
        for case, activity, time in frame.select("case_id", "activity", "timestamp").iter_rows()
    ]


def test_the_presets_are_those_of_the_option():
    assert preset_names() == LOG_PRESETS


def test_a_change_log_of_jira(tmp_path):
    config = load_config("jira")
    assert events(put(tmp_path, CHANGES), config) == [
        ("A-1", "Open", "2026-01-03T10:00"),
        ("A-1", "Waiting for customer", "2026-01-03T12:00"),
        ("A-1", "Closed", "2026-01-04T01:05"),
    ]
    log = run_log(put(tmp_path, CHANGES), config, side="human")
    assert sum(block.height for block in log.blocks()) == 1


def test_a_row_an_issue(tmp_path):
    assert events(put(tmp_path, ISSUES), load_config("jira")) == [
        ("A-1", "Created", "2026-01-03T10:00"),
        ("A-1", "Resolved", "2026-01-04T10:00"),
        ("A-2", "Created", "2026-01-05T10:00"),
    ]


@pytest.mark.parametrize(
    ("preset", "text", "found"),
    [
        ("zendesk", "Id,Status,Created at,Solved at\n7,Closed,2026-01-03 10:00,2026-01-04 10:00\n",
         [("7", "created", "2026-01-03T10:00"), ("7", "solved", "2026-01-04T10:00")]),
        ("zendesk", "ticket_id,status,updated_at\n7,open,2026-01-03T10:00:00Z\n",
         [("7", "open", "2026-01-03T10:00")]),
        ("github-issues", "number,state,created_at,closed_at\n"
         "7,closed,2026-01-03T10:00:00Z,2026-01-04T10:00:00Z\n",
         [("7", "opened", "2026-01-03T10:00"), ("7", "closed", "2026-01-04T10:00")]),
        ("github-issues", "issue_number,event,created_at\n7,reopened,2026-01-03T10:00:00Z\n",
         [("7", "reopened", "2026-01-03T10:00")]),
    ],
)  # fmt: skip
def test_presets_of_other_systems(tmp_path, preset, text, found):
    assert events(put(tmp_path, text), load_config(preset)) == found


def test_columns_named_by_the_caller(tmp_path):
    text = "Key,To,Time,Changed\nA,x,2026-01-03T10:00:00Z,2026-02-03T10:00:00Z\n"
    config = with_columns(load_config("jira"), case="Key", activity="To", time="Changed")
    assert events(put(tmp_path, text), config) == [("A", "x", "2026-02-03T10:00")]
    path = put(tmp_path, "a,b,c\n1,x,2026-01-03T10:00:00Z\n")
    with pytest.raises(InputError, match="--case COLUMN --activity COLUMN --time COLUMN"):
        events(path, load_config("jira"))
    columns = ["--case", "a", "--activity", "b", "--time", "c"]
    said = usi("logs", "validate", path, *columns, "--no-classes")
    assert said.code == 0, said.err


def test_one_pattern_a_side(tmp_path):
    table = {
        "read": {
            "timezone": "UTC",
            "timestamp_pattern": {"human": "%Hh%M %d.%m.%Y", "simulated": "%Y%m%d %H%M"},
        },
        "columns": {"case_id": "case", "activity": "state", "timestamp": "when"},
    }
    config = parse_config(table, "x.toml")
    people = put(tmp_path, "case,state,when\n1,a,10h05 03.01.2026\n")
    simulated = put(tmp_path, "case,state,when\n1,a,20260103 1005\n", "sim.csv")
    expected = [("1", "a", "2026-01-03T10:05")]
    assert events(people, config) == events(simulated, config, "simulated") == expected
    with pytest.raises(InputError, match=r"not a time \(tried: %Y%m%d %H%M\)"):
        events(people, config, "simulated")
    table["read"]["timestamp_pattern"] = {"people": "%Y"}
    with pytest.raises(UsageError, match="human"):
        parse_config(table, "x.toml")


def test_a_bad_time_names_what_was_tried(tmp_path):
    path = put(tmp_path, CHANGES + "A-1,Closed,soon,bob\n")
    with pytest.raises(InputError, match=r"row 5, field Changed: 'soon' is not a time.*22/Jun/26"):
        events(path, load_config("jira"))


def test_a_column_that_is_wanted_stands_once(tmp_path):
    path = put(tmp_path, ISSUES.replace("Labels,Labels", "Labels,Resolved"))
    with pytest.raises(InputError, match="'Resolved' more than once"):
        events(path, load_config("jira"))


def test_suggest_knows_the_columns_of_jira(tmp_path):
    draft = suggest(put(tmp_path, CHANGES)).text
    for line in ('case_id = "Issue key"', 'activity = "Status"', 'timestamp = "Changed"'):
        assert line in draft
    other = put(tmp_path, CHANGES.replace("Issue key", "Nr"))
    assert 'case_id = "Nr"' in suggest(other, columns={"case_id": "Nr"}).text


def test_every_key_of_a_configuration_is_documented():
    text = (ROOT / "docs/settings.md").read_text("utf-8").split("## Log configurations\n")[1]
    fields = {item.name for item in dataclasses.fields(LogFormat)}
    keys = {
        f"read.{name}" for name in fields - {"columns", "name", "tracked", "required", "events"}
    }
    keys |= {f"columns.{role}" for role in ROLES} | {"fields.tracked", "fields.required"}
    chosen = {item.name for item in dataclasses.fields(TraceOptions)} - {"calendar"}
    keys |= {f"features.{name}" for name in chosen}
    assert {key for key in keys if f"| `{key}` |" not in text} == set()
    assert keys <= set(LOG_KEYS)
