"""Signs that a talk may not be what it should: told to the owner, who decides; nothing is cut.

Thresholds are set so that ordinary chatting stays below them; each flag shows its number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["copies_instruction", "one_word", "impossible_speed", "pasted", "left_page"]
GRAM = 5
"""Words in a row that count as copied where the instruction has them, too."""
COPIED_SHARE = 0.5
ONE_WORD_SHARE, ONE_WORD_TURNS = 0.8, 3
FASTEST = 18.0
"""Characters a second that nobody types: about 216 words a minute."""
LEAST_CHARACTERS = 40
"""Messages shorter than this say nothing about speed."""
PASTED_SHARE = 0.5
LEFT_TIMES = 10
_WORD = re.compile(r"[^\W_]+", re.UNICODE)


@dataclass(frozen=True)
class Typed:
    """A message of a participant.

    Attributes
    ----------
    text
        As sent.
    typing_ms
        From the first key to sending; ``None`` where the page could not tell.
    waited_ms
        From the agent's message to this one.
    pasted_characters, hidden
        Characters pasted, and times that the page was left.
    """

    text: str
    typing_ms: int | None = None
    waited_ms: int | None = None
    pasted_characters: int = 0
    hidden: int = 0


@dataclass(frozen=True)
class Flag:
    """A sign, and the number that raised it: a share, characters a second, or a count."""

    kind: Kind
    value: float


def flags_of(messages: Sequence[Typed], instruction: str) -> tuple[Flag, ...]:
    """Flags of one talk.

    Parameters
    ----------
    messages
        Of the participant, in order.
    instruction
        What the participant was shown.
    """
    found: list[Flag] = []
    copied = copied_share([m.text for m in messages], instruction)
    if copied >= COPIED_SHARE:
        found.append(Flag("copies_instruction", round(copied, 2)))
    short = [len(_WORD.findall(m.text)) <= 1 for m in messages]
    if len(short) >= ONE_WORD_TURNS and sum(short) / len(short) >= ONE_WORD_SHARE:
        found.append(Flag("one_word", round(sum(short) / len(short), 2)))
    speed = max((_speed(m) for m in messages), default=0.0)
    if speed > FASTEST:
        found.append(Flag("impossible_speed", round(speed, 1)))
    characters = sum(len(m.text) for m in messages)
    pasted = sum(m.pasted_characters for m in messages)
    if characters and pasted / characters >= PASTED_SHARE:
        found.append(Flag("pasted", round(min(1.0, pasted / characters), 2)))
    left = sum(m.hidden for m in messages)
    if left >= LEFT_TIMES:
        found.append(Flag("left_page", float(left)))
    return tuple(found)


def copied_share(texts: Sequence[str], instruction: str) -> float:
    """Share of the words that stand in a run of five words of the instruction.

    >>> copied_share(["you want a new one sent home now"], "You want a new one sent home.")
    0.875
    """
    source = _words(instruction)
    grams = {tuple(source[i : i + GRAM]) for i in range(len(source) - GRAM + 1)}
    total = copied = 0
    for text in texts:
        words = _words(text)
        inside = [False] * len(words)
        for i in range(len(words) - GRAM + 1):
            if tuple(words[i : i + GRAM]) in grams:
                inside[i : i + GRAM] = [True] * GRAM
        total += len(words)
        copied += sum(inside)
    return copied / total if total else 0.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _speed(message: Typed) -> float:
    """Characters a second; pasted text is not typed, and a time of nothing is no time."""
    typed = len(message.text) - message.pasted_characters
    times = [t for t in (message.typing_ms, message.waited_ms) if t is not None]
    if typed < LEAST_CHARACTERS or not times:
        return 0.0
    return 1000.0 * typed / max(1, min(times))
