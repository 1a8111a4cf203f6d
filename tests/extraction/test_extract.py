"""Rows of the session table: columns, status, and laws of streaming."""

from __future__ import annotations

import random

import polars as pl
import pytest
from extraction.talk import conversation, session
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.errors import UsageError
from usi.extraction import SessionTable, extract, extract_table, get_feature_profile, get_specs
from usi.extraction.spec import CORE_COUNTS, IDENTITY_SCHEMA
from usi.records import MISSING, Outcome, Session, SurveyAnswer, Turn

COUNTS = (
    "politeness short dash ack repeat id_confuse id_tokens uncertainty certainty pushback clarify "
    "info emotion accusation pivot"
)


def said(name: str, *texts: object, **fields: object) -> Session:
    turns = tuple(Turn(role="user", content=text) for text in texts)
    return Session(session_id=name, turns=turns, **fields)  # type: ignore[arg-type]


def row(*sessions: Session) -> dict[str, object]:
    return extract_table(sessions, profile="tau-usi", side="simulated").frame.to_dicts()[0]


def test_columns_in_their_order() -> None:
    frame = extract_table([said("a", "hi")], profile="tau-usi", side="human").frame
    assert frame.columns == [*IDENTITY_SCHEMA, *CORE_COUNTS, *COUNTS.split()]
    wanted = {**IDENTITY_SCHEMA, **CORE_COUNTS, **dict.fromkeys(COUNTS.split(), pl.Int64())}
    assert dict(frame.schema) == wanted


def test_counts_by_hand() -> None:
    found = row(
        said(
            "a",
            "Please cancel order #W123456 \u2014 thanks",  # the dash is a word of its own
            "ok!",
            "Actually can you tell me how much it is? I'm frustrated, that's wrong",
        )
    )
    assert found["n_turns"] == found["user_turns"] == 3
    # Words by split(): 6, 1 and 13.
    assert (found["words"], found["words_sq"]) == (20, 36 + 1 + 169)
    assert (found["words_first"], found["words_first_two"]) == (6, 7)
    wanted = {
        "politeness": 1,
        "short": 1,
        "dash": 1,
        "ack": 1,
        "repeat": 0,
        "id_confuse": 0,
        "id_tokens": 6,  # please, cancel, #w123456, thanks; none; actually, frustrated
        "uncertainty": 0,
        "certainty": 0,
        "pushback": 1,  # "that's wrong" wins over the question for information
        "clarify": 0,
        "info": 0,
        "emotion": 1,
        "accusation": 1,
        "pivot": 1,
    }
    assert {name: found[name] for name in wanted} == wanted


def test_identity_is_carried_as_found() -> None:
    found = row(
        said(
            "s-1",
            "hi",
            simulator="grok",
            domain="airline",
            task_id="7",
            trial="2",
            batch=3,
            layout="tau2",
            keep=0,
            participant="p",
            agent="g",
            outcome=Outcome(reward=0.5, label="partial", termination="stop"),
            survey=(SurveyAnswer("b", "Yes"), SurveyAnswer("a", None)),
            error_tags=("user_error", "hallucination_retry"),
        )
    )
    wanted = {
        "seq": 0,
        "session_id": "s-1",
        "side": "simulated",
        "simulator": "grok",
        "domain": "airline",
        "task_id": "7",
        "trial": "2",
        "batch_id": 3,
        "layout": "tau2",
        "task": None,
        "run": None,
        "batch": None,
        "participant": "p",
        "agent": "g",
        "status": "ok",
        "status_reason": None,
        "language": None,
        "word_lists": None,
        "keep": False,
        "keep_is_false": False,
        "reward": 0.5,
        "outcome_label": "partial",
        "termination": "stop",
        "survey": '{"a": null, "b": "Yes"}',
        "error_tags": "user_error,hallucination_retry",
    }
    assert {name: found[name] for name in IDENTITY_SCHEMA} == wanted


@pytest.mark.parametrize(
    ("keep", "truthy", "false"),
    [(MISSING, True, False), (True, True, False), (False, False, True), (None, False, False)],
)
def test_keep(keep: object, truthy: bool, false: bool) -> None:
    found = row(said("a", "hi", keep=keep))
    assert (found["keep"], found["keep_is_false"]) == (truthy, false)


def test_status_and_nulls() -> None:
    sessions = [
        said("ok", "hi"),
        said("empty"),
        Session(session_id="agent", turns=(Turn(role="assistant", content="hi"),)),
        said("stopped", "###STOP###"),
        said("failed", "hi", status="failed", status_reason="error"),
        said("broken", "hi", status="infrastructure_error", status_reason="timeout"),
    ]
    frame = extract_table(sessions, profile="tau-usi", side="simulated").frame
    assert frame["status"].to_list() == [
        "ok",
        "no_user_turn",
        "no_user_turn",
        "no_user_turn",
        "failed",
        "infrastructure_error",
    ]
    numbers = frame.select(*CORE_COUNTS, *COUNTS.split())
    assert numbers[0].null_count().row(0) == (0,) * numbers.width
    assert numbers[1:].null_count().row(0) == (5,) * numbers.width


def test_actions_are_no_messages() -> None:
    call = Turn(role="user", content=None, tool_calls=[{"name": "toggle"}])
    spoken = Turn(role="user", content="done", tool_calls=[{"name": "toggle"}])
    null = Turn(role="user", content=None)
    found = row(Session(session_id="a", turns=(call, spoken, null, call)))
    assert (found["n_turns"], found["user_turns"], found["words"]) == (2, 2, 2)
    assert row(Session(session_id="a", turns=(call,)))["status"] == "no_user_turn"


def test_sessions_are_not_changed() -> None:
    session_ = said("a", ["part"], "x")
    before = repr(session_)
    extract_table([session_], profile="tau-usi", side="human")
    assert repr(session_) == before


def test_nothing_gives_no_frame_and_an_empty_table() -> None:
    assert list(extract([], profile="tau-usi", side="human")) == []
    table = extract_table([], profile="tau-usi", side="human")
    assert len(table) == 0
    assert table.frame.columns == [*IDENTITY_SCHEMA, *CORE_COUNTS, *COUNTS.split()]
    assert table.values().height == 0
    assert table.to_dict() == []


def test_streams_without_reading_ahead() -> None:
    read = []

    def sessions() -> object:
        for name in "abcde":
            read.append(name)
            yield said(name, "hi")

    frames = extract(sessions(), profile="tau-usi", side="human", block=2)  # type: ignore[arg-type]
    assert read == []
    assert next(frames)["session_id"].to_list() == ["a", "b"]
    assert read == ["a", "b"]
    assert [frame.height for frame in frames] == [2, 1]


def test_long_sessions_end_a_block_early() -> None:
    sessions = [said(name, " " * (7 * 2**20)) for name in "abcd"]
    sessions[0] = said("a", None, " " * (7 * 2**20))
    heights = [frame.height for frame in extract(sessions, profile="tau-usi", side="human")]
    assert heights == [2, 2]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 17))
def test_blocks_and_order_change_no_row(seed: int, count: int, block: int) -> None:
    rng = random.Random(seed)
    sessions = [session(str(i), conversation(rng)) for i in range(count)]
    whole = extract_table(sessions, profile="tau-usi", side="human")
    blocks = extract_table(sessions, profile="tau-usi", side="human", block=block)
    assert blocks.frame.equals(whole.frame)
    parts = [
        extract_table(sessions[at : at + block], profile="tau-usi", side="human")
        for at in range(0, count, block)
    ]
    assert SessionTable.concat(parts).frame.equals(whole.frame)
    rng.shuffle(sessions)
    shuffled = extract_table(sessions, profile="tau-usi", side="human").frame.drop("seq")
    assert shuffled.sort("session_id").equals(whole.frame.drop("seq").sort("session_id"))


def test_bad_requests_say_what_is_known() -> None:
    with pytest.raises(UsageError, match="did you mean 'tau-usi'"):
        extract([], profile="tau-uis", side="human")
    with pytest.raises(UsageError, match="side is 'llm'"):
        extract([], profile="tau-usi", side="llm")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="source is 'llm'"):
        extract([], profile="tau-usi", side="human", source="llm")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="at least 1"):
        extract([], profile="tau-usi", side="human", block=0)
    with pytest.raises(UsageError, match="version 1 here, not 9"):
        get_feature_profile("tau-usi@9")


def test_specs_by_profile() -> None:
    specs = get_specs("tau-usi@1")
    assert [spec.dimension for spec in specs] == (
        ["conversation"] * 7 + ["information"] * 4 + ["clarification"] * 5 + ["reaction"] * 3
    )
    percent = {spec.name for spec in specs if not spec.percent}
    assert percent == {"verbosity_cv", "id_density", "user_words_per_turn", "opening_words"}


def test_a_lone_surrogate_in_a_name_is_shown_as_an_escape() -> None:
    assert row(said("a\ud800", "\ud800 ok"))["session_id"] == "a\\ud800"
