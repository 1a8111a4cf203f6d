"""Adapters against stand-ins that ask for what tau-bench and tau2-bench ask for."""

from __future__ import annotations

import abc
import sys
import types
from typing import Any

import pytest
from pydantic import BaseModel
from simulate.server import Server

from usi.errors import UsageError
from usi.simulate.adapters.taubench import CandidateUser
from usi.simulate.client import ModelSettings
from usi.simulate.users.model import ModelUsers


class TauEnv:
    """As tau-bench's environment uses its user: reset, then steps until the stop token."""

    def __init__(self, user: Any) -> None:
        self.user = user

    def play(self, instruction: str, replies: list[str]) -> tuple[list[str], float]:
        said = [self.user.reset(instruction=instruction)]
        for reply in replies:
            said.append(self.user.step(reply))
            if "###STOP###" in said[-1]:
                break
        return said, self.user.get_total_cost()


def model(server: Server) -> ModelUsers:
    settings = ModelSettings(
        model="openai/m", api_base=f"{server.url}/v1", price_in=1.0, price_out=1.0
    )
    return ModelUsers(settings)


def test_tau_bench_plays_with_a_candidate(server: Server) -> None:
    server.says({"content": "Hello, I want a lamp"}, {"content": "Bye ###STOP###"})
    user = CandidateUser(model(server), domain="retail")
    said, cost = TauEnv(user).play("SECRET", ["Which one?", "never reached"])
    assert said == ["Hello, I want a lamp", "Bye ###STOP###"]
    assert cost == pytest.approx(2 * 110 / 1e6)
    assert "SECRET" in server.requests[0]["messages"][0]["content"]
    said, cost = TauEnv(user).play("SECRET 2", [])
    assert cost == pytest.approx(110 / 1e6)
    assert server.requests[-1]["seed"] == 2


def test_tau_bench_plays_with_a_script_by_name() -> None:
    said, cost = TauEnv(CandidateUser("scripted:terse")).play(
        "I want to return a lamp", ["Shall I go ahead?", "Done. Anything else?", "Anything else?"]
    )
    assert "I want to return a lamp" in said[0]
    assert said[-1].endswith("###STOP###")
    assert cost == 0


class UserMessage(BaseModel):
    role: str
    content: str | None = None
    cost: float | None = None
    tool_calls: list[Any] | None = None


class AssistantMessage(UserMessage):
    pass


class UserState(BaseModel):
    system_messages: list[Any]
    messages: list[Any]


class HalfDuplexUser(abc.ABC):
    def __init__(self, instructions: Any = None, tools: Any = None) -> None:
        raise AssertionError("the adapter has its own")

    @abc.abstractmethod
    def generate_next_message(self, message: Any, state: Any) -> Any: ...

    @abc.abstractmethod
    def get_init_state(self, message_history: Any = None) -> Any: ...

    @classmethod
    @abc.abstractmethod
    def is_stop(cls, message: Any) -> bool: ...

    @abc.abstractmethod
    def set_seed(self, seed: int) -> None: ...


class Registry:
    def __init__(self) -> None:
        self.users: dict[str, type] = {}

    def register_user(self, user_constructor: type, name: str | None = None) -> None:
        assert issubclass(user_constructor, HalfDuplexUser)
        self.users[name or user_constructor.__name__] = user_constructor


@pytest.fixture(params=["half-duplex", "base"])
def tau2(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """Modules of tau2-bench, in its newer and its older arrangement."""
    registry = Registry()
    newer = {"HalfDuplexUser": HalfDuplexUser, "UserState": UserState}
    older = {"BaseUser": HalfDuplexUser, "UserState": UserState}
    modules: dict[str, dict[str, Any]] = {
        "tau2": {},
        "tau2.user": {},
        "tau2.data_model": {},
        "tau2.data_model.message": {"UserMessage": UserMessage},
        "tau2.registry": {"registry": registry},
    }
    if request.param == "half-duplex":
        modules["tau2.user.user_simulator_base"] = newer
    else:
        modules["tau2.user.base"] = older
    for name, content in modules.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    return registry


def test_tau2_plays_with_a_candidate(tau2: Registry, server: Server) -> None:
    from usi.simulate.adapters.tau2 import register

    server.says({"content": "hi, my phone is dead"}, {"content": "###STOP###"})
    register("mine", model(server), domain="telecom")
    user: Any = tau2.users["mine"](
        instructions="SECRET", tools=None, llm="ignored", llm_args={"a": 1}, persona_config=None
    )
    user.set_seed(41)
    greeting = AssistantMessage(role="assistant", content="Hi! How can I help you today?")
    state = user.get_init_state(message_history=[])
    message, state = user.generate_next_message(greeting, state)
    assert (message.role, message.content) == ("user", "hi, my phone is dead")
    assert message.cost == pytest.approx(110 / 1e6)
    assert not user.is_stop(message)
    answer = AssistantMessage(role="assistant", content="Try again.")
    message, state = user.generate_next_message(answer, state)
    assert user.is_stop(message)
    user.stop(message, state)
    assert [m.content for m in state.messages] == [
        "Hi! How can I help you today?", "hi, my phone is dead", "Try again.", "###STOP###"
    ]  # fmt: skip
    assert server.requests[0]["seed"] == 41
    assert "SECRET" in server.requests[0]["messages"][0]["content"]


def test_tau2_goes_on_from_what_was_said(tau2: Registry, server: Server) -> None:
    from usi.simulate.adapters.tau2 import user_class

    user: Any = user_class(model(server))(instructions="x")
    history = [
        AssistantMessage(role="assistant", content="Hi!"),
        UserMessage(role="user", content="my phone"),
        AssistantMessage(role="assistant", content=None, tool_calls=[{"name": "look"}]),
    ]
    state = user.get_init_state(history)
    user.generate_next_message(AssistantMessage(role="assistant", content="And?"), state)
    assert [m["content"] for m in server.requests[0]["messages"][1:]] == ["Hi!", "my phone", "And?"]


def test_without_tau2_the_reason_is_said() -> None:
    from usi.simulate.adapters.tau2 import user_class

    with pytest.raises(UsageError, match="not installed"):
        user_class("scripted:terse")
