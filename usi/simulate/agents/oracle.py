"""An agent by rule that knows the right calls of each task: the ceiling, and offline runs.

It asks for the data that a call needs, says what it is about to do and asks before each write,
and tells the user at the end what there is to tell. Where a task has an offer (a wrong
alternative), it makes it, and a user who takes it gets that in place of the next write. Three
parameters make it less than perfect: `shirk`, the chance of suggesting before a write to leave it
at that (a user who agrees gets nothing), `miss`, the chance of forgetting a write, larger for
harder tasks, and `rush`, the chance of making a write without asking first (which the final
database does not show).
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from usi.errors import UsageError
from usi.simulate.calls import Calls
from usi.simulate.protocol import Action, Domain, Message, Task

MOST_ASKS = 3
HARDER = {"easy": 0.5, "medium": 1.0, "hard": 2.0}
_NO = ("no", "not", "don't", "nope", "never mind")
_YES = ("yes", "yep", "y", "ok", "okay", "sure", "go ahead", "fine", "right", "of course")
Stage = Literal["start", "anything", "facts", "shirk", "offer", "confirm", "call", "end", "over"]


@dataclass(frozen=True)
class OracleAgents:
    """The oracle and its defects, each a chance in [0, 1]."""

    shirk: float = 0.0
    miss: float = 0.0
    rush: float = 0.0

    def __post_init__(self) -> None:
        for name in ("shirk", "miss", "rush"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value <= 1:
                raise UsageError(f"oracle: {name} is a chance from 0 to 1, not {value!r:.40}")

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind and parameters."""
        return {"kind": "oracle", "shirk": self.shirk, "miss": self.miss, "rush": self.rush}

    def new(
        self, domain: Domain, task: Task, seed: int, calls: Calls, policy: str | None
    ) -> OracleAgent:
        """An oracle for a task."""
        rng = random.Random(f"oracle|{task.id}|{seed}")
        miss = min(1.0, self.miss * HARDER[task.difficulty])
        actions = [a for a in domain.oracle_actions(task) if not (a.write and rng.random() < miss)]
        return OracleAgent(task, actions, domain.oracle_reply(task), self.shirk, self.rush, rng)


@dataclass
class OracleAgent:
    """One oracle in one episode, a small machine that the user's words move on."""

    task: Task
    actions: list[Action]
    closing: str
    shirk: float
    rush: float
    rng: random.Random
    at: int = 0
    stage: Stage = "start"
    asks: int = 0
    calls: int = 0
    done: list[str] = field(default_factory=list)
    left: int = 0
    replaced: bool = False

    def act(self, messages: Sequence[Message]) -> Message:
        """The next message."""
        last = messages[-1]
        words = str(last.get("content") or "") if last["role"] == "user" else ""
        match self.stage:
            case "start":
                self.stage = "anything"
                return self._ask_for_more()
            case "anything":
                if "no" not in _words(words) and not _done(words) and self.asks <= MOST_ASKS:
                    return self._ask_for_more()
                return self._begin(messages)
            case "facts":
                return self._facts(messages)
            case "shirk":
                return self._after_shirk(words)
            case "offer":
                return self._after_offer(words, messages)
            case "confirm":
                return self._after_confirm(words)
            case "call":
                self.at += 1
                return self._begin(messages)
            case _:
                return _say("Is there anything else I can help you with?")

    def _ask_for_more(self) -> Message:
        self.asks += 1
        if self.asks > max(1, len(self.task.requests)):
            self.asks = MOST_ASKS + 1
        first = "Of course. " if self.asks == 1 else "Noted. "
        return _say(f"{first}Is there anything else that you need?")

    def _begin(self, messages: Sequence[Message]) -> Message:
        """Turn to the next action, or end."""
        if self.at >= len(self.actions):
            return self._end()
        self.asks = 0
        self.stage = "facts"
        return self._facts(messages)

    def _facts(self, messages: Sequence[Message]) -> Message:
        action = self.actions[self.at]
        if self.replaced and action.write and not action.offer:
            self.replaced = False
            self.at += 1
            return self._begin(messages)
        said = " ".join(
            str(m.get("content") or "") for m in messages if m["role"] == "user"
        ).casefold()
        facts = self.task.facts
        missing = [name for name in action.ask if facts.get(name, "").casefold() not in said]
        if missing and self.asks < MOST_ASKS:
            self.asks += 1
            return _say(f"Could you tell me this, please: {', '.join(missing)}?")
        if missing:
            return self._skip("Without that I have to leave this step out.", messages)
        if not action.write:
            return self._call()
        if action.offer:
            self.stage = "offer"
            return _say(
                f"Instead, I could {action.describe}. Would you be fine if we leave it at that?"
            )
        if self.rush and self.rng.random() < self.rush:
            return self._call()
        if self.shirk and self.rng.random() < self.shirk:
            self.stage = "shirk"
            return _say(
                "These things often sort themselves out within a few days. "
                "Would you be fine if we leave it at that?"
            )
        return self._propose()

    def _propose(self, first: str = "") -> Message:
        self.stage = "confirm"
        self.asks = 0 if not first else self.asks
        action = self.actions[self.at]
        what = action.describe or f"run {action.name} with {_shown(action.arguments)}"
        return _say(f"{first}I am going to {what}. Shall I go ahead (yes/no)?")

    def _after_shirk(self, words: str) -> Message:
        if _agrees(words):
            return self._skip("All right, then I leave it.", ())
        return self._propose("All right. ")

    def _after_offer(self, words: str, messages: Sequence[Message]) -> Message:
        """Who takes the offer gets it in place of the next write; who does not, loses nothing."""
        if _agrees(words):
            self.replaced = True
            return self._call()
        self.at += 1
        return self._begin(messages)

    def _after_confirm(self, words: str) -> Message:
        if _agrees(words):
            return self._call()
        self.asks += 1
        if _refuses(words) or self.asks >= MOST_ASKS:
            return self._skip("Then I leave that as it is.", ())
        return self._propose("Nothing else changes by it. ")

    def _skip(self, why: str, messages: Sequence[Message]) -> Message:
        """Leave an action out; `why` is said with what comes next."""
        self.left += 1
        self.at += 1
        following = self._begin(messages)
        if following.get("content"):
            following["content"] = f"{why} {following['content']}"
        else:
            following["content"] = why
        return following

    def _call(self) -> Message:
        action = self.actions[self.at]
        self.stage = "call"
        self.calls += 1
        if action.write:
            self.done.append(action.describe or action.name)
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{self.calls}",
                    "type": "function",
                    "function": {
                        "name": action.name,
                        "arguments": json.dumps(dict(action.arguments), sort_keys=True),
                    },
                }
            ],
        }

    def _end(self) -> Message:
        self.stage = "over"
        parts = ["That is done."] if self.done and not self.task.refusal else []
        if not self.left or self.task.refusal:
            parts.append(self.closing)
        return _say(" ".join([*(p for p in parts if p), "Is there anything else?"]))


def _say(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _shown(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in arguments.items())


def _words(text: str) -> list[str]:
    return text.casefold().replace(",", " ").replace(".", " ").replace("!", " ").split()


def _done(text: str) -> bool:
    low = text.casefold()
    return any(mark in low for mark in ("that's all", "that's everything", "nothing else", "nope"))


def _starts(text: str, starts: Sequence[str]) -> bool:
    plain = " ".join(_words(text))
    return any(plain == start or plain.startswith(f"{start} ") for start in starts)


def _agrees(text: str) -> bool:
    return _starts(text, _YES)


def _refuses(text: str) -> bool:
    return _starts(text, _NO)
