r"""The profile `robust@2` in plain Python, one pattern after another: the independent check.

Written for clarity, straight from the definition. It shares the word lists (data) with usi and
nothing else: no kernel, no projection, no cleaning code. Not hardened against hostile text.
"""

from __future__ import annotations

import html
import math
import re
import tomllib
import unicodedata
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

LEXICONS = Path(__file__).resolve().parents[1] / "usi" / "extraction" / "lexicons"


def toml(stem: str) -> dict[str, Any]:
    return tomllib.loads((LEXICONS / f"{stem}.toml").read_text(encoding="utf-8"))


CLEANING = toml("cleaning1")
REPAIRS = [
    "parts", "entities", "nfc", "quotes", "space", "rejoined", "stop", "thought", "wrapper",
    "tool_call",
]  # fmt: skip
REASONS = ["action", "null", "empty", "stop", "harness", "meta", "markup", "tool_call"]


# --- cleaning -------------------------------------------------------------------------------


def text_of(content: Any) -> tuple[str | None, bool]:
    def of_part(part: Any) -> str | None:
        if isinstance(part, str):
            return part
        if isinstance(part, dict):
            inner = part.get("text", part.get("content"))
            if isinstance(inner, dict):
                inner = inner.get("value")
            return inner if isinstance(inner, str) else None
        return None

    if content is None:
        return None, False
    if isinstance(content, str):
        return content, False
    if isinstance(content, list):
        texts = [t for t in (of_part(part) for part in content) if t is not None]
        return ("\n".join(texts), True) if texts else (None, False)
    if isinstance(content, dict):
        return of_part(content), True
    return str(content), False


def nfc(text: str) -> str:
    runs = [
        len(list(g))
        for marks, g in groupby(text, lambda c: bool(unicodedata.combining(c)))
        if marks
    ]
    return text if max(runs, default=0) > 30 else unicodedata.normalize("NFC", text)


def entities(text: str) -> str:
    known = r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    return re.sub(known, lambda m: html.unescape(m.group(0)), text, flags=re.ASCII)


def straight(text: str) -> str:
    for character in CLEANING["quotes"]["apostrophe"]:
        text = text.replace(character, "'")
    for character in CLEANING["quotes"]["double"]:
        text = text.replace(character, '"')
    return text


def spaces(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return "\n".join(line for line in lines if line)


def rejoin(text: str) -> str:
    text = re.sub(r"(?<=\w) (?='(?:m|s|re|ve|ll|d)\b(?!'))", "", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<=\w) (?=n't\b)", "", text, flags=re.IGNORECASE)
    return re.sub(r" (?=[,.?!]+(?:[\s\"')\]]|$))", "", text)


def stop_pattern() -> str:
    anywhere = [re.escape(mark) for mark in CLEANING["stop"]["anywhere"]]
    alone = [rf"(?:(?<=\s)|^){re.escape(m)}(?=\s|[.!?,]|$)" for m in CLEANING["stop"]["alone"]]
    return "|".join(anywhere + alone)


STOPS = re.compile(stop_pattern(), re.IGNORECASE)


SPANS = [
    (kind, opening, closing)
    for kind in ("thought", "wrapper", "tool_call")
    for opening, closing in CLEANING[kind]["spans"]
]
SPAN = re.compile(
    "|".join(
        f"(?P<k{i}>{re.escape(opening)}(?s:.*?)(?:{re.escape(closing)}|\\Z))"
        for i, (_, opening, closing) in enumerate(SPANS)
    )
)


def without_spans(text: str, mark: str) -> tuple[str, set[str]]:
    found: set[str] = set()

    def replace(match: re.Match[str]) -> str:
        kind = SPANS[int(str(match.lastgroup)[1:])][0]
        found.add(kind)
        return f" {mark} " if kind == "tool_call" else " "

    text = SPAN.sub(replace, text)
    for _, closing in CLEANING["thought"]["spans"]:
        if closing in text:
            found.add("thought")
            text = text.split(closing)[-1]
    return text, found


def clean(message: dict[str, Any]) -> tuple[str | None, list[str]]:
    """Text and repairs of a user message; no text: the reason why it is no turn."""
    content = message.get("content")
    blank = content in (None, []) or (isinstance(content, str) and not content.strip())
    if message.get("tool_calls") and blank:
        return None, ["action"]
    text, parts = text_of(content)
    if text is None:
        return None, ["action" if message.get("tool_calls") else "null"]
    repairs = ["parts"] if parts else []
    steps = [
        ("entities", entities),
        ("nfc", nfc),
        ("quotes", straight),
        ("space", spaces),
        ("rejoined", rejoin),
    ]
    for name, step in steps:
        after = step(text)
        if after != text:
            repairs.append(name)
            text = after
    if not text:
        return None, ["empty"]
    after = STOPS.sub(" ", text)
    if after != text:
        repairs.append("stop")
        text = spaces(after)
        if not text:
            return None, ["stop"]
    head = text[:300].lower()
    first, then = (part.lower() for part in CLEANING["harness"]["rejected"])
    if any(head.startswith(start.lower()) for start in CLEANING["harness"]["starts"]):
        return None, ["harness"]
    if re.match(f"{re.escape(first)}(?s:.{{0,200}}){re.escape(then)}", head):
        return None, ["harness"]
    if text.split()[0].lower() in CLEANING["meta"]["commands"]:
        return None, ["meta"]
    mark = CLEANING["tool_call"]["mark"]
    if "<" in text:
        text, found = without_spans(text, mark)
        text = spaces(text)
        repairs += [kind for kind in ("thought", "wrapper", "tool_call") if kind in found]
        if not text:
            return None, ["markup"]
        if "tool_call" in found and not text.replace(mark, "").split():
            return None, ["tool_call"]
    return text, repairs


def said(message: dict[str, Any]) -> str | None:
    """What an agent's message says; None where it says nothing."""
    text, _ = text_of(message.get("content"))
    if text is None:
        return None
    text, _ = without_spans(nfc(entities(text)), " ")
    return text if text.strip() else None


# --- word lists -----------------------------------------------------------------------------


def expand(pattern: str, macros: dict[str, str]) -> str:
    for name, text in macros.items():
        pattern = pattern.replace(f"<{name}>", text)
    pattern = pattern.replace(r"\l", r"[^\W\d_]")
    out, inside, skip = "", False, False
    for char in pattern:
        if skip:
            skip = False
        elif char == "\\":
            skip = True
        elif char in "[]":
            inside = char == "["
        elif char == " ":
            char = r" \n" if inside else r"[ \n]"  # noqa: PLW2901
        out += char
    return out


def patterns(stem: str) -> dict[str, tuple[re.Pattern[str], re.Pattern[str] | None]]:
    document = toml(stem)
    macros = document.get("macros", {})

    def one(entry: dict[str, Any], bounded: str, free: str) -> re.Pattern[str] | None:
        choices = (
            [rf"\b(?:{'|'.join(expand(p, macros) for p in entry[bounded])})\b"]
            if entry.get(bounded)
            else []
        )
        choices += [f"(?:{expand(p, macros)})" for p in entry.get(free, [])]
        return re.compile("|".join(choices)) if choices else None

    out = {}
    for entry in document["entry"]:
        match = one(entry, "match", "free")
        if match is not None:
            out[entry["name"]] = (match, one(entry, "unless", "unless_free"))
    return out


ROBUST, STYLE, CONTEXT = patterns("robust1"), patterns("style1"), patterns("context1")


def holds(definition: tuple[re.Pattern[str], re.Pattern[str] | None], text: str) -> bool:
    match, unless = definition
    if not match.search(text):
        return False
    return unless is None or match.search(unless.sub("\x01", text)) is not None


# --- features -------------------------------------------------------------------------------

MEASURE = re.compile(
    r"\d+(?:st|nd|rd|th|s|am|pm|lbs?|kg|mg|g|mb|gb|tb|ml|cm|mm|km|m|ft|in|inch|hz|khz|mhz|ghz|w|mah"
    r"|h|hrs?|hours?|mins?|minutes?|days?|k|p|x|usd|eur|est|pst|utc|gmt)"
)


def is_identifier(token: str) -> bool:
    token = token.strip(".:+'-")
    digits = re.findall(r"\d", token)
    if re.search(r"\w@\w[^@]*\.\w", token) or re.search(r"#[\w-]*\d", token):
        return True
    if digits and re.search(r"[^\W_]_[^\W_]", token):
        return True
    if re.fullmatch(r"\d{4,}", token):
        return not re.fullmatch(r"(19|20)[0-9]{2}", token)
    mixed = (
        re.fullmatch(r"[^\W_]{5,}", token) and len(digits) >= 2 and re.search(r"[^\W\d_]", token)
    )
    return bool(mixed and not MEASURE.fullmatch(token))


def identifiers(lower: str) -> int:
    tokens = re.findall(r"[\w#@.+:$'-]+", lower)
    return sum(is_identifier(token) for token in tokens)


def several_sentences(lower: str) -> bool:
    pieces = re.split(r"[.!?][\"')\]]*[ \n]|\n", lower)
    return sum(bool(re.search(r"\w", piece)) for piece in pieces) >= 2


def casual(text: str, lower: str) -> bool:
    return (
        text[0].islower()
        or text[-1].isalnum()
        or any(holds(STYLE[name], lower) for name in ("contraction", "disfluency", "misspelling"))
    )


def gap(said_at: datetime | None, heard_at: datetime | None) -> float | None:
    """Seconds between two stamps; ``None`` where one is missing, or one alone has a zone."""
    if said_at is None or heard_at is None:
        return None
    if (said_at.utcoffset() is None) != (heard_at.utcoffset() is None):
        return None
    return (said_at - heard_at) / timedelta(seconds=1)


def features(messages: list[dict[str, Any]]) -> dict[str, int]:
    """Integer columns of one conversation; counts of repairs too where no user turn is left."""
    out = dict.fromkeys(
        [f"rep_{kind}" for kind in REPAIRS] + [f"rep_no_turn_{reason}" for reason in REASONS], 0
    )
    turns: list[tuple[str, str | None]] = []
    gaps: list[float | None] = []
    agents, last, heard = 0, None, None
    for message in messages:
        if message.get("role") == "assistant":
            text = said(message)
            if text is not None:
                agents, last, heard = agents + 1, text, message.get("time")
        elif message.get("role") == "user":
            text, notes = clean(message)
            for note in notes:
                out[f"rep_{note}" if text is not None else f"rep_no_turn_{note}"] += 1
            if text is not None:
                turns.append((text, last))
                gaps.append(gap(message.get("time"), heard))
    if not turns:
        return out
    lowers = [text.lower() for text, _ in turns]
    words = [len(text.split()) for text, _ in turns]
    out |= {
        "n_turns": agents + len(turns),
        "user_turns": len(turns),
        "words": sum(words),
        "words_sq": sum(w * w for w in words),
        "words_first": words[0],
        "words_first_two": sum(words[:2]),
        "short": sum(w <= 3 for w in words),
        "dash": sum(holds(ROBUST["dash"], text) for text, _ in turns),
        "identifiers": sum(map(identifiers, lowers)),
        "casual": sum(casual(text, text.lower()) for text, _ in turns),
        "several_sentences": sum(map(several_sentences, lowers)),
        "comma": sum(holds(STYLE["comma"], lower) for lower in lowers),
        "shortest": sorted(words)[math.ceil(len(words) / 10) - 1],
    }
    plain = (
        "politeness", "ack", "role_confusion", "uncertainty", "lack_of_information", "certainty",
        "emotion", "accusation", "pivot",
    )  # fmt: skip
    for name in plain:
        out[name] = sum(holds(ROBUST[name], lower) for lower in lowers)
    for name in ("pushback", "clarify", "info", "request"):
        out[name] = 0
    for lower in lowers:
        if holds(ROBUST["pushback"], lower):
            out["pushback"] += 1
        elif holds(ROBUST["clarify"], lower):
            out["clarify"] += 1
        elif holds(ROBUST["info_question"], lower):
            out["info"] += 1
            out["request"] += holds(ROBUST["request"], lower)
    for name in (
        "frustration", "helped_turns", "helped_politeness", "failed_turns", "failed_frustration"
    ):  # fmt: skip
        out[name] = 0
    for (_, agent), lower in zip(turns, lowers, strict=True):
        cross = any(holds(ROBUST[name], lower) for name in ("emotion", "accusation", "pushback"))
        out["frustration"] += cross
        if agent is not None and holds(CONTEXT["failed"], agent.lower()):
            out["failed_turns"] += 1
            out["failed_frustration"] += cross
        elif agent is not None and holds(CONTEXT["helped"], agent.lower()):
            out["helped_turns"] += 1
            out["helped_politeness"] += holds(ROBUST["politeness"], lower)
    seen: set[str] = set()
    out["repeated"] = 0
    for lower in lowers:
        said_words = lower.split()
        if len(said_words) >= 4:
            out["repeated"] += " ".join(said_words) in seen
            seen.add(" ".join(said_words))
    trigrams = [
        t for low in lowers for w in [low.split()] for t in zip(w, w[1:], w[2:], strict=False)
    ]
    out["trigrams"] = len(trigrams)
    out["trigrams_repeated"] = len(trigrams) - len(set(trigrams))
    out["trigram_flag"] = int(
        any(trigrams.count(t) > 10 for t in set(trigrams)) if len(trigrams) > 10 else 0
    )
    known_gaps = [seconds for seconds in gaps if seconds is not None]
    above = [seconds for seconds in known_gaps if seconds > 0]
    out["latency_units"] = 10**12 * len(above)
    out["latency_log"] = sum(round(10**12 * math.log(seconds)) for seconds in above)
    out["latency_unusable"] = len(known_gaps) - len(above)
    out["echo"] = out["echo_units"] = 0
    for (_, agent), lower in zip(turns, lowers, strict=True):
        long_words = re.findall(r"[^\W\d_]{4,}", lower)
        if agent is not None and long_words:
            known = set(re.findall(r"[^\W\d_]{4,}", agent.lower()))
            out["echo"] += sum(word in known for word in long_words) * 1_000_000 // len(long_words)
            out["echo_units"] += 1_000_000
    return out
