"""The kernel and the plain oracle agree on conversations that nobody would write."""

from __future__ import annotations

import math
import random
from typing import Any

import oracle
import pytest
from extraction.talk import MARKS, ODD, conversation, fragment, session
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.extraction import extract_table
from usi.records import Side

SOURCES: dict[Side, str] = {"human": "human", "simulated": "llm"}


def check(conversations: list[list[oracle.Message]]) -> int:
    """Compare both on both sources; return how many had a user turn."""
    spoke = 0
    sessions = [session(str(i), messages) for i, messages in enumerate(conversations)]
    for side, source in SOURCES.items():
        table = extract_table(sessions, profile="tau-usi", side=side)
        for messages, row in zip(conversations, table.to_dict(), strict=True):
            wanted = oracle.features(messages, source)
            if wanted is None:
                assert row["status"] == "no_user_turn"
                assert row["n_turns"] is None
                continue
            spoke += 1
            for name, value in wanted.items():
                same = (
                    math.isclose(value, row[name], rel_tol=1e-12)
                    if name == "verbosity_cv"
                    else value == row[name]
                )
                assert same, (name, value, row[name], messages)
    return spoke


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_random_mixes(seed: int) -> None:
    rng = random.Random(seed)
    assert check([conversation(rng) for _ in range(1500)]) > 1500


def pieces() -> st.SearchStrategy[str]:
    written = st.integers(0, 2**32).map(lambda seed: fragment(random.Random(seed)))
    anything = st.text(st.characters(codec=None), max_size=6)
    return st.one_of(written, st.sampled_from(MARKS), st.text(ODD, max_size=4), anything)


def messages() -> st.SearchStrategy[dict[str, Any]]:
    text = st.lists(st.one_of(pieces(), st.just(" ")), max_size=8).map("".join)
    content = st.one_of(text, st.none(), st.lists(text, max_size=2))
    return st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "user", "user", "assistant", "tool"])},
        optional={"content": content, "tool_calls": st.sampled_from([None, [{"name": "x"}]])},
    )


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.lists(messages(), max_size=6), min_size=1, max_size=6))
def test_hypothesis_mixes(conversations: list[list[oracle.Message]]) -> None:
    check(conversations)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(pieces(), max_size=3), st.integers(9, 13), st.sampled_from([" ", "\n", "\t "]))
def test_repeats_near_the_limit(words: list[str], times: int, blank: str) -> None:
    said = " ".join([*words, "one two three"])
    in_one_turn = [{"role": "user", "content": blank.join([said] * times)}]
    over_turns = [{"role": "user", "content": said}] * times
    check([in_one_turn, over_turns])
