# ruff: noqa: E501  tables of text are read more easily unbroken
"""Every definition against its own examples, in the kernel and in the oracle."""

from __future__ import annotations

import re
import time

import oracle_robust
import polars as pl
import pytest

from usi.extraction.kernel import project
from usi.extraction.robust.cleaning import clean_text
from usi.extraction.robust.counting import dashed, hits
from usi.extraction.word_lists import WordList, blanks, load_word_lists

STEMS = ("robust1", "style1", "context1")
ENTRIES = [(stem, entry) for stem in STEMS for entry in load_word_lists(stem).entries]
IDS = [entry.name for _, entry in ENTRIES]


def kernel(stem: str, name: str, text: str) -> bool:
    cleaned = clean_text(text).text
    assert cleaned is not None, text
    if name == "dash":
        return dashed(cleaned)
    series = pl.Series(project([cleaned.lower()]))
    return bool(hits(series, load_word_lists(stem), (name,))[name][0])


def oracle(stem: str, name: str, text: str) -> bool:
    cleaned, _ = oracle_robust.clean({"content": text})
    assert cleaned is not None, text
    lists = {
        "robust1": oracle_robust.ROBUST,
        "style1": oracle_robust.STYLE,
        "context1": oracle_robust.CONTEXT,
    }[stem]
    return oracle_robust.holds(lists[name], cleaned if name == "dash" else cleaned.lower())


@pytest.mark.parametrize(("stem", "entry"), ENTRIES, ids=IDS)
def test_examples_count_and_counter_examples_do_not(stem: str, entry: WordList) -> None:
    for text in entry.positive:
        assert kernel(stem, entry.name, text), f"must count: {text!r}"
        assert oracle(stem, entry.name, text), f"oracle: must count: {text!r}"
    for text in entry.negative:
        assert not kernel(stem, entry.name, text), f"must not count: {text!r}"
        assert not oracle(stem, entry.name, text), f"oracle: must not count: {text!r}"


@pytest.mark.parametrize(("stem", "entry"), ENTRIES, ids=IDS)
def test_every_definition_tells_its_reason_and_five_examples_a_side(
    stem: str, entry: WordList
) -> None:
    assert entry.reason
    assert len(entry.positive) >= 5
    assert len(entry.negative) >= 4


@pytest.mark.parametrize(("stem", "entry"), ENTRIES, ids=IDS)
def test_patterns_stay_in_the_linear_subset(stem: str, entry: WordList) -> None:
    for pattern in (*entry.match, *entry.free, *entry.unless, *entry.unless_free):
        assert not re.search(r"\(\?(?!:)|\\[1-9]", pattern), pattern


# The examples that the definition itself gives: name, turn, whether it counts.
GIVEN = [
    ("politeness", "thanks, that works", True),
    ("dash", "fine \u2014 go on", True),
    ("dash", "2\u20133 days", False),
    ("dash", "fine -- go on", False),
    ("ack", "ok thanks", True),
    ("ack", "yes please", True),
    ("ack", "ok?", True),
    ("ack", "yes, the blue one", False),
    ("role_confusion", "please provide your order number", True),
    ("role_confusion", "let me check my email", False),
    ("role_confusion", "your website is slow", False),
    ("role_confusion", "I understand", False),
    ("uncertainty", "I guess Tuesday", True),
    ("uncertainty", "what kind of room", False),
    ("lack_of_information", "I don't have the order number", True),
    ("certainty", "definitely", True),
    ("certainty", "never mind", False),
    ("pushback", "I already told you", True),
    ("pushback", "let me try again", False),
    ("pushback", "that sounds right", False),
    ("clarify", "what do you mean by fare class", True),
    ("clarify", "I'm lost", False),
    ("clarify", "sorry, I don't remember my id", False),
    ("clarify", "which flight is cheaper", False),
    ("info_question", "how much is it", True),
    ("info_question", ", which is fine", False),
    ("emotion", "this is so frustrating", True),
    ("emotion", "don't be confused", False),
    ("accusation", "you booked the wrong day", True),
    ("accusation", "I ordered the wrong size", False),
    ("accusation", "sorry for the trouble", False),
    ("pivot", "actually, make it Friday", True),
    ("pivot", "I'd like to return a lamp", False),
    ("pivot", "change it to my new address", False),
    ("pivot", "is there a way to", False),
]


@pytest.mark.parametrize(("name", "text", "counts"), GIVEN)
def test_examples_of_the_definition(name: str, text: str, counts: bool) -> None:
    assert kernel("robust1", name, text) is counts


def test_a_masked_span_does_not_hide_another_match() -> None:
    assert kernel("robust1", "pivot", "the red one instead of blue, or green instead")
    assert not kernel("robust1", "pivot", "the red one instead of blue")


def test_a_blank_reads_a_newline_too() -> None:
    assert blanks("a b[ c]") == r"a[ \n]b[ \nc]"
    assert kernel("robust1", "politeness", "thank\nyou")


HOSTILE = (
    "you ", "can you ", "i ordered ", "wait ", "do not ask me ", "what does ", "_a", "#", "#1", "a@", "1 \u2013 ",
    "you said ", "you wrong ", ". ", "is there anything else ", "your ", "don't have ", "ok ", "ok, ",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_repetitive_text_takes_linear_time(unit: str) -> None:
    from usi.extraction.extract import extract_table
    from usi.records import Session, Turn

    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        session = Session(session_id="x", turns=(Turn("assistant", text), Turn("user", text)))
        start = time.process_time()
        extract_table([session], profile="robust", side="human")
        return time.process_time() - start

    seconds(1000)
    # Quadratic growth would be a factor of 100 and at 300 KB many seconds.
    assert seconds(300_000) < max(1.5, 40 * seconds(30_000))
