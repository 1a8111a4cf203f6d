"""What a scripted user makes of the agent's message: a few occasions, told apart by rule."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Occasion = Literal["dissuaded", "asked", "confirm", "more", "refused", "question", "told"]

_DISSUADE = re.compile(r"\bleave (?:it|this|that)\b|\bdo without\b", re.I)
_CONFIRM = re.compile(
    r"\b(?:confirm|shall i|should i|may i|go ahead|proceed|\(yes/no\)"
    r"|is (?:that|this) (?:right|correct|ok|okay))\b",
    re.I,
)
_MORE = re.compile(r"\b(?:anything|something) else\b|\bis that all\b", re.I)
_REFUSE = re.compile(
    r"\b(?:can ?not|can.?t|unable|not (?:able|allowed|permitted|possible|eligible)|must not|"
    r"against (?:the |our )?(?:policy|rules))\b",
    re.I,
)
_ASKING = re.compile(r"\?|\b(?:please|need|provide|tell me|give me|what|which|could you)\b", re.I)


def asked_facts(text: str, facts: Mapping[str, str]) -> list[str]:
    """Names of the facts that a message asks for, in the order of the task.

    >>> asked_facts("What is your employee number?", {"employee number": "E1", "site": "Bern"})
    ['employee number']
    """
    if not _ASKING.search(text):
        return []
    return [
        label
        for label in facts
        if re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text, re.IGNORECASE)
    ]


def occasion(text: str, facts: Mapping[str, str]) -> Occasion:
    """What the agent's message is to the user."""
    if _DISSUADE.search(text) and "?" in text:
        return "dissuaded"
    confirm = _CONFIRM.search(text) is not None
    if asked_facts(text, facts) and not (confirm and "shall i" in text.lower()):
        return "asked"
    if confirm:
        return "confirm"
    if _REFUSE.search(text):
        return "refused"
    if _MORE.search(text):
        return "more"
    return "question" if "?" in text else "told"
