"""Cleaning of the profile `robust`: the same repairs for people and simulators, all counted.

Steps, in this order (each linear in the length of the text):

1. content to text: parts joined by a newline; null, an action or parts without text: no turn;
   HTML entities (with their semicolon) unescaped once; NFC; typographic quotes straightened;
   white space collapsed to one blank, or to one newline where the run holds a newline (the
   style feature *several sentences* needs it; everywhere else a newline reads as a blank);
   tokenised text re-joined (``i 'm``, ``do n't``, blanks before ``, . ? !``);
2. stop marks removed;
3. harness text and commands are no turn; thoughts, wrappers and tool calls taken out.

A turn that is kept counts once under each repair it needed; one that is left out counts under
its reason alone. A run of more than 30 combining marks (not stream-safe, UAX 15) is left as it
stands, since canonical ordering of it takes quadratic time.

Lists of the cleaning of the profile `robust`, and content of messages as text.
"""

from __future__ import annotations

import html
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from usi.records import MISSING, Turn

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
    path = resources.files("usi.extraction").joinpath("lexicons/cleaning1.toml")
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


REPAIRS: tuple[str, ...] = (
    "parts",
    "entities",
    "nfc",
    "quotes",
    "space",
    "rejoined",
    "stop",
    "thought",
    "wrapper",
    "tool_call",
)
"""Kinds of repair of a turn that is kept; column ``rep_<kind>`` of the session table."""

LEFT_OUT: tuple[str, ...] = (
    "action",
    "null",
    "empty",
    "stop",
    "harness",
    "meta",
    "markup",
    "tool_call",
)
"""Reasons why a user message is no turn; column ``rep_no_turn_<reason>``."""

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[ \n]*")
_CLITIC = re.compile(r"(?<=\w) (?='(?:m|s|re|ve|ll|d)\b(?!')|n't\b)", re.IGNORECASE)
_LOOSE = re.compile(r" (?=[,.?!]+(?:[\s\"')\]]|$))")
# Below U+0300 and in the punctuation block there is nothing that NFC changes.
_MAY_COMPOSE = re.compile("[^\x00-\u02ff\u2010-\u206f]")
_STREAM_SAFE = 30


@dataclass(frozen=True)
class Cleaned:
    """A cleaned user message: `text`, or the reason why it is no turn, and the repairs."""

    text: str | None
    repairs: tuple[str, ...] = ()
    left_out: str | None = None


def clean_turn(turn: Turn) -> Cleaned:
    """Clean one message of the user; see the module text for the steps."""
    if turn.is_action:
        return Cleaned(None, left_out="action")
    text, joined = content_text(turn.content)
    if text is None:
        return Cleaned(None, left_out="action" if turn.tool_calls else "null")
    cleaned = clean_text(text)
    if joined and cleaned.text is not None:
        return Cleaned(cleaned.text, ("parts", *cleaned.repairs))
    return cleaned


def clean_text(text: str) -> Cleaned:
    """Clean the text of one user message.

    >>> clean_text("yes please ###STOP###")
    Cleaned(text='yes please', repairs=('stop',), left_out=None)
    >>> clean_text("API output: {}").left_out
    'harness'
    """
    repairs: list[str] = []
    text = _repair(text, repairs)
    if not text:
        return Cleaned(None, left_out="empty")
    lists = rules()
    without = lists.stop.sub(" ", text) if "#" in text or "/" in text else text
    if without != text:
        repairs.append("stop")
        text = collapse(without)
        if not text:
            return Cleaned(None, left_out="stop")
    reason = _not_the_user(text, lists)
    if reason:
        return Cleaned(None, left_out=reason)
    if "<" in text:
        text, kinds = strip_spans(text, mark=lists.mark)
        text = collapse(text)
        repairs.extend(kind for kind in ("thought", "wrapper", "tool_call") if kind in kinds)
        if not text:
            return Cleaned(None, left_out="markup")
        if "tool_call" in kinds and not text.replace(lists.mark, "").strip():
            return Cleaned(None, left_out="tool_call")
    if "[" in text:
        text = lists.marker.sub(REDACTED, text)
    return Cleaned(text, tuple(repairs))


def clean_agent(text: str) -> str:
    """What an agent's message says: entities, NFC and markup only (its words are compared)."""
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    if not text.isascii():
        text = compose(text)
    if "<" in text:
        text, _ = strip_spans(text, mark=" ")
    if "[" in text:
        text = rules().marker.sub(REDACTED, text)
    return text


def _repair(text: str, repairs: list[str]) -> str:
    """Step 1; appends the kinds of repair that changed something."""
    lists = rules()

    def note(kind: str, after: str) -> str:
        if after != text:
            repairs.append(kind)
        return after

    if "&" in text:
        text = note("entities", _ENTITY.sub(lambda match: html.unescape(match.group()), text))
    if not text.isascii():
        text = note("nfc", compose(text))
        if lists.typographic.search(text):
            text = note("quotes", text.translate(lists.straight))
    text = note("space", collapse(text))
    return note("rejoined", _LOOSE.sub("", _CLITIC.sub("", text)))


def compose(text: str) -> str:
    """NFC, except for text that is not stream-safe."""
    if not _MAY_COMPOSE.search(text):
        return text
    run = 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run > _STREAM_SAFE:
            return text
    return unicodedata.normalize("NFC", text)


def collapse(text: str) -> str:
    """One blank for a run of white space, one newline where the run holds one; ends stripped."""
    return _LINES.sub("\n", _BLANKS.sub(" ", text)).strip()


def _not_the_user(text: str, lists: Rules) -> str | None:
    """`harness` or `meta` where the message was not written by the user."""
    head = text[:300].lower()
    if head.startswith(lists.starts):
        return "harness"
    first, then = lists.rejected
    if head.startswith(first) and then in head[: len(first) + 200 + len(then)]:
        return "harness"
    word = re.match(r"\S*", text)
    return "meta" if word and word.group().lower() in lists.commands else None


def strip_spans(text: str, *, mark: str) -> tuple[str, set[str]]:
    """Take out thoughts, wrappers and tool calls; returns the rest and the kinds found.

    Left to right, whichever opening comes first; an unclosed span reaches to the end. Text
    before a closing that was never opened is a thought too (chat templates open it unseen).
    """
    lists = rules()
    kinds: set[str] = set()
    pieces: list[str] = []
    at = 0
    while (found := lists.opening.search(text, at)) is not None:
        kind, closing = lists.spans[found.group()]
        kinds.add(kind)
        pieces.append(text[at : found.start()])
        pieces.append(f" {mark} " if kind == "tool_call" else " ")
        end = text.find(closing, found.end())
        at = len(text) if end < 0 else end + len(closing)
    pieces.append(text[at:])
    rest = "".join(pieces)
    for closing in lists.stray:
        if closing in rest:
            kinds.add("thought")
            rest = rest.rpartition(closing)[2]
    return rest, kinds
