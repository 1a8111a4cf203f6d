"""The fast kernel against the plain oracle, and against counts made by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import oracle_robust
import pytest
from helpers import shared
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.extraction.extract import extract_table
from usi.extraction.robust.turns import REPAIR_COLUMNS
from usi.extraction.spec import CORE_COUNTS
from usi.loading import open_sessions
from usi.records import MISSING, Session, Turn


def row(*messages: tuple[str, Any], block: int = 1024) -> dict[str, Any]:
    turns = tuple(Turn(role, content) for role, content in messages)
    table = extract_table(
        [Session(session_id="x", turns=turns)], profile="robust", side="human", block=block
    )
    return table.frame.row(0, named=True)


def users(*texts: str) -> dict[str, Any]:
    return row(*(("user", text) for text in texts))


# --- by hand --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("#W2378156", 1),
        ("mia_li_3668", 1),
        ("ZFA04Y", 1),
        ("mia.li@example.com", 1),
        ("my card ends in 7447.", 1),
        ("#W2378156, mia_li_3668 and ZFA04Y", 3),
        ("item 1656367028 or 1421289881?", 2),
        ("(order #w1)", 1),
        ("flight HAT136/HAT039", 2),
        ("7:30 pm", 0),
        ("at 19:00EST", 0),
        ("$250", 0),
        ("$1250", 0),
        ("2nd", 0),
        ("the 100th", 0),
        ("1,200", 0),
        ("2024", 0),
        ("1990-04-12", 0),
        ("reservation", 0),
        ("128gb", 0),
        ("1250.50", 0),
        ("I have 3 bags", 0),
        ("caf\u00e9s 12345", 1),
        ("\u0661\u0662\u0663\u0664", 1),  # Arabic-Indic digits
    ],
)
def test_identifiers_of_one_turn(text: str, n: int) -> None:
    assert users(text)["identifiers"] == n


def test_short_turns_and_words() -> None:
    found = users("yes please", "one two three", "one two three four", "ok ###STOP###")
    assert found["user_turns"] == 4
    assert found["words"] == 2 + 3 + 4 + 1
    assert found["words_sq"] == 4 + 9 + 16 + 1
    assert found["words_first"] == 2
    assert found["words_first_two"] == 5
    assert found["short"] == 3


def test_repeated_turns_need_four_words_and_an_earlier_twin() -> None:
    found = users("yes", "yes", "I want a refund", "i want a  refund", "I want\na refund", "a b c")
    assert found["repeated"] == 2


def test_trigrams_do_not_span_turns() -> None:
    found = users("a b c d", "a b c", "b c")
    assert (found["trigrams"], found["trigrams_repeated"]) == (3, 1)
    assert found["trigram_flag"] == 0
    assert users(*["a b c"] * 11)["trigram_flag"] == 1


def test_question_classes_exclude_each_other() -> None:
    found = users(
        "are you sure? what do you mean?", "what do you mean?", "how much?", "can you check it?"
    )
    assert [found[name] for name in ("pushback", "clarify", "info", "request")] == [1, 1, 2, 1]


@pytest.mark.parametrize(
    ("text", "casual"),
    [
        ("Book it.", 0),
        ("book it.", 1),
        ("Book it", 1),
        ("It is 5", 1),
        ("I dont know.", 1),
        ("Oh, I see.", 1),
        ("I recieved it.", 1),
        ("\u00e9t\u00e9.", 1),
        ("\u00c9t\u00e9!", 0),
    ],
)
def test_casual_cues(text: str, casual: int) -> None:
    assert users(text)["casual"] == casual


@pytest.mark.parametrize(
    ("text", "comma"), [("\u0663,\u0664", 0), ("\u00e9,\u0664", 1), ("1,200", 0), ("yes,please", 1)]
)
def test_a_comma_between_digits_of_any_script_is_no_comma(text: str, comma: int) -> None:
    assert users(text)["comma"] == comma


def test_echo_is_the_share_of_long_words_in_the_agents_last_message() -> None:
    found = row(
        ("user", "before any agent message"),
        ("assistant", "Your flight leaves at noon"),
        ("user", "my flight, the flight at noon is late"),  # flight flight noon late: 3 of 4
        ("user", "ok"),  # no long word
        ("assistant", None),  # says nothing: the message before it stands
        ("user", "which flight leaves"),  # which flight leaves: 2 of 3
        ("assistant", "<think>window</think>Aisle"),
        ("user", "window aisle"),  # 1 of 2
    )
    assert found["echo_units"] == 3_000_000
    assert found["echo"] == 750_000 + 666_666 + 500_000
    assert found["n_turns"] == 5 + 2


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (9, 1), (10, 1), (11, 2), (20, 2), (21, 3)])
def test_shortest_turn_is_the_ceiling_of_a_tenth_smallest(n: int, rank: int) -> None:
    lengths = list(range(1, n + 1))
    found = users(*(" ".join(["w"] * k) for k in reversed(lengths)))
    assert found["shortest"] == rank


def test_features_of_a_session_follow_from_its_counts() -> None:
    turns = (Turn("assistant", "hello there"), Turn("user", "hello"), Turn("user", "a b c. D!"))
    values = (
        extract_table([Session(session_id="x", turns=turns)], profile="robust", side="human")
        .values()
        .row(0, named=True)
    )
    assert values["echo"] == 1.0
    assert values["words_per_turn"] == 2.5
    assert values["turns_per_session"] == 2.0
    assert values["several_sentences"] == 0.5
    assert values["casual"] == 1.0
    assert values["trigram_share"] == 0.0
    assert values["shortest_turn"] == 1.0
    assert values["info_frontload"] == 1.0


def test_echo_without_an_agent_is_undefined_not_zero() -> None:
    turns = (Turn("user", "hello there"),)
    table = extract_table([Session(session_id="x", turns=turns)], profile="robust", side="human")
    values = table.values().row(0, named=True)
    assert values["echo"] is None
    assert values["trigram_share"] is None


# --- against the oracle ---------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        "i",
        "you",
        "your",
        "the",
        "please",
        "thanks",
        "ok",
        "yes",
        "no",
        "wait",
        "actually",
        "instead",
        "of",
        "i'd",
        "rather",
        "wrong",
        "you're",
        "what",
        "which",
        "how",
        "much",
        "is",
        "it",
        "?",
        "!",
        ".",
        ",",
        "never",
        "mind",
        "#w12",
        "mia_li_3668",
        "zfa04y",
        "2024",
        "1234",
        "7:30",
        "$1250",
        "a@b.co",
        "128gb",
        "2–3",
        "—",
        "–",
        "café",
        "İstanbul",
        "٣٤٥٦",
        "½",
        "�",
        "frustrating",
        "ugh",
        "im",
        "dont",
        "let",
        "me",
        "try",
        "again",
        "check",
        "sure",
        "are",
        "doesn't",
        "sound",
        "right",
        "could",
        "explain",
        "said",
        "mean",
        "<tool_call>",
        "###STOP###",
        "don't",
        "have",
        "id",
        "number",
        "order",
        "flight",
        "been",
        "has",
        "already",
        "told",
        "kind",
        "sort",
        "guess",
        "maybe",
        "our",
        "policy",
        "about",
        "weather",
        "sorry",
        "huh",
    ]
)
TEXT = st.lists(WORDS | st.text(max_size=4), max_size=14).flatmap(
    lambda words: st.sampled_from([" ", "\n", "  "]).map(lambda gap: gap.join(words))
)
STAMPS = [
    *(datetime(2026, 8, 1, 10, tzinfo=UTC) + timedelta(seconds=s) for s in (0, 0.25, 7, 7, 3600)),
    datetime(2026, 8, 1, 10),
    datetime(2026, 8, 1, 10, 0, 12),
]
CONTENT = st.one_of(
    TEXT, TEXT, TEXT, st.none(), TEXT.map(lambda text: [{"type": "text", "text": text}, "and"])
)
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "user", "assistant", "system"]),
        "content": CONTENT,
        "tool_calls": st.sampled_from([None, None, [{"name": "f"}]]),
        "time": st.sampled_from([None, *STAMPS]),
    }
)
BLOCKS = st.lists(st.lists(MESSAGE, max_size=8), min_size=1, max_size=6)


def compare(conversations: list[list[dict[str, Any]]], block: int = 1024) -> None:
    sessions = [
        Session(
            session_id=str(i),
            turns=tuple(
                Turn(m["role"], m["content"], m.get("tool_calls"), time=m.get("time"))
                for m in messages
            ),
        )
        for i, messages in enumerate(conversations)
    ]
    table = extract_table(sessions, profile="robust", side="simulated", block=block)
    for found, messages in zip(table.frame.iter_rows(named=True), conversations, strict=True):
        expected = oracle_robust.features(messages)
        assert (found["status"] == "ok") == ("user_turns" in expected)
        assert {name: found[name] for name in expected} == expected


@settings(max_examples=250)
@given(BLOCKS, st.integers(1, 7))
def test_kernel_equals_oracle_on_generated_conversations(
    conversations: list[list[dict[str, Any]]], block: int
) -> None:
    compare(conversations, block)


def test_oracle_covers_every_column() -> None:
    found = set(oracle_robust.features([{"role": "user", "content": "hi"}]))
    table = extract_table([], profile="robust", side="human")
    from usi.extraction.content import CONTENT_COLUMNS
    from usi.extraction.robust.profile import PROFILE

    # Hashed words have laws of their own (tests/scoring/robust/test_sense.py).
    assert found == {*CORE_COUNTS, *PROFILE.columns} - set(CONTENT_COLUMNS)
    assert set(REPAIR_COLUMNS) <= found
    assert set(PROFILE.columns) <= set(table.frame.columns)


FILES = (
    "taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json",
    "taubench/retail_agent-gpt-4o-mini_user-gpt-4o-mini_115x1.json",
    "taubench/retail_agent-gpt-4o_user-gpt-4o_115x1.json",
    "taubench/retail_agent-qwen2.5-7b_user-qwen2.5-7b_115x1.json",
    "taubench/retail_broken_run.json",
    "tau2/airline_agent-claude-sonnet-4-5_user-gpt-4.1_50x1.json",
    "tau2/airline_agent-gpt-oss-120b_user-gpt-oss-120b_50x1.json",
    "tau2/airline_agent-toolorchestra_user-gpt-4.1_50x1_NOTASKID.json",
    "tau2/airline_user-grok-3-mini_4x4.json",
    "tau2/airline_user-grok-3_1task_x20trials.json",
    "tau2/airline_user-grok-3_4x4.json",
    "tau2/airline_user-grok-4_4x4.json",
    "tau2/telecom_agent-gpt-4o_user-gpt-4o_20x1.json",
)


@pytest.mark.parametrize("file", FILES)
def test_kernel_equals_oracle_on_real_files(file: str) -> None:
    sessions = list(open_sessions(shared(f"data/{file}")))
    compare(
        [
            [
                {
                    "role": turn.role,
                    "content": None if turn.content is MISSING else turn.content,
                    "tool_calls": turn.tool_calls,
                    "time": turn.time,
                }
                for turn in session.turns
            ]
            for session in sessions
        ]
    )
