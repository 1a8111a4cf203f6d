"""What a user is, how its replies are cleaned by rule, and what its defects are counted as.

A user sees what a person would see: the agent's messages and its own, never tools, tool results or
the agent's rule book.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from usi.simulate.faults import EpisodeFault
from usi.simulate.protocol import Message, Task

STOP = "###STOP###"
"""What a user says to end the conversation (tau-bench, arXiv 2406.12045)."""
STOPS = (STOP, "###TRANSFER###", "###OUT-OF-SCOPE###")
GREETING = "Hi! How can I help you today?"
"""The agent's first message, the same for every user."""

MAX_ASKS = 3
"""How often an empty or confused reply is asked for before it counts."""

_THOUGHT = re.compile(
    r"<(?P<bar>\|?)(?P<close>/?)\|?(?P<kind>think|thinking|thought|reasoning|reflection)\|?>", re.I
)
_MARKS = (
    "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>",
    "<|start_header_id|>", "<|end_header_id|>", "<|user|>", "<|assistant|>", "<|system|>",
    "<start_of_turn>", "<end_of_turn>", "</s>", "[/INST]", "[INST]",
)  # fmt: skip
_NAMES = "im_start|im_end|eot_id|endoftext|end_of_text|start_header_id|end_header_id"
_TEMPLATE = re.compile(
    "(?:" + "|".join(map(re.escape, _MARKS)) + rf"|<?\|?\b(?:{_NAMES})\|?>?"
    r"|<?(?:start|end)_of_turn>?).*\Z",
    re.S,
)
"""Marks of chat templates, also where a part of one is missing, and all that follows."""
_OWN_LABEL = re.compile(
    r"^\s*(?:\*\*)?(?:user|customer|me|human)(?:\*\*)?\s*:\s*(?:\*\*)?\s*", re.I
)
_AGENT_LABEL = re.compile(
    r"^\s*(?:\*\*)?(?:agent|assistant|support|service desk)(?:\*\*)?\s*:", re.I | re.M
)
_AS_AGENT = re.compile(
    r"\b(?:how (?:can|may) i (?:help|assist)|is there anything else i can (?:help|assist|do)"
    r"|as an ai\b|i'?m an ai\b|would you like me to (?:proceed|go ahead|close|create|open)"
    r"|i (?:have|'ve) (?:closed|created|updated|assigned) your)",
    re.I,
)


class User(Protocol):
    """One user in one episode."""

    def reply(self, history: Sequence[Message]) -> Message:
        """The user's next message, ``{"role": "user", "content": text}``.

        Parameters
        ----------
        history
            Messages of the agent (role ``assistant``) and the user's own, text only. A reply that
            contains a stop token ends the conversation.
        """
        ...


class UserFactory(Protocol):
    """A candidate simulator: makes a user for a task and a seed."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What makes the candidate what it is, without secrets: hashed into its fingerprint."""
        ...

    @property
    def synthetic(self) -> bool:
        """Whether its users are made by rules: what it says is no model's and no person's."""
        ...

    def new(self, task: Task, seed: int, runtime: Any) -> User:
        """A fresh user."""
        ...


@dataclass
class Defects:
    """How often rules had to step in, by name."""

    counts: Counter[str] = field(default_factory=Counter)

    def note(self, name: str) -> None:
        """Count one."""
        self.counts[name] += 1


@dataclass(frozen=True)
class Cleaned:
    """A reply after the rules: what is said, whether it ends the talk, what is wrong with it."""

    text: str
    stop: bool
    as_agent: bool


def visible(messages: Sequence[Message]) -> list[Message]:
    """What the user sees of an episode: texts of both sides, in order.

    What an agent writes beside a tool call goes to nobody (as in tau-bench).

    >>> visible([{"role": "assistant", "content": None, "tool_calls": [{}]},
    ...          {"role": "tool", "content": "{}"}, {"role": "assistant", "content": "Done."}])
    [{'role': 'assistant', 'content': 'Done.'}]
    """
    return [
        {"role": m["role"], "content": m["content"]}
        for m in messages
        if m["role"] in ("user", "assistant")
        and isinstance(m.get("content"), str)
        and m["content"].strip()
        and not m.get("tool_calls")
    ]


def strip_reasoning(text: str) -> str:
    """Text without what a model thought aloud, in linear time.

    Closed blocks go; of a block without an opening everything up to its end goes, of one that is
    never closed everything from its beginning.

    >>> strip_reasoning("<think>He wants a laptop.</think>I need a laptop.")
    'I need a laptop.'
    """
    marks = [(m["close"] != "", m["kind"].lower(), m.start(), m.end()) for m in
             _THOUGHT.finditer(text)]  # fmt: skip
    last = {kind: k for k, (close, kind, _, _) in enumerate(marks) if close}
    kept, at, within = "", 0, ""
    for k, (close, kind, start, end) in enumerate(marks):
        if within:
            if close and kind == within:
                at, within = end, ""
        elif close:  # it was opened before the text begins
            kept, at = "", end
        elif last.get(kind, -1) > k:
            kept, within = kept + text[at:start], kind
        else:  # it is never closed
            return (kept + text[at:start]).strip()
    return (kept + text[at:]).strip()


def without_half_mark(text: str) -> str:
    """Text without the beginning of a mark of a chat template, or of a stop token, at its end.

    >>> [without_half_mark(text) for text in ("Thanks.<|im_e", "Thanks. ###STO", "a <")]
    ['Thanks.', 'Thanks.', 'a <']
    """
    for mark in (*_MARKS, *STOPS):
        least = 4 if mark in STOPS else 2
        for length in range(len(mark) - 1, least - 1, -1):
            if text.endswith(mark[:length]):
                return text[:-length].rstrip()
    return text


def clean_reply(raw: Any, defects: Defects) -> Cleaned:
    """Clean a reply by rule and count what was wrong.

    Counted: ``reasoning_stripped``, ``label_stripped`` (the reply names its own speaker),
    ``agent_turn_cut`` (it goes on as the agent), ``template_mark_cut`` (marks of a chat template,
    and what follows them), ``no_text`` (content that is no text).
    """
    if not isinstance(raw, str):
        if raw is not None:
            defects.note("no_text")
        raw = ""
    text = strip_reasoning(raw)
    if text != raw.strip():
        defects.note("reasoning_stripped")
    untemplated = without_half_mark(_TEMPLATE.sub("", text).strip())
    if untemplated != text:
        defects.note("template_mark_cut")
        text = untemplated
    unlabelled = _OWN_LABEL.sub("", text, count=1)
    if unlabelled != text:
        defects.note("label_stripped")
        text = unlabelled
    other = _AGENT_LABEL.search(text)
    if other:
        defects.note("agent_turn_cut")
        text = text[: other.start()].rstrip()
    stop = any(token in text for token in STOPS)
    for token in STOPS:
        text = text.replace(token, "")
    text = text.strip()
    return Cleaned(text, stop, bool(_AS_AGENT.search(text)))


@dataclass(frozen=True)
class Said:
    """What came of asking a user: its words, and whether the talk is over (and why)."""

    text: str
    end: str | None = None


def ask(user: User, history: Sequence[Message], defects: Defects) -> Said:
    """Ask a user until it says something; defects are counted.

    A message whose ``finish`` is ``"length"`` ran out of tokens: it is counted as ``truncated``,
    and where nothing is left of it that is a fault, not behaviour. Another empty reply is asked
    for again, then the episode ends with ``empty_user_reply``. A reply that speaks as the agent is
    asked for again, then kept as it is: it is how the candidate behaves, and is scored.
    """
    kept: Cleaned | None = None
    for _ in range(MAX_ASKS):
        message = user.reply(history)
        role = message.get("role", "user") if isinstance(message, Mapping) else "user"
        content = message.get("content") if isinstance(message, Mapping) else message
        if role != "user":
            defects.note("wrong_role")
        cut = isinstance(message, Mapping) and message.get("finish") == "length"
        cleaned = clean_reply(content, defects)
        if cut:
            defects.note("truncated")
            if not cleaned.text and not cleaned.stop:
                raise EpisodeFault("out_of_tokens", "the user's reply was cut before it began")
        if cleaned.stop:
            return Said(cleaned.text, "user_stop")
        if not cleaned.text:
            defects.note("empty_reply")
            continue
        if not cleaned.as_agent:
            return Said(cleaned.text)
        defects.note("role_confusion")
        kept = cleaned
    if kept is not None:
        return Said(kept.text)
    return Said("", "empty_user_reply")
