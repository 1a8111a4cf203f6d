"""The report of `usi validate`: counts, problems, remarks, and no score."""

from __future__ import annotations

import json

import pytest
from helpers import shared

from usi.errors import UsageError
from usi.loading import LoadOptions, validate


def test_counts(write):
    lines = [
        {
            "id": "a",
            "task_id": "t1",
            "trial": 10,
            "batch": 1,
            "reward": 1,
            "survey": {"reuse": "No"},
            "outcome": "full",
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "user", "content": None},
                {"role": "user", "content": None, "tool_calls": [{"name": "f"}]},
                {"role": "assistant", "content": "hello"},
                {"content": 3},
            ],
        },
        {"id": "b", "task_id": "t2", "trial": 2, "reward": 0.5, "messages": [], "keep": False},
        {"id": "b", "trial": 2, "messages": []},
        {"id": "c", "messages": None},
    ]
    path = write("airline_x.jsonl", lines, lines=True)
    report = validate(path)
    assert report.ok
    assert report.layout == "usi-jsonl"
    assert report.simulators == ("airline_x",)
    assert (report.sessions, report.messages, report.user_turns, report.actions) == (3, 5, 2, 1)
    assert report.roles == {"assistant": 1, "null": 1, "user": 3}
    assert report.user_content == {"null": 1, "text": 1}
    assert (report.tasks, report.sessions_without_task) == (2, 1)
    assert list(report.trials.items()) == [("2", 1), ("10", 1)]
    assert report.batches == {"1": 1}
    assert report.domains == {"airline": 3}
    assert report.statuses == {"failed": 1, "ok": 2}
    assert (report.rewards, report.rewards_missing, report.rewards_not_binary) == (2, 1, 1)
    assert (report.surveys, report.outcome_labels, report.set_to_drop) == (1, {"full": 1}, 1)
    assert report.left_out == {"session: duplicate id": 1}
    assert any("failed" in remark for remark in report.remarks)
    plain = report.to_dict()
    assert json.loads(json.dumps(plain))["files"][0]["name"] == str(path)
    assert plain["ok"] is True


def test_a_problem_in_one_file_stops_no_other(write, tmp_path):
    bad = write("bad.json", '[{"traj": [], "task_id": 1}, {"traj": 3}, {"traj": []')
    good = write("good.jsonl", [{"messages": []}], lines=True)
    report = validate([bad, tmp_path / "absent", write("empty.json", ""), good])
    assert not report.ok
    assert report.sessions == 2
    assert len(report.problems) == 4
    assert "traj" in report.problems[0]
    assert "truncated" in report.problems[1]
    assert "no such file" in report.problems[2]
    assert "empty" in report.problems[3]


def test_usage_errors_are_raised(write):
    with pytest.raises(UsageError):
        validate([])
    with pytest.raises(UsageError):
        validate(write("x.json", "[]"), LoadOptions(format="nonsense"))


def test_remarks_on_trials_and_roles(write):
    talk = [{"role": "user", "content": "Hello! How can I help you today?"}]
    rows = [{"task_id": i, "trial": i, "traj": talk} for i in range(4)]
    remarks = validate(write("a.json", rows)).remarks
    assert any("one task only" in remark for remark in remarks)
    assert any("wrong way round" in remark for remark in remarks)
    rows = [{"task_id": i, "trial": t, "traj": talk[:0]} for t in (0, 1) for i in range(3 - t)]
    assert any("uneven trials (2 to 3" in r for r in validate(write("b.json", rows)).remarks)


def test_the_published_folder_of_runs():
    folder = shared("data/taubench")
    rows = [row for path in sorted(folder.glob("*.json")) for row in json.loads(path.read_text())]
    report = validate(folder)
    assert report.ok
    assert report.sessions == len(rows) == 583
    assert report.statuses == {"failed": 37, "ok": 546}
    assert report.user_turns == sum(m["role"] == "user" for row in rows for m in row["traj"])


def test_a_silent_agent_is_told(write):
    user, agent = {"role": "user", "content": "hi"}, {"role": "assistant", "content": ""}
    rows = [{"id": f"s{k}", "messages": [user, agent]} for k in range(3)]
    rows.append({"id": "s3", "messages": [user, agent | {"content": "hello"}]})
    report = validate(write("x.jsonl", rows, lines=True))
    assert any(remark.startswith("3 sessions hold words of the user") for remark in report.remarks)
