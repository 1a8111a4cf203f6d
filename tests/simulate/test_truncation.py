"""Replies that run out of tokens, half marks of templates, reservations, times of messages."""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from simulate.server import Server, tool_call
from simulate.test_command import DESK, inside
from simulate.test_users import model, talk

from usi.loading import open_sessions
from usi.records import Outcome, Session, Turn
from usi.scoring.episodes import EpisodeTally
from usi.simulate.agents.model import ModelAgents
from usi.simulate.calls import Budget, Calls, Ledger, Runtime, Usage
from usi.simulate.client import ModelSettings, complete, most_tokens
from usi.simulate.user import STOP, Defects, clean_reply, strip_reasoning
from usi.simulate.users.scripted import PRESETS, ScriptedUsers

MESSAGES = [{"role": "user", "content": "hi"}]


def cut(content: Any) -> dict[str, Any]:
    return {"content": content, "finish": "length"}


@pytest.mark.parametrize("content", ["", None, "<think>He wants", "<|im_start|>user", "<|im_"])
def test_a_reply_without_words_that_ran_out_of_tokens_is_infrastructure(
    content: str | None, server: Server
) -> None:
    server.says({"content": "please add 1"}, cut(content))
    episode = talk(model(server))
    assert episode.termination == "out_of_tokens"
    assert episode.infrastructure
    assert episode.grade is None


def test_a_reply_that_was_cut_is_kept_and_counted(server: Server) -> None:
    server.says(cut("please add 1 and then"), {"content": STOP})
    episode = talk(model(server))
    assert episode.termination == "user_stop"
    assert episode.defects["truncated"] == 1


def test_an_empty_reply_that_ended_by_itself_is_behaviour(server: Server) -> None:
    server.says({"content": ""})
    assert talk(model(server)).termination == "empty_user_reply"


@pytest.mark.parametrize(
    ("reply", "termination"),
    [
        (cut(None), "out_of_tokens"),
        ({**tool_call("add", '{"amount": '), "finish": "length"}, "out_of_tokens"),
        (cut("I will"), "max_turns"),
    ],
)
def test_an_agent_that_runs_out_of_tokens(
    reply: dict[str, Any], termination: str, server: Server
) -> None:
    server.says(reply)
    agent = ModelAgents(ModelSettings(model="openai/m", api_base=f"{server.url}/v1"))
    episode = talk(ScriptedUsers(PRESETS["terse"]), agent=agent)
    assert episode.agent_truncated > 0
    if termination == "out_of_tokens":
        assert episode.termination == termination
    else:
        assert not episode.infrastructure


@pytest.mark.parametrize(
    "raw",
    [
        "Thanks!<|im_end|>", "Thanks!<|im_end", "Thanks!<|im_", "Thanks!<|", "Thanks! |im_end|>",
        "Thanks!im_end|>", "Thanks!<end_of_turn", "Thanks!</s", "Thanks!<|eot_id|>user",
        "Thanks! [/INST] x", "Thanks!<|start_header_id|>assistant", "Thanks! ###STO",
        "Thanks!start_of_turn>",
    ],
)  # fmt: skip
def test_marks_of_templates_are_cut_where_a_part_of_one_is_missing(raw: str) -> None:
    defects = Defects()
    assert clean_reply(raw, defects).text == "Thanks!"
    assert defects.counts["template_mark_cut"] == 1


@pytest.mark.parametrize("text", ["a < b", "I paid <50", "see [1]", "it ended | was over", "#3"])
def test_other_words_stay(text: str) -> None:
    defects = Defects()
    assert clean_reply(text, defects).text == text
    assert not defects.counts


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<think>a</think>b<think>c</think>d", "bd"), ("a</think>b", "b"), ("b<think>c", "b"),
        ("<|think|>a<|/think|>b", "b"), ("<think>a<thinking>b</thinking></think>c", "c"),
        ("<THINK>a</Think> b", "b"), ("a</think>b</think>c<thought>d", "c"),
    ],
)  # fmt: skip
def test_thoughts_are_stripped(raw: str, text: str) -> None:
    assert strip_reasoning(raw) == text


def test_thoughts_are_stripped_in_linear_time() -> None:
    began = time.monotonic()
    strip_reasoning("<think>" * 300_000)
    strip_reasoning("<think>x</thinking>" * 200_000)
    assert time.monotonic() - began < 5


def test_the_default_fits_models_that_think_and_what_a_model_can_give(server: Server) -> None:
    assert most_tokens(ModelSettings(model="m", api_base=server.url)) == 8192
    assert most_tokens(ModelSettings(model="openai/gpt-4")) == 4096
    assert most_tokens(ModelSettings(model="openai/gpt-4", max_tokens=9000)) == 9000


def test_reservations_follow_what_calls_took(server: Server) -> None:
    chosen = ModelSettings(model="openai/m", api_base=f"{server.url}/v1", price_in=1, price_out=1)
    calls = Calls(Runtime(ledger=Ledger(Budget(tokens=3000))))
    for n in range(26):  # 110 tokens each; 27 fit, and a reply is expected to be a quarter longer
        complete(chosen, MESSAGES, calls=calls, nonce=n + 1)
    assert calls.paid.tokens == 2860
    runtime = Runtime()
    assert runtime.expected("m", 50, 8192) == (50, 1000)
    assert runtime.expected("m", 50, 100) == (50, 100)
    runtime.learn("m", 40, {"tokens_in": 60, "tokens_out": 200})
    assert runtime.expected("m", 50, 8192) == (70, 250)
    assert runtime.expected("other", 50, 8192) == (50, 1000)
    assert Usage().tokens == 0


def session(replies: int, truncated: int) -> Session:
    turns = tuple(Turn(role="user", content="x") for _ in range(replies))
    meta = {"replies": {"truncated": truncated}}
    return Session(session_id="a", turns=turns, outcome=Outcome(reward=1.0), meta=meta)


@pytest.mark.parametrize(("truncated", "warned"), [(0, False), (2, False), (3, True)])
def test_a_share_of_truncated_replies_above_the_limit_is_a_warning(
    truncated: int, warned: bool
) -> None:
    tally = EpisodeTally()
    tally.see(session(100, truncated))
    reason = tally.remark("mine")
    assert (reason is not None) == warned
    if reason is not None:
        assert reason.code == "truncated_replies"
        assert "mine: 3 of 100" in reason.text


def test_truncated_runs_warn_on_the_card_and_times_stand_beside(
    server: Server, tmp_path: Path
) -> None:
    server.answer = lambda request, n: cut("please") if n % 3 else {"content": STOP}
    mine = tmp_path / "mine.toml"
    mine.write_text(f'kind = "model"\nmodel = "openai/m"\napi_base = "{server.url}/v1"\n')
    runs = tmp_path / "runs"
    done = inside("simulate", mine, *DESK, "--agent", "oracle", "--tasks", "6", "-o", runs)
    assert done.code == 0, done.err
    times = json.loads((runs / "mine.times.json").read_text())
    for one in open_sessions([runs]):  # the folder: times are no transcripts
        said = [datetime.fromisoformat(at) for at in times[one.session_id]]
        assert len(said) == len(one.turns)
        assert said == sorted(said)
    card = inside("score", runs / "mine.jsonl", "--human", runs / "mine.jsonl", "--difficulty",
                  "self", "--surveys", "none", "--profile", "tau-usi")  # fmt: skip
    assert card.code == 0, card.err
    assert '"truncated_replies"' in card.out


def test_a_run_in_which_nothing_worked_has_a_code(server: Server, tmp_path: Path) -> None:
    server.says({"status": 500})
    arguments = ("simulate", server.url, *DESK, "--agent", "oracle", "--tasks", "2",
                 "--retries", "0", "-o", tmp_path)  # fmt: skip
    done = inside(*arguments)
    assert done.code == 5
    assert "infrastructure" in done.err
