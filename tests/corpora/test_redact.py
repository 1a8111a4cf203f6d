"""Redaction: what is replaced, laws that hold for any text, and what the features read."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.corpora.redact import MARKER, Redactor, joined, name_finder
from usi.extraction.extract import extract_table
from usi.records import Session, Turn

NAMES = ["Anna", "Mia Li", "O'Brien"]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("mail mia@li.org now", "mail [EMAIL] now"),
        ("card 4111 1111 1111 1111", "card [CARD]"),
        ("call (555) 123-4567 or +49 30 123456", "call [PHONE] or [PHONE]"),
        ("order #W2611340, id mia_li_3668", "order [ID], id [ID]"),
        ("Mia Li's mother anna", "[NAME] mother [NAME]"),
        ("anna@x.org", "[EMAIL]"),  # a name inside an address
        ("on 2026-05-16 at 10:30 am, 128gb, 100th, $1,200.50", None),
        ("[EMAIL] and [ID]", None),
    ],
)
def test_examples(text: str, want: str | None) -> None:
    assert Redactor([name_finder(NAMES)]).text(text) == (text if want is None else want)


PIECES = st.sampled_from(
    ["Anna", "a@b.de", "12345", "#W1", "[ID]", " ", "-", "@", ".", "mia", "Li", "4111111111111111"]
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=12).map("".join)))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    redactor = Redactor([name_finder(NAMES)])
    once = redactor.text(text)
    assert len(MARKER.findall(once)) >= len(MARKER.findall(text))
    assert redactor.counts.total() == len(MARKER.findall(once)) - len(MARKER.findall(text))
    assert Redactor([name_finder(NAMES)]).text(once).count("@") <= once.count("@")


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9), st.sampled_from(["ID", "NAME"]))))
def test_joined_spans_are_apart_and_cover_all(raw: list[tuple[int, int, str]]) -> None:
    spans = [(start, start + size, kind) for start, size, kind in raw]
    found = joined(spans)
    assert all(a[1] <= b[0] for a, b in pairwise(found))
    covered = {i for start, end, _ in found for i in range(start, end)}
    assert covered == {i for start, end, _ in spans for i in range(start, end)}


@pytest.mark.parametrize("text", ["a@" * 50_000, "1-" * 50_000, "anna " * 20_000, "[ID]" * 30_000])
def test_time_is_linear(text: str) -> None:
    start = time.perf_counter()
    Redactor([name_finder(NAMES)]).text(text)
    assert time.perf_counter() - start < 5


def test_tool_calls_survey_and_fields_are_redacted_and_json_stays_json() -> None:
    import json

    call = [{"function": {"name": "f", "arguments": '{"zip": 94105, "mail": "a@b.de"}'}}]
    session = Session(
        session_id="keep_me_1",
        turns=(Turn("assistant", None, call), Turn("user", [{"type": "text", "text": "a@b.de"}])),
        meta={"phone": "+1 555 123 4567", "n": 3},
    )
    redactor = Redactor()
    done = redactor.session(session)
    arguments = json.loads(done.turns[0].tool_calls[0]["function"]["arguments"])
    assert arguments == {"zip": "[ID]", "mail": "[EMAIL]"}
    assert done.turns[1].content == [{"type": "text", "text": "[EMAIL]"}]
    assert done.meta == {"phone": "[PHONE]", "n": 3}
    assert done.session_id == "keep_me_1"
    assert redactor.sessions == 1


def test_a_marker_is_one_word_that_no_list_reads() -> None:
    texts = ("please provide your [EMAIL]", "thanks [NAME]", "[ID]")
    session = Session(session_id="a", turns=tuple(Turn("user", text) for text in texts))
    row = extract_table([session], profile="robust", side="human").frame.row(0, named=True)
    assert row["words"] == 4 + 2 + 1
    assert row["user_turns"] == 3
    assert row["role_confusion"] == 0  # "provide your email" would be
    assert row["identifiers"] == 0


def test_times_begin_at_the_same_moment_and_keep_their_distances() -> None:
    start = datetime(2026, 8, 1, 12, tzinfo=UTC)
    at = (start, None, start + timedelta(seconds=7), start + timedelta(days=1))
    turns = tuple(
        Turn(("assistant", "user")[k % 2], f"text {k}", time=when) for k, when in enumerate(at)
    )
    redactor = Redactor()
    found = redactor.session(Session(session_id="a", turns=turns))
    first = datetime(2000, 1, 1, tzinfo=UTC)
    expected = [first, None, first + timedelta(seconds=7), first + timedelta(days=1)]
    assert [turn.time for turn in found.turns] == expected
    assert redactor.session(found) == found
    assert redactor.sessions == 0  # nothing was replaced
    bare = tuple(
        Turn(t.role, t.content, time=t.time and t.time.replace(tzinfo=None)) for t in turns
    )
    assert redactor.session(Session(session_id="a", turns=bare)).turns == found.turns


def test_times_that_can_not_be_moved_are_left_out() -> None:
    ends = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
    mixed = datetime(2026, 8, 1, tzinfo=UTC), datetime(2026, 8, 1)
    for pair in (ends, mixed):
        turns = tuple(Turn("user", "hi", time=when) for when in pair)
        found = Redactor().session(Session(session_id="a", turns=turns))
        assert [turn.time for turn in found.turns] == [None, None]
