"""Talking to models through litellm, against a server that misbehaves in every way."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from simulate.server import Server, tool_call
from simulate.tiny import TOOL

from usi.errors import UsageError
from usi.simulate.calls import Budget, Cache, Calls, Ledger, Runtime
from usi.simulate.client import ModelSettings, complete, prices
from usi.simulate.faults import EpisodeFault, Refused, ReplayMiss, RunStopped

ASK = [{"role": "user", "content": "hi"}]


def settings(server: Server, **more: Any) -> ModelSettings:
    return ModelSettings(model="openai/m", api_base=f"{server.url}/v1", **more)


def runtime(**more: Any) -> Runtime:
    return Runtime(first_wait=0.01, **more)


def test_words_tokens_and_cost_come_back(server: Server) -> None:
    calls = Calls(runtime())
    chosen = settings(server, price_in=2.0, price_out=30.0, temperature=0.5, max_tokens=77)
    answer = complete(chosen, ASK, calls=calls, seed=5)
    assert answer["content"] == "hello"
    assert (answer["tokens_in"], answer["tokens_out"]) == (100, 10)
    assert calls.usage.cost == pytest.approx((100 * 2 + 10 * 30) / 1e6)
    (sent,) = server.requests
    assert sent["messages"] == ASK
    assert (sent["temperature"], sent["seed"], sent["max_tokens"]) == (0.5, 5, 77)
    assert "tools" not in sent


def test_tool_calls_come_back(server: Server) -> None:
    server.says(tool_call("add", {"amount": 3}))
    answer = complete(settings(server), ASK, calls=Calls(runtime()), tools=[TOOL])
    assert answer["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"amount": 3}'}}
    ]
    assert server.requests[0]["tools"] == [TOOL]


def test_a_rate_limit_waits_as_long_as_it_says(server: Server) -> None:
    server.says({"status": 429, "headers": {"Retry-After": "0.4"}}, {"content": "ok"})
    began = time.monotonic()
    assert complete(settings(server), ASK, calls=Calls(runtime()))["content"] == "ok"
    assert time.monotonic() - began >= 0.4
    assert len(server.requests) == 2


def test_passing_faults_are_tried_again(server: Server) -> None:
    server.says({"status": 500}, {"status": 503}, {"raw": b"no json"}, {"content": "ok"})
    calls = Calls(runtime())
    assert complete(settings(server), ASK, calls=calls)["content"] == "ok"
    assert len(server.requests) == 4
    assert calls.paid.calls == 4
    assert calls.usage.calls == 1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"status": 429}, "rate_limited"),
        ({"status": 500}, "provider_error"),
        ({"status": 503}, "provider_error"),
        ({"raw": b"this is no JSON"}, "malformed_response"),
        ({"raw": b"{}"}, "malformed_response"),
        ({"raw": b'{"choices": []}'}, "malformed_response"),
        ({"sleep": 1.5}, "timeout"),
        ({"status": 400}, "provider_error"),
        (
            {"status": 400, "message": "This model's maximum context length is 10 tokens"},
            "context_window_exceeded",
        ),
    ],
)
def test_lasting_faults_have_a_reason(server: Server, reply: dict[str, Any], reason: str) -> None:
    server.says(reply)
    with pytest.raises(EpisodeFault) as caught:
        complete(settings(server, timeout=0.7), ASK, calls=Calls(runtime(retries=1)))
    assert caught.value.reason == reason
    # What trying again can't mend is asked once.
    assert len(server.requests) == (1 if reply.get("status") == 400 else 2)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_ends_the_run(server: Server, status: int) -> None:
    server.says({"status": status})
    with pytest.raises(Refused, match="openai/m"):
        complete(settings(server), ASK, calls=Calls(runtime()))
    assert len(server.requests) == 1


def test_the_key_is_sent_and_never_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "very-secret-value-77"
    monkeypatch.setenv("MY_KEY", key)
    server.says({"status": 401, "message": f"wrong key {key}"})
    with pytest.raises(Refused) as caught:
        complete(settings(server, key_env="MY_KEY"), ASK, calls=Calls(runtime()))
    assert server.headers[0]["authorization"] == f"Bearer {key}"
    assert key not in str(caught.value)
    assert caught.value.__cause__ is None


def test_another_servers_key_stays_at_home(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-provider")
    complete(settings(server), ASK, calls=Calls(runtime()))
    assert "another" not in str(server.headers)


def test_a_key_that_is_not_set_is_said(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(Refused, match="NO_SUCH_KEY"):
        complete(settings(server, key_env="NO_SUCH_KEY"), ASK, calls=Calls(runtime()))
    assert server.requests == []


def test_the_cache_answers_the_same_question_once(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "answers.sqlite"
    first = Calls(runtime(cache=Cache(file)))
    again = Calls(runtime(cache=Cache(file)))
    for calls in (first, again):
        complete(settings(server), ASK, calls=calls, seed=1)
    assert len(server.requests) == 1
    assert first.usage.tokens == again.usage.tokens == 110
    assert (first.paid.calls, again.paid.calls) == (1, 0)
    complete(settings(server), ASK, calls=again, seed=2)
    complete(settings(server, temperature=0.1), ASK, calls=again, seed=1)
    complete(settings(server), ASK, calls=again, seed=1, nonce=1)
    assert len(server.requests) == 4


def test_replay_lets_no_call_leave_and_names_the_key(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "answers.sqlite"
    complete(settings(server), ASK, calls=Calls(runtime(cache=Cache(file))))
    calls = Calls(runtime(cache=Cache(file), replay=True), "mine t1|u1|a1")
    assert complete(settings(server), ASK, calls=calls)["content"] == "hello"
    with pytest.raises(ReplayMiss, match=r"openai/m with key [0-9a-f]{16} \(episode mine t1"):
        complete(settings(server), [{"role": "user", "content": "new"}], calls=calls)
    assert len(server.requests) == 1


@pytest.mark.parametrize("budget", [Budget(money=0.0), Budget(tokens=0)])
def test_a_budget_of_zero_makes_no_call(server: Server, budget: Budget) -> None:
    calls = Calls(runtime(ledger=Ledger(budget)))
    with pytest.raises(RunStopped, match="budget"):
        complete(settings(server), ASK, calls=calls)
    assert server.requests == []


def test_a_budget_is_never_passed(server: Server) -> None:
    """A call may cost at most (tokens + 100) times the price: the third would not fit."""
    chosen = settings(server, price_in=1e6, price_out=1e6, max_tokens=100)  # a dollar a token
    calls = Calls(runtime(ledger=Ledger(Budget(money=300.0))))
    for n in range(2):
        complete(chosen, ASK, calls=calls, nonce=n + 1)  # 110 dollars each
    with pytest.raises(RunStopped, match=r"\$220.0000 of \$300"):
        complete(chosen, ASK, calls=calls, nonce=3)
    assert len(server.requests) == 2


def test_calls_are_paced(server: Server) -> None:
    calls = Calls(runtime())
    chosen = settings(server, per_minute=300)  # one every 0.2 s
    complete(chosen, ASK, calls=calls)
    began = time.monotonic()
    for n in (1, 2):
        complete(chosen, ASK, calls=calls, nonce=n)
    assert time.monotonic() - began >= 0.35


def test_prices_are_known_for_known_models_only(server: Server) -> None:
    assert prices(settings(server)) is None
    known = prices(ModelSettings(model="openai/gpt-4o-mini"))
    assert known is not None
    assert 0 < known[0] < known[1] < 1e-4


def test_settings_refuse_unknown_keys() -> None:
    with pytest.raises(ValueError, match="api_key"):
        ModelSettings(model="m", api_key="x")  # type: ignore[call-arg]


def test_without_litellm_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from usi.simulate import client

    client._litellm.cache_clear()
    monkeypatch.setitem(sys.modules, "litellm", None)
    try:
        with pytest.raises(UsageError, match=r"usi\[sim\]"):
            prices(ModelSettings(model="openai/gpt-4o-mini"))
    finally:
        client._litellm.cache_clear()
