"""Whether a message agrees, asks or refuses: patterns from ``speech.toml``."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


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
