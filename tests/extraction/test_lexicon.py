"""Word lists are data: their examples run, and what can't run in linear time is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from usi.errors import InputError
from usi.extraction.kernel import Flat
from usi.extraction.lexicon import Entry, load_lexicon, parse_lexicon, translate

TAU = load_lexicon("tau19")
HEAD = '[lexicon]\nname = "x"\nversion = "1"\nsource = "here"\n'
EXAMPLES = 'positive = ["a"]\nnegative = ["b"]\n'


def found(entry: Entry, text: str) -> bool:
    flat = Flat.build([text], np.array([1]))
    if entry.how == "count":
        return bool(flat.matches(entry.pattern())[0])
    return bool(flat.hits({"x": entry.pattern()})["x"][0])


@pytest.mark.parametrize("entry", TAU.entries, ids=lambda entry: entry.name)
def test_examples(entry: Entry) -> None:
    assert [text for text in entry.positive if not found(entry, text)] == []
    assert [text for text in entry.negative if found(entry, text)] == []


def test_sizes_of_the_published_lists() -> None:
    # Counted by hand in the published definition.
    assert {entry.name: len(entry.match) for entry in TAU.entries} == {
        "politeness": 15,
        "ack": 35,
        "id_tokens": 5,
        "uncertainty": 31,
        "certainty": 19,
        "pushback": 14,
        "clarify": 26,
        "info": 14,
        "emotion": 31,
        "accusation": 18,
        "pivot": 13,
        "id_confuse": 20,
    }
    assert TAU.tag == "tau19@1"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("please cancel my reservation", 3),
        ("mia.li3818@example.com", 2),
        ("order #w12", 0),
        ("#w2378156 and #12345", 2),
        ("a_b_123", 1),
        ("gift_card_gift_card_1", 1),
    ],
)
def test_identifier_counts(text: str, count: int) -> None:
    flat = Flat.build([text], np.array([1]))
    assert flat.matches(TAU["id_tokens"].pattern()).tolist() == [count]


@pytest.mark.parametrize(
    "char", ["é", "²", "٣", "_", "5", "\u0345", "’", "\u00ad", "\x1c", "\u2028"]
)
def test_boundaries_are_those_of_python(char: str) -> None:
    for text in (f"please{char}", f"{char}please", f"well{char}please{char}ok"):
        flat = Flat.build([text], np.array([1]))
        hit = flat.hits({"x": TAU["politeness"].pattern()})["x"][0]
        assert hit == bool(re.search(r"\bplease\b", text)), text


@pytest.mark.parametrize(
    "pattern",
    [
        "a(?=b)",
        "a(?!b)",
        "(?<=a)b",
        "(?i:a)",
        "(?P<x>a)",
        "(a)",
        r"(?:a)\1",
        r"\Aa",
        r"\x41",
        "Please",
        "caf\u00e9",
        "[a[b]]",
        "[a-z&&b]",
        "a\\",
    ],
)
def test_patterns_outside_the_subset_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        translate(pattern)


def test_a_document_is_checked() -> None:
    good = f'{HEAD}[[entry]]\nname = "n"\nmatch = ["a"]\n{EXAMPLES}'
    assert parse_lexicon(good, file="x.toml")["n"].match == ("a",)
    with pytest.raises(KeyError):
        parse_lexicon(good, file="x.toml")["m"]
    for bad, why in (
        ("not = [toml", "not a lexicon"),
        (f'{good}colour = "red"\n', "colour"),
        (good + good.removeprefix(HEAD), "twice"),
        (f'{HEAD}[[entry]]\nname = "n"\nmatch = []\n{EXAMPLES}', "at least one"),
        (f'{HEAD}[[entry]]\nname = "n"\nmatch = ["a(?=b)"]\n{EXAMPLES}', "look-around"),
        (f'{HEAD}[[entry]]\nname = "n"\nmatch = "a"\n{EXAMPLES}', "array"),
        ('[[entry]]\nname = "n"\n', "missing"),
    ):
        with pytest.raises(InputError, match=why) as caught:
            parse_lexicon(bad, file="x.toml")
        assert caught.value.file == "x.toml"
