"""Every pack: its own examples, the entries of the English lists, and the linear subset."""

from __future__ import annotations

import re

import polars as pl
import pytest

from usi.extraction.kernel import project
from usi.extraction.language_packs import NOT_NEEDED, load_pack, pack_languages
from usi.extraction.robust.cleaning import clean_text
from usi.extraction.robust.counting import hits
from usi.extraction.word_lists import WordList, WordLists, load_word_lists

STEMS = ("robust1", "style1", "context1")
ENTRIES = [
    (language, stem, entry)
    for language in pack_languages()
    for stem in STEMS
    for entry in load_word_lists(f"{language}/{stem}").entries
]
IDS = [f"{language}-{entry.name}" for language, _, entry in ENTRIES]


def counts(lists: WordLists, name: str, text: str) -> bool:
    cleaned = clean_text(text).text
    assert cleaned is not None, text
    return bool(hits(pl.Series(project([cleaned.lower()])), lists, (name,))[name][0])


def test_there_is_a_german_pack() -> None:
    assert "de" in pack_languages()
    assert load_pack("de").tag == "de-robust@1+de-style@1+de-context@1"


@pytest.mark.parametrize(("language", "stem", "entry"), ENTRIES, ids=IDS)
def test_examples_count_and_counter_examples_do_not(
    language: str, stem: str, entry: WordList
) -> None:
    lists = load_word_lists(f"{language}/{stem}")
    wrong = [f"must count: {t!r}" for t in entry.positive if not counts(lists, entry.name, t)]
    wrong += [f"must not count: {t!r}" for t in entry.negative if counts(lists, entry.name, t)]
    assert not wrong


@pytest.mark.parametrize(("language", "stem", "entry"), ENTRIES, ids=IDS)
def test_an_entry_tells_its_reason_and_enough_examples(
    language: str, stem: str, entry: WordList
) -> None:
    del language, stem
    assert entry.reason
    assert len(entry.positive) >= 5
    assert len(entry.negative) >= 4
    for pattern in (*entry.match, *entry.free, *entry.unless, *entry.unless_free):
        assert not re.search(r"\(\?(?!:)|\\[1-9]", pattern), pattern


@pytest.mark.parametrize("language", pack_languages())
@pytest.mark.parametrize("stem", STEMS)
def test_a_pack_has_the_entries_of_the_english_lists(language: str, stem: str) -> None:
    english = {entry.name for entry in load_word_lists(stem).entries}
    own = {entry.name for entry in load_word_lists(f"{language}/{stem}").entries}
    assert own == english - NOT_NEEDED
