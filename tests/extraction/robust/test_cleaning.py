# ruff: noqa: E501  tables of text are read more easily unbroken
"""Cleaning: the data's own examples, kinds of content, laws, and hostile text."""

from __future__ import annotations

import json
import time
from typing import Any

import oracle_robust
import pytest
from hypothesis import given
from hypothesis import strategies as st

from usi.extraction.extract import extract_table
from usi.extraction.robust.cleaning import (
    LEFT_OUT,
    REPAIRS,
    clean_text,
    clean_turn,
    content_text,
    rules,
)
from usi.extraction.robust.turns import gather
from usi.records import MISSING, Session, Turn

EXAMPLES: list[dict[str, Any]] = rules().raw["example"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: json.dumps(e["before"])[:40])
def test_examples_of_the_lists(example: dict[str, Any]) -> None:
    cleaned = clean_text(example["before"])
    assert cleaned.left_out == example.get("left_out")
    if "after" in example:
        assert cleaned.text == example["after"]
        assert list(cleaned.repairs) == example["repairs"]


def test_every_repair_and_reason_has_an_example() -> None:
    shown = {kind for e in EXAMPLES for kind in e.get("repairs", [])}
    left_out = {e["left_out"] for e in EXAMPLES if "left_out" in e}
    assert shown == set(REPAIRS) - {"parts"}
    assert left_out == set(LEFT_OUT) - {"action", "null"}


@pytest.mark.parametrize(
    ("content", "text", "joined"),
    [
        ("hi", "hi", False),
        (None, None, False),
        (MISSING, None, False),
        ([], None, False),
        ([{"type": "text", "text": "a"}, {"type": "image_url"}, "b"], "a\nb", True),
        ([{"type": "image_url", "image_url": {"url": "x"}}], None, False),
        ([{"type": "text", "text": {"value": "v"}}], "v", True),
        ({"text": "t"}, "t", True),
        ({"other": 1}, None, True),
        (7, "7", False),
    ],
)
def test_content_as_text(content: Any, text: str | None, joined: bool) -> None:
    assert content_text(content) == (text, joined)


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (Turn("user", None), "null"),
        (Turn("user"), "null"),
        (Turn("user", None, [{"name": "f"}]), "action"),
        (Turn("user", "  ", [{"name": "f"}]), "action"),
        (Turn("user", []), "null"),
        (Turn("user", " \n"), "empty"),
    ],
)
def test_messages_that_are_no_turn(turn: Turn, reason: str) -> None:
    assert clean_turn(turn).left_out == reason
    assert clean_turn(turn).text is None


def test_a_call_with_text_is_an_utterance() -> None:
    assert clean_turn(Turn("user", "done", [{"name": "f"}])).text == "done"


def test_both_sides_are_cleaned_alike() -> None:
    turns = (Turn("user", "Thanks! ###STOP###"), Turn("user", "/stop"), Turn("user", "\\reward"))
    rows = [
        extract_table([Session(session_id="x", turns=turns)], profile="robust", side=side).frame
        for side in ("human", "simulated")
    ]
    numbers = [frame.drop("side") for frame in rows]
    assert numbers[0].equals(numbers[1])
    assert rows[0]["user_turns"].to_list() == [1]
    assert rows[0]["rep_stop"].to_list() == [1]
    assert rows[0]["rep_no_turn_stop"].to_list() == [1]
    assert rows[0]["rep_no_turn_meta"].to_list() == [1]


def test_what_was_left_out_is_counted_without_a_user_turn_too() -> None:
    turns = (Turn("user", "###STOP###"), Turn("user", "API output: 1"))
    frame = extract_table(
        [Session(session_id="x", turns=turns)], profile="robust", side="human"
    ).frame
    assert frame["status"].to_list() == ["no_user_turn"]
    assert frame["user_turns"].to_list() == [None]
    assert frame["rep_no_turn_stop"].to_list() == [1]
    assert frame["rep_no_turn_harness"].to_list() == [1]


FRAGMENTS = st.sampled_from(
    [
        "yes", "I 'm", "do n't", " , ", " .", "?", "###STOP###", "/stop", "&amp;", "&#39;", "&#x110000;", "&bogus;",
        "<think>", "</think>", "<tool_call>", "</tool_call>", "<|think|>", "<|/think|>", "<function=f>", "</function>", "<|canvas|>", "\u2019", "\u201c", "e\u0301", "\u0301" * 40,
        "\n", "\r\n", "\t", "\u00a0", "\x1c", "API output:", "Execution of x was rejected", "\\tau 1", "\\reward", "start/stop", "\u2028", "\ud800", "5 . 5", " 's", "'",
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(FRAGMENTS, st.text(max_size=6)), max_size=8).map(" ".join) | st.lists(
    FRAGMENTS, max_size=6
).map("".join)


@given(TEXTS)
def test_cleaning_agrees_with_the_oracle(text: str) -> None:
    cleaned = clean_text(text)
    expected, notes = oracle_robust.clean({"content": text})
    assert cleaned.text == expected
    assert ([cleaned.left_out] if expected is None else list(cleaned.repairs)) == notes


@given(st.lists(TEXTS, max_size=5))
def test_gathering_cleans_every_message_that_needs_it(texts: list[str]) -> None:
    gathered = gather([[Turn("user", text) for text in texts]], "human")
    expected = [clean_text(text).text for text in texts]
    assert gathered.turns == [text for text in expected if text is not None]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: json.dumps(e["before"])[:40])
def test_gathering_finds_what_each_example_needs(example: dict[str, Any]) -> None:
    gathered = gather([[Turn("user", example["before"])]], "simulated")
    assert gathered.turns == ([example["after"]] if "after" in example else [])


@given(TEXTS)
def test_a_clean_turn_has_no_stray_white_space(text: str) -> None:
    cleaned = clean_text(text).text
    if cleaned is not None:
        assert cleaned
        assert cleaned == "\n".join(" ".join(line.split()) for line in cleaned.split("\n"))


HOSTILE = (
    "<think>", "</think>", "<|think|>", "<|canvas|>", "<tool_call>", "<function=", "&#", "&#1", "&amp;", " '", " 's", " ,", " . ", "/stop ",
    "###STOP### ", "###", "a\u0301\u0327", "\u0301\u0327", "\n ", "\t", "\u2019", "\u00e9", "<", "&a", "execution of ",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE, ids=[ascii(unit) for unit in HOSTILE])
def test_a_megabyte_of_hostile_text_is_cleaned_in_well_under_a_second(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    start = time.process_time()
    clean_text(text)
    assert time.process_time() - start < 2.0  # quadratic steps take minutes
