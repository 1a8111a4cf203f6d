"""Conversations made to break a matcher: lexicon fragments, markup, odd Unicode, boundaries."""

from __future__ import annotations

import random
import sys
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import oracle

from usi.records import MISSING, Session, Turn

_PATTERNS = [
    _parser.parse(pattern.pattern)
    for pattern in (
        oracle.POLITE,
        oracle.ACK,
        oracle.IDENTIFIER,
        oracle.UNCERTAINTY,
        oracle.CERTAINTY,
        oracle.PUSHBACK,
        oracle.CLARIFY,
        oracle.INFO,
        oracle.EMOTION,
        oracle.ACCUSATION,
        oracle.PIVOT,
        oracle.ID_CONFUSE,
    )
]
MARKS = (
    "<|think|>",
    "<|/think|>",
    "<|tool|>",
    "<|/tool|>",
    "<function=",
    "</function>",
    "<|canvas|>",
    "<|survey|>",
    "<|highlight|>",
    "\\tau ",
    "\\tau",
    "\\reward",
    "/stop",
    "###STOP###",
    "<",
    "|>",
)
ODD = (
    "\u0130\u0131\u017f\u212a\u212b\u00df\u03a3\u03c3\u03c2\u1e9e\ufb01\u01c5\u0345\u0307"
    "\u00e9\u4e2d\u6587\u00aa\u00b2\u00bd\u2167\u0661\u0662\u096b\uff15\U0001d7d8\u19da"
    "\u2019\u2018\u2013\u2014\u2212\u00ad\u200b\u200d\ufeff\u180e\u202e\U0001f44d\U0001f468"
    "\x00\x01\x07\x0b\x0c\r\x1b\x1c\x1d\x1e\x1f\x7f\x85\u00a0\u1680\u2003\u2028\u2029\u3000"
    "\ud800\udfff"
)
_BLANKS = (" ", " ", " ", "  ", "\t", "\n", "\u00a0", "")
_ENDS = ("", "", "", " ", ".", ",", "?", "!", "-", "_", "'", "x", "5", "\n", "?x", "? x")


def _written(parsed: Any, rng: random.Random) -> str:
    """Some text that the parsed pattern matches (look-around aside)."""
    out = []
    for kind, value in parsed:
        name = str(kind)
        if name == "LITERAL":
            out.append(chr(value))
        elif name == "BRANCH":
            out.append(_written(rng.choice(value[1]), rng))
        elif name == "SUBPATTERN":
            out.append(_written(value[3], rng))
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            low, high, inner = value
            times = rng.randint(low, min(int(high), low + rng.choice((0, 1, 1, 3, 31))))
            out.extend(_written(inner, rng) for _ in range(times))
        elif name == "ANY":
            out.append(rng.choice("ab1 \t\u00e9?'"))
        elif name == "IN":
            out.append(_one_of(value, rng))
    return "".join(out)


def _one_of(choices: Any, rng: random.Random) -> str:
    kind, value = rng.choice(choices)
    if str(kind) == "LITERAL":
        return chr(value)
    if str(kind) == "RANGE":
        return chr(rng.randint(*value))
    return rng.choice(
        {
            "CATEGORY_WORD": "ab_9Zé中²½٥",
            "CATEGORY_DIGIT": "0123456789٥५",
            "CATEGORY_SPACE": " \t\n\x1c\u00a0\u2003",
        }[str(value)]
    )


def fragment(rng: random.Random) -> str:
    """A piece of a turn."""
    dice = rng.random()
    if dice < 0.62:
        text = _written(rng.choice(_PATTERNS), rng)
    elif dice < 0.74:
        text = rng.choice(MARKS)
    elif dice < 0.84:
        text = "".join(rng.choice(ODD) for _ in range(rng.randint(1, 4)))
    elif dice < 0.94:
        text = rng.choice(("i", "you said", "it is", "that", "the way", "a", "#W12345", "mia_li_3"))
    else:
        text = "".join(chr(rng.randint(0, sys.maxunicode)) for _ in range(rng.randint(1, 3)))
    if rng.random() < 0.25:
        text = rng.choice((str.upper, str.title, str.swapcase))(text)
    if rng.random() < 0.12:
        text = text.replace("'", "\u2019")
    if rng.random() < 0.15 and text:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice((*ODD, " ", "-", "")) + text[at + rng.randint(0, 1) :]
    return text + rng.choice(_ENDS)


def turn(rng: random.Random) -> str:
    """Text of one message."""
    if rng.random() < 0.03:
        return rng.choice(("", " ", "\n\t", "###STOP###\n", " /stop ", "\\tau x", "None"))
    if rng.random() < 0.05:
        return " ".join([fragment(rng)] * rng.randint(4, 14))
    return "".join(fragment(rng) + rng.choice(_BLANKS) for _ in range(rng.randint(1, 5)))


def message(rng: random.Random) -> oracle.Message:
    """One message; content and role are sometimes not what one expects."""
    made: oracle.Message = {
        "role": rng.choice(("user",) * 8 + ("assistant",) * 4 + ("User", "system", None))
    }
    dice = rng.random()
    if dice < 0.95:
        made["content"] = turn(rng)
    elif dice < 0.98:
        made["content"] = rng.choice(
            (None, [], ["please"], [{"type": "text", "text": turn(rng)}], 12345678, 1.5, True, {})
        )
    if rng.random() < 0.05:
        made["tool_calls"] = rng.choice(([], [{"name": "cancel"}]))
    return made


def conversation(rng: random.Random) -> list[oracle.Message]:
    """A conversation of up to a dozen messages, sometimes with one turn said over and over."""
    made = [message(rng) for _ in range(rng.randint(0, 9))]
    if rng.random() < 0.1:
        again = {"role": "user", "content": turn(rng)}
        made += [again] * rng.randint(5, 13)
    return made


def session(name: str, messages: list[oracle.Message]) -> Session:
    """Wrap messages as a loader would."""
    return Session(
        session_id=name,
        turns=tuple(
            Turn(
                role=found.get("role"),
                content=found.get("content", MISSING),
                tool_calls=found.get("tool_calls") or None,
            )
            for found in messages
        ),
    )
