"""What a domain, a task and a grade are to the rest of the room: data and one small protocol.

Messages are dictionaries in OpenAI's form: ``{"role": "user" | "assistant" | "tool", "content":
text, "tool_calls": [{"id", "type": "function", "function": {"name", "arguments": JSON text}}],
"tool_call_id"}``. The agent's rule book is never among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Message = dict[str, Any]
Level = Literal["easy", "medium", "hard"]
Label = Literal["full", "partial", "correct_refusal", "wrong_refusal", "failure"]

EXPECTED_SUCCESS: Mapping[Level, float] = {"easy": 0.9, "medium": 0.65, "hard": 0.35}
"""A-priori success rate of each level, for difficulty bins where nothing better is known."""


@dataclass(frozen=True)
class Task:
    """What a user is asked to achieve.

    Attributes
    ----------
    id
        Unique in its domain, without the domain's name.
    instruction
        Hidden instruction of the user: identity, intent, preferences. Second person.
    difficulty
        A-priori level.
    traits
        Persona traits that the instruction goes with, as short phrases.
    requests
        What the user wants, one request each, in words that a user could say.
    facts
        What the user can tell when asked: name of the datum (as an agent would ask for it, such
        as ``"employee number"``) to its value.
    refusal
        The right result is that the agent refuses.
    kinds
        Free marks, such as ``compound``, ``approval``, ``handoff``.
    """

    id: str
    instruction: str
    difficulty: Level = "medium"
    traits: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    refusal: bool = False
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Action:
    """One tool call of the oracle.

    Attributes
    ----------
    name, arguments
        The call.
    write
        It changes the database, so the user confirms it first.
    ask
        Names of the facts that the oracle asks the user for before it can make the call.
    describe
        What the oracle says it is about to do (a clause: "close incident INC-7"), for a write.
    offer
        A wrong alternative, easier for the agent. The oracle offers it ("Instead I could ...:
        shall I do that instead?") and makes the call only where the user accepts; then the next
        write that is no offer is left out. Whoever sticks to the instruction declines.
    """

    name: str
    arguments: Mapping[str, Any]
    write: bool = False
    ask: tuple[str, ...] = ()
    describe: str = ""
    offer: bool = False


@dataclass(frozen=True)
class Violation:
    """A rule broken on the way; `at` is the index of the message, where there is one."""

    check: str
    detail: str
    at: int | None = None


@dataclass(frozen=True)
class Mismatch:
    """Why a task failed, from the difference of database states and outputs."""

    kind: Literal[
        "missing_write", "extra_write", "wrong_argument", "missing_output", "forbidden_output"
    ]
    detail: str


@dataclass(frozen=True)
class Grade:
    """How an episode ended: reward 0 or 1, the five-way label, what was broken, what failed."""

    reward: int
    label: Label
    violations: tuple[Violation, ...] = ()
    triage: tuple[Mismatch, ...] = ()


class State(Protocol):
    """The database of one episode."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a tool; a JSON value. What goes wrong is a result ``{"error": text}``, not raised."""
        ...


class Domain(Protocol):
    """Tables, tools, rule book, tasks and grading. Properties never change."""

    @property
    def name(self) -> str:
        """Name, also of the sessions' domain."""
        ...

    @property
    def policy(self) -> str:
        """The agent's rule book, Markdown."""
        ...

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """JSON schemas of the tools in OpenAI's function form."""
        ...

    @property
    def tasks(self) -> Sequence[Task]:
        """All tasks in order."""
        ...

    def new_state(self) -> State:
        """A fresh database."""
        ...

    def grade(self, task: Task, state: State, messages: Sequence[Message]) -> Grade:
        """Grade the final state and the conversation (without the rule book)."""
        ...

    def oracle_actions(self, task: Task) -> Sequence[Action]:
        """Calls that reach the goal, in an allowed order."""
        ...

    def oracle_reply(self, task: Task) -> str:
        """What the agent has to tell at the end: required outputs, or why it refuses."""
        ...
