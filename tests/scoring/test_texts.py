"""Texts that wait in a temporary file come back as they were."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usi.records import MISSING, Session, Turn
from usi.scoring.texts import TextStore

ODD = (
    Session(session_id="empty"),
    Session(session_id="failed", status="failed", turns=(Turn("user", "hi"),)),
    Session(session_id="\ud800", turns=(Turn("user", "lone \udfff surrogate"),)),
    Session(session_id="n", turns=(Turn("user", MISSING), Turn(None, None), Turn(3, 10**30))),
    Session(
        session_id="parts",
        turns=(
            Turn("user", [{"type": "text", "text": "a"}, {"n": 1.5}], time=datetime(2026, 1, 1)),
            Turn("assistant", "b", [{"id": "1"}], "bot", datetime(2026, 1, 1, tzinfo=UTC)),
        ),
    ),
)


def test_odd_sessions_come_back_in_any_order():
    store = TextStore()
    for session in ODD:
        store.add(session)
    assert len(store) == len(ODD)
    for place in (4, 0, 3, 1, 2, 2):
        assert store.get(place) == ODD[place]


@given(st.lists(st.text(alphabet=st.characters(), max_size=200), max_size=20))
def test_any_text_comes_back(texts):
    store = TextStore()
    for text in texts:
        store.add(Session(session_id="s", turns=(Turn("user", text),)))
    assert [store.get(k).turns[0].content for k in range(len(texts))] == texts


def test_only_what_a_reader_sees_is_kept():
    store = TextStore()
    store.add(Session(session_id="s", participant="p7", meta={"mail": "someone@example.org"}))
    kept = store.get(0)
    assert (kept.participant, kept.meta) == (None, {})


@pytest.mark.parametrize("place", [-1, 1])
def test_a_place_without_session_is_refused(place):
    store = TextStore()
    store.add(ODD[0])
    with pytest.raises(IndexError, match="1 sessions are kept"):
        store.get(place)
