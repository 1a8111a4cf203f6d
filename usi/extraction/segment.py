"""Words of scripts that part them by no blanks: a tokeniser of spaCy puts blanks between them.

Everything after it counts words at white space, as in every other language. Needs the extra
``nlp``; some languages need a package of their own (Japanese, Thai). Without it words of such
sessions have no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

UNSPACED = frozenset({"zh", "ja", "th", "lo", "my", "km", "yue", "wuu", "bo"})
"""Languages whose words no blanks part."""


def needs_segmenting(language: str) -> bool:
    """Whether words of a language are not parted by blanks."""
    return language in UNSPACED


def can_segment(language: str) -> bool:
    """Whether a tokeniser for a language is installed."""
    return _tokenizer(language) is not None


def segmented(turns: Sequence[str], language: str) -> list[str]:
    """Turns with a blank before every word; marks stay with the word before them.

    A turn that the tokeniser can't read stays as it is.
    """
    tokenizer = _tokenizer(language)
    if tokenizer is None:
        return list(turns)
    return [_spaced(turn, tokenizer) for turn in turns]


def _spaced(turn: str, tokenizer: Any) -> str:
    lines = []
    for line in turn.split("\n"):
        pieces: list[str] = []
        for token in tokenizer(line):
            if token.is_space:
                continue
            if pieces and token.is_punct:
                pieces[-1] += token.text
            else:
                pieces.append(token.text)
        lines.append(" ".join(pieces))
    return "\n".join(lines).strip() or turn


@cache
def _tokenizer(language: str) -> Any:
    try:
        import spacy

        return spacy.blank(language).tokenizer
    except (ImportError, OSError, ValueError):
        return None
