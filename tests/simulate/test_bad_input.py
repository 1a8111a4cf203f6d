"""What is wrong with candidates, surveys and outputs is said before anything runs."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command import refused, usi
from simulate.server import Server
from simulate.test_users import talk

from usi.errors import InputError, UsageError
from usi.records import Session
from usi.simulate.agents.agent import OutsideAgents
from usi.simulate.candidates import read_agent, read_users
from usi.simulate.judge import keys_of
from usi.simulate.questions import published_instrument, read_answers, read_instrument
from usi.simulate.users.external import OutsideUsers, OverCall
from usi.simulate.users.scripted import PRESETS, ScriptedUsers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('kind = "process"\ncommand = "cat"\ntimeout = -1', ["timeout", "seconds above 0"]),
        ('kind = "process"\ncommand = "cat"\ntimeout = nan', ["timeout", "seconds above 0"]),
        ('kind = "process"\ncommand = "\'open"', ["command", "words"]),
        ('kind = "process"\ncommand = " "', ["command", "no program"]),
        ('kind = "http"\nurl = "file:///etc/passwd"', ["url", "not an address"]),
        ('kind = "http"\nurl = "http://[bad/x"', ["url", "not an address"]),
        ('kind = "http"\nurl = "http://a:port/"', ["url", "not an address"]),
        ('kind = "http"\nurl = "http://a"\nper_minute = 0', ["per_minute", "above 0"]),
        ('kind = "requester"\nrates = "rates.toml"', ["rates.toml", "table of rates"]),
        ('kind = "scripted"\nseed = true', ["seed", "wrong type"]),
        ('kind = "scripted"\npreset = "varied"\n[traits]\nterse = 1.0', ["preset", "its own"]),
        ('kind = "requester"\npreset = "varied"', ["preset", "its own"]),
        ('kind = "callable"\nname = "broken_syntax:f"', ["broken_syntax", "SyntaxError"]),
        ('kind = "callable"\nname = "broken_run:f"', ["broken_run", "RuntimeError: my bug"]),
        ('kind = "callable"\nname = "no_such_module:f"', ["No module named"]),
        ('kind = "callable"\nname = ":f"', ["module:function"]),
        ('kind = "callable"\nname = "json:"', ["module:function"]),
    ],
)
def test_what_is_wrong_with_a_candidate_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: list[str]
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "broken_syntax.py").write_text("def f(:\n")
    (tmp_path / "broken_run.py").write_text("raise RuntimeError('my bug')\n")
    (tmp_path / "rates.toml").write_text("rates = 5\n")
    file = tmp_path / "mine.toml"
    file.write_text(text + "\n")
    with pytest.raises((UsageError, InputError)) as caught:
        read_users(str(file), domain="tiny")
    for word in words:
        assert word in str(caught.value)


def test_agents_of_broken_modules_are_refused_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "broken_exit.py").write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(UsageError, match="SystemExit: 3"):
        read_agent("callable:broken_exit:f")


@pytest.mark.parametrize(
    "text", ["item = [5]", '[[item]]\nid = "a"\nquestion = "q"\noptions = 5', "item = 5"]
)
def test_a_survey_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(text + "\n")
    with pytest.raises(InputError, match=r"survey\.toml"):
        read_instrument(file)


def test_a_folder_that_can_not_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    run = ("simulate", "scripted:terse", "--domain", "service_desk", "--agent", "oracle", "-o")
    for place in ("file", "file/below"):
        refused(usi(*run, tmp_path / place), "can't write into", "-o")


def test_talks_of_one_id_never_share_a_key() -> None:
    sessions = [Session(session_id="a", batch=n) for n in (1, 2, 2, None, None)]
    assert [key for key, _ in keys_of(sessions)] == ["a", "a_ann2", "a_ann3", "a_ann4", "a_ann5"]


def program(folder: Path, body: str) -> str:
    file = folder / "user.py"
    file.write_text(f"import json, sys, time\n{body}\n")
    return f"{sys.executable} {file}"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("sys.stdin.readline(); sys.stdout.write('{'); sys.stdout.flush(); time.sleep(60)",
         "no answer in 1 s"),
        ("time.sleep(60)", "no answer in 1 s"),
        ("sys.stdin.readline(); sys.stdout.write('x' * (9 * 2**20))", "more than 8 MB"),
        ("sys.stdin.readline(); print('{\"content\": \"hi\"}\\n{\"content\": \"ho\"}', "
         "flush=True); time.sleep(60)", "nobody asked for"),
    ],
)  # fmt: skip
def test_a_process_that_keeps_no_rule_is_infrastructure_in_time(
    tmp_path: Path, body: str, why: str
) -> None:
    file = tmp_path / "p.toml"
    file.write_text(
        f'kind = "process"\ncommand = {json.dumps(program(tmp_path, body))}\ntimeout = 1\n'
    )
    _, users = read_users(str(file), domain="tiny")
    began = time.monotonic()
    episode = talk(users)
    users.exchange.close()  # type: ignore[attr-defined]
    assert episode.termination == "user_process_failed"
    assert why in episode.detail
    assert time.monotonic() - began < 20


def test_a_long_talk_reaches_a_process_that_reads_slowly(tmp_path: Path) -> None:
    """More than a pipe holds: writing must not wait for ever, nor be cut."""
    from usi.simulate.users.line_process import LineProcess

    body = "time.sleep(0.3)\nfor line in sys.stdin:\n    print(len(line), flush=True)"
    process = LineProcess(program(tmp_path, body))
    assert process.ask(b"x" * 300_000 + b"\n", 20.0) == b"300001"
    assert process.ask(b"y\n", 20.0) == b"2"
    process.close()
    assert not process.alive


class Odd:
    """Answers that no JSON holds."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __call__(self, request: dict[str, Any]) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


CIRCLE: dict[str, Any] = {"content": "x"}
CIRCLE["self"] = CIRCLE


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"content": {1, 2}}, "malformed_response"),
        (object(), "malformed_response"),
        (CIRCLE, "malformed_response"),
        ({"content": float("nan")}, "malformed_response"),
        ({"content": "hi", "cost": "much"}, "malformed_response"),
        ({"content": "hi", "cost": float("inf")}, "malformed_response"),
        ({"content": "hi", "tokens_in": -1}, "malformed_response"),
        (SystemExit(3), "plugin_error"),
        (KeyboardInterrupt(), "plugin_error"),
    ],
)
def test_answers_that_no_json_holds_are_infrastructure(answer: Any, reason: str) -> None:
    users = OutsideUsers(OverCall(Odd(answer), "odd"), {"kind": "callable", "name": "odd"})
    episode = talk(users)
    assert episode.termination == reason
    assert episode.usage.cost == 0.0


@pytest.mark.parametrize("deep", ["[" * 200_000, '{"a":' * 200_000])
def test_nesting_without_end_ends_nothing_else(server: Server, deep: str) -> None:
    server.says({"raw": deep.encode()})
    assert talk(read_users(server.url, domain="tiny")[1]).termination == "malformed_response"
    calls = [{"tool_calls": [{"name": "add", "arguments": deep}]}, {"content": "done"}]
    told = iter([*calls, *calls[1:] * 9])
    act = OverCall(lambda _: next(told), "act")
    agent = OutsideAgents(act, {"kind": "callable", "name": "act"})
    episode = talk(ScriptedUsers(PRESETS["terse"]), agent=agent)
    assert episode.grade is not None
    (result,) = [m["content"] for m in episode.messages if m["role"] == "tool"]
    assert "not a JSON object" in result
    assert read_answers(published_instrument(), deep)[1] == ["the answer is not a JSON object"]


def test_an_endpoint_can_not_send_the_key_elsewhere(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER_KEY", "sesame-sesame")
    file = tmp_path / "h.toml"
    file.write_text(f'kind = "http"\nurl = "{server.url}/a"\nkey_env = "USER_KEY"\n')

    def answer(request: dict[str, Any], number: int) -> dict[str, Any]:
        return {"status": 302, "headers": {"Location": f"{server.url}/b"}}

    server.answer = answer
    episode = talk(read_users(str(file), domain="tiny")[1])
    assert episode.termination == "provider_error"
    assert "redirects are not followed" in episode.detail
    assert len(server.requests) == 1
    assert server.headers[0]["authorization"] == "Bearer sesame-sesame"
    assert "sesame" not in episode.detail
