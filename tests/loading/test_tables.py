"""CSV, Parquet and frames: one message a row, columns by name or by map."""

from __future__ import annotations

import io

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import usi
from usi.errors import InputError, InputErrors, UsageError
from usi.loading import LoadOptions, open_sessions
from usi.options import parse_map

MAP = {"session": "conv", "role": "who", "text": "said", "reward": "ok", "task": "job"}
ROWS = [
    {"conv": "a", "who": "customer", "said": "hi, there", "ok": 1, "job": "t1"},
    {"conv": "b", "who": "customer", "said": "b1", "ok": 0, "job": "t2"},
    {"conv": "a", "who": "agent", "said": 'say "please"', "ok": 1, "job": "t1"},
    {"conv": "a", "who": "customer", "said": "two\nlines", "ok": 1, "job": "t1"},
]
EXPECTED = {
    "a": [("user", "hi, there"), ("assistant", 'say "please"'), ("user", "two\nlines")],
    "b": [("user", "b1")],
}


def read(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def by_id(found):
    return {s.session_id: [(t.role, t.content) for t in s.turns] for s in found}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv_with_a_map(write, separator):
    data = pd.DataFrame(ROWS).to_csv(index=False, sep=separator).encode()
    found, notes = read(write("x.csv", data), map=MAP)
    assert by_id(found) == EXPECTED
    assert [(s.task_id, s.outcome.reward) for s in found] == [("t1", 1.0), ("t2", 0.0)]
    assert notes.layout == "table"
    assert not notes.losses


def test_usual_names_are_guessed_and_told(write):
    frame = pd.DataFrame(ROWS).rename(
        columns={"conv": "Conversation ID", "who": "Speaker", "said": "utterance"}
    )
    found, notes = read(write("x.csv", frame.to_csv().encode()))
    assert by_id(found) == EXPECTED
    assert notes.guessed == {
        "field: column 'Conversation ID' taken for session": 1,
        "field: column 'Speaker' taken for role": 1,
        "field: column 'utterance' taken for text": 1,
    }
    assert notes.left_out == {"field: column without a meaning here": 3}


def test_parquet_and_frames_are_read_alike(tmp_path):
    path = tmp_path / "people.parquet"
    pd.DataFrame(ROWS).to_parquet(path)
    found, _ = read(path, map=MAP)
    assert by_id(found) == EXPECTED
    assert found[0].simulator == "people"
    for frame in (pd.DataFrame(ROWS), pl.DataFrame(ROWS)):
        loaded = usi.load(frame, map=MAP, name="crowd", domain="shop")
        assert by_id(loaded.sessions) == EXPECTED
        assert {(s.simulator, s.domain) for s in loaded.sessions} == {("crowd", "shop")}
        table = usi.features(loaded, side="human", profile="robust")
        assert table.frame["user_turns"].to_list() == [2, 1]
        direct = usi.features(frame, side="human", profile="robust", map=MAP)
        assert direct.frame["words"].to_list() == table.frame["words"].to_list()
    missing = pd.DataFrame(ROWS).assign(said=[None, "b1", float("nan"), "x"])
    loaded = usi.load(missing, map=MAP)
    assert by_id(loaded.sessions)["a"] == [("user", None), ("assistant", None), ("user", "x")]


def test_rows_are_put_in_the_order_of_their_column(write):
    text = "session_id,turn,role,text\na,10,user,last\na,9,agent,mid\na,2,user,first\n"
    (session,), notes = read(write("x.csv", text))
    assert [t.content for t in session.turns] == ["first", "mid", "last"]
    assert notes.guessed["session: rows were put in the order of their column"] == 1


def test_everything_that_a_session_can_have(write):
    text = (
        "session_id,role,text,task_id,trial,batch,reward,survey,participant,agent,outcome\n"
        'a,user,hi,t,1,2,true,"{""reuse"": ""No""}",p1,bot,partial\n'
        "a,assistant,yo,,,,,,,,\n"
    )
    (session,), notes = read(write("x.csv", "\ufeff" + text.replace("\n", "\r\n")))
    assert (session.task_id, session.trial, session.batch) == ("t", "1", 2)
    assert (session.outcome.reward, session.outcome.label) == (1.0, "partial")
    assert [(a.item, a.answer) for a in session.survey] == [("reuse", "No")]
    assert (session.participant, session.agent) == ("p1", "bot")
    assert not notes.guessed


def test_runs_of_the_same_session_stay_apart(write):
    text = "session_id,trial,role,text\na,1,user,x\na,2,user,y\na,1,agent,z\n"
    found, _ = read(write("x.csv", text))
    assert [(s.trial, len(s.turns)) for s in found] == [("1", 2), ("2", 1)]


def test_who_is_the_user_must_be_told(write):
    path = write("x.csv", "session_id,role,text\na,Bob,hi\na,Eve,yo\n")
    with pytest.raises(InputErrors, match="--user-role") as caught:
        read(write("y.csv", "session_id,role,text\na,Bob,hi\nb,Eve,yo\n"))
    assert [(p.row, p.field) for p in caught.value.problems] == [(2, "role"), (3, "role")]
    (session,), _ = read(path, user_role="Eve")
    assert [(t.role, t.content) for t in session.turns] == [("assistant", "hi"), ("user", "yo")]
    named = write("z.csv", "session_id,role,name,text\na,user,Ann,hi\na,user,Ben,yo\n")
    (session,), _ = read(named, user_speaker="Ben")
    assert [t.role for t in session.turns] == ["assistant", "user"]


def test_what_is_wrong_with_a_table_is_named(write):
    def refused(content, error=InputError, **options):
        with pytest.raises(error) as caught:
            read(write("x.csv", content), **options)
        return caught.value

    head = "session_id,role,text\n"
    assert "a, b, c" in str(refused("a,b,c\n1,2,3\n"))
    assert "--map" in str(refused("a,b,c\n1,2,3\n"))
    assert "did you mean 'conv'" in str(
        refused("conv,who,said\n", UsageError, map=MAP | {"session": "con"})
    )
    assert refused(head + "a,user\nb,user,x\n").row == 2
    assert refused(head + ",user,x\n").field == "session_id"
    assert refused(head + 'a,user,"x\n').row is not None
    assert "UTF-8" in str(refused((head + "a,user,h").encode() + b"\xe9llo\n"))
    assert "no sessions" in str(refused(head))
    assert refused("session_id,role,text,reward\na,user,x,good\n").field == "reward"
    assert refused("session_id,role,text,batch\na,user,x,0.5\n").field == "batch"
    assert refused("session_id,role,text,survey\na,user,x,no\n").field == "survey"
    assert refused("session_id,role,text,keep\na,user,x,perhaps\n").field == "keep"


def test_two_columns_of_one_name(write):
    with pytest.raises(InputError, match="two columns are called 'text'"):
        read(write("x.csv", "session_id,role,text,text\na,user,x,y\n"))


def test_map_of_the_command_line():
    assert parse_map("session=a, role=b,text=c d") == {"session": "a", "role": "b", "text": "c d"}
    for text, why in (("session", "MEANING=COLUMN"), ("sesion=a", "did you mean 'session'"),
                      ("role=a,role=b", "twice"), ("role=", "MEANING=COLUMN")):  # fmt: skip
        with pytest.raises(UsageError, match=why):
            parse_map(text)


def test_damaged_and_hostile_parquet(tmp_path, write):
    path = tmp_path / "x.parquet"
    pd.DataFrame(ROWS).to_parquet(path)
    whole = path.read_bytes()
    for data in (
        whole[: len(whole) // 2],
        b"PAR1" + whole[4:-4].replace(b"said", b"\xff\xff\xff\xff") + b"XXXX",
    ):
        with pytest.raises(InputError, match="Parquet"):
            read(write("y.parquet", data), map=MAP)
    # Two million equal rows in some kilobytes: a bomb, however honest its footer is.
    data = io.BytesIO()
    same = pa.array(["a"]).take(pa.array([0] * 2_000_000, pa.int32()))
    pq.write_table(pa.table({"session_id": same, "role": same, "text": same}), data)
    assert len(data.getvalue()) < 100_000
    with pytest.raises(InputError, match="refused: 2,000,000 rows"):
        read(write("z.parquet", data.getvalue()))
