"""ShareGPT-style conversations, WildChat and LMSYS rows.

Fixtures follow FastChat's documented training data (``conversations`` of ``from``/``value``; ids
of split conversations), its cleaning of HTML exports, and the dataset cards of
allenai/WildChat-1M and lmsys/lmsys-chat-1m. All texts are invented.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from usi.errors import InputErrors
from usi.loading import LoadOptions, open_sessions


def read(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def said(session):
    return [(turn.role, turn.content) for turn in session.turns]


def test_speakers_by_all_their_names(write):
    pairs = [
        ("system", "p"), ("human", "1"), ("gpt", "2"), ("prompter", "3"), ("chatgpt", "4"),
        ("user", "5"), ("bing", "6"), ("Human", "7"), ("bard", "8"), ("function_call", "{f}"),
        ("observation", "{}"), ("tool", "{}"), ("narrator", "x"),
    ]  # fmt: skip
    record = {"id": "a", "conversations": [{"from": w, "value": t} for w, t in pairs]}
    (session,), notes = read(write("x.json", [record]))
    assert notes.layout == "sharegpt"
    assert said(session) == [
        ("user", "1"), ("assistant", "2"), ("user", "3"), ("assistant", "4"), ("user", "5"),
        ("assistant", "6"), ("user", "7"), ("assistant", "8"), ("assistant", "{f}"),
    ]  # fmt: skip
    assert notes.left_out == {
        "message: system prompt": 1,
        "message: tool result": 2,
        "message: another role than user and assistant": 1,
    }


@pytest.mark.parametrize("keys", [("from", "value"), ("role", "value"), ("role", "content")])
@pytest.mark.parametrize("lines", [False, True])
def test_keys_and_shapes(write, keys, lines):
    who, what = keys
    # Conversations may begin with the model.
    talk = [{who: "gpt", what: "hello"}, {who: "human", what: "hi"}]
    records = [{"id": i, "conversations": talk} for i in ("a", "b")]
    found, notes = read(write("x.json", records, lines=lines))
    assert notes.layout == "sharegpt"
    assert [session.session_id for session in found] == ["a", "b"]
    assert said(found[0]) == [("assistant", "hello"), ("user", "hi")]


def test_html_of_raw_exports(write):
    html = (
        '<div class="markdown prose"><p>Use <code>a &lt; b</code>.</p><ul><li>one</li></ul></div>'
    )
    talk = [{"from": "human", "value": "is a < b?"}, {"from": "gpt", "value": html}]
    (session,), notes = read(write("x.json", [{"id": "a", "conversations": talk}]))
    assert said(session) == [("user", "is a < b?"), ("assistant", "Use a < b.\none")]
    assert notes.left_out == {"part: HTML tags of the assistant's text": 1}


def test_parts_of_split_conversations_are_joined(write):
    def part(own, *texts):
        talk = [{"from": ("human", "gpt")[i % 2], "value": t} for i, t in enumerate(texts)]
        return {"id": own, "conversations": talk}

    records = [
        part("x_0", "1", "2"), part("x_2", "3", "4"), part("x_4", "5"),
        part("y_0", "a", "b"), part("y_1", "c", "d"), part("z", "e"),
    ]  # fmt: skip
    found, notes = read(write("x.json", records))
    assert [(s.session_id, len(s.turns)) for s in found] == [
        ("x_0", 5), ("y_0", 2), ("y_1", 2), ("z", 1),
    ]  # fmt: skip
    assert notes.merged == {"session: part of a conversation that was split": 2}


def test_bad_rows(write):
    records = [{"conversations": [{"value": "x"}]}, {"conversations": 3}, {"a": 1},
               {"conversations": ["x"]}]  # fmt: skip
    with pytest.raises(InputErrors) as caught:
        read(write("x.json", records))
    assert [(p.row, p.field) for p in caught.value.problems] == [
        (1, "conversations[0].from"), (2, "conversations"), (3, "conversations"),
        (4, "conversations[0]"),
    ]  # fmt: skip


def wildchat(own, ip, *texts):
    return {
        "conversation_hash": own, "model": "gpt-4", "timestamp": "2023-04-09T00:00:00",
        "conversation": [
            {"role": ("user", "assistant")[i % 2], "content": t, "language": "English",
             "redacted": False, "toxic": False, "turn_identifier": 1,
             "hashed_ip": ip if i % 2 == 0 else None}
            for i, t in enumerate(texts)
        ],
        "turn": 1, "language": "English", "openai_moderation": [], "toxic": False,
        "redacted": True, "country": "Peru",
    }  # fmt: skip


def test_wildchat(write):
    rows = [wildchat("h1", "ip1", "I am NAME_1", "Hi"), wildchat("h2", "ip1", "hello", "Hi")]
    found, notes = read(write("x.jsonl", rows, lines=True))
    assert notes.layout == "wildchat"
    assert [s.session_id for s in found] == ["h1", "h2"]
    assert {s.participant for s in found} == {"ip1"}
    assert {s.agent for s in found} == {"gpt-4"}
    assert found[0].outcome.reward is None
    assert found[0].task_id is None
    assert found[0].meta["language"] == "English"
    assert notes.guessed == {"message: holds a redaction marker, which is read as a word": 1}
    assert notes.left_out["field: flags, language and origin of single messages"] == 4


def test_lmsys_and_the_first_release(write):
    row = {"conversation_id": "c", "model": "vicuna-13b", "turn": 1, "language": "English",
           "conversation": [{"content": "hi", "role": "user"},
                            {"content": "yo", "role": "assistant"}],
           "openai_moderation": [{}], "redacted": False}  # fmt: skip
    (session,), notes = read(write("x.jsonl", [row], lines=True))
    assert (notes.layout, session.session_id) == ("wildchat", "c")
    assert said(session) == [("user", "hi"), ("assistant", "yo")]
    assert not notes.losses


def test_wildchat_as_it_is_published(tmp_path):
    """Parquet, one conversation a row, its messages a list of structures."""
    rows = [wildchat("h1", "ip1", "I am NAME_1", "Hi"), wildchat("h2", "ip2", "hello", "Hi")]
    path = tmp_path / "train.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    found, notes = read(path)
    assert notes.layout == "wildchat"
    assert [(s.session_id, s.layout, s.participant) for s in found] == [
        ("h1", "wildchat", "ip1"),
        ("h2", "wildchat", "ip2"),
    ]
    assert said(found[1]) == [("user", "hello"), ("assistant", "Hi")]
