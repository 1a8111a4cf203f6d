"""Lists of the cleaning of the profile `robust`, and content of messages as text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from usi.records import MISSING

REDACTED = "\ue000"
"""What a marker of redaction becomes: one character of private use, which is no letter."""


@dataclass(frozen=True)
class Rules:
    """The lists of the TOML file, compiled."""

    raw: dict[str, Any]
    straight: dict[int, str]
    typographic: re.Pattern[str]
    stop: re.Pattern[str]
    starts: tuple[str, ...]
    rejected: tuple[str, str]
    commands: frozenset[str]
    spans: dict[str, tuple[str, str]]  # opening -> (kind, closing)
    opening: re.Pattern[str]
    stray: tuple[str, ...]  # closings of thoughts that templates open themselves
    mark: str
    marker: re.Pattern[str]  # of redaction


def _any_of(literals: Sequence[str]) -> str:
    return "|".join(re.escape(literal) for literal in literals)


@cache
def rules() -> Rules:
    """Read and compile ``lexicons/cleaning1.toml`` (once)."""
    path = resources.files("usi.features").joinpath("lexicons/cleaning1.toml")
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    quotes, stop = raw["quotes"], raw["stop"]
    straight = {ord(c): "'" for c in quotes["apostrophe"]} | {ord(c): '"' for c in quotes["double"]}
    spans = {
        opening: (kind, closing)
        for kind in ("thought", "wrapper", "tool_call")
        for opening, closing in raw[kind]["spans"]
    }
    first, then = raw["harness"]["rejected"]
    return Rules(
        raw=raw,
        straight=straight,
        typographic=re.compile("[" + "".join(map(chr, straight)) + "]"),
        stop=re.compile(
            f"{_any_of(stop['anywhere'])}|(?<!\\S)(?:{_any_of(stop['alone'])})(?=\\s|[.!?,]|$)",
            re.IGNORECASE,
        ),
        starts=tuple(start.lower() for start in raw["harness"]["starts"]),
        rejected=(first.lower(), then.lower()),
        commands=frozenset(raw["meta"]["commands"]),
        spans=spans,
        opening=re.compile(_any_of(list(spans))),
        stray=tuple(closing for _, closing in raw["thought"]["spans"]),
        mark=raw["tool_call"]["mark"],
        marker=re.compile(rf"\[(?:{_any_of(raw['marker']['kinds'])})\]"),
    )


def content_text(content: Any) -> tuple[str | None, bool]:
    """Text of a message's content, and whether it was joined from parts.

    ``None`` where there is no text: null, missing, a list without text parts, a mapping
    without text. A number or truth value is read as its text.
    """
    if isinstance(content, str):
        return content, False
    if content is None or content is MISSING:
        return None, False
    if isinstance(content, list | tuple):
        texts = [text for text in map(_part_text, content) if text is not None]
        return ("\n".join(texts), True) if texts else (None, False)
    if isinstance(content, dict):
        return _part_text(content), True
    return str(content), False


def _part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get("text", part.get("content"))
        if isinstance(text, str):
            return text
        if isinstance(text, dict) and isinstance(text.get("value"), str):
            return str(text["value"])
    return None
