"""A language model as the agent: the rule book as system prompt, tools called through litellm."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from usi.simulate.calls import Calls
from usi.simulate.client import ModelSettings, complete
from usi.simulate.faults import EpisodeFault
from usi.simulate.protocol import Domain, Message, Task
from usi.simulate.user import strip_reasoning

NO_POLICY = "You are a support agent. Help the user with the tools that you have."


@dataclass(frozen=True)
class ModelAgents:
    """An agent that one model plays."""

    settings: ModelSettings

    @property
    def identity(self) -> Mapping[str, Any]:
        """Model and parameters."""
        return {"kind": "model", **self.settings.identity()}

    def new(
        self, domain: Domain, task: Task, seed: int, calls: Calls, policy: str | None
    ) -> ModelAgent:
        """A fresh agent; it does not see the task."""
        tools = [dict(tool) for tool in domain.tools]
        return ModelAgent(self.settings, policy or NO_POLICY, tools, seed, calls)


@dataclass
class ModelAgent:
    """One agent in one episode."""

    settings: ModelSettings
    policy: str
    tools: list[dict[str, Any]]
    seed: int
    calls: Calls
    asked: int = 0

    def act(self, messages: Sequence[Message]) -> Message:
        """Ask the model; what it thought aloud is stripped."""
        self.asked += 1
        answer = complete(
            self.settings,
            [{"role": "system", "content": self.policy}, *messages],
            calls=self.calls,
            tools=self.tools,
            seed=self.seed,
            nonce=self.asked,
        )
        content = answer["content"]
        message: Message = {
            "role": "assistant",
            "content": strip_reasoning(content) if isinstance(content, str) else None,
        }
        if answer["tool_calls"]:
            message["tool_calls"] = answer["tool_calls"]
        if answer["finish"] == "length":
            self.calls.truncated += 1
            if not message["content"] and not all(map(_whole, answer["tool_calls"] or [{}])):
                raise EpisodeFault("out_of_tokens", "the agent's reply was cut before it was one")
        return message


def _whole(call: Mapping[str, Any]) -> bool:
    """Whether the arguments of a tool call are JSON."""
    try:
        json.loads(call["function"]["arguments"])
    except (KeyError, TypeError, ValueError, RecursionError):
        return False
    return True
