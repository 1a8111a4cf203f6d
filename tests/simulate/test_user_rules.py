"""What a user sees, and how its replies are cleaned and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usi.simulate.user import STOP, Defects, ask, clean_reply, strip_reasoning, visible


class Says:
    """A user that gives these contents in turn."""

    def __init__(self, *contents: Any) -> None:
        self.contents = list(contents)
        self.asked = 0

    def reply(self, history: Sequence[Any]) -> Any:
        self.asked += 1
        return {"role": "user", "content": self.contents.pop(0) if self.contents else ""}


def test_the_user_sees_neither_tools_nor_system() -> None:
    seen = visible(
        [
            {"role": "system", "content": "RULEBOOK"},
            {"role": "assistant", "content": "Hello"},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "let me look", "tool_calls": [{"id": "1"}]},
            {"role": "tool", "content": "SECRET ROW"},
            {"role": "assistant", "content": "Done."},
        ]
    )
    assert seen == [
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Done."},
    ]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<think>hm</think>Hi", "Hi"),
        ("<THINK>\nhm\n</THINK>\n\nHi", "Hi"),
        ("<|think|>hm<|/think|>Hi", "Hi"),
        ("<reasoning>a</reasoning>Hi<think>b</think> there", "Hi there"),
        ("he wants x</think>Hi", "Hi"),
        ("Hi <think>and then", "Hi"),
        ("<think>never ends", ""),
        ("2 < 3 and <b>bold</b>", "2 < 3 and <b>bold</b>"),
    ],
)
def test_reasoning_is_stripped(raw: str, text: str) -> None:
    assert strip_reasoning(raw) == text
    defects = Defects()
    assert clean_reply(raw, defects).text == text
    assert defects.counts["reasoning_stripped"] == (1 if text != raw else 0)


@pytest.mark.parametrize(
    ("raw", "text", "defect"),
    [
        ("User: I need help", "I need help", "label_stripped"),
        ("**Customer**: I need help", "I need help", "label_stripped"),
        ("I need help\nAgent: Sure, what?", "I need help", "agent_turn_cut"),
        ("Assistant: How can I help?", "", "agent_turn_cut"),
        ("Here it is<|im_end|>\n<|im_start|>assistant", "Here it is", "template_mark_cut"),
        ("ok<end_of_turn>", "ok", "template_mark_cut"),
        ([{"type": "text"}], "", "no_text"),
    ],
)
def test_role_slips_are_mended_and_counted(raw: Any, text: str, defect: str) -> None:
    defects = Defects()
    assert clean_reply(raw, defects).text == text
    assert defects.counts == {defect: 1}


def test_a_clean_reply_is_kept_and_counts_nothing() -> None:
    defects = Defects()
    text = "The agent: he was nice? My agents: 2."
    assert clean_reply(text, defects).text == text
    assert defects.counts == {}


@pytest.mark.parametrize("token", [STOP, "###TRANSFER###", "###OUT-OF-SCOPE###"])
def test_a_stop_token_ends_the_talk_and_last_words_stay(token: str) -> None:
    assert ask(Says(f"Thanks, bye! {token}"), [], Defects()).text == "Thanks, bye!"
    said = ask(Says(token), [], Defects())
    assert (said.text, said.end) == ("", "user_stop")


def test_an_empty_reply_is_asked_for_again() -> None:
    user, defects = Says("", "  ", "hello"), Defects()
    assert ask(user, [], defects).text == "hello"
    assert defects.counts == {"empty_reply": 2}


def test_empty_replies_end_the_talk() -> None:
    user, defects = Says("", None, "<think>x"), Defects()
    said = ask(user, [], defects)
    assert (said.text, said.end) == ("", "empty_user_reply")
    assert defects.counts == {"empty_reply": 3, "reasoning_stripped": 1}
    assert user.asked == 3


def test_a_confused_user_is_asked_again_then_kept() -> None:
    user, defects = Says("How can I help you today?", "My mouse is broken"), Defects()
    assert ask(user, [], defects).text == "My mouse is broken"
    assert defects.counts == {"role_confusion": 1}
    stubborn, defects = Says(*["How may I assist you?"] * 3), Defects()
    said = ask(stubborn, [], defects)
    assert (said.text, said.end) == ("How may I assist you?", None)
    assert defects.counts == {"role_confusion": 3}


def test_a_message_in_another_role_is_counted() -> None:
    class Wrong:
        def reply(self, history: Sequence[Any]) -> Any:
            return {"role": "assistant", "content": "hi"}

    defects = Defects()
    assert ask(Wrong(), [], defects).text == "hi"
    assert defects.counts == {"wrong_role": 1}


@given(st.text(max_size=300))
def test_cleaning_never_leaves_marks(text: str) -> None:
    cleaned = clean_reply(text, Defects())
    again = clean_reply(cleaned.text, Defects())
    assert STOP not in cleaned.text
    assert "<think>" not in cleaned.text.lower()
    assert cleaned.text == cleaned.text.strip()
    assert len(again.text) <= len(cleaned.text) <= len(text)
