"""Inspect logs, ``.json`` and ``.eval``.

Fixtures follow inspect_ai's public log documentation (Log Files; `inspect log schema`): eval,
samples with id, epoch, messages with `source`, scores, attachments; in a zip header.json,
samples/<id>_epoch_<n>.json, summaries.json, _journal/. All texts are invented.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib

import pyarrow as pa
import pytest

from usi.errors import InputError, InputErrors
from usi.loading import LoadOptions, open_sessions

HEADER = {
    "version": 2,
    "status": "success",
    "eval": {
        "task": "shop",
        "model": "openai/agent-1",
        "model_roles": {"user": {"model": "openai/user-1"}},
    },
    "results": {"total_samples": 2},
}


def sample(own="t1", epoch=1, **more):
    return {
        "id": own,
        "epoch": epoch,
        "input": "You are the agent of a shop",
        "messages": [
            {"id": "m0", "role": "system", "content": "policy"},
            {"id": "m1", "role": "user", "content": "You are the agent", "source": "input"},
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "reasoning": "hmm"},
                    {"type": "text", "text": "Hello"},
                ],
                "tool_calls": [
                    {"id": "c", "function": "find", "arguments": {"q": "attachment://a1"}}
                ],
            },
            {"role": "tool", "tool_call_id": "c", "function": "find", "content": "{}"},
            {"role": "user", "content": "attachment://a2", "source": "generate"},
            {"role": "assistant", "content": "done"},
            {"role": "user", "content": "thanks"},
        ],
        "scores": {"acc": {"value": "C"}},
        "metadata": {"level": 3},
        "attachments": {"a1": "long query", "a2": "attachment://a3", "a3": "a long wish"},
        **more,
    }


def read(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def archive(members, **kinds):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, json.dumps(content), **kinds)
    return data.getvalue()


MEMBERS = {
    "_journal/start.json": HEADER,
    "_journal/summaries/1.json": [],
    "samples/t1_epoch_1.json": sample(),
    "samples/t1_epoch_2.json": sample(epoch=2, scores={"acc": {"value": "I"}}),
    "summaries.json": [],
    "reductions.json": [],
    "header.json": HEADER,
}


def test_a_json_log(write):
    log = HEADER | {"samples": [sample(), sample(epoch=2), sample("t2")]}
    found, notes = read(write("shop_x.json", log))
    assert notes.layout == "inspect"
    first = found[0]
    assert [(turn.role, turn.content) for turn in first.turns] == [
        ("assistant", "Hello"), ("user", "a long wish"), ("assistant", "done"), ("user", "thanks"),
    ]  # fmt: skip
    assert first.turns[0].tool_calls == [
        {
            "id": "c",
            "type": "function",
            "function": {"name": "find", "arguments": {"q": "long query"}},
        }
    ]
    assert [(s.task_id, s.trial) for s in found] == [("t1", "1"), ("t1", "2"), ("t2", "1")]
    assert [s.session_id for s in found][:2] == ["t1_epoch_1", "t1_epoch_2"]
    assert first.outcome.reward == 1.0
    assert first.agent == "openai/agent-1"
    assert first.meta["model_roles"]["user"]["model"] == "openai/user-1"
    assert notes.left_out == {
        "message: system prompt": 3,
        "message: tool result": 3,
        "message: input of the sample, before the simulated user": 3,
        "part: reasoning": 3,
    }


def test_an_eval_archive_is_one_log(write):
    path = write("shop.eval", archive(MEMBERS))
    stream = open_sessions(path)
    found = list(stream)
    assert stream.label == "shop"
    assert [(s.trial, s.outcome.reward) for s in found] == [("1", 1.0), ("2", 0.0)]
    assert found[0].turns[1].content == "a long wish"
    (file,) = stream.notes.files
    assert (file.name, file.sessions) == (str(path), 2)
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_folder_of_logs(write, tmp_path):
    for name in ("a.eval", "b.eval"):
        write(f"logs/{name}", archive(MEMBERS))
    found, _ = read(tmp_path / "logs")
    assert [s.simulator for s in found] == ["a", "a", "b", "b"]


def test_a_run_that_was_not_finished_has_its_journal(write):
    members = {name: part for name, part in MEMBERS.items() if name != "header.json"}
    found, notes = read(write("x.eval", archive(members)))
    assert len(found) == 2
    assert found[0].agent == "openai/agent-1"
    assert any("not finished" in remark for remark in notes.remarks)


def zstd_archive(members):
    """A zip whose members are compressed by zstd (method 93), put together by hand."""
    body, directory = b"", b""
    for name, content in members.items():
        plain = json.dumps(content).encode()
        packed = pa.compress(plain, codec="zstd", asbytes=True)
        fields = (63, 0, 93, 0, 0, zlib.crc32(plain), len(packed), len(plain), len(name), 0)
        directory += (
            struct.pack(
                "<4sH5H3I5H2I",
                b"PK\x01\x02",
                63,
                *fields[:5],
                *fields[5:8],
                len(name),
                0,
                0,
                0,
                0,
                0,
                len(body),
            )
            + name.encode()
        )
        body += struct.pack("<4s5H3I2H", b"PK\x03\x04", *fields) + name.encode() + packed
    end = struct.pack(
        "<4s4H2IH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(body), 0
    )
    return body + directory + end


def test_members_compressed_by_zstd(write):
    found, _ = read(write("x.eval", zstd_archive(MEMBERS)))
    assert [s.trial for s in found] == ["1", "2"]
    assert found[0].turns[1].content == "a long wish"


def test_a_method_that_is_not_read_is_named(write):
    data = zstd_archive(MEMBERS).replace(struct.pack("<2H", 0, 93), struct.pack("<2H", 0, 95))
    with pytest.raises(InputError, match=r"method that is not read \(95\)"):
        read(write("x.eval", data))


@pytest.mark.parametrize(
    ("value", "reward"),
    [("C", 1.0), ("I", 0.0), ("P", 0.5), ("N", 0.0), (True, 1.0), (False, 0.0), (0.25, 0.25),
     (1, 1.0), ("0.5", 0.5), ({"accuracy": 0.75}, 0.75), ({"other": 0.5, "score": "C"}, 1.0),
     ("maybe", None), ([1], None), (None, None), ({}, None), (float("nan"), None)],
)  # fmt: skip
def test_scores(write, value, reward):
    log = HEADER | {"samples": [sample(scores={"acc": {"value": value}})]}
    (session,), notes = read(write("x.json", log))
    assert session.outcome.reward == reward
    if isinstance(value, dict) and value:
        assert any("table" in remark for remark in notes.remarks)
        assert notes.guessed
    if value == "maybe":
        assert notes.left_out["field: score that is not a number, a letter or a truth value"] == 1


def test_several_scorers(write):
    scores = {"first": {"value": "I"}, "second": {"value": "C"}}
    (session,), notes = read(write("x.json", HEADER | {"samples": [sample(scores=scores)]}))
    assert session.outcome.reward == 0.0
    assert any("'first'" in remark for remark in notes.remarks)
    (session,), _ = read(write("y.json", HEADER | {"samples": [sample(scores=None)]}))
    assert session.outcome.reward is None


def test_attachments_that_are_missing_or_circular(write):
    texts = {"a1": "x", "a2": "attachment://a2"}
    messages = [{"role": "user", "content": f"attachment://{n}"} for n in ("a2", "nowhere")]
    log = HEADER | {"samples": [sample(messages=messages, attachments=texts)]}
    (session,), notes = read(write("x.json", log))
    assert [turn.content for turn in session.turns] == [None, None]
    assert notes.left_out["part: attachment that the log does not hold"] == 1
    assert notes.left_out["part: attachment that leads to itself"] == 1


def test_errors_limits_and_inputs_alone(write):
    samples = [
        sample("a", error={"message": "Boom\ntrace", "traceback": "..."}),
        sample("b", messages=[], error={"message": "Boom"}, input=[]),
        sample("c", limit={"type": "token", "limit": 5}),
        sample("d", messages=[{"role": "user", "content": "hi", "source": "input"}]),
        sample("e", messages=None, input="hello", output={"completion": "bye"}),
        sample("f", messages=[], input=[{"role": "user", "content": "hey"}], output={}),
    ]
    found, notes = read(write("x.json", HEADER | {"samples": samples}))
    assert [(s.status, s.status_reason) for s in found] == [
        ("infrastructure_error", "Boom"), ("failed", "Boom"), ("ok", None), ("ok", None),
        ("ok", None), ("ok", None),
    ]  # fmt: skip
    assert found[2].outcome.termination == "token limit"
    assert [turn.content for turn in found[3].turns] == ["hi"]
    assert [(t.role, t.content) for t in found[4].turns] == [
        ("user", "hello"),
        ("assistant", "bye"),
    ]
    assert [turn.content for turn in found[5].turns] == ["hey"]
    assert notes.guessed == {
        "session: has no user message but the sample's input, taken for the user": 1,
        "session: has no messages; input and output are taken for them": 2,
    }


def test_bad_samples_are_named(write):
    log = HEADER | {"samples": [3, sample(messages=[4]), sample(), sample()]}
    with pytest.raises(InputErrors) as caught:
        read(write("x.json", log))
    assert [(p.row, p.field) for p in caught.value.problems] == [(1, None), (2, "messages[0]")]
    with pytest.raises(InputError) as one:
        read(write("x.eval", archive({**MEMBERS, "samples/t1_epoch_1.json": 3})))
    assert one.value.file.endswith("x.eval/samples/t1_epoch_1.json")


def test_a_log_cut_off(write):
    whole = json.dumps(HEADER | {"samples": [sample()]})
    with pytest.raises(InputError, match="truncated"):
        read(write("x.json", whole[:-300]))


def test_an_invalidated_sample_is_set_aside_with_its_reason(write):
    taken_back = {"author": "qa", "reason": "the simulator leaked its prompt", "metadata": {}}
    log = HEADER | {"samples": [sample("t1", invalidation=taken_back), sample("t2")]}
    found, _ = read(write("shop.json", log))
    assert [session.status for session in found] == ["failed", "ok"]
    assert found[0].status_reason == "invalidated: the simulator leaked its prompt"
