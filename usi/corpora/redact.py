"""Redaction: e-mail addresses, phone, card and id numbers, and names become typed markers.

Every pattern starts at a token's edge and uses possessive repeats, so time is linear in the text.
Where matches overlap or touch, one marker covers them all. Markers are never redacted again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from usi.records import MISSING, Session, SurveyAnswer, Turn

KINDS: tuple[str, ...] = ("EMAIL", "CARD", "PHONE", "ID", "NAME", "ORG", "PLACE")
"""Kinds of marker, the one that goes before first where matches overlap."""
MARKER = re.compile(r"\[(?:" + "|".join(KINDS) + r")\]")
MAX_DEPTH = 64
"""Depth of nested fields that are looked into; what lies deeper is dropped."""

FIRST_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""Where the times of a redacted session begin."""
Span = tuple[int, int, str]
Finder = Callable[[str], Iterable[Span]]

_EMAIL = re.compile(r"(?<![\w.%+-])[\w.%+-]++@[\w-]++(?:\.[\w-]++)++")
_DIGITS = re.compile(r"(?<![\w.,])\+?\(?\d(?:[ .()/-]{0,2}\d)++(?!\w)")
_DATE = re.compile(r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))")
_TOKEN = re.compile(r"(?<![\w#])#?\w++(?:-\w++)*+")
_MEASURE = re.compile(
    r"\d+(?:st|nd|rd|th|s|am|pm|lbs?|kg|mg|g|mb|gb|tb|ml|cm|mm|km|m|ft|in|inch|hz|khz|mhz|ghz|w|"
    r"mah|h|hrs?|hours?|mins?|minutes?|days?|k|p|x|usd|eur)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w++(?:['’-]\w++)*+")
_ENTITY = {
    "PERSON": "NAME", "PER": "NAME", "ORG": "ORG", "GPE": "PLACE", "LOC": "PLACE", "FAC": "PLACE",
}  # fmt: skip
"""spaCy's entity labels -> kind of marker; other labels (dates, money) stay."""


def luhn(digits: str) -> bool:
    """Whether the check digit of a card number holds (ISO/IEC 7812).

    >>> luhn("4111111111111111"), luhn("4111111111111112")
    (True, False)
    """
    total = 0
    for place, char in enumerate(reversed(digits)):
        value = int(char) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def emails(text: str) -> Iterator[Span]:
    """E-mail addresses."""
    if "@" in text:
        for found in _EMAIL.finditer(text):
            yield found.start(), found.end(), "EMAIL"


def numbers(text: str) -> Iterator[Span]:
    """Card numbers (13 to 19 digits, check digit), phone numbers (7 to 15), other long numbers.

    Dates stay. Five digits and more without a mark between them are an id, unless they look like
    a phone number (10 or 11 digits, or a leading plus).
    """
    for found in _DIGITS.finditer(text):
        token = found.group()
        digits = "".join(filter(str.isdecimal, token))
        if _DATE.fullmatch(token):
            continue
        if 13 <= len(digits) <= 19 and luhn(digits):
            kind = "CARD"
        elif 7 <= len(digits) <= 15 and (
            token[0] == "+" or len(digits) in (10, 11) or not token.isdecimal()
        ):
            kind = "PHONE"
        elif len(digits) >= 5:
            kind = "ID"
        else:
            continue
        yield found.start(), found.end(), kind


def ids(text: str) -> Iterator[Span]:
    """Tokens that look like ids: ``#`` or ``_`` with a digit, or letters among two digits.

    No measures (``128gb``, ``100th``).
    """
    for found in _TOKEN.finditer(text):
        token = found.group()
        n_digits = sum(map(str.isdecimal, token))
        if not n_digits or _MEASURE.fullmatch(token):
            continue
        letters = any(map(str.isalpha, token))
        mixed = letters and n_digits >= 2 and len(token) >= 5
        if mixed or token[0] == "#" or ("_" in token and letters):
            yield found.start(), found.end(), "ID"


def name_finder(names: Iterable[str]) -> Finder:
    """Finder of names from a list, whole words in any case; of several, the longest."""
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for name in names:
        words = tuple(word.casefold() for word in _WORD.findall(name))
        if words:
            by_first.setdefault(words[0], []).append(words)
    for options in by_first.values():
        options.sort(key=len, reverse=True)

    def find(text: str) -> Iterator[Span]:
        words = list(_WORD.finditer(text))
        small = [word.group().casefold() for word in words]
        bare = [_possessive(word) for word in small]
        at = 0
        while at < len(words):
            found = _match(bare, small, at, by_first)
            if found:
                yield words[at].start(), words[at + found - 1].end(), "NAME"
                at += found - 1
            at += 1

    return find


def _match(
    bare: list[str], small: list[str], at: int, names: Mapping[str, list[tuple[str, ...]]]
) -> int:
    """Words of the longest name that starts here, 0 for none; its last word may end with 's."""
    for option in [*names.get(small[at], ()), *names.get(bare[at], ())]:
        end = at + len(option)
        if end <= len(small) and (
            tuple(small[at:end]) == option or (*small[at : end - 1], bare[end - 1]) == option
        ):
            return len(option)
    return 0


def _possessive(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s")) else word


def entity_finder(model: str) -> Finder:
    """Finder of the entities of an installed spaCy model (extra ``nlp``).

    Raises
    ------
    UsageError
        Where spaCy or the model is not installed.
    """
    from usi.errors import UsageError

    try:
        import spacy
    except ImportError:
        raise UsageError("--entities needs the extra: pip install 'usi[nlp]'") from None
    try:
        nlp = spacy.load(model)
    except OSError:
        raise UsageError(
            f"--entities {model}: there is no such spaCy model here; install it with: "
            f"python -m spacy download {model}"
        ) from None
    return lambda text: (
        (entity.start_char, entity.end_char, _ENTITY[entity.label_])
        for entity in nlp(text).ents
        if entity.label_ in _ENTITY
    )


@dataclass
class Redactor:
    """Replaces what its finders find, and counts it.

    Attributes
    ----------
    finders
        In addition to addresses and numbers.
    counts
        Kind -> how many, over everything that was redacted.
    sessions
        Sessions in which something was replaced.
    dropped
        Fields that were too deep to look into.
    """

    finders: Sequence[Finder] = ()
    counts: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    dropped: int = 0

    def text(self, text: str) -> str:
        """Text with markers in place of what was found.

        >>> Redactor().text("I'm mia_li_3668, mail mia@li.org or +1 555 123 4567")
        "I'm [ID], mail [EMAIL] or [PHONE]"
        """
        spans = self._spans(text)
        pieces, at = [], 0
        for start, end, kind in joined(spans):
            pieces += [text[at:start], f"[{kind}]"]
            self.counts[kind] += 1
            at = end
        return "".join([*pieces, text[at:]])

    def _spans(self, text: str) -> list[Span]:
        """What is found outside the markers that stand in the text already."""
        spans = [span for find in (emails, numbers, ids, *self.finders) for span in find(text)]
        if "[" not in text or not spans:
            return spans
        held = [(marker.start(), marker.end()) for marker in MARKER.finditer(text)]
        kept, k = [], 0
        for span in sorted(spans):
            while k < len(held) and held[k][1] <= span[0]:
                k += 1
            if k == len(held) or held[k][0] >= span[1]:
                kept.append(span)
        return kept

    def session(self, session: Session) -> Session:
        """A session with redacted words, survey, tool calls and other fields; ids stay.

        Of the times of messages those between them stay: the first one is set to `FIRST_TIME`.
        """
        before = self.counts.total()
        survey = session.survey
        if survey is not None:
            survey = tuple(
                SurveyAnswer(a.item, None if a.answer is None else self.text(a.answer))
                for a in survey
            )
        found = msgspec.structs.replace(
            session,
            turns=tuple(map(self._turn, since_the_first(session.turns))),
            survey=survey,
            status_reason=self._deep(session.status_reason, 0),
            meta=self._deep(session.meta, 0),
        )
        self.sessions += self.counts.total() > before
        return found

    def _turn(self, turn: Turn) -> Turn:
        content = turn.content if turn.content is MISSING else self._deep(turn.content, 0)
        calls = None if turn.tool_calls is None else self._deep(turn.tool_calls, 0)
        name = None if turn.name is None else self.text(turn.name)
        return Turn(turn.role, content, calls, name, turn.time)

    def _deep(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._string(value, depth)
        if depth > MAX_DEPTH:
            self.dropped += value is not None
            return None
        if isinstance(value, Mapping):
            return {key: self._deep(part, depth + 1) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self._deep(part, depth + 1) for part in value]
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000:
            written = str(value)
            marked = self.text(written)
            return value if marked == written else marked
        return value

    def _string(self, value: str, depth: int) -> str:
        """Text; arguments of tools that are JSON inside a string stay JSON."""
        if depth and value[:1] in ("{", "[") and not MARKER.match(value):
            try:
                inner = json.loads(value)
            except (ValueError, RecursionError):
                return self.text(value)
            if isinstance(inner, dict | list):
                return json.dumps(self._deep(inner, depth + 1), ensure_ascii=False)
        return self.text(value)


def since_the_first(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Turns whose times begin at `FIRST_TIME`: when somebody talked is nobody's business."""
    stamps = [turn.time for turn in turns if turn.time is not None]
    if not stamps:
        return turns
    try:
        first = min(stamps)
        return tuple(
            turn
            if turn.time is None
            else msgspec.structs.replace(turn, time=FIRST_TIME + (turn.time - first))
            for turn in turns
        )
    except (OverflowError, TypeError):  # thousands of years, or zones in half of the stamps
        return tuple(msgspec.structs.replace(turn, time=None) for turn in turns)


def joined(spans: Iterable[Span]) -> list[Span]:
    """Spans in order; those that overlap are one, of the kind that goes before in `KINDS`."""
    found: list[Span] = []
    for start, end, kind in sorted(spans):
        if found and start < found[-1][1]:
            first, last, other = found[-1]
            best = min(kind, other, key=KINDS.index)
            found[-1] = (first, max(last, end), best)
        else:
            found.append((start, end, kind))
    return found
