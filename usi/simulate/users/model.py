"""A language model as the user: a hidden instruction, persona traits, and three ways to speak."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from usi.simulate.calls import Answer, Calls
from usi.simulate.client import ModelSettings, complete
from usi.simulate.protocol import Message, Task
from usi.simulate.questions import Instrument, fill_in
from usi.simulate.user import STOP, strip_reasoning

Strategy = Literal["plain", "reflect", "verify"]
MAX_DRAFTS = 3
"""Drafts of a reply that the strategy `verify` looks at; the last one is sent as it is."""

PROMPT = """\
You play a person who asks a support agent for help. You are the customer, never the agent.

What you know and want (the agent can't see this):
{instruction}
{traits}
How to play:
- Write only the person's next message, short and in plain chat style.
- Say what is needed now; do not give everything away at once unless the instruction says so.
- Invent nothing. Asked for something that you were not told, say that you do not know it.
- Do not copy the instruction word for word.
- When all you want is done, or plainly can't be done, write {stop} and nothing else.
"""
_REFLECT = """
Before each message think about what the person would do next. Answer in exactly this form:
Thought: what the person makes of the agent's message
Message: what the person writes
"""
_VERIFY = """\
Below are the instruction of a person who talks to a support agent, the talk so far and a draft of
the person's next message. Is the draft something that this person could well write now: in the
person's role, true to the instruction, nothing invented? Answer with a JSON object and nothing
else: {{"ok": true or false, "why": "one sentence"}}

Instruction:
{instruction}

Talk:
{talk}

Draft:
{draft}
"""


def system_prompt(template: str, task: Task, traits: Sequence[str], strategy: Strategy) -> str:
    """Instruction prompt of a task; the template's marks are replaced, never evaluated."""
    lines = [*task.traits, *traits]
    shown = "\nWhat you are like:\n" + "\n".join(f"- {t}" for t in lines) + "\n" if lines else ""
    text = template
    for mark, value in (
        ("{stop}", STOP), ("{traits}", shown), ("{instruction}", task.instruction),
    ):  # fmt: skip
        text = text.replace(mark, value)
    return text + (_REFLECT if strategy == "reflect" else "")


def flipped(history: Sequence[Message]) -> list[Message]:
    """The talk as the model of the user sees it: the agent is `user`, the person `assistant`."""
    other = {"assistant": "user", "user": "assistant"}
    return [{"role": other[m["role"]], "content": m["content"]} for m in history]


def spoken(text: str) -> str:
    """The message of a reply in the form of the strategy `reflect`; all of it where there is none.

    >>> spoken("Thought: he asks for my name\\nMessage: I'm Ana.")
    "I'm Ana."
    """
    head, mark, tail = text.rpartition("Message:")
    if mark and (not head.strip() or "Thought:" in head):
        return tail.strip()
    return "" if text.lstrip().startswith("Thought:") else text


@dataclass(frozen=True)
class ModelUsers:
    """Users that one model plays.

    Attributes
    ----------
    settings
        The model.
    prompt
        Template with ``{instruction}``, ``{traits}`` and ``{stop}``.
    strategy
        ``plain``; ``reflect``: think, then speak; ``verify``: each draft is looked at by the model
        before it is sent.
    traits
        Persona traits of every user, beside those of the task.
    """

    settings: ModelSettings
    prompt: str = PROMPT
    strategy: Strategy = "plain"
    traits: tuple[str, ...] = ()
    synthetic: bool = False

    @property
    def identity(self) -> Mapping[str, Any]:
        """Model, strategy, traits and the hash of the prompt."""
        return {
            "kind": "model",
            **self.settings.identity(),
            "prompt": hashlib.sha256(self.prompt.encode()).hexdigest()[:16],
            "strategy": self.strategy,
            "traits": list(self.traits),
        }

    def new(self, task: Task, seed: int, runtime: Calls) -> ModelUser:
        """A user for a task; `seed` goes to the provider."""
        system = system_prompt(self.prompt, task, self.traits, self.strategy)
        return ModelUser(self, task, system, seed, runtime)


@dataclass
class ModelUser:
    """One user in one episode."""

    simulator: ModelUsers
    task: Task
    system: str
    seed: int
    calls: Calls
    asked: int = 0

    def reply(self, history: Sequence[Message]) -> Message:
        """The next message, by the strategy of the candidate."""
        draft, finish = self._draft(history)
        if self.simulator.strategy == "verify":
            for _ in range(MAX_DRAFTS - 1):
                if self._accepted(history, draft):
                    break
                draft, finish = self._draft(history)
        return {"role": "user", "content": draft, "finish": finish}

    def survey(
        self, history: Sequence[Message], instrument: Instrument
    ) -> Mapping[str, str | None]:
        """Answers of the same model in its role."""
        talk = [{"role": "system", "content": self.system}, *flipped(history)]

        def ask(messages: list[Message]) -> Any:
            return self._ask([*talk, *messages], json_object=True)["content"]

        return fill_in(instrument, ask).answers

    def _draft(self, history: Sequence[Message]) -> tuple[Any, Any]:
        """A reply, and why it ended."""
        answer = self._ask([{"role": "system", "content": self.system}, *flipped(history)])
        content, finish = answer["content"], answer["finish"]
        if self.simulator.strategy == "reflect" and isinstance(content, str):
            content = spoken(strip_reasoning(content))
        return content, finish

    def _accepted(self, history: Sequence[Message], draft: Any) -> bool:
        """What the model says of a draft; an answer that can't be read lets it pass."""
        names = {"assistant": "Agent", "user": "Person"}
        talk = "\n".join(f"{names[m['role']]}: {m['content']}" for m in history)
        text = _VERIFY.format(instruction=self.task.instruction, talk=talk, draft=draft)
        answer = self._ask([{"role": "user", "content": text}], json_object=True)
        found = str(answer["content"] or "")
        try:
            verdict = json.loads(found[found.index("{") : found.rindex("}") + 1])
        except (ValueError, RecursionError):
            return True
        return not (isinstance(verdict, dict) and verdict.get("ok") is False)

    def _ask(self, messages: list[Message], *, json_object: bool = False) -> Answer:
        self.asked += 1
        return complete(
            self.simulator.settings,
            messages,
            calls=self.calls,
            seed=self.seed,
            nonce=self.asked,
            json_object=json_object,
        )
