"""Time stamps of messages: what is a moment, and where each format has it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pandas as pd
import polars as pl
import pytest
from helpers import shared
from hypothesis import given
from hypothesis import strategies as st

from usi.errors import InputError
from usi.loading import LoadOptions, open_sessions
from usi.loading.stream import open_data
from usi.loading.times import MIXED, UNREADABLE, moment
from usi.loading.write import write_sessions
from usi.records import Session, Turn

NOON = datetime(2026, 8, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=7)
EPOCH = 1_785_585_600  # NOON in seconds since 1970


def read(path: Any, **options: Any) -> tuple[list[Session], Any]:
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def times(session: Session) -> list[datetime | None]:
    return [turn.time for turn in session.turns]


def talk(*stamps: Any, key: str = "time") -> list[dict[str, Any]]:
    """Messages of agent and user in turn, with these stamps; ``...``: without the key."""
    said = [
        {"role": ("assistant", "user")[i % 2], "content": f"message {i}"}
        for i in range(len(stamps))
    ]
    return [
        message if stamp is ... else {**message, key: stamp}
        for message, stamp in zip(said, stamps, strict=True)
    ]


# --- moments --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "2026-08-01T12:00:00Z",
        "2026-08-01T12:00:00+00:00",
        "2026-08-01T14:00:00+02:00",
        "2026-08-01 12:00:00 UTC",
        " 2026-08-01T12:00:00.000000000Z ",
        EPOCH,
        float(EPOCH),
        str(EPOCH),
        f"{EPOCH}.0",
        EPOCH * 1000,
        EPOCH * 10**6,
        EPOCH * 10**9,
        str(EPOCH * 10**9),
        NOON,
        NOON.astimezone(timezone(timedelta(hours=5))),
        pd.Timestamp(NOON),
    ],
)
def test_spellings_of_one_moment(value: Any) -> None:
    found = moment(value)
    assert found == NOON
    assert type(found) is datetime
    assert found.tzinfo is UTC


def test_fractions_of_a_second_are_kept() -> None:
    half = NOON + timedelta(milliseconds=500)
    assert [moment(v) for v in (EPOCH + 0.5, EPOCH * 1000 + 500, f"{EPOCH}.5")] == [half] * 3
    assert moment(EPOCH * 10**9 + 1_234_567_890) == NOON + timedelta(microseconds=1_234_567)


def test_a_time_without_a_zone_stays_without_one() -> None:
    assert moment("2025-10-13T11:33:41.267525") == datetime(2025, 10, 13, 11, 33, 41, 267525)
    assert moment(pd.Timestamp("2025-10-13 11:33")) == datetime(2025, 10, 13, 11, 33)


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, "", "soon", "12:30", "2026-08-01", "20260801", "2026-13-01T00:00:00",
        "2026-08-01T25:00:00", 0, 1, 17.5, -EPOCH, 4_102_444_800, 10**11 - 1, 10**30, 10**400,
        -(10**400), float("nan"), float("inf"), float("-inf"), "9" * 400, "1" * 10**6, "NaN",
        "-1785585600", "1e9", [EPOCH], {"seconds": EPOCH}, b"2026-08-01T12:00:00Z", pd.NaT,
        "9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00", "\u0661\u0662" * 5,
        "2026-08-01T12:00:00 Mars", "%s%n{0}",
    ],
)  # fmt: skip
def test_what_is_no_moment(value: Any) -> None:
    assert moment(value) is None


def test_the_last_year_is_a_moment() -> None:
    assert moment("9999-12-31T23:59:59") == datetime(9999, 12, 31, 23, 59, 59)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes()
    | st.datetimes(timezones=st.timezones()),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=3,
)  # fmt: skip


@given(ANYTHING)
def test_nothing_breaks_the_reader(value: Any) -> None:
    found = moment(value)
    assert found is None or found.tzinfo in (None, UTC)


# --- usi JSONL ------------------------------------------------------------------------------


def test_usi_jsonl_has_the_time_of_a_message(write: Any) -> None:
    line = {"id": "a", "messages": talk("2026-08-01T14:00:00+02:00", "2026-08-01T12:00:07Z", ...)}
    [session], notes = read(write("x.jsonl", [line], lines=True))
    assert times(session) == [NOON, LATER, None]
    assert not notes.losses


def test_usi_jsonl_without_zones(write: Any) -> None:
    line = {"id": "a", "messages": talk("2026-08-01T12:00:00", None, "2026-08-01T12:00:07.5")}
    [session], _ = read(write("x.jsonl", [line], lines=True))
    naive = datetime(2026, 8, 1, 12)
    assert times(session) == [naive, None, naive + timedelta(seconds=7.5)]


@pytest.mark.parametrize(
    ("stamp", "message"),
    [
        (EPOCH, "not a number"),
        (True, "not true or false"),
        ({"at": 1}, "not an object"),
        ("soon", "not 'soon'"),
        ("2026-08-01", "not '2026-08-01'"),
        (str(EPOCH), f"not '{EPOCH}'"),
        ("9999-12-31T23:59:59-05:00", "must be a time"),
        ("", "must be a time"),
    ],
)
def test_usi_jsonl_refuses_what_is_no_time(write: Any, stamp: Any, message: str) -> None:
    lines = [{"id": "a", "messages": talk(...)}, {"id": "b", "messages": talk(..., stamp)}]
    with pytest.raises(InputError, match=message) as caught:
        read(write("x.jsonl", lines, lines=True))
    problem = caught.value
    assert (problem.row, problem.field) == (2, "messages[1].time")


def test_usi_jsonl_refuses_zones_in_half_of_a_session(write: Any) -> None:
    line = {"id": "a", "messages": talk("2026-08-01T12:00:00Z", "2026-08-01T12:00:07")}
    with pytest.raises(InputError, match="some name a time zone and some do not") as caught:
        read(write("x.jsonl", [line], lines=True))
    assert caught.value.row == 1
    # In two sessions they stand apart.
    lines = [{"id": n, "messages": talk(s)} for n, s in (("a", "2026-08-01T12:00:00Z"),
                                                         ("b", "2026-08-01T12:00:00"))]  # fmt: skip
    found, _ = read(write("y.jsonl", lines, lines=True))
    assert [times(session)[0].tzinfo for session in found] == [UTC, None]


def test_other_names_of_the_time_are_read_leniently(write: Any) -> None:
    lines = [
        {"id": "a", "messages": talk(EPOCH, "nonsense", EPOCH + 7, key="timestamp")},
        {"id": "b", "messages": talk("2026-08-01T12:00:00Z", True, key="created_at")},
        {"id": "c", "messages": talk("2026-08-01T12:00:00Z", "2026-08-01T12:00:07",
                                     key="timestamp")},
    ]  # fmt: skip
    (a, b, c), notes = read(write("x.jsonl", lines, lines=True))
    assert times(a) == [NOON, None, LATER]
    assert times(b) == [NOON, None]
    assert times(c) == [None, None]
    assert notes.left_out == {UNREADABLE: 2, MIXED: 1}


SESSIONS = st.lists(
    st.none() | st.datetimes(timezones=st.just(UTC), min_value=datetime(1900, 1, 1)),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize("to", ["usi-jsonl", "openai-chat", "sharegpt", "csv"])
def test_every_written_format_keeps_the_times(tmp_path: Any, to: str) -> None:
    stamps = [NOON, LATER, None, LATER + timedelta(microseconds=1)]
    turns = tuple(
        Turn(("assistant", "user")[i % 2], f"message {i}", time=at) for i, at in enumerate(stamps)
    )
    naive = tuple(
        Turn(t.role, t.content, time=t.time and t.time.replace(tzinfo=None)) for t in turns
    )
    sessions = [Session(session_id="a", turns=turns), Session(session_id="b", turns=naive)]
    path = tmp_path / ("x.csv" if to == "csv" else "x.jsonl")
    notes = write_sessions(sessions, path, to=to)
    found, _ = read(path, format={"csv": "table"}.get(to, to))
    assert [s.turns for s in found] == [turns, naive]
    assert not notes.losses


@given(SESSIONS)
def test_usi_jsonl_gives_written_times_again(tmp_path_factory: Any, stamps: Any) -> None:
    turns = tuple(Turn("user", "hi", time=stamp) for stamp in stamps)
    path = tmp_path_factory.mktemp("t") / "x.jsonl"
    write_sessions([Session(session_id="a", turns=turns)], path)
    [found], _ = read(path)
    assert found.turns == turns


# --- other formats --------------------------------------------------------------------------


def test_tau2(write: Any) -> None:
    messages = talk(
        "2026-08-01T12:00:00.5", "2026-08-01T12:00:07.5", None, "later", key="timestamp"
    )
    file = {
        "info": {}, "tasks": [],
        "simulations": [{"id": "s", "task_id": "1", "trial": 0, "messages": messages}],
    }  # fmt: skip
    [session], notes = read(write("x.json", file))
    first = datetime(2026, 8, 1, 12, 0, 0, 500_000)
    assert times(session) == [first, first + timedelta(seconds=7), None, None]
    assert notes.left_out == {UNREADABLE: 1}


def test_odyssim_and_tau_usi(write: Any) -> None:
    said = talk(EPOCH, EPOCH + 7, key="timestamp")
    file = {"benchmark": "b", "results": [{"instance_id": "airline_1", "conversation": said}]}
    [session], _ = read(write("x_task_results.json", file))
    assert times(session) == [NOON, LATER]
    [session], notes = read(write("y.json", {"airline_1": {"conversation": said, "keep": True}}))
    assert notes.layout == "tau-usi"
    assert times(session) == [NOON, LATER]


def test_sharegpt_and_wildchat(write: Any) -> None:
    said = [
        {"from": "gpt", "value": "hi", "timestamp": "2026-08-01T12:00:00Z"},
        {"from": "human", "value": "hello", "timestamp": "2026-08-01T12:00:07Z"},
    ]
    [session], _ = read(write("x.json", [{"id": "x", "conversations": said}]))
    assert times(session) == [NOON, LATER]
    row = {
        "conversation_hash": "h", "model": "m", "turn": 1, "redacted": False,
        "conversation": talk("2026-08-01T12:00:00+00:00", None, key="timestamp"),
    }  # fmt: skip
    [session], notes = read(write("w.jsonl", [row], lines=True))
    assert notes.layout == "wildchat"
    assert times(session) == [NOON, None]


def test_openai_chat_and_inspect(write: Any) -> None:
    messages = talk("2026-08-01T12:00:00Z", "2026-08-01T12:00:07Z", key="created_at")
    [session], notes = read(write("x.jsonl", [{"messages": messages, "tools": []}], lines=True))
    assert notes.layout == "openai-chat"
    assert times(session) == [NOON, LATER]
    log = {
        "version": 2, "status": "success", "eval": {"task": "t", "model": "m"},
        "samples": [{"id": "1", "epoch": 1, "messages": talk(EPOCH, EPOCH + 7, key="timestamp")}],
    }  # fmt: skip
    [session], notes = read(write("l.json", log))
    assert notes.layout == "inspect"
    assert times(session) == [NOON, LATER]


def test_star(write: Any) -> None:
    events = [
        {"Agent": "User", "Action": "utter", "Text": "hi", "UnixTime": EPOCH},
        {"Agent": "Wizard", "Action": "query", "APIName": "hotel", "UnixTime": EPOCH + 2},
        {"Agent": "Wizard", "Action": "utter", "Text": "hello", "UnixTime": EPOCH + 7},
        {"Agent": "User", "Action": "utter", "Text": "bye", "UnixTime": "yesterday"},
    ]
    dialogue = {
        "FORMAT-VERSION": 7, "DialogueID": 2, "CompletionLevel": "Complete",
        "Scenario": {"WizardCapabilities": [{"Task": "t", "Domain": "d"}]}, "Events": events,
    }  # fmt: skip
    [session], notes = read(write("2.json", dialogue))
    assert times(session) == [NOON, NOON + timedelta(seconds=2), LATER, None]
    assert notes.left_out[UNREADABLE] == 1


def span(start: int, end: int, given: list[Any], answered: list[Any]) -> dict[str, Any]:
    def part(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "parts": [{"type": "text", "content": text}]}

    return {
        "trace_id": "t", "startTimeUnixNano": str((EPOCH + start) * 10**9),
        "endTimeUnixNano": str((EPOCH + end) * 10**9),
        "attributes": {
            "gen_ai.input.messages": json.dumps([part(*m) for m in given]),
            "gen_ai.output.messages": json.dumps([part(*m) for m in answered]),
        },
    }  # fmt: skip


def test_a_call_begins_when_the_user_has_spoken_and_ends_with_the_answer(write: Any) -> None:
    said = [("user", "hi"), ("assistant", "hello"), ("user", "a lamp"), ("assistant", "sure")]
    spans = [span(0, 2, said[:1], said[1:2]), span(9, 11, said[:3], said[3:])]
    [session], _ = read(write("x.jsonl", spans, lines=True))
    expected = [NOON + timedelta(seconds=s) for s in (0, 2, 9, 11)]
    assert times(session) == expected
    # Of a history that was never seen in a call of its own, only the last message has a time.
    [session], _ = read(write("y.jsonl", spans[1:], lines=True))
    assert times(session) == [None, None, *expected[2:]]


def test_tables(write: Any) -> None:
    rows = [
        {"session_id": "a", "role": "agent", "text": "hi", "created_at": "2026-08-01 12:00:00+00"},
        {"session_id": "a", "role": "user", "text": "lamp", "created_at": "2026-08-01 14:00:07+02"},
        {"session_id": "b", "role": "user", "text": "x", "created_at": ""},
        {"session_id": "b", "role": "agent", "text": "y", "created_at": "-"},
    ]
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows)):
        stream = open_data(frame, LoadOptions())
        a, b = stream
        assert times(a) == [NOON, LATER]
        assert times(b) == [None, None]
        assert stream.notes.left_out[UNREADABLE] == 1
    (a, b), _ = read(write("x.csv", pd.DataFrame(rows).to_csv(index=False)))
    assert (times(a), times(b)) == ([NOON, LATER], [None, None])


def test_rows_stand_in_the_order_of_their_moments(write: Any) -> None:
    # As text 12:00:07+02 comes after 11:00:00+00, as a moment before it.
    rows = "session_id,role,text,timestamp\n" + "".join(
        f"a,user,{text},2026-08-01T{at}\n"
        for text, at in (("second", "11:00:00+00:00"), ("first", "12:00:07+02:00"))
    )
    [session], notes = read(write("x.csv", rows))
    assert [turn.content for turn in session.turns] == ["first", "second"]
    assert notes.guessed["session: rows were put in the order of their column"] == 1


def test_columns_of_numbers_and_of_datetimes(tmp_path: Any) -> None:
    frame = pl.DataFrame(
        {
            "session_id": ["a", "a"], "role": ["agent", "user"], "text": ["hi", "lamp"],
            "turn": [0, 1], "timestamp": [NOON, LATER], "sent_at": [1, 2],
        }
    )  # fmt: skip
    frame.write_parquet(tmp_path / "x.parquet")
    [session], _ = read(tmp_path / "x.parquet")
    assert times(session) == [NOON, LATER]
    [session], _ = read(tmp_path / "x.parquet", map={"time": "sent_at"})
    assert times(session) == [None, None]  # 1 and 2 are counters, no moments
    frame.drop("turn", "sent_at").write_parquet(tmp_path / "y.parquet")
    [session], _ = read(tmp_path / "y.parquet", map={"order": "timestamp"})
    assert times(session) == [NOON, LATER]


def test_real_stamps() -> None:
    [first, *_], notes = read(shared("data/tau2/airline_user-grok-3_4x4.json"))
    assert first.turns[0].time == datetime(2025, 10, 13, 11, 40, 19, 755078)
    assert UNREADABLE not in notes.left_out
