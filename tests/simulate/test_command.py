"""`usi simulate` from the command line: runs, dry runs, keys, judges, people."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command import Done, refused, usi
from simulate.server import Server, tool_call

from usi.cli.main import run
from usi.corpora.manifest import read_manifest
from usi.loading import open_sessions, read_surveys
from usi.simulate.questions import published_instrument


def inside(*arguments: str | Path, env: dict[str, str] | None = None) -> Done:
    """As `usi`, in this process, so that litellm is imported once."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        try:
            run(list(map(str, arguments)))
        except SystemExit as end:
            code = int(str(end.code or 0))
    return Done(code, out.getvalue(), err.getvalue())


DESK = ("--domain", "service_desk")
SECRET = "sk-test-0123456789abcdef0123456789"
ANSWERS = json.dumps({q.item: q.options[0] for q in published_instrument().questions})


def test_scripted_users_run_offline_and_the_output_is_scored(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    done = usi(
        "simulate", "scripted:terse", "scripted:polite", *DESK, "--agent", "oracle",
        "--tasks", "12", "--runs", "2", "--survey", "-o", runs,
    )  # fmt: skip
    assert done.code == 0, done.err
    terse, polite = done.json()
    assert (terse["episodes"], terse["wanted"]) == (24, 24)
    assert terse["rewarded"] == polite["rewarded"] == 24  # the oracle is the ceiling
    assert terse["spent"]["calls"] == 0
    assert "24 of 24 episodes" in done.err
    card = usi(
        "score", polite["output"], "--human", terse["output"], "--profile", "tau-usi",
        "--difficulty", "self", "--surveys", "none", "--quiet",
    )  # fmt: skip
    assert card.code == 0, card.err
    assert card.json()["synthetic"] is True
    again = usi(
        "simulate", "scripted:terse", *DESK, "--agent", "oracle", "--tasks", "12", "--runs", "2",
        "--survey", "-o", runs, "--quiet",
    )  # fmt: skip
    assert again.json()[0] == terse
    other = usi(
        "simulate", "scripted:terse", *DESK, "--agent", "oracle:miss=0.5", "--tasks", "12",
        "--runs", "2", "--survey", "-o", runs,
    )  # fmt: skip
    refused(other, "the agent", "-o")


def toml(folder: Path, server: Server, name: str, **more: Any) -> Path:
    file = folder / f"{name}.toml"
    table = {
        "kind": "model", "model": "openai/m", "api_base": f"{server.url}/v1", "key_env": "SIM_KEY",
        **more,
    }  # fmt: skip
    file.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items()))
    return file


def play(request: dict[str, Any], _: int) -> dict[str, Any]:
    """Agent and user of one model: the agent looks something up, the user ends after it."""
    last = request["messages"][-1]
    if request.get("tools"):
        if last["role"] == "tool":
            return {"content": "That is all I found."}
        return tool_call("verify_caller", {"employee_id": "E1001", "staff_code": "1"})
    if "The conversation is over" in str(last["content"]):
        return {"content": ANSWERS}
    return {
        "content": "###STOP###" if "found" in last["content"] else "Hello, my account is locked"
    }


def test_a_key_leaks_nowhere(server: Server, tmp_path: Path) -> None:
    def answer(request: dict[str, Any], number: int) -> dict[str, Any]:
        # One call of one episode, whichever it is: the others end and fill in their surveys.
        if number == 2:
            return {"status": 500, "message": f"cannot use {SECRET}"}
        return play(request, number)

    server.answer = answer
    one = toml(tmp_path, server, "mine")
    runs = tmp_path / "runs"
    command = (
        "simulate", one, *DESK, "--agent", one, "--tasks", "4", "--survey", "-o", runs,
        "--retries", "0",
    )  # fmt: skip
    done = inside(*command, env={"SIM_KEY": SECRET})
    assert done.code == 0, done.err
    (summary,) = done.json()
    assert summary["infrastructure"]["provider_error"] > 0
    assert any(h["authorization"] == f"Bearer {SECRET}" for h in server.headers)
    server.answer = lambda request, n: {"status": 401, "message": f"bad {SECRET}"}
    failed = inside(*command, "--retry-failed", env={"SIM_KEY": SECRET})
    refused(failed, "refuses the key")
    said = done.out + done.err + failed.err
    files = [path for path in runs.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".jsonl", ".runlog", ".sqlite", ".json"}
    for text in (said.encode(), *(path.read_bytes() for path in files)):
        assert SECRET.encode() not in text
    assert b"cannot use ***" in (runs / "mine.jsonl").read_bytes()


def test_models_end_to_end_then_replayed(server: Server, tmp_path: Path) -> None:
    server.answer = play
    one = toml(tmp_path, server, "mine")
    runs = tmp_path / "runs"
    arguments = (*DESK, "--agent", str(one), "--tasks", "3", "--survey")
    done = inside("simulate", one, *arguments, "-o", runs, env={"SIM_KEY": "k"})
    assert done.code == 0, done.err
    asked = len(server.requests)
    sessions = list(open_sessions(runs / "mine.jsonl"))
    assert [s.outcome.termination for s in sessions] == ["user_stop"] * 3
    assert all(s.survey and s.survey[0].answer == "No - Task failed" for s in sessions)
    assert all(s.meta["calls"] == 5 for s in sessions)
    again = inside(
        "simulate", one, *arguments, "-o", tmp_path / "again", "--replay",
        "--cache", runs / ".answers.sqlite",
    )  # fmt: skip
    assert again.code == 0, again.err
    assert len(server.requests) == asked
    assert (tmp_path / "again/mine.jsonl").read_bytes() == (runs / "mine.jsonl").read_bytes()
    missing = inside(
        "simulate", one, *arguments, "-o", tmp_path / "third", "--replay", "--seed", "9",
        "--cache", runs / ".answers.sqlite",
    )  # fmt: skip
    refused(missing, "--replay", "with key ")
    assert len(server.requests) == asked


def test_dry_run_and_zero_budget_call_nothing(server: Server, tmp_path: Path) -> None:
    one = toml(tmp_path, server, "mine", price_in=1.0, price_out=10.0)
    arguments = ("simulate", one, *DESK, "--agent", one, "--runs", "2", "--survey")
    dry = inside(*arguments, "-o", tmp_path / "dry", "--dry-run", env={"SIM_KEY": "k"})
    assert dry.code == 0, dry.err
    (row,) = dry.json()["simulators"]
    user, agent = row["parties"]
    assert row["calls"] == user["calls"] + agent["calls"] > row["episodes"]
    priced = sum((p["tokens_in"] + 10 * p["tokens_out"]) / 1e6 for p in row["parties"])
    assert row["cost_usd"] == pytest.approx(priced, abs=1e-4)
    assert not (tmp_path / "dry").exists()
    zero = inside(*arguments, "-o", tmp_path / "zero", "--budget", "0", env={"SIM_KEY": "k"})
    assert zero.code == 4
    assert zero.json()[0]["episodes"] == 0
    assert "budget" in zero.json()[0]["stopped"]
    assert zero.json()[0]["output"] is None  # no file was written, so none is named
    assert "mine: 0 of 64 episodes\n" in zero.err
    assert server.requests == []


def test_recorded_turns_and_names_of_files_give_plain_labels(tmp_path: Path) -> None:
    people = tmp_path / "people.jsonl"
    row = {"task_id": "service_desk_price", "trial": 1, "messages": [
        {"role": "user", "content": "hi"}]}  # fmt: skip
    people.write_text(json.dumps(row) + "\n")
    run = ("simulate", f"replay:{people}", *DESK, "--agent", "oracle", "--tasks", "price", "-o")
    done = usi(*run, tmp_path / "runs")
    assert done.code == 0, done.err
    assert (tmp_path / "runs/people.jsonl").is_file()
    assert usi(*run, tmp_path / "runs", "--name", "again.jsonl").code == 0
    assert sorted(p.name for p in (tmp_path / "runs").glob("[!.]*")) == [
        "again.jsonl", "again.times.json", "people.jsonl", "people.times.json",
    ]  # fmt: skip


def test_a_budget_in_money_needs_a_price(server: Server, tmp_path: Path) -> None:
    one = toml(tmp_path, server, "mine")
    done = inside(
        "simulate", one, *DESK, "--agent", "oracle", "--budget", "1", "-o", tmp_path / "r"
    )
    refused(done, "price_in", "--budget-tokens")
    assert server.requests == []


def test_a_model_that_never_stops_is_stopped(server: Server, tmp_path: Path) -> None:
    server.says({"content": "and another thing", "finish": "length"})
    one = toml(tmp_path, server, "mine")
    done = inside(
        "simulate", one, *DESK, "--agent", "oracle", "--tasks", "2", "--max-turns", "6",
        "-o", tmp_path / "r", env={"SIM_KEY": "k"},
    )  # fmt: skip
    assert done.json()[0]["terminations"] == {"max_turns": 2}


def test_a_judge_reads_talks_of_people(server: Server, tmp_path: Path) -> None:
    people = tmp_path / "people.jsonl"
    talk = [
        {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "help"},
        {"role": "assistant", "content": "looking", "tool_calls": [{"id": "HIDDEN"}]},
        {"role": "tool", "content": "HIDDEN"}, {"role": "assistant", "content": "done"},
    ]  # fmt: skip
    rows = [
        {"id": "desk_a", "batch": 1, "messages": talk},
        {"id": "desk_a", "batch": 2, "messages": [*talk, {"role": "user", "content": "bye"}]},
        {"id": "desk_b", "messages": [{"role": "assistant", "content": "Hi"}]},
    ]
    people.write_text("".join(json.dumps(row) + "\n" for row in rows))
    server.says({"content": "no idea"}, {"content": ANSWERS}, {"content": "{}"})
    judge = toml(tmp_path, server, "judge")
    arguments = ("simulate", "judge", people, "--judge", judge, "-o", tmp_path / "judged")
    done = inside(*arguments, "--concurrency", "1", env={"SIM_KEY": "k"})
    assert done.code == 0, done.err
    assert "2 talks judged, 2 repaired, 8 of 16 answers unanswered" in done.err
    assert "no_user_turn 1" in done.err
    found = read_surveys(tmp_path / "judged/survey_data")["judge"]
    assert list(found) == ["desk_a", "desk_a_ann2"]
    assert [a.answer for a in found["desk_a"] or ()] == [
        q.options[0] for q in published_instrument().questions
    ]
    assert {a.answer for a in found["desk_a_ann2"] or ()} == {None}
    assert "HIDDEN" not in json.dumps(server.requests)
    refused(inside(*arguments, env={"SIM_KEY": "k"}), "--force")
    asked = len(server.requests)
    again = inside(*arguments, "--force", env={"SIM_KEY": "k"})
    assert again.code == 0
    assert len(server.requests) == asked  # remembered


def test_a_scripted_judge_is_refused(tmp_path: Path) -> None:
    refused(usi("simulate", "judge", "x", "--judge", "scripted:terse"), "a judge is a model")


HUMAN = ("simulate", "human", *DESK, "--agent", "oracle", "--tasks", "price", "-o")
LINES = [
    "yes", "what does the drawing suite cost?", "", "no", "E1003 3159", "thanks", "/stop",
    "4", "3", "9", "2", "", "3", "3", "5", "4",
]  # fmt: skip


def test_a_person_plays_by_pipe(tmp_path: Path) -> None:
    folder = tmp_path / "human_corpus" / "desk"
    done = usi(
        *HUMAN, folder, "--batch", "2", "--participant", "p7",
        stdin="\n".join([*LINES, ""]).encode(),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.out.index("Taking part is voluntary") < done.out.index("--- your task ---")
    (session,) = open_sessions(folder / "sessions.jsonl")
    assert (session.batch, session.participant, session.simulator) == (2, "p7", "")
    assert (session.task_id, session.trial) == ("price", None)
    assert session.outcome.reward is not None
    assert session.agent is not None
    assert session.agent.startswith("oracle@")
    assert session.meta["consent"] is True
    assert "synthetic" not in session.meta
    said = [t.content for t in session.turns if t.role == "user"]
    assert said == ["what does the drawing suite cost?", "no", "E1003 3159", "thanks"]
    answers = {a.item: a.answer for a in session.survey or ()}
    assert answers["task_success"] == "Yes - Task completed"
    assert answers["question_amount_preference"] == "About right"  # 9 was no option
    assert answers["answer_effort_time"] is None  # skipped
    manifest = read_manifest(folder / "manifest.toml")
    assert (manifest.name, manifest.redistribute, manifest.agent) == ("desk", False, session.agent)
    verified = usi("corpus", "verify", folder)
    assert verified.code == 0, verified.out
    assert (folder / "DATASHEET.md").is_file()
    again = usi(*HUMAN, folder, "--batch", "2", stdin=b"yes\n")
    refused_with = (again.code, "--batch N" in again.err)
    assert refused_with == (2, True)
    features = usi("features", "desk", "--side", "human", "--profile", "tau-usi", cwd=tmp_path)
    assert features.code == 0, features.err


@pytest.mark.parametrize("answer", ["no\n", "", "Y\n"])
def test_without_consent_nothing_is_stored(tmp_path: Path, answer: str) -> None:
    done = usi(*HUMAN, tmp_path / "c", stdin=answer.encode())
    assert done.code == 2
    assert "nothing is stored" in done.err
    assert not (tmp_path / "c").exists()


def test_a_talk_that_was_left_is_not_stored(tmp_path: Path) -> None:
    done = usi(*HUMAN, tmp_path / "c", stdin=b"yes\nwhat does it cost\n")
    assert done.code == 0, done.err
    assert "not stored" in done.out
    assert not (tmp_path / "c" / "sessions.jsonl").exists()


def test_another_agent_is_not_mixed_into_a_corpus(tmp_path: Path) -> None:
    usi(*HUMAN, tmp_path / "c", stdin="\n".join([*LINES, ""]).encode())
    other = usi(
        "simulate", "human", *DESK, "--agent", "oracle:miss=0.1", "-o", tmp_path / "c",
        "--batch", "2", stdin=b"yes\n",
    )  # fmt: skip
    assert other.code == 2
    assert "same agent" in other.err


def test_what_people_wrote_in_the_manifest_stays(tmp_path: Path) -> None:
    """Counts and hash change with the second person, comments and the rest do not."""
    folder = tmp_path / "c"
    lines = "\n".join([*LINES, ""]).encode()
    assert usi(*HUMAN, folder, stdin=lines).code == 0
    path = folder / "manifest.toml"
    digest = read_manifest(path).sha256["sessions.jsonl"]
    text = "# Asked by Ann; see the minutes.\n" + path.read_text()
    text = text.replace("sessions = 1\n", "sessions  =  1   # talks\n")
    path.write_text(text.replace('channel = "chat"', 'channel = "chat"  # in the lab'))
    assert usi(*HUMAN, folder, "--batch", "2", stdin=lines).code == 0
    after = path.read_text()
    assert after.startswith("# Asked by Ann; see the minutes.\n")
    assert 'channel = "chat"  # in the lab\n' in after
    assert "sessions  =  2   # talks\n" in after
    assert read_manifest(path).sha256["sessions.jsonl"] != digest
    verified = usi("corpus", "verify", folder)
    assert verified.code == 0, verified.out


def test_an_agent_can_not_command_the_persons_terminal(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("def act(request):\n    return 'hi \\x1b[2J\\x1b]0;t\\x07'\n")
    done = usi("simulate", "human", *DESK, "--agent", "callable:loud:act", "--tasks", "price",
               "-o", "c", stdin=b"yes\nhello\n/stop\n", cwd=tmp_path)  # fmt: skip
    assert "agent: hi " in done.out
    assert "\x1b" not in done.out
    assert "\x07" not in done.out


def test_a_person_plays_in_a_terminal(tmp_path: Path) -> None:
    """A real terminal: what is written comes back as typed."""
    folder = tmp_path / "c"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "usi", *HUMAN, str(folder)])
    os.write(terminal, "\n".join([*LINES, ""]).encode())
    shown = b""
    for _ in range(3000):
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
        time.sleep(0.001)
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0, shown[-400:]
    assert re.search(rb"agent: Hi! How can I help you today\?", shown)
    assert len(list(open_sessions(folder / "sessions.jsonl"))) == 1


def test_the_road_is_shown_in_help() -> None:
    done = usi("simulate", "--help")
    assert done.code == 0
    for word in ("judge", "human", "scripted:terse"):
        assert word in done.out
    shown = usi("simulate", "run", "--help")
    assert "--user-seeds" in shown.out
