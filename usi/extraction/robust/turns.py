"""Gathering the turns of the profile `robust`: cleaned, repairs counted, agent's words at hand.

Most turns need no cleaning. One search over the whole block finds those that may; the rest are
kept as they are, which is what cleaning them would give.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress

import numpy as np
import numpy.typing as npt
import polars as pl

from usi.extraction.kernel import Gathered, Ints
from usi.extraction.latency import Latencies, latencies
from usi.extraction.robust.cleaning import (
    LEFT_OUT,
    REPAIRS,
    clean_agent,
    clean_turn,
    content_text,
    rules,
)
from usi.records import Side, Turn

REPAIR_COLUMNS: tuple[str, ...] = (
    *(f"rep_{kind}" for kind in REPAIRS),
    *(f"rep_no_turn_{reason}" for reason in LEFT_OUT),
)
"""Turns that needed a repair, and messages that are no turn, by kind."""
_INDEX = {name: i for i, name in enumerate(REPAIR_COLUMNS)}


@dataclass(frozen=True)
class RobustExtra:
    """What counting needs beside the turns.

    Attributes
    ----------
    agents
        Agent messages of the block that some user turn follows, markup removed.
    agent_of
        Index into ``agents`` of the last message before each turn, -1 where there is none,
        shape (turns,).
    repairs
        Repairs by session and kind, shape (sessions, kinds), kinds as `REPAIR_COLUMNS`.
    latency
        Gaps between the agent's message and each turn; ``None`` where no turn has a stamp.
    """

    agents: list[str]
    agent_of: Ints
    repairs: npt.NDArray[np.int64]
    latency: Latencies | None = None


@cache
def suspicious() -> str:
    """Pattern that finds every ASCII text that cleaning could change or leave out.

    It may find more: then cleaning is done and changes nothing.
    """
    lists = rules()
    starts = "|".join(re.escape(start) for start in (*lists.starts, lists.rejected[0]))
    commands = "|".join(re.escape(command) for command in sorted(lists.commands))
    return (
        rf"(?i)\A[ \n]|[ \n]\z|[ \n][ \n]|[^ -~\n]|[&<]|###|/|\A(?:{starts}|{commands})"
        r"| '[a-z]| n't| [,.?!]|\[[a-z]+\]"
    )


def gather(conversations: Sequence[Sequence[Turn]], source: Side) -> Gathered:
    """Cleaned user turns of a block of conversations.

    Both sides are cleaned alike, so ``source`` changes nothing. Kept messages are user turns
    and agent messages with text.
    """
    del source
    n = len(conversations)
    raw: list[Turn] = []
    agents: list[str] = []
    spoken: list[Turn] = []
    session_of: list[int] = []
    agent_of: list[int] = []
    messages = np.zeros(n, dtype=np.int64)
    for index, conversation in enumerate(conversations):
        last = -1
        for turn in conversation:
            if turn.role == "user":
                raw.append(turn)
                session_of.append(index)
                agent_of.append(last)
            elif turn.role == "assistant":
                text, _ = content_text(turn.content)
                if text is None:
                    continue
                if "&" in text or "<" in text or "[" in text or not text.isascii():
                    text = clean_agent(text)
                if not text or text.isspace():
                    continue
                messages[index] += 1
                last = len(agents)
                agents.append(text)
                spoken.append(turn)
    turns, kept, repairs = _clean(raw, session_of, n)
    sessions = np.array(session_of, dtype=np.int64)[kept]
    user_turns = np.bincount(sessions, minlength=n).astype(np.int64)
    answers = np.array(agent_of, dtype=np.int64)[kept]
    said = list(compress(raw, kept.tolist()))
    extra = RobustExtra(agents, answers, repairs, latencies(said, answers.tolist(), spoken))
    return Gathered(turns, user_turns, messages + user_turns, extra)


def heard(gathered: Gathered) -> tuple[list[str], Ints]:
    """Messages of the agent, and which of them each turn answers (-1 = none)."""
    extra: RobustExtra = gathered.extra
    return extra.agents, extra.agent_of


def _clean(
    raw: Sequence[Turn], session_of: Sequence[int], sessions: int
) -> tuple[list[str], npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Clean the messages that need it; returns turns, which messages are turns, repairs."""
    repairs = np.zeros((sessions, len(REPAIR_COLUMNS)), dtype=np.int64)
    kept = np.ones(len(raw), dtype=np.bool_)
    plain = [
        turn.content if type(turn.content) is str and turn.content.isascii() else None
        for turn in raw
    ]
    texts: list[str | None] = list(plain)
    found = pl.Series("text", plain, dtype=pl.String).str.contains(suspicious()).fill_null(True)
    for i in np.flatnonzero(found.to_numpy() | _empty(plain)).tolist():
        cleaned = clean_turn(raw[i])
        row = repairs[session_of[i]]
        if cleaned.text is None:
            kept[i] = False
            row[_INDEX[f"rep_no_turn_{cleaned.left_out}"]] += 1
        else:
            texts[i] = cleaned.text
            for kind in cleaned.repairs:
                row[_INDEX[f"rep_{kind}"]] += 1
    turns = [text for text, keep in zip(texts, kept.tolist(), strict=True) if keep and text]
    return turns, kept, repairs


def _empty(plain: Sequence[str | None]) -> npt.NDArray[np.bool_]:
    return np.fromiter((text == "" for text in plain), dtype=np.bool_, count=len(plain))
