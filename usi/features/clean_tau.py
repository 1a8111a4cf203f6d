"""Cleaning of the published metric: what is dropped, and how content becomes text.

It differs by source: people typed into a canvas with slash commands, simulators end with a stop
token (arXiv 2603.11245, public scorer). Oddities are kept: a null content is the word ``None``,
a list of parts its Python text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from usi.features.kernel import Gathered
from usi.features.markup import strip_markup
from usi.records import MISSING, Side, Turn

_COMMANDS = ("\\tau ", "\\reward")
_CANVAS, _HIGHLIGHT, _SURVEY = "<|canvas|>", "<|highlight|>", "<|survey|>"
_HUMAN_STOP = "/stop"
_SIMULATED_STOP = "###STOP###"


def text_of(content: object) -> str:
    """Content as text: missing is empty, all else what Python's ``str`` makes of it."""
    return "" if content is MISSING else str(content)


def dropped_human(text: str) -> bool:
    """Whether a message of a human session is a command or belongs to the canvas."""
    return (
        text.strip() == _HUMAN_STOP
        or (text[:1] == "\\" and text.startswith(_COMMANDS))
        or ("<" in text and (_CANVAS in text or _HIGHLIGHT in text or _SURVEY in text))
    )


def dropped_simulated(text: str) -> bool:
    """Whether a message of a simulated session is the stop token alone."""
    return text.strip() == _SIMULATED_STOP


def gather(conversations: Sequence[Sequence[Turn]], source: Side) -> Gathered:
    """Cleaned user turns of a block of conversations; actions are no messages at all."""
    dropped = dropped_human if source == "human" else dropped_simulated
    turns: list[str] = []
    user_turns: list[int] = []
    messages: list[int] = []
    for conversation in conversations:
        kept = 0
        before = len(turns)
        for turn in conversation:
            content = turn.content
            user = turn.role == "user"
            if user and turn.tool_calls and turn.is_action:
                continue
            text = content if type(content) is str else text_of(content)
            if dropped(text):
                continue
            kept += 1
            if user:
                turns.append(strip_markup(text) if "<" in text else text)
        user_turns.append(len(turns) - before)
        messages.append(kept)
    return Gathered(turns, np.array(user_turns, dtype=np.int64), np.array(messages, dtype=np.int64))
