"""Tables with a conversation a row, records of JSON with a message each, files of one conversation.

As data sets of Hugging Face, frames, and exports of tools write them; all texts are invented.
"""

from __future__ import annotations

import csv
import io
import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from usi.errors import InputError, InputErrors
from usi.loading import LoadOptions, group_by_simulator, open_sessions
from usi.loading.stream import open_data

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
OTHER = [{"role": "user", "content": "bye"}]
PAIRS = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]
SAID = [("user", "hi"), ("assistant", "hello")]


def read(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def said(session):
    return [(turn.role, turn.content) for turn in session.turns]


def parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def arrow_file(path, rows):
    table = pa.Table.from_pylist(rows)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return path


def arrow_stream(path, rows):
    table = pa.Table.from_pylist(rows)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return path


def json_cells(path, rows):
    """CSV whose nested cells are JSON text."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()})
    path.write_text(buffer.getvalue(), encoding="utf-8", newline="")
    return path


WRITERS = {f.__name__: f for f in (parquet, arrow_file, arrow_stream, json_cells)}
every_kind = pytest.mark.parametrize("kind", WRITERS)


@every_kind
@pytest.mark.parametrize(
    ("column", "talk", "layout"),
    [
        ("messages", TALK, "usi-jsonl"),
        ("conversation", TALK, "usi-jsonl"),
        ("conversations", PAIRS, "sharegpt"),
        ("conversations", TALK, "sharegpt"),
    ],
)
def test_a_conversation_a_row(tmp_path, kind, column, talk, layout):
    rows = [{"conversation_id": f"c{i}", column: talk, "source": "x"} for i in (7, 8)]
    found, notes = read(WRITERS[kind](tmp_path / "x", rows))
    assert notes.layout == layout
    assert [(session.session_id, said(session)) for session in found] == [
        ("c7", SAID),
        ("c8", SAID),
    ]
    assert notes.files[0].sha256 is not None


@every_kind
def test_other_exports_in_tables(tmp_path, kind):
    rows = [{"scenario": "renew", "expected_outcome": "done", "turns": TALK, "name": "a"}]
    (session,), notes = read(WRITERS[kind](tmp_path / "x", rows))
    assert (notes.layout, session.task_id, said(session)) == ("deepeval", "renew", SAID)
    run = {"id": "r", "trace_id": "r", "run_type": "llm", "start_time": "2026-09-01T10:00:00"}
    rows = [run | {"inputs": json.dumps({"messages": TALK[:1]}), "outputs": json.dumps(TALK[1])}]
    (session,), notes = read(WRITERS[kind](tmp_path / "y", rows))
    assert (notes.layout, said(session)) == ("langsmith", SAID)


@pytest.mark.parametrize("key", ["conversation_id", "thread_id", "prompt_id", "dialogue_id"])
def test_an_id_of_several_conversations_is_numbered_and_copies_are_counted(write, key):
    rows = [{key: "p", "messages": talk} for talk in (TALK, OTHER, TALK)]
    found, notes = read(write("x.jsonl", rows, lines=True))
    assert [session.session_id for session in found] == ["p", "p-2"]
    assert notes.left_out == {"session: duplicate id": 1}
    again, _ = read(write("y.jsonl", [{"id": "own", key: "p", "messages": TALK}], lines=True))
    assert again[0].session_id == "own"


def test_frames_with_conversations_and_with_json_text():
    for talk in (TALK, json.dumps(TALK)):
        frame = pd.DataFrame({"conversation_id": ["a", "b"], "messages": [talk, talk]})
        found = list(open_data(frame, LoadOptions()))
        assert [(s.session_id, said(s)) for s in found] == [("a", SAID), ("b", SAID)]


def test_a_row_without_messages_and_a_bad_one(tmp_path):
    rows = [{"conversation_id": "a", "messages": TALK}, {"conversation_id": "b", "messages": None}]
    found, _ = read(parquet(tmp_path / "x", rows))
    assert [session.status for session in found] == ["ok", "failed"]
    cells = [{"id": "a", "messages": TALK}, {"id": "b", "messages": str(TALK)}]
    with pytest.raises(InputError) as caught:
        read(json_cells(tmp_path / "y.csv", cells))
    assert "json.dumps" in caught.value.message
    assert (caught.value.row, caught.value.field) == (3, "messages")


def test_damaged_arrow(tmp_path):
    data = arrow_file(tmp_path / "x", [{"messages": TALK}] * 50).read_bytes()
    (tmp_path / "cut").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="can't be read as Arrow"):
        read(tmp_path / "cut")


FLAT = [
    {"conversation_id": "a", "speaker": "customer", "text": "hi", "timestamp": 1_785_578_400},
    {"conversation_id": "b", "speaker": "customer", "text": "bye", "timestamp": 1_785_578_401},
    {"conversation_id": "a", "speaker": "agent", "text": "hello", "timestamp": 1_785_578_402},
]


@pytest.mark.parametrize("lines", [False, True])
def test_json_with_a_message_each(write, lines):
    found, notes = read(write("x.json", FLAT, lines=lines))
    assert notes.layout == "table"
    assert {session.session_id: said(session) for session in found} == {
        "a": SAID, "b": [("user", "bye")],
    }  # fmt: skip
    bad = [*FLAT, {"conversation_id": "a", "speaker": "narrator", "text": "x"}]
    with pytest.raises(InputError, match="--user-role"):
        read(write("y.json", bad, lines=lines))


def test_map_names_keys_of_json(write):
    rows = [{"conv": r["conversation_id"], "who": r["speaker"], "said": r["text"]} for r in FLAT]
    path = write("x.jsonl", rows, lines=True)
    with pytest.raises(InputError, match="not recognised"):
        read(path)
    found, _ = read(path, map={"session": "conv", "role": "who", "text": "said"})
    assert {session.session_id: len(session.turns) for session in found} == {"a": 2, "b": 1}


def test_map_names_keys_of_messages_inside_a_record(write):
    talk = [{"who": "customer", "said": "hi"}, {"who": "agent", "said": "hello"}]
    path = write("x.jsonl", [{"call": 1, "lines": talk}, {"call": 2, "lines": talk}], lines=True)
    found, _ = read(path, map={"session": "call", "role": "who", "text": "said"})
    assert [(session.session_id, said(session)) for session in found] == [("1", SAID), ("2", SAID)]
    unnamed, _ = read(path, map={"role": "who", "text": "said"})
    assert [said(session) for session in unnamed] == [SAID, SAID]
    assert len({session.session_id for session in unnamed}) == 2


CHAT = "Sender,Message\nCustomer,hi\nAgent,hello\n"


def test_a_folder_of_files_with_one_conversation_each(write, tmp_path):
    for name in ("retail_0.csv", "retail_1.csv"):
        write(f"sim/{name}", CHAT)
    (stream,) = group_by_simulator(tmp_path / "sim")
    found = list(stream)
    assert [(session.session_id, said(session)) for session in found] == [
        ("retail_0", SAID), ("retail_1", SAID),
    ]  # fmt: skip
    assert (stream.label, {session.simulator for session in found}) == ("sim", {"sim"})
    assert [file.bytes for file in stream.notes.files] == [len(CHAT)] * 2
    mapped, _ = read(tmp_path / "sim", map={"role": "Sender", "text": "Message"})
    assert len(mapped) == 2


def test_one_file_alone_is_refused_and_the_folder_is_named(write, tmp_path):
    with pytest.raises(InputError, match="give the folder"):
        read(write("one.csv", CHAT))
    write("sim/a.csv", CHAT)
    write("sim/b.csv", CHAT + "Agent\n")
    with pytest.raises((InputError, InputErrors)) as caught:
        read(tmp_path / "sim")
    assert caught.value.file.endswith("b.csv")
    assert caught.value.row == 4
