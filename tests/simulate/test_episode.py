"""How episodes go and end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from simulate.server import Server, tool_call
from simulate.tiny import TinyDomain, setting

from usi.simulate.agents.agent import fingerprint
from usi.simulate.agents.model import NO_POLICY, ModelAgents
from usi.simulate.agents.oracle import OracleAgents
from usi.simulate.calls import Calls, Runtime
from usi.simulate.client import ModelSettings
from usi.simulate.episode import Cell, Episode, run_episode
from usi.simulate.faults import EpisodeFault
from usi.simulate.protocol import Task
from usi.simulate.questions import published_instrument
from usi.simulate.users.model import ModelUsers
from usi.simulate.users.scripted import PRESETS, ScriptedUsers

PLAIN = ScriptedUsers(PRESETS["plain"])


def cell(number: int = 1, seed: int = 1) -> Cell:
    return Cell(TinyDomain().tasks[number - 1], seed, seed, seed)


def run(users: Any, fixed: Any, which: Cell | None = None, **more: Any) -> Episode:
    return run_episode(which or cell(), users, fixed, Calls(Runtime(first_wait=0.01, **more)))


class Lines:
    """Users that say these lines, then nothing but the last one."""

    synthetic = False

    def __init__(self, *lines: str) -> None:
        self.lines, self.seen = lines, []
        self.identity: Mapping[str, Any] = {"kind": "lines"}

    def new(self, task: Task, seed: int, runtime: Any) -> Any:
        lines, seen = list(self.lines), self.seen

        class One:
            def reply(self, history: Sequence[Any]) -> Any:
                seen.append(list(history))
                return {"role": "user", "content": lines.pop(0) if len(lines) > 1 else lines[0]}

        return One()


class Does:
    """An agent that gives these messages in turn, the last one for ever."""

    identity: Mapping[str, Any] = {"kind": "does"}

    def __init__(self, *messages: Any) -> None:
        self.messages = messages

    def new(self, *_: Any) -> Any:
        left = list(self.messages)

        class One:
            def act(self, messages: Sequence[Any]) -> Any:
                found = left.pop(0) if len(left) > 1 else left[0]
                return found(messages) if callable(found) else dict(found)

        return One()


def say(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def call(name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": function}],
    }


def test_the_oracle_reaches_the_goal_and_asks_before_it_writes() -> None:
    episode = run(PLAIN, setting())
    assert episode.termination == "user_stop"
    assert episode.grade is not None
    assert episode.grade.reward == 1
    roles = [m["role"] for m in episode.messages]
    assert roles[0] == "assistant"
    write = next(i for i, m in enumerate(episode.messages) if m.get("tool_calls"))
    assert "Shall I go ahead" in episode.messages[write - 2]["content"]
    assert roles[write - 1] == "user"
    assert roles[write + 1] == "tool"


def test_the_user_never_sees_tools() -> None:
    users = Lines("please add 1. My badge is B1.", "no", "yes", "###STOP###")
    episode = run(users, setting())
    assert episode.grade is not None
    assert episode.grade.reward == 1
    shown = str(users.seen)
    assert "add 1 to the counter" in shown
    for hidden in ("tool", "total", "RULEBOOK", "call_"):
        assert hidden not in shown


def test_a_user_that_never_ends_is_ended() -> None:
    episode = run(Lines("more"), setting(agent=Does(say("ok")), max_turns=5))
    assert episode.termination == "max_turns"
    assert sum(m["role"] == "user" for m in episode.messages) == 5
    assert episode.grade is not None


def test_an_agent_that_never_speaks_is_ended() -> None:
    agent = Does(call("add", '{"amount": 0}'))
    episode = run(Lines("hi"), setting(agent=agent, max_steps=4))
    assert episode.termination == "max_agent_steps"
    assert sum(m["role"] == "tool" for m in episode.messages) == 4


def test_an_agent_without_words_ends_the_talk() -> None:
    episode = run(Lines("hi"), setting(agent=Does({"role": "assistant", "content": " "})))
    assert episode.termination == "empty_agent_reply"
    assert episode.grade is not None


@pytest.mark.parametrize("arguments", ["{not json", "[1]", '"text"'])
def test_bad_arguments_come_back_as_an_error(arguments: str) -> None:
    agent = Does(call("add", arguments), say("done"))
    episode = run(Lines("hi", "###STOP###"), setting(agent=agent))
    (result,) = [m for m in episode.messages if m["role"] == "tool"]
    assert result["content"] == '{"error": "the arguments are not a JSON object"}'


def test_a_fault_is_no_failed_task() -> None:
    def broken(_: Any) -> Any:
        raise EpisodeFault("timeout", "too late")

    episode = run(Lines("hi"), setting(agent=Does(broken)))
    assert episode.termination == "timeout"
    assert episode.infrastructure
    assert episode.grade is None
    assert episode.messages[-1] == {"role": "user", "content": "hi"}


def test_a_script_is_the_same_for_the_same_seed() -> None:
    talks = [run(PLAIN, setting(), cell(2, seed)).messages for seed in (1, 1, 2, 3, 4)]
    assert talks[0] == talks[1]
    assert any(talk != talks[0] for talk in talks[2:])


def test_model_user_and_model_agent_talk(server: Server) -> None:
    def answer(request: dict[str, Any], _: int) -> dict[str, Any]:
        system, last = request["messages"][0]["content"], request["messages"][-1]
        if system.startswith("RULEBOOK"):
            if last["role"] == "tool":
                return {"content": "<think>fine</think>It is done."}
            return tool_call("add", {"amount": 1})
        if last["content"] == "It is done.":
            return {"content": "###STOP###", "reasoning_content": "the goal is reached"}
        return {"content": "<think>I say it</think>please add 1"}

    server.answer = answer
    model = ModelSettings(model="openai/m", api_base=f"{server.url}/v1")
    fixed = setting(agent=ModelAgents(model))
    episode = run(ModelUsers(model), fixed)
    assert episode.termination == "user_stop"
    assert [m.get("content") for m in episode.messages if m["role"] != "tool"] == [
        "Hi! How can I help you today?", "please add 1", None, "It is done."
    ]  # fmt: skip
    assert episode.grade is not None
    assert episode.grade.reward == 1
    assert episode.usage.tokens == 4 * 110
    for request in server.requests:
        text = str(request["messages"])
        # Each side has its own secret, and never the other's.
        assert ("RULEBOOK" in text) != ("SECRET-1" in text)
        assert ("tools" in request) == ("RULEBOOK" in text)
    first = server.requests[0]["messages"]
    assert first[1] == {"role": "user", "content": "Hi! How can I help you today?"}


def test_no_policy_takes_the_rule_book_away(server: Server) -> None:
    server.says({"content": "ok"})
    model = ModelAgents(ModelSettings(model="openai/m", api_base=f"{server.url}/v1"))
    run(Lines("hi", "###STOP###"), setting(agent=model, policy=False))
    assert server.requests[0]["messages"][0] == {"role": "system", "content": NO_POLICY}
    domain = TinyDomain()
    assert fingerprint(model, domain) != fingerprint(model, domain, policy=False)


def test_the_fingerprint_is_that_of_agent_rule_book_and_tools() -> None:
    domain, oracle = TinyDomain(), OracleAgents()
    assert fingerprint(oracle, domain) == fingerprint(OracleAgents(), TinyDomain(count=9))
    others = {
        fingerprint(OracleAgents(shirk=0.1), domain),
        fingerprint(oracle, TinyDomain(policy="another")),
        fingerprint(oracle, TinyDomain(tools=[])),
        fingerprint(ModelAgents(ModelSettings(model="m")), domain),
        fingerprint(ModelAgents(ModelSettings(model="m", temperature=1.0)), domain),
        fingerprint(oracle, domain),
    }
    assert len(others) == 6
    # Where and how it is reached changes no answer.
    local = ModelSettings(model="m", api_base="http://x", key_env="K", per_minute=3)
    assert fingerprint(ModelAgents(local), domain) in others


def test_the_user_answers_the_survey_after_the_talk() -> None:
    episode = run(PLAIN, setting(instrument=published_instrument()))
    assert episode.survey is not None
    assert list(episode.survey) == [q.item for q in published_instrument().questions]
    assert episode.survey["task_success"] == "Yes - Task completed"


def test_a_user_without_a_survey_leaves_it_unanswered() -> None:
    fixed = setting(agent=Does(say("ok")), instrument=published_instrument())
    episode = run(Lines("###STOP###"), fixed)
    assert episode.survey is not None
    assert set(episode.survey.values()) == {None}
    assert episode.defects == {"no_survey": 1}


@pytest.mark.parametrize(
    ("shirk", "preset", "reward"),
    [(1.0, "over-compliant", 0), (1.0, "plain", 1), (0.0, "plain", 1)],
)
def test_a_shirking_agent_gets_away_with_compliant_users_only(
    shirk: float, preset: str, reward: int
) -> None:
    users = ScriptedUsers(PRESETS[preset])
    for number in range(1, 5):
        episode = run(users, setting(agent=OracleAgents(shirk=shirk)), cell(number))
        assert episode.grade is not None
        assert episode.grade.reward == reward
