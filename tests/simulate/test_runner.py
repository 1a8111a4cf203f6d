"""Runs: every episode once, whatever happens; budget, replay, design, and what is written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from simulate import long_run
from simulate.server import Server
from simulate.tiny import TinyDomain, setting

from usi.decisions.outcomes import read_outcomes
from usi.decisions.passk import pass_k
from usi.errors import InputError, UsageError
from usi.loading import open_sessions, read_surveys
from usi.simulate.agents.oracle import OracleAgents
from usi.simulate.calls import Budget, Cache, Ledger, Runtime
from usi.simulate.client import ModelSettings
from usi.simulate.faults import EpisodeFault, Refused
from usi.simulate.runner import (
    Run,
    RunLog,
    RunPlan,
    Summary,
    choose_tasks,
    decode_line,
    encode_line,
    make_cells,
)
from usi.simulate.users.model import ModelUsers
from usi.simulate.users.scripted import PRESETS, ScriptedUsers

PLAIN = ScriptedUsers(PRESETS["plain"])


def small(folder: Path, users: Any = PLAIN, *, runs: int = 2, **more: Any) -> RunPlan:
    domain = TinyDomain()
    fixed = more.pop("fixed", None) or setting(domain)
    return RunPlan("mine", users, make_cells(domain.tasks, runs=runs), fixed, folder, **more)


def go(plan: RunPlan, runtime: Runtime | None = None) -> Summary:
    with Run(plan) as running:
        return running.go(runtime or Runtime(first_wait=0.01))


def keys(log: Path) -> list[str]:
    bodies = [decode_line(line) for line in log.read_bytes().splitlines(keepends=True)]
    return [body["key"] for body in bodies if body and body["kind"] == "episode"]


def test_kill_9_in_the_middle_of_200_episodes_loses_and_doubles_nothing(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    expected = long_run.run(whole)
    assert expected.done == expected.wanted == long_run.EPISODES
    log = broken / ".varied.runlog"
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    for least in (40, 120):  # killed twice
        process = subprocess.Popen(
            [sys.executable, "-m", "simulate.long_run", str(broken)],
            env={**os.environ, "PYTHONPATH": path},
        )
        for _ in range(3000):
            if log.exists() and log.read_bytes().count(b"\n") > least:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert least <= len(keys(log)) < long_run.EPISODES
    with log.open("ab") as stream:
        stream.write(encode_line({"kind": "episode", "key": "torn"})[:40])
    resumed = long_run.run(broken)
    assert sorted(keys(log)) == sorted({cell.key for cell in long_run.plan(broken).cells})
    for file in ("varied.jsonl", "survey_data/survey_comparable_varied.json"):
        assert (broken / file).read_bytes() == (whole / file).read_bytes()
    assert (resumed.done, resumed.rewarded, resumed.terminations) == (
        expected.done, expected.rewarded, expected.terminations
    )  # fmt: skip


def test_order_of_threads_changes_no_byte(tmp_path: Path) -> None:
    files = []
    for number in (1, 8):
        plan = replace(small(tmp_path / str(number), ScriptedUsers(None)), concurrency=number)
        go(plan)
        files.append(plan.output.read_bytes())
    assert files[0] == files[1]


def test_the_output_reads_as_usi_jsonl(tmp_path: Path) -> None:
    plan = small(tmp_path)
    assert go(plan).done == 8
    stream = open_sessions(plan.output)
    sessions = list(stream)
    assert len(sessions) == 8
    assert not stream.notes.problems
    first = sessions[0]
    assert (first.session_id, first.task_id, first.trial) == ("tiny_t1_1", "t1", "1")
    assert (first.simulator, first.domain, first.agent) == ("mine", "tiny", "oracle@test")
    assert (first.outcome.reward, first.outcome.label) == (1.0, "full")
    assert first.outcome.termination == "user_stop"
    assert first.meta["user_seed"] == first.meta["agent_seed"] == 1
    assert first.meta["synthetic"] is True
    assert first.meta["difficulty"] == "medium"
    assert first.error_tags == ()
    assert {s.trial for s in sessions} == {"1", "2"}


def test_a_crossed_design_is_seen_by_passk(tmp_path: Path) -> None:
    domain = TinyDomain()
    fixed = setting(domain, OracleAgents(shirk=0.5, miss=0.2))
    cells = make_cells(domain.tasks, user_seeds=3, agent_seeds=2)
    assert len({cell.key for cell in cells}) == 24
    assert {(c.user_seed, c.agent_seed) for c in cells} == {
        (u, a) for u in (1, 2, 3) for a in (1, 2)
    }
    plan = RunPlan("mine", ScriptedUsers(None), cells, fixed, tmp_path, "crossed")
    go(plan)
    found = pass_k(read_outcomes([plan.output]), (1, 2), replicates=200)
    assert found.crossed is not None
    assert found.trials_range == (6, 6)


def test_more_runs_go_on_from_fewer(tmp_path: Path) -> None:
    go(small(tmp_path, runs=1))
    before = keys(tmp_path / ".mine.runlog")
    assert go(small(tmp_path, runs=3)).done == 12
    after = keys(tmp_path / ".mine.runlog")
    assert after[:4] == before
    assert len(after) == len(set(after)) == 12


@pytest.mark.parametrize("what", ["agent", "simulator", "limits"])
def test_runs_that_differ_are_never_mixed(tmp_path: Path, what: str) -> None:
    go(small(tmp_path))
    fixed = setting(TinyDomain())
    users = PLAIN
    if what == "agent":
        fixed = replace(fixed, agent_name="other@1")
    elif what == "simulator":
        users = ScriptedUsers(PRESETS["terse"])
    else:
        fixed = replace(fixed, max_turns=3)
    with pytest.raises(UsageError, match=what):
        Run(small(tmp_path, users, fixed=fixed))


def test_a_file_of_somebody_else_is_kept(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("precious")
    with pytest.raises(UsageError, match="--name"):
        Run(small(tmp_path))
    assert (tmp_path / "mine.jsonl").read_text() == "precious"


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    with Run(small(tmp_path)), pytest.raises(UsageError, match="another run"):
        Run(small(tmp_path))


def test_a_changed_log_is_noticed(tmp_path: Path) -> None:
    go(small(tmp_path))
    log = tmp_path / ".mine.runlog"
    lines = log.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"reward":1.0', b'"reward":0.0')
    log.write_bytes(b"".join(lines))
    with pytest.raises(InputError, match=r"row 4.*checksum"):
        Run(small(tmp_path))


def test_log_lines_are_json_with_their_checksum(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "log")
    body = {"text": 'Zürich "\n\u2028 \ud800', "n": [1, None, 0.5]}
    log.append(body)
    log.close()
    (line,) = (tmp_path / "log").read_bytes().splitlines(keepends=True)
    assert json.loads(line)["body"] == body
    assert decode_line(line) == body
    for place in range(len(line) - 1):
        changed = bytearray(line)
        changed[place] ^= 1
        assert decode_line(bytes(changed)) is None


class Faulty(ScriptedUsers):
    """Scripted users; those of task t2 break the episode, as long as `broken` holds."""

    broken = True

    def new(self, task: Any, seed: int, runtime: Any) -> Any:
        if task.id == "t2" and Faulty.broken:
            raise EpisodeFault("rate_limited", "slow down")
        return super().new(task, seed, runtime)


def test_infrastructure_is_apart_from_failed_tasks_and_can_be_tried_again(tmp_path: Path) -> None:
    plan = small(tmp_path, Faulty(PRESETS["plain"]), runs=1)
    Faulty.broken = True
    first = go(plan)
    assert first.infrastructure == {"rate_limited": 1}
    assert (first.graded, first.rewarded, first.done) == (3, 3, 4)
    (bad,) = [s for s in open_sessions(plan.output) if s.status != "ok"]
    assert bad.status == "infrastructure_error"
    assert bad.outcome.reward is None
    assert "slow down" in str(bad.status_reason)
    Faulty.broken = False
    assert go(plan).infrastructure == {"rate_limited": 1}
    again = go(replace(plan, retry_failed=True))
    assert again.infrastructure == {}
    assert again.graded == 4
    assert go(plan).graded == 4


def model_users(server: Server, **more: Any) -> ModelUsers:
    return ModelUsers(ModelSettings(model="openai/m", api_base=f"{server.url}/v1", **more))


def test_zero_budget_makes_no_call_and_stops_well(server: Server, tmp_path: Path) -> None:
    plan = small(tmp_path, model_users(server))
    summary = go(plan, Runtime(ledger=Ledger(Budget(money=0.0))))
    assert server.requests == []
    assert summary.done == 0
    assert "budget" in str(summary.stopped)
    assert not plan.output.exists()


def test_a_budget_stops_well_and_a_larger_one_goes_on(server: Server, tmp_path: Path) -> None:
    server.says({"content": "###STOP###"})  # one call an episode, 110 tokens
    plan = replace(small(tmp_path, model_users(server, max_tokens=10)), concurrency=1)
    first = go(plan, Runtime(ledger=Ledger(Budget(tokens=600))))
    assert 0 < first.done < 8
    assert "600 tokens" in str(first.stopped)
    assert first.spent.tokens == 110 * first.done <= 600
    with Run(plan) as running:
        spent = running.spent
        assert spent.tokens == first.spent.tokens
        second = running.go(Runtime(ledger=Ledger(Budget(tokens=5000), spent)))
    assert second.stopped is None
    assert second.done == 8
    assert len(server.requests) == 8
    assert second.spent.tokens == 880


def test_replay_repeats_a_run_without_a_call(server: Server, tmp_path: Path) -> None:
    server.says({"content": "please add it"}, {"content": "no"}, {"content": "###STOP###"})
    cache = tmp_path / "answers.sqlite"
    one = small(tmp_path / "one", model_users(server))
    go(one, Runtime(cache=Cache(cache)))
    asked = len(server.requests)
    assert asked >= 8
    two = small(tmp_path / "two", model_users(server))
    go(two, Runtime(cache=Cache(cache), replay=True))
    assert len(server.requests) == asked
    assert one.output.read_bytes() == two.output.read_bytes()


def test_a_refused_key_ends_the_run_once(server: Server, tmp_path: Path) -> None:
    server.says({"status": 401})
    with pytest.raises(Refused):
        go(small(tmp_path, model_users(server)))
    assert len(server.requests) <= 4  # what was under way


def test_what_broke_off_counts_as_spent(server: Server, tmp_path: Path) -> None:
    server.says({"content": "hello"}, {"status": 401})
    plan = replace(small(tmp_path, model_users(server), runs=1), concurrency=1)
    with pytest.raises(Refused):
        go(plan)
    with Run(plan) as running:
        assert running.spent.calls == 2
        assert running.spent.tokens == 110
        assert running.entries == {}


def test_surveys_are_written_in_the_published_keys(tmp_path: Path) -> None:
    plan = long_run.plan(tmp_path)
    go(replace(plan, cells=[c for c in plan.cells if c.task.id in ("t1", "t2")]))
    (answers,) = read_surveys(tmp_path / "survey_data").values()
    assert list(answers) == [
        f"tiny_t{n}{suffix}" for suffix in ("", "_ann2", "_ann3", "_ann4") for n in (1, 2)
    ]
    sheet = answers["tiny_t1"]
    assert sheet is not None
    assert len(sheet) == 8


def test_tasks_are_chosen_by_id_level_mark_and_number() -> None:
    domain = TinyDomain(count=6)

    def ids(text: str | None) -> list[str]:
        return [task.id for task in choose_tasks(domain, text)]

    assert ids(None) == ids("all") == [f"t{n}" for n in range(1, 7)]
    assert ids("t3,t1") == ["t1", "t3"]
    assert ids("hard") == ["t2", "t5"]
    assert ids("first") == ["t1"]
    assert ids("2") == ["t1", "t2"]
    with pytest.raises(UsageError, match="t1"):
        ids("t11")


def test_two_designs_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="two designs"):
        make_cells(TinyDomain().tasks, runs=2, user_seeds=2)
