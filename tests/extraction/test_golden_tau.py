"""Values that the published scorer gave; the kernel and the oracle must both give them."""

from __future__ import annotations

import json
import math
from typing import Any

import oracle
import pytest
from extraction.talk import session
from helpers import shared

from usi.extraction import extract_table
from usi.records import Side

NOT_LEXICAL = ("n_turns", "verbosity_cv", "info_frontload", "user_words_per_turn", "opening_words")


def lines(relative: str) -> list[dict[str, Any]]:
    with shared(relative).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def kernel(conversations: list[list[oracle.Message]], side: Side) -> list[dict[str, Any]]:
    sessions = [session(str(i), messages) for i, messages in enumerate(conversations)]
    return extract_table(sessions, profile="tau-usi", side=side).to_dict()


def assert_same(expected: dict[str, float], found: dict[str, Any], where: object) -> None:
    assert set(expected) == {"n_turns", *oracle.FEATURES}
    for name, value in expected.items():
        if name == "verbosity_cv":
            assert math.isclose(value, found[name], rel_tol=1e-12, abs_tol=0), (where, name)
        else:
            assert found[name] == value, (where, name)


def check(expected: list[Any], found: list[dict[str, Any]]) -> None:
    assert len(expected) == len(found)
    for where, (wanted, row) in enumerate(zip(expected, found, strict=True)):
        if wanted is None:
            assert row["status"] == "no_user_turn"
            assert all(row[name] is None for name in ("n_turns", *oracle.FEATURES))
        else:
            assert row["status"] == "ok"
            assert_same(wanted, row, where)


def test_lexicon_probes() -> None:
    probes = lines("golden/lexicon_probes.jsonl")
    assert len(probes) == 4646
    conversations = [[{"role": "user", "content": probe["text"]}] for probe in probes]
    lexical = [name for name in oracle.FEATURES if name not in NOT_LEXICAL]
    rows = kernel(conversations, "simulated")
    for probe, messages, row in zip(probes, conversations, rows, strict=True):
        plain = oracle.features(messages, "llm")
        assert plain is not None
        assert {name: row[name] for name in lexical if row[name]} == probe["hits"]
        assert {name: plain[name] for name in lexical if plain[name]} == probe["hits"]


@pytest.mark.parametrize(("side", "key"), [("human", "human"), ("simulated", "llm")])
def test_adversarial_conversations(side: Side, key: str) -> None:
    rows = lines("golden/features_adversarial.jsonl")
    assert len(rows) == 1054
    conversations = [row["conversation"] for row in rows]
    expected = [row[key] for row in rows]
    check(expected, kernel(conversations, side))
    for wanted, messages in zip(expected, conversations, strict=True):
        plain = oracle.features(messages, key)
        assert (plain is None) == (wanted is None)
        if plain is not None:
            assert_same(wanted, plain, messages)


def test_source_decides_the_cleaning_not_the_side() -> None:
    rows = lines("golden/features_adversarial.jsonl")
    sessions = [session(str(i), row["conversation"]) for i, row in enumerate(rows)]
    table = extract_table(sessions, profile="tau-usi", side="human", source="simulated")
    check([row["llm"] for row in rows], table.to_dict())
    assert set(table.frame["side"]) == {"human"}


def test_real_airline_conversations() -> None:
    path = shared("data/taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json")
    runs = json.loads(path.read_text(encoding="utf-8"))
    expected = [row["llm"] for row in lines("golden/features_taubench_airline.jsonl")]
    conversations = [
        [found for found in run["traj"] if found.get("role") in ("user", "assistant")]
        for run in runs
    ]
    check(expected, kernel(conversations, "simulated"))
