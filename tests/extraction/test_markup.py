"""The scanner finds what the published lazy expression finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.extraction.published import strip_markup

LAZY = re.compile(
    r"<\|think\|>.*?<\|/think\|>|<function=.*?(?:</function>|$)|<\|tool\|>.*?<\|/tool\|>",
    re.DOTALL,
)
TAGS = ["<|think|>", "<|/think|>", "<|tool|>", "<|/tool|>", "<function=", "</function>"]


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("", ""),
        ("plain < text |>", "plain < text |>"),
        ("a<|think|>b\nc<|/think|>d", "ad"),
        ("a<|think|>b", "a<|think|>b"),
        ("a<|tool|>b", "a<|tool|>b"),
        ("a<function=b", "a"),
        ("a<function=b\n", "a\n"),
        ("a<function=b\n\n", "a\n"),
        ("a<function=b</function>\nc", "a\nc"),
        ("<|think|><function=x<|/think|></function>y", "</function>y"),
        ("<function=<|think|></function>y<|/think|>", "y<|/think|>"),
        ("<|think|>a<|tool|>b<|/tool|>c", "<|think|>ac"),
        ("<|/think|><|think|>a", "<|/think|><|think|>a"),
        ("<|think|>a<|think|>b<|/think|>c<|/think|>", "c<|/think|>"),
    ],
)
def test_by_hand(text: str, stripped: str) -> None:
    assert strip_markup(text) == stripped


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([*TAGS, "a", "\n", "<", "|>", " "]), max_size=14).map("".join))
def test_as_the_lazy_expression(text: str) -> None:
    assert strip_markup(text) == LAZY.sub("", text)
