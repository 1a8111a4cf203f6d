"""The words that nonsense must leave where they are: those of the word lists."""

from __future__ import annotations

import re
from functools import cache


@cache
def listed_words() -> frozenset[str]:
    """Every word that the word lists of the profile `robust` are made of."""
    from usi.extraction.word_lists import load_word_lists

    found: set[str] = set()
    for stem in ("robust1", "style1", "context1"):
        lists = load_word_lists(stem)
        texts = [text for entry in lists.entries for text in (*entry.match, *entry.free)]
        for text in (*texts, *lists.macros.values()):
            found.update(re.findall(r"[a-z']+", re.sub(r"\\[a-z]", " ", text)))
    return frozenset(found)
