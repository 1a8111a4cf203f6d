"""Reading options through the command line: maps, who the user is, notes, conversions."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from command import usi

from usi.loading import FORMATS

TABLE = "conv,who,said\na,caller,I want to cancel\na,desk,Sure?\na,caller,yes please\nb,caller,hi\n"
MAP = "session=conv,role=who,text=said"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "chats.csv"
    path.write_text(TABLE)
    return path


def flipped(tmp_path: Path) -> Path:
    rows = [
        {"id": f"s{n}", "messages": [
            {"role": "user", "content": "Hi! How can I help you today?"},
            {"role": "assistant", "content": "I want to return my order"},
        ]}
        for n in range(5)
    ]  # fmt: skip
    path = tmp_path / "sim.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_table_with_a_map(table: Path, tmp_path: Path) -> None:
    done = usi("validate", table)
    assert done.code == 2
    assert "conv, who, said" in done.out
    assert "--map" in done.out
    done = usi("validate", table, "--map", MAP, "--user-role", "caller")
    assert done.code == 0, done.err
    (found,) = done.json()["inputs"]
    assert (found["sessions"], found["user_turns"]) == (2, 3)
    out = tmp_path / "f.parquet"
    done = usi(
        "features", table, "--side", "human", "--map", MAP, "--user-role", "caller", "-o", out
    )
    assert done.code == 0, done.err
    assert pq.read_table(out).num_rows == 2


def test_the_map_may_stand_in_the_settings(table: Path, tmp_path: Path) -> None:
    settings = (
        '[load]\nuser_role = "caller"\n[load.map]\nsession = "conv"\nrole = "who"\ntext = "said"\n'
    )
    (tmp_path / "usi.toml").write_text(settings)
    done = usi("validate", "chats.csv", cwd=tmp_path)
    assert done.json()["inputs"][0]["user_turns"] == 3, done.err
    # What the command line says comes first.
    done = usi("validate", "chats.csv", "--user-role", "desk", cwd=tmp_path)
    assert done.json()["inputs"][0]["user_turns"] == 2
    (tmp_path / "usi.toml").write_text('[load.map]\nsesion = "conv"\n')
    done = usi("validate", "chats.csv", cwd=tmp_path)
    assert done.code == 2
    assert "did you mean 'session'" in done.err
    (tmp_path / "usi.toml").write_text('[load]\nuser_roles = "x"\n')
    done = usi("validate", "chats.csv", cwd=tmp_path)
    assert "did you mean 'user_role'" in done.err


def test_exchanged_roles(tmp_path: Path) -> None:
    path = flipped(tmp_path)
    done = usi("features", path, "--side", "simulated")
    assert (done.code, done.out) == (2, "")
    assert "--flip" in done.err
    done = usi("features", path, "--side", "simulated", "--flip")
    assert done.code == 0, done.err
    assert done.out.count("\n") == 5
    done = usi("convert", path, "--flip", "--user-role", "assistant")
    assert done.code == 2
    assert "--user-role and --flip" in done.err


@pytest.mark.parametrize(
    ("to", "name"), [("openai-chat", "x.jsonl"), ("sharegpt", "x.jsonl"), ("csv", "x.csv")]
)
def test_conversions_say_what_they_lose(tmp_path: Path, to: str, name: str) -> None:
    messages = [
        {"role": "system", "content": "p"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"id": "s", "messages": messages}) + "\n")
    out = tmp_path / name
    done = usi("convert", path, "--to", to, "-o", out)
    assert done.code == 0, done.err
    assert "dropped in writing: 1 x message: of another role than user and assistant" in done.err
    again = usi("convert", out)
    assert again.code == 0, again.err
    (line,) = [json.loads(text) for text in again.out.splitlines()]
    assert line["messages"] == messages[1:]
    assert usi("convert", path, "--to", to, "-o", out).code == 0, "usi may overwrite its own file"
    done = usi("convert", path, "--to", "cvs")
    assert "did you mean 'csv'" in done.err


def test_formats_say_what_they_carry() -> None:
    done = usi("formats")
    rows = done.json()
    assert [row["format"] for row in rows] == list(FORMATS)
    by_name = {row["format"]: row for row in rows}
    assert by_name["tau2"]["carries"] == {
        "agent": True, "tools": True, "task": True, "run": True, "outcome": True,
        "survey": False, "person": False,
    }  # fmt: skip
    written = {row["format"] for row in rows if row["written_by_convert"]}
    assert written == {"usi-jsonl", "openai-chat", "sharegpt", "table"}
    text = usi("formats", "--print", "table").out
    for name in FORMATS:
        assert name in text


def test_notes_of_reading_stand_in_the_card(tmp_path: Path) -> None:
    def chats(path: Path, tone: str) -> Path:
        lines = ["session_id,task_id,who,text,reward"]
        for n in range(30):
            lines += [f"s{n},t{n},customer,{tone} my order {n},1", f"s{n},t{n},agent,Sure.,1",
                      f"s{n},t{n},customer,thanks,1", f"s{n},t{n},tool,ok,1"]  # fmt: skip
        path.write_text("\n".join(lines) + "\n")
        return path

    people, sim = (
        chats(tmp_path / "people.csv", "cancel"),
        chats(tmp_path / "sim.csv", "please cancel"),
    )
    card = tmp_path / "card.json"
    done = usi(
        "score", sim, "--human", people, "--map", "role=who", "--difficulty", "none", "-o", card
    )
    assert done.code == 0, done.err
    found = json.loads(card.read_text())
    note = {"kind": "dropped", "what": "message: tool result", "count": 30}
    assert note in found["human"]["load_notes"]
    assert note in found["simulators"][0]["load_notes"]
