"""usi JSONL -> each format that can carry sessions -> usi JSONL loses only what the note says."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from datetime import UTC

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from usi.errors import InputError, UsageError
from usi.loading import TARGETS, LoadOptions, open_sessions, write_sessions
from usi.loading.formats.usi_jsonl import LABELS
from usi.records import MISSING, Outcome, Session, SurveyAnswer, Turn

# A cell of a table holds no lone surrogate, NUL is refused by some readers of CSV.
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
WORDS = st.text(CHARACTERS, min_size=1, max_size=12).filter(lambda text: text.strip())
TEXT = st.text(CHARACTERS, max_size=30) | st.sampled_from(
    ['He said "no", twice', "a,b;c\td", "two\nlines", "two\r\nlines", "=1+1", "###STOP###", " "]
)
IDS = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,9}", fullmatch=True)
PARTS = st.lists(TEXT.map(lambda text: {"type": "text", "text": text}), min_size=2, max_size=3)
CALLS = st.just([{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}])

SPEAKERS = "session: several named speakers under role user, all taken for the user"


STAMPS = st.datetimes(timezones=st.just(UTC))


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    role = draw(st.sampled_from(["user", "user", "assistant", "assistant", "system", "tool"]))
    content = draw(TEXT | TEXT | st.none() | st.just(MISSING) | PARTS)
    calls = draw(st.none() | CALLS) if role == "assistant" else None
    return Turn(role, content, calls, draw(st.none() | IDS), draw(st.none() | STAMPS))


@st.composite
def sessions(draw: st.DrawFn) -> list[Session]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        reward = draw(st.none() | st.floats(allow_nan=False, allow_infinity=False))
        survey = draw(
            st.none() | st.dictionaries(IDS, st.none() | WORDS, max_size=3).map(
                lambda table: tuple(SurveyAnswer(k, v) for k, v in table.items())
            )
        )  # fmt: skip
        found.append(
            Session(
                session_id=f"{draw(IDS)}-{number}",
                turns=tuple(draw(st.lists(turns(), max_size=5))),
                simulator=draw(IDS),
                domain=draw(IDS),
                task_id=draw(st.none() | IDS),
                trial=draw(st.none() | IDS),
                batch=draw(st.none() | st.integers(1, 9)),
                layout=draw(st.sampled_from(["usi-jsonl", "tau-usi", "tau2"])),
                keep=draw(st.sampled_from([MISSING, True, False])),
                outcome=Outcome(
                    reward, draw(st.none() | st.sampled_from(LABELS)), draw(st.none() | IDS)
                ),
                survey=survey,
                participant=draw(st.none() | IDS),
                agent=draw(st.none() | IDS),
                status=draw(st.sampled_from(["ok", "failed", "infrastructure_error"])),
                status_reason=draw(st.none() | WORDS),
                error_tags=draw(st.none() | st.lists(IDS, max_size=2, unique=True).map(tuple)),
                row=number + 1,
                meta=draw(st.dictionaries(IDS.map(lambda k: f"m_{k}"), WORDS, max_size=2)),
            )
        )
    return found


def there_and_back(given_, to, tmp_path):
    path = tmp_path / f"x{TARGETS[to].suffixes[0]}"
    written = write_sessions(given_, path, to=to)
    stream = open_sessions(path)
    return list(stream), written, stream.notes


def without_row(found):
    return [replace(session, row=0) for session in found]


def joined(content):
    """Parts become their text; counted by hand."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content)
    return content


@settings(max_examples=60, deadline=None)
@given(given_=sessions())
def test_usi_jsonl_loses_nothing(tmp_path_factory, given_):
    back, written, read = there_and_back(given_, "usi-jsonl", tmp_path_factory.mktemp("t"))
    assert without_row(back) == without_row(given_)
    assert written.losses == ()
    assert {loss.what for loss in read.losses} <= {SPEAKERS}


@settings(max_examples=80, deadline=None)
@given(given_=sessions(), to=st.sampled_from(["openai-chat", "sharegpt", "csv"]))
def test_other_formats_lose_what_the_note_says(tmp_path_factory, given_, to):
    back, written, read = there_and_back(given_, to, tmp_path_factory.mktemp("t"))
    dropped, merged = Counter[str](), Counter[str]()
    expected = []
    for session in given_:
        kept = []
        for turn in session.turns:
            if turn.role in ("system", "tool"):
                dropped["message: of another role than user and assistant"] += 1
                continue
            content, calls = joined(turn.content), turn.tool_calls
            if isinstance(turn.content, list):
                merged["message: text parts joined by a line end"] += 1
            if to != "openai-chat" and calls:
                dropped["field: tool calls"] += 1
                calls = None
            if to == "csv" and (content is None or content is MISSING):
                merged["message: null or missing content, written as an empty text"] += 1
                content = ""
            kept.append(replace(turn, content=content, tool_calls=calls))
        meta = session.meta
        if to == "csv" and meta:
            dropped["field: metadata of a session"] += 1
            meta = {}
        expected.append(replace(session, turns=tuple(kept), meta=meta, row=0))
    assert without_row(back) == expected
    assert written.left_out == dropped
    assert written.merged == merged
    assert {loss.what for loss in read.losses if loss.kind == "guessed"} <= {SPEAKERS}
    if to == "openai-chat":  # what the note promised is what reading again tells
        assert sum(read.left_out.values()) == sum(dropped.values())


def test_the_table_is_what_other_tools_read(tmp_path):
    session = Session(
        session_id="s",
        simulator="sim",
        domain="d",
        turns=(Turn("user", 'say "hi",\nplease'), Turn("assistant", "hi")),
        outcome=Outcome(reward=0.5),
        error_tags=(),
    )
    path = tmp_path / "x.csv"
    write_sessions([session], path, to="csv")
    rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))
    assert [row["text"] for row in rows] == ['say "hi",\nplease', "hi"]
    assert {row["reward"] for row in rows} == {"0.5"}
    assert {row["error_tags"] for row in rows} == {"none"}
    (back,) = open_sessions(path)
    assert (back.error_tags, back.outcome.reward, back.domain) == ((), 0.5, "d")


def test_a_session_in_which_nothing_was_said_keeps_its_row(tmp_path):
    quiet = Session(session_id="q", simulator="s", domain="d", outcome=Outcome(reward=0.0))
    back, _, _ = there_and_back([quiet], "csv", tmp_path)
    assert [s.turns for s in back] == [()]


def test_compressed_files_and_streams(tmp_path):
    session = Session(session_id="s", turns=(Turn("user", "hï"),))
    write_sessions([session], tmp_path / "x.jsonl.gz", to="sharegpt")
    line = json.loads(gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()))
    assert line["conversations"] == [{"from": "human", "value": "hï"}]
    text, data = io.StringIO(), io.BytesIO()
    for stream in (text, data):
        write_sessions([session], stream, to="openai-chat")
    assert text.getvalue().encode() == data.getvalue()
    assert json.loads(text.getvalue())["messages"] == [{"role": "user", "content": "hï"}]


def test_unknown_targets_and_places(tmp_path):
    with pytest.raises(UsageError, match="did you mean 'sharegpt'"):
        write_sessions([], tmp_path / "x", to="sharegtp")
    with pytest.raises(InputError, match="can't be written"):
        write_sessions([], tmp_path / "absent" / "x.csv", to="csv")


def test_a_lone_surrogate_survives_json(tmp_path):
    session = Session(session_id="s", simulator="m", domain="d", turns=(Turn("user", "\ud800"),))
    for to in ("openai-chat", "sharegpt"):
        back, _, _ = there_and_back([session], to, tmp_path)
        assert back[0].turns[0].content == "\ud800"
    assert LoadOptions().map == {}


@pytest.mark.parametrize("to", ["csv", "sharegpt"])
def test_actions_do_not_become_empty_utterances(tmp_path, to):
    calls = [{"id": "u", "name": "toggle", "arguments": {}}]
    talk = (Turn("user", "hi"), Turn("user", None, calls), Turn("user", "done", calls))
    session = Session(session_id="s", simulator="m", domain="d", turns=talk)
    (back,), written, _ = there_and_back([session], to, tmp_path)
    assert [turn.content for turn in back.turns] == ["hi", "done"]
    assert written.left_out == {
        "message: action of the user (tool calls without words)": 1,
        "field: tool calls": 1,
    }
