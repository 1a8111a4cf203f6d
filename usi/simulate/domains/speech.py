"""Whether a message agrees, asks or refuses: patterns from ``speech.toml``.

Whether the user agreed to each write before it was made.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from usi.simulate.domains.trajectory import Called, Trajectory, spoken, text_of


@cache
def _data() -> dict[str, Any]:
    text = files("usi.simulate.domains").joinpath("speech.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _pattern(section: str, key: str) -> re.Pattern[str]:
    return re.compile(_data()[section][key])


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())


def agrees(text: str) -> bool:
    """Whether a user's message is a yes.

    >>> agrees("Yes, don't wait"), agrees("no, go ahead with the other"), agrees("please do that")
    (True, False, True)
    """
    text = _plain(text)
    if _pattern("agrees", "first").search(text):
        return True
    if _pattern("agrees", "denies").search(text):
        return False
    return _pattern("agrees", "anywhere").search(text) is not None


def asks(text: str) -> bool:
    """Whether an agent's message asks for something, such as a confirmation."""
    return _pattern("asks", "any").search(_plain(text)) is not None


def refuses(text: str) -> bool:
    """Whether an agent's message says that something will not be done."""
    return _pattern("refuses", "any").search(_plain(text)) is not None


def said(wanted: str, text: str) -> bool:
    """Whether a text tells a datum: whole words, any case, thousands separators aside.

    >>> said("1250", "EUR 1,250.00."), said("12", "room 312"), said("in stock", "In  stock")
    (True, False, True)
    """
    return re.search(rf"(?<!\w){re.escape(_datum(wanted))}(?!\w)", _datum(text)) is not None


def _datum(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", _plain(text))


_RECORD_ID = re.compile(r"\b([A-Z]{1,5})-?\d{2,}\b")


def unconfirmed(
    trajectory: Trajectory, tools: Collection[str] | None = None
) -> Iterator[tuple[str, int]]:
    """Writes that no confirmation covers, as (why, index of the message).

    A write is covered where the last user message before it agrees, the agent's last words
    before that message ask, and these words do not name other records only. One yes covers
    several writes where the agent's words name an argument of each.

    Parameters
    ----------
    trajectory
        Of one episode.
    tools
        Writes that need it; all where ``None``.
    """
    covered: set[int] = set()
    for call in trajectory.writes:
        if tools is not None and call.name not in tools:
            continue
        asked, answered = _exchange(trajectory, call.at)
        if answered is None or asked is None or not asks(text_of(trajectory.messages[asked])):
            yield f"{call.name}: nobody was asked before it", call.at
        elif not agrees(text_of(trajectory.messages[answered])):
            yield f"{call.name}: the user's last words are no yes", call.at
        else:
            proposal = text_of(trajectory.messages[asked])
            if not _named(call, proposal) and (answered in covered or _other(call, proposal)):
                yield f"{call.name}: the user said yes to something else", call.at
            covered.add(answered)


def _exchange(trajectory: Trajectory, at: int) -> tuple[int | None, int | None]:
    """Indices of the agent's question and the user's answer before a message."""
    answered = next(
        (i for i in range(at - 1, -1, -1) if trajectory.messages[i].get("role") == "user"), None
    )
    if answered is None:
        return None, None
    asked = next(
        (i for i in range(answered - 1, -1, -1) if spoken(trajectory.messages[i], "assistant")),
        None,
    )
    return asked, answered


def _named(call: Called, proposal: str) -> bool:
    values = (str(value) for value in call.arguments.values() if isinstance(value, str | int))
    return any(value and said(value, proposal) for value in values)


def _other(call: Called, proposal: str) -> bool:
    """Whether the words name a record of the same kind as the call's, and not the call's."""
    spoken = {match[1] for match in _RECORD_ID.finditer(proposal)}
    kinds = {
        match[1] for value in call.arguments.values() for match in _RECORD_ID.finditer(str(value))
    }
    return bool(kinds & spoken)
