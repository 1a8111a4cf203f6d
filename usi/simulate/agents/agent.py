"""What an agent is, and the fingerprint that says which one took part."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from usi._version import __version__
from usi.simulate.cache import canonical
from usi.simulate.calls import Calls
from usi.simulate.protocol import Domain, Message, Task


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
    name = str(identity.get("model") or identity.get("name") or identity["kind"])
    return f"{name}@{hashlib.sha256(canonical(whole).encode()).hexdigest()[:12]}"
