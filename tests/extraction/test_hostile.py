"""A megabyte of what is quadratic or worse elsewhere is counted at once, and rightly.

No clock is read: a method that is not linear would not come back.
"""

from __future__ import annotations

import pytest

from usi.extraction import extract_table
from usi.records import Session, Turn

MEGABYTE = 2**20


def row(text: str) -> dict[str, object]:
    session = Session(session_id="hostile", turns=(Turn(role="user", content=text),))
    return extract_table([session], profile="tau-usi", side="simulated").frame.to_dicts()[0]


@pytest.mark.parametrize(
    ("unit", "words", "identifiers", "repeat"),
    [
        ("_", 1, 0, 0),
        ("_a", 1, 0, 0),
        ("\u00e9", 1, 0, 0),
        ("gift_card_", 1, 1, 0),
        ("do not ask me ", 4 * (MEGABYTE // 14), 0, 1),
        ("<|think|>", 1, 0, 0),
        ("<|tool|><|think|>", 1, 0, 0),
        ("<function=", 0, 0, 0),
        ("you said ", 2 * (MEGABYTE // 9), 0, 1),
        ("a ", MEGABYTE // 2, 0, 1),
        ("1", 1, 1, 0),
        ("a@", 1, 0, 0),
        ("a_1", 1, 0, 0),
        ("#", 1, 0, 0),
        (" ", 0, 0, 0),
        ("yes,", 1, 0, 0),
        ("\ud800", 1, 0, 0),
    ],
)
def test_a_megabyte(unit: str, words: int, identifiers: int, repeat: int) -> None:
    found = row(unit * (MEGABYTE // len(unit.encode("utf-8", "surrogatepass"))))
    assert (found["words"], found["id_tokens"], found["repeat"]) == (words, identifiers, repeat)
    assert found["pushback"] == found["clarify"] == 0
