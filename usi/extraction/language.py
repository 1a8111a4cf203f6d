"""Which language a session is in: declared, else told from its words where that is safe.

Detection needs the small library py3langid (extra ``nlp``). It looks at sessions with enough
words of the user only, and never at those in which English function words are as frequent as
English has them, so that ids and names of an English conversation can't mislead it. A session of
which nothing is known counts as English, as it always has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from usi.errors import UsageError
from usi.records import Session, Turn

ENGLISH = "en"
MIN_LETTERS = 80
"""Letters of the user under which no language is told."""
MIN_PROBABILITY = 0.95
LOOK = 2000
"""Characters that are looked at."""
GLANCE = 300
"""Characters that a glance takes in."""
FUNCTION_WORDS = frozenset(
    {"the", "to", "of", "and", "a", "i", "is", "it", "you", "that", "my", "for", "in", "on",
     "this", "me", "can", "be", "have", "with", "not", "please", "yes", "no", "what", "do",
     "are", "was", "at", "would", "like", "i'm", "i'd"}
)  # fmt: skip
ENGLISH_SHARE = 0.20
"""Share of function words from which on a text is English without a question."""

_NAMES = {
    "english": "en", "german": "de", "deutsch": "de", "french": "fr", "spanish": "es",
    "italian": "it", "portuguese": "pt", "dutch": "nl", "polish": "pl", "russian": "ru",
    "ukrainian": "uk", "turkish": "tr", "arabic": "ar", "persian": "fa", "hebrew": "he",
    "hindi": "hi", "bengali": "bn", "chinese": "zh", "japanese": "ja", "korean": "ko",
    "vietnamese": "vi", "thai": "th", "indonesian": "id", "malay": "ms", "swedish": "sv",
    "danish": "da", "norwegian": "no", "finnish": "fi", "czech": "cs", "slovak": "sk",
    "hungarian": "hu", "romanian": "ro", "greek": "el", "bulgarian": "bg", "catalan": "ca",
}  # fmt: skip
"""Names that data sets write in place of a code."""
_CODE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]+)*", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_NOISE = re.compile(r"https?://\S+|\S*[@#_]\S*|\S*\d\S*")


def language_code(value: Any) -> str | None:
    """Two or three letters of a declared language; ``None`` where it is none.

    >>> language_code("English"), language_code("de-AT"), language_code(7)
    ('en', 'de', None)
    """
    if not isinstance(value, str):
        return None
    plain = value.strip().lower()
    if plain in _NAMES:
        return _NAMES[plain]
    found = _CODE.fullmatch(plain)
    return found.group(1) if found else None


def known_code(value: str | None) -> str | None:
    """The code of a language that somebody names for all sessions.

    Raises
    ------
    UsageError
        Where it is neither a code nor a name that is known.
    """
    if value is None:
        return None
    code = language_code(value)
    if code is None:
        raise UsageError(f"{value!r} is no language that usi knows: give a code such as en or de")
    return code


def declared(session: Session) -> str | None:
    """Language that the session's own fields name (``language`` or ``lang``)."""
    if not session.meta:
        return None
    return language_code(session.meta.get("language", session.meta.get("lang")))


def language_of(session: Session, default: str | None = None) -> str | None:
    """Language of a session: its own field, else the corpus's, else told from its words.

    ``None`` where nothing is known.
    """
    return declared(session) or default or detect(user_text(session.turns))


def user_text(turns: Sequence[Turn]) -> str:
    """The first words of the user, up to `LOOK` characters."""
    pieces, size = [], 0
    for turn in turns:
        if turn.role == "user" and type(turn.content) is str:
            pieces.append(turn.content[:LOOK])
            size += len(pieces[-1])
            if size >= LOOK:
                break
    return "\n".join(pieces)[:LOOK]


def detect(text: str) -> str | None:
    """Language told from words alone; ``None`` where that is not safe.

    Too few letters, English function words, a doubtful answer, or no library: nothing is told.
    """
    if _english(text[:GLANCE].lower().split()):
        return None
    words = _WORD.findall(text)
    if not words:
        return None
    common = sum(word.lower() in FUNCTION_WORDS for word in words)
    if common >= ENGLISH_SHARE * len(words):
        return None
    plain = " ".join(_NOISE.sub(" ", text).split())
    needed = MIN_LETTERS // 4 if _unspaced(plain) else MIN_LETTERS
    if sum(map(str.isalpha, plain)) < needed:
        return None
    identifier = _identifier()
    if identifier is None:
        return None
    code, probability = identifier.classify(plain)
    return str(code) if probability >= MIN_PROBABILITY and code != ENGLISH else None


def _english(words: list[str]) -> bool:
    """Whether a glance at the first words is enough: most sessions are English."""
    common = sum(map(FUNCTION_WORDS.__contains__, words))
    return common >= 4 and common >= ENGLISH_SHARE * len(words)


def _unspaced(text: str) -> bool:
    """Whether most of a text is in a script whose words no blanks part."""
    if text.isascii():
        return False
    return 2 * sum(is_unspaced(char) for char in text) > len(text)


def is_unspaced(char: str) -> bool:
    """Whether a character is of a script without blanks between words."""
    code = ord(char)
    return (
        0x3040 <= code <= 0x30FF  # kana
        or 0x3400 <= code <= 0x9FFF  # Han
        or 0x20000 <= code <= 0x3FFFF
        or 0x0E00 <= code <= 0x0EFF  # Thai, Lao
        or 0x1000 <= code <= 0x109F  # Burmese
        or 0x1780 <= code <= 0x17FF  # Khmer
    )


@cache
def _identifier() -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        return None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
