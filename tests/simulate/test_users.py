"""Kinds of users and agents by name: scripts, requesters, records, processes, endpoints, models."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from simulate import plugin_user
from simulate.server import Server
from simulate.tiny import TinyDomain, setting

from usi.errors import InputError, UsageError
from usi.simulate.calls import Budget, Cache, Calls, Ledger, Runtime
from usi.simulate.candidates import read_agent, read_users
from usi.simulate.client import ModelSettings
from usi.simulate.episode import Cell, Episode, run_episode
from usi.simulate.faults import ReplayMiss, RunStopped
from usi.simulate.protocol import Task
from usi.simulate.questions import published_instrument
from usi.simulate.users.model import ModelUsers, spoken
from usi.simulate.users.requester import Rates, Requesters, read_rates
from usi.simulate.users.scripted import PRESETS, ScriptedUsers, Traits, occasion

DOMAIN = TinyDomain(count=30)


def talk(users: Any, *, runtime: Runtime | None = None, task: int = 1, **more: Any) -> Episode:
    cell = Cell(DOMAIN.tasks[task - 1], 1, 1, 1)
    calls = Calls(runtime or Runtime(first_wait=0.01, retries=1))
    return run_episode(cell, users, setting(DOMAIN, **more), calls)


def said(episode: Episode) -> list[str]:
    return [m["content"] for m in episode.messages if m["role"] == "user"]


def population(preset: str, **traits: float) -> list[Episode]:
    users = ScriptedUsers(Traits(**{**vars(PRESETS[preset]), **traits}))
    return [talk(users, task=n) for n in range(1, 31)]


def share(episodes: list[Episode], *words: str) -> float:
    return sum(any(w in " ".join(said(e)).lower() for w in words) for e in episodes) / len(episodes)


def test_each_trait_shows() -> None:
    plain = population("plain")
    words = {name: _words(population(name)) for name in ("plain", "terse", "polite")}
    assert words["terse"] < words["plain"] < words["polite"]
    assert share(population("polite"), "thank", "please") > 0.9
    front = population("front-loading")
    assert all("badge is" in said(e)[0] for e in front)
    assert share(population("forgetful"), "forgot", "remember", "can't find") > 0.5
    assert share(plain, "forgot", "remember", "can't find") < 0.3
    assert share(population("confused"), "confused", "don't understand", "huh") > 0.3
    assert share(population("lacking-knowledge"), "what is a badge", "what badge means") > 0.4
    impatient = population("impatient")
    assert share(impatient, "all day", "so long", "annoying", "faster", "questions", "wasting",
                 "ridiculous", "never mind") > 0.3  # fmt: skip
    assert max(len(said(e)) for e in impatient) <= 7


def _words(episodes: list[Episode]) -> float:
    turns = [turn for e in episodes for turn in said(e)]
    return sum(len(turn.split()) for turn in turns) / len(turns)


def test_a_varied_population_differs_between_people() -> None:
    users = ScriptedUsers(None)
    made = {users.new(DOMAIN.tasks[0], seed, Calls(Runtime())).traits.terse for seed in range(20)}
    assert len(made) > 15


def test_traits_are_checked() -> None:
    with pytest.raises(UsageError, match="impatient"):
        Traits(impatient=1.5)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Could you tell me this, please: badge?", "asked"),
        ("I am going to close INC-1. Shall I go ahead (yes/no)?", "confirm"),
        ("Please confirm that I should close it.", "confirm"),
        ("Would you be fine if we leave it at that?", "dissuaded"),
        ("I'm sorry, that is not permitted. Anything else?", "refused"),
        ("Done. Is there anything else?", "more"),
        ("Which colour?", "question"),
        ("I have done that.", "told"),
    ],
)
def test_scripts_understand_agents(text: str, kind: str) -> None:
    assert occasion(text, {"badge": "B1"}) == kind


def test_requesters_wait_reopen_and_follow_up_at_the_rates_of_a_log() -> None:
    none = Requesters(Rates(), PRESETS["plain"])
    always = Requesters(Rates(waiting=1.0, reopening=1.0, follow_up=1.0), PRESETS["plain"])
    quiet, busy = talk(none), talk(always)
    assert not any(word in " ".join(said(quiet)) for word in ("reopen", "update", "look that up"))
    text = " ".join(said(busy)).lower()
    assert any(w in text for w in ("look that up", "one moment", "give me some time"))
    assert any(w in text for w in ("reopen", "problem is back"))
    assert any(w in text for w in ("any news", "any update", "status of this"))
    assert busy.termination == "user_stop"
    some = Requesters(Rates(reopening=0.3), PRESETS["plain"])
    reopened = sum(
        some.new(DOMAIN.tasks[n % 30], seed, Calls(Runtime())).reopens
        for n in range(30) for seed in range(20)
    )  # fmt: skip
    assert 0.24 < reopened / 600 < 0.36  # 5 % and 95 % of a binomial lie within


def test_rates_come_from_toml(tmp_path: Path) -> None:
    file = tmp_path / "rates.toml"
    file.write_text("[rates]\nwaiting = 0.25\nreopening = 0.1\n")
    assert read_rates(file) == Rates(waiting=0.25, reopening=0.1)
    file.write_text("reopning = 0.1\n")
    with pytest.raises(UsageError, match="reopening"):
        read_rates(file)
    candidate = tmp_path / "desk.toml"
    file.write_text("waiting = 0.5\n")
    candidate.write_text('kind = "requester"\nrates = "rates.toml"\n[traits]\nterse = 1.0\n')
    label, users = read_users(str(candidate), domain="tiny")
    assert label == "desk"
    assert users.identity["rates"]["waiting"] == 0.5
    assert users.identity["traits"]["terse"] == 1.0


def test_recorded_turns_are_said_again(tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    rows = [
        {"task_id": "tiny_t1", "trial": trial, "messages": [
            {"role": "assistant", "content": "Hi"}, {"role": "user", "content": text},
            {"role": "user", "content": "that was it"}]}
        for trial, text in ((1, "first"), (2, "second"))
    ]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    label, users = read_users(f"replay:{file}", domain="tiny")
    assert "people" in label
    episode = talk(users)
    assert said(episode) == ["first", "that was it"]
    assert episode.termination == "user_stop"
    with pytest.raises(UsageError, match="t1"):
        talk(users, task=2)


PROGRAM = f"{sys.executable} {plugin_user.__file__}"


def test_a_process_is_a_user() -> None:
    _, users = read_users(f"process:{PROGRAM}", domain="tiny")
    episode = talk(users, instrument=published_instrument())
    users.exchange.close()  # type: ignore[attr-defined]
    assert said(episode) == ["I am t1 with seed 1", "bye"]
    assert episode.termination == "user_stop"
    assert episode.survey is not None
    assert episode.survey["human_like"] == "Yes"
    assert episode.survey["reuse"] is None  # "perhaps" is no option
    assert episode.defects == {"survey_unanswered": 7}


@pytest.mark.parametrize("option", ["--die", "--babble"])
def test_a_process_that_fails_is_infrastructure(option: str) -> None:
    _, users = read_users(f"process:{PROGRAM} {option}", domain="tiny")
    episode = talk(users)
    users.exchange.close()  # type: ignore[attr-defined]
    assert episode.termination == "user_process_failed"


def test_a_program_that_does_not_exist_is_infrastructure() -> None:
    _, users = read_users("process:/no/such/program", domain="tiny")
    assert talk(users).termination == "user_process_failed"


def test_a_callable_is_a_user() -> None:
    label, users = read_users("callable:simulate.plugin_user:reply", domain="tiny")
    assert label == "simulate.plugin_user-reply"
    assert said(talk(users)) == ["I am t1 with seed 1", "bye"]
    _, broken = read_users("callable:simulate.plugin_user:breaks", domain="tiny")
    episode = talk(broken)
    assert (episode.termination, episode.infrastructure) == ("plugin_error", True)
    assert "my bug" in episode.detail
    with pytest.raises(UsageError, match="no such function"):
        read_users("callable:simulate.plugin_user:nothing", domain="tiny")
    with pytest.raises(UsageError, match=r"usi\.users"):
        read_users("callable:not-registered", domain="tiny")


def test_entry_points_name_users(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    from usi.simulate import candidates as plugins

    def points(group: str) -> list[EntryPoint]:
        return [EntryPoint("theirs", "simulate.plugin_user:reply", group)]

    monkeypatch.setattr(plugins, "entry_points", points)
    _, users = read_users("callable:theirs", domain="tiny")
    assert said(talk(users)) == ["I am t1 with seed 1", "bye"]
    with pytest.raises(UsageError, match="theirs"):
        read_users("callable:their", domain="tiny")


def test_a_factory_of_somebody_else_is_taken_as_it_is() -> None:
    _, users = read_users("callable:simulate.plugin_user:Factory", domain="tiny")
    assert users is plugin_user.Factory
    assert talk(plugin_user.Factory()).termination == "user_stop"


def test_replay_and_zero_budget_hold_for_callables_too(tmp_path: Path) -> None:
    _, users = read_users("callable:simulate.plugin_user:reply", domain="tiny")
    file = tmp_path / "answers.sqlite"
    with pytest.raises(ReplayMiss):
        talk(users, runtime=Runtime(cache=Cache(file), replay=True))
    with pytest.raises(RunStopped):
        talk(users, runtime=Runtime(ledger=Ledger(Budget(money=0.0))))
    live = talk(users, runtime=Runtime(cache=Cache(file)))
    replayed = talk(users, runtime=Runtime(cache=Cache(file), replay=True))
    assert said(live) == said(replayed)


def test_an_endpoint_is_a_user(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER_KEY", "sesame")
    rows = [{"content": "hello"}, {"content": "bye", "stop": True}]
    server.says({"status": 503}, *({"raw": json.dumps(row).encode()} for row in rows))
    users = read_users(f"{server.url}/user", domain="tiny")[1]
    episode = talk(users)
    assert said(episode) == ["hello", "bye"]
    assert server.requests[0]["instruction"] == DOMAIN.tasks[0].instruction
    assert "tools" not in server.requests[0]
    assert all("authorization" not in h for h in server.headers)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"status": 429}, "rate_limited"),
        ({"status": 500}, "provider_error"),
        ({"raw": b"[1]"}, "malformed_response"),
        ({"raw": b"{"}, "malformed_response"),
        ({"status": 418}, "provider_error"),
    ],
)
def test_an_endpoint_that_fails_is_infrastructure(
    server: Server, reply: dict[str, Any], reason: str
) -> None:
    server.says(reply)
    assert talk(read_users(server.url, domain="tiny")[1]).termination == reason


def test_endpoint_and_callable_are_agents(server: Server) -> None:
    agent = read_agent("callable:simulate.plugin_user:act")
    episode = talk(ScriptedUsers(PRESETS["plain"]), agent=agent)
    assert episode.grade is not None
    assert [m for m in episode.messages if m["role"] == "tool"]
    server.says({"raw": json.dumps({"content": "from afar"}).encode()})
    episode = talk(ScriptedUsers(PRESETS["terse"]), agent=read_agent(f"{server.url}/agent"))
    assert "from afar" in [m.get("content") for m in episode.messages]
    assert server.requests[0]["policy"] == DOMAIN.policy
    assert server.requests[0]["tools"] == [dict(t) for t in DOMAIN.tools]
    server.says({"raw": json.dumps({"content": 5}).encode()})
    broken = talk(ScriptedUsers(PRESETS["terse"]), agent=read_agent(server.url))
    assert broken.termination == "malformed_response"


def model(server: Server, **more: Any) -> ModelUsers:
    return ModelUsers(ModelSettings(model="openai/m", api_base=f"{server.url}/v1"), **more)


def test_reflecting_users_send_their_message_only(server: Server) -> None:
    server.says(
        {"content": "Thought: I begin.\nMessage: please add 1"},
        {"content": "Thought: done\nMessage: ###STOP###"},
    )
    episode = talk(model(server, strategy="reflect"))
    assert said(episode) == ["please add 1"]
    assert "Thought:" in server.requests[0]["messages"][0]["content"]
    assert spoken("no form at all") == "no form at all"
    assert spoken("Thought: only that") == ""


def test_verified_users_write_again_what_does_not_fit(server: Server) -> None:
    server.says(
        {"content": "draft one"},
        {"content": '{"ok": false, "why": "invented"}'},
        {"content": "draft two"},
        {"content": 'Sure! {"ok": true}'},
        {"content": "###STOP###"},
        {"content": "not readable"},
    )
    episode = talk(model(server, strategy="verify"))
    assert said(episode) == ["draft two"]
    assert "draft one" in server.requests[1]["messages"][0]["content"]


def test_persona_and_prompt_reach_the_model(server: Server) -> None:
    server.says({"content": "###STOP###"})
    talk(model(server, traits=("in a hurry",), prompt="ROLE {instruction} {traits} end {stop}"))
    system = server.requests[0]["messages"][0]["content"]
    assert system.startswith("ROLE SECRET-1")
    assert "in a hurry" in system
    assert "###STOP###" in system


def test_braces_of_an_instruction_are_text(server: Server) -> None:
    from usi.simulate.users.model import PROMPT, system_prompt

    task = Task(id="x", instruction="say {traits} {0} {stop.__class__} %s")
    assert "say {traits} {0} {stop.__class__} %s" in system_prompt(PROMPT, task, ["a"], "plain")


def test_the_user_fills_in_the_survey_with_one_repair(server: Server) -> None:
    good = {q.item: q.options[-1] for q in published_instrument().questions}
    server.says(
        {"content": "###STOP###"},
        {"content": json.dumps({**good, "reuse": "maybe so"})},
        {"content": json.dumps({**good, "reuse": "ABSOLUTELY yes"})},
    )
    episode = talk(model(server), instrument=published_instrument())
    assert episode.survey is not None
    assert episode.survey["reuse"] == "Absolutely yes"
    assert len(server.requests) == 3
    assert "'maybe so' is no option" in server.requests[2]["messages"][-1]["content"]


def test_after_one_repair_it_is_unanswered(server: Server) -> None:
    server.says({"content": "###STOP###"}, {"content": "I liked it"})
    episode = talk(model(server), instrument=published_instrument())
    assert episode.survey is not None
    assert set(episode.survey.values()) == {None}
    assert len(server.requests) == 3


def write(tmp_path: Path, text: str) -> str:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    return str(file)


def test_a_model_by_toml(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("You are {instruction}")
    label, users = read_users(
        write(
            tmp_path,
            'kind = "model"\nmodel = "openai/x"\nkey_env = "K"\nstrategy = "verify"\n'
            'prompt_file = "p.md"\ntraits = ["calm"]\ntemperature = 0.3\n',
        ),
        domain="tiny",
    )
    assert label == "mine"
    assert isinstance(users, ModelUsers)
    assert users.prompt == "You are {instruction}"
    assert (users.settings.temperature, users.strategy, users.traits) == (0.3, "verify", ("calm",))
    assert "K" not in users.identity.values()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('kind = "modl"', "model"),
        ('kind = "model"\nmodel = "x"\ntemprature = 1', "temperature"),
        ('kind = "model"\nmodel = "x"\napi_key = "sk-1"', "key_env"),
        ('kind = "model"\nmodel = "x"\ntemperature = "hot"', "temperature"),
        ('kind = "model"\nmodel = "x"\nstrategy = "refect"', "reflect"),
        ('kind = "model"\nmodel = "x"\nprompt = "no mark"', "{instruction}"),
        ('kind = "model"', "model"),
        ('kind = "scripted"\npreset = "ters"', "terse"),
        ('kind = "scripted"\n[traits]\nimpatience = 1', "impatient"),
        ('kind = "http"', "url"),
        ('kind = "process"\ncommand = 5', "command"),
        ("kind = ", "TOML"),
    ],
)
def test_a_wrong_description_says_what_is_wrong(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises((UsageError, InputError)) as caught:
        read_users(write(tmp_path, text), domain="tiny")
    assert word in str(caught.value)


def test_unknown_names_list_near_ones() -> None:
    with pytest.raises(UsageError, match="scripted"):
        read_users("scriptd:terse", domain="tiny")
    with pytest.raises(UsageError, match="oracle"):
        read_agent("oracl")
    with pytest.raises(InputError, match="no such file"):
        read_users("nowhere.toml", domain="tiny")
    with pytest.raises(UsageError, match="shirk"):
        read_agent("oracle:shirk")
