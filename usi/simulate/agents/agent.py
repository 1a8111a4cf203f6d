"""What an agent is, and the fingerprint that says which one took part.

Agents outside usi: an HTTP endpoint or a Python callable that gets the talk and the tools.

Request: ``{"type": "act", "messages": [...], "tools": [...], "policy": text or null, "seed"}``;
answer: ``{"content": text or null, "tool_calls": [...]}`` in OpenAI's form, where ``arguments`` may
also be an object.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from usi._version import __version__
from usi.secrets import hidden
from usi.simulate.calls import Calls, canonical
from usi.simulate.faults import EpisodeFault
from usi.simulate.protocol import Domain, Message, Task
from usi.simulate.users.external import Exchange


@dataclass(frozen=True)
class OutsideAgents:
    """An agent that answers requests: `exchange` carries them, `about` identifies it."""

    exchange: Exchange
    about: Mapping[str, Any]

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind and place of the agent."""
        return self.about

    def new(
        self, domain: Domain, task: Task, seed: int, calls: Calls, policy: str | None
    ) -> OutsideAgent:
        """A fresh agent; it does not see the task."""
        return OutsideAgent(self.exchange, [dict(t) for t in domain.tools], policy, seed, calls)


@dataclass
class OutsideAgent:
    """One agent in one episode."""

    exchange: Exchange
    tools: list[dict[str, Any]]
    policy: str | None
    seed: int
    calls: Calls

    def act(self, messages: Sequence[Message]) -> Message:
        """Ask for the next message."""
        request = {
            "type": "act",
            "messages": list(messages),
            "tools": self.tools,
            "policy": self.policy,
            "seed": self.seed,
        }
        return outside_message(self.exchange(request, self.calls))


def outside_message(answer: Mapping[str, Any]) -> Message:
    """A message of an answer, tool calls in OpenAI's form.

    Raises
    ------
    EpisodeFault
        Where the answer holds no message.
    """
    content, wanted = answer.get("content"), answer.get("tool_calls") or []
    if (content is not None and not isinstance(content, str)) or not isinstance(wanted, list):
        raise EpisodeFault("malformed_response", "the agent's answer is no message")
    made = []
    for number, call in enumerate(wanted, start=1):
        function = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise EpisodeFault("malformed_response", "a tool call of the agent has no name")
        arguments = function.get("arguments", {})
        made.append(
            {
                "id": str(call.get("id") or f"call_{number}"),
                "type": "function",
                "function": {
                    "name": function["name"],
                    "arguments": arguments
                    if isinstance(arguments, str)
                    else json.dumps(arguments, sort_keys=True),
                },
            }
        )
    message: Message = {"role": "assistant", "content": content}
    if made:
        message["tool_calls"] = made
    return message


class Agent(Protocol):
    """One agent in one episode."""

    def act(self, messages: Sequence[Message]) -> Message:
        """The next message: words for the user, tool calls, or both.

        Parameters
        ----------
        messages
            All of the episode, tool results included, without the rule book.
        """
        ...


class AgentFactory(Protocol):
    """An agent under test: makes one for an episode."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind, model and parameters, without secrets."""
        ...

    def new(self, domain: Domain, task: Task, seed: int, calls: Calls, policy: str | None) -> Agent:
        """A fresh agent. Only the oracle may look at the task."""
        ...


def fingerprint(agent: AgentFactory, domain: Domain, *, policy: bool = True) -> str:
    """Name and hash of an agent as it takes part, such as ``oracle@1f2e3d4c5b6a``.

    Hashed: kind, model, parameters, rule book (or that there is none), tools, usi's version.
    """
    identity = dict(agent.identity)
    book = hashlib.sha256(domain.policy.encode()).hexdigest() if policy else "none"
    whole = {
        "agent": identity,
        "policy": book,
        "tools": hashlib.sha256(canonical(list(domain.tools)).encode()).hexdigest(),
        "harness": __version__,
    }
    name = hidden(str(identity.get("model") or identity.get("name") or identity["kind"]))
    return f"{name}@{hashlib.sha256(canonical(whole).encode()).hexdigest()[:12]}"
