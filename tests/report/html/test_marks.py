"""Marks of turns are those that were counted; spans stand where the words are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.diagnose.evidence import merged
from usi.diagnose.marks import mark_sessions, spans
from usi.extraction.content import CONTENT_COLUMNS
from usi.extraction.extract import extract_table
from usi.extraction.profile import get_feature_profile
from usi.phantom import default_tasks, draw, load_spec, realise
from usi.records import Session, Turn

SIDES = ("human", "simulated")
WORDS = st.sampled_from(
    [
        *("sorry", "please", "thank you", "ok", "i think", "definitely", "where is it?", "", "<b>"),
        *("that's not right", "W6036845", "\u2014 so", "###STOP###", "i'll check your order"),
        *("never mind", "what do you mean?", "\u00dcn\u00efcode \u0130", "\x1b"),
    ]
)
TEXT = st.lists(WORDS, min_size=0, max_size=5).map(" ".join)
TALK = st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), TEXT), max_size=6)


def check(sessions: list[Session], name: str, side: str) -> int:
    """Sums of marks over turns against the session table; returns how many were compared."""
    profile = get_feature_profile(name)
    frame = extract_table(sessions, profile=name, side=side).frame  # type: ignore[arg-type]
    marked = mark_sessions(sessions, profile, side)  # type: ignore[arg-type]
    by_turn = {"words", *profile.columns} - {
        "repeat", "shortest", "trigrams", "trigrams_repeated", "trigram_flag", "id_confuse",
        *CONTENT_COLUMNS,
    }  # fmt: skip
    compared = 0
    for row, turns in zip(frame.iter_rows(named=True), marked, strict=True):
        assert len(turns) == (row["user_turns"] or 0)
        for column in by_turn:
            if column.startswith("rep_") or row[column] is None:
                continue
            assert sum(t.counts.get(column, 0) for t in turns) == row[column], column
            compared += 1
        if "id_confuse" in row and row["id_confuse"] is not None:
            assert any(t.counts.get("id_confuse") for t in turns) == bool(row["id_confuse"])
    return compared


@pytest.mark.parametrize("name", ["tau-usi", "robust"])
@pytest.mark.parametrize("side", SIDES)
def test_marks_add_up_to_the_session_table(name: str, side: str) -> None:
    plan = draw(load_spec("polite"), default_tasks(20), replicates=2, seed=3)
    sessions = list(realise(plan, side="simulated", simulator="s"))
    assert check(sessions, name, side) > 400


@settings(max_examples=60, deadline=None)
@given(st.lists(TALK, min_size=1, max_size=4), st.sampled_from(["tau-usi", "robust"]))
def test_marks_add_up_for_any_talk(talks: list[list[tuple[str, str]]], name: str) -> None:
    sessions = [
        Session(session_id=str(k), turns=tuple(Turn(role=r, content=t) for r, t in talk))
        for k, talk in enumerate(talks)
    ]
    for side in SIDES:
        check(sessions, name, side)


@pytest.mark.parametrize(
    ("column", "text", "found"),
    [
        ("politeness", "So sorry, the lamp, please", ["sorry", "please"]),
        ("dash", "well — no", ["—"]),
        ("identifiers", "it is W6036845 or a lamp", ["W6036845"]),
        ("short", "the red one", ["the red one"]),
    ],
)
def test_spans_are_the_words(column: str, text: str, found: list[str]) -> None:
    (ranges,) = spans([text], column, get_feature_profile("robust"))
    assert [text[a:b] for a, b in ranges] == found


def test_spans_survive_letters_that_grow_when_lowered() -> None:
    text = "İİ sorry"
    (ranges,) = spans([text], "politeness", get_feature_profile("robust"))
    assert ranges == ((0, len(text)),)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=8))
def test_merged_ranges_cover_the_same_characters(pairs: list[tuple[int, int]]) -> None:
    ranges = [(a, a + n) for a, n in pairs]
    out = merged(ranges)
    cover = np.zeros(60, dtype=bool)
    for a, b in ranges:
        cover[a:b] = True
    again = np.zeros(60, dtype=bool)
    for a, b in out:
        assert not again[a:b].any()
        again[a:b] = True
    assert (cover == again).all()
    assert list(out) == sorted(out)
