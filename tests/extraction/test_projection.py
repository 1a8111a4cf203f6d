"""The ASCII projection keeps Python's classes, one character to one character."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

from usi.extraction.kernel import Flat, project, projection_table


def test_every_code_point_keeps_its_class() -> None:
    table = projection_table()
    assert table.shape == (0x110000,)
    word, digit, blank = re.compile(r"\w"), re.compile(r"\d"), re.compile(r"\s")
    for code in range(sys.maxunicode + 1):
        char, to = chr(code), chr(table[code])
        if code < 128:
            assert to == char
        elif digit.match(char):
            assert to == "D"
        elif word.match(char):
            assert to == "A"
        elif blank.match(char):
            assert to == "\t"
            assert char.isspace()
        else:
            assert to == "\x01"
            assert not char.isspace()


@pytest.mark.parametrize(
    ("text", "projected"),
    [
        ("\u212aelvin", "kelvin"),  # the Kelvin sign lowers to an ASCII k
        ("\u0130x", "i\x01x"),  # dotted capital I lowers to two characters
        ("\u03a3", "A"),
        ("\ud800!", "\x01!"),
        ("\u0661\u00b2", "DA"),
        ("a\u00a0b\u2028c\x85", "a\tb\tc\t"),
        ("\U0001d7d8\U0001f44d", "D\x01"),
    ],
)
def test_by_hand(text: str, projected: str) -> None:
    assert project([text.lower()]) == [projected]
    assert Flat.build([text], np.array([1])).text.to_list() == [projected]


def test_mixed_lists_keep_their_order() -> None:
    texts = ["plain", "\u00e9t\u00e9", "", "\ud800", "x\u2014y", "end"]
    assert project(texts) == ["plain", "AtA", "", "\x01", "x\x01y", "end"]


def test_words_are_those_of_split() -> None:
    blanks = "".join(chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace())
    texts = ["", " ", "a", f"a{blanks}b", *(f"a{blank}b {blank}" for blank in blanks), "\u200ba"]
    flat = Flat.build(texts, np.array([len(texts)]))
    assert flat.words.tolist() == [len(text.split()) for text in texts]
