"""Digests of content: of a multiset of sessions, whatever stands around and between them."""

from __future__ import annotations

import gzip
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.loading import LoadOptions, group_by_simulator, open_sessions
from usi.loading.digest import session_digest
from usi.provenance.content import ContentDigest, combined_content, value_digest
from usi.records import Session, Turn

RECORDS = [
    {"id": "a", "messages": [{"role": "user", "content": "hi"}], "reward": 1,
     "x": {"p": 1, "q": 2}},
    {"id": "b", "messages": [{"role": "user", "content": "no \u2028 ü"}], "task_id": "t"},
    {"messages": [{"role": "user", "content": "hi"}]},
    {"messages": [{"role": "user", "content": "hi"}]},
]  # fmt: skip


def digest(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    pairs = list(stream.with_digests())
    assert len(pairs) == stream.notes.files[0].sessions
    return stream.notes.files[0].content_digest


def lines(records, end="\n", **form):
    return "".join(json.dumps(record, **form) + end for record in records)


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.jsonl"
    path.write_text(lines(RECORDS))
    return digest(path)


def test_order_white_space_spelling_packing_and_the_name_of_a_file_do_not_count(tmp_path, plain):
    turned = [dict(reversed(record.items())) for record in reversed(RECORDS)]
    same = {
        "turned.jsonl": lines(turned).encode(),
        "spaced.jsonl": lines(RECORDS, "\r\n\n", ensure_ascii=False, indent=None,
                              separators=(" , ", " : ")).encode(),
        "array.json": json.dumps(RECORDS, indent=3).encode(),
        "packed.jsonl.gz": gzip.compress(lines(RECORDS).encode()),
        "no_end.jsonl": lines(RECORDS).rstrip().encode(),
    }  # fmt: skip
    for name, data in same.items():
        (tmp_path / name).write_bytes(data)
        assert digest(tmp_path / name) == plain, name
    assert digest(tmp_path / "array.json", name="another") == plain


def test_the_name_of_a_file_does_not_count_where_it_is_the_simulator_that_its_records_name(
    tmp_path,
):
    named = [{**record, "simulator": "copy"} for record in RECORDS]
    found = set()
    for name in ("copy", "other"):
        (tmp_path / f"{name}.jsonl").write_text(lines(named))
        found.add(digest(tmp_path / f"{name}.jsonl"))
    (tmp_path / "bare.jsonl").write_text(lines(RECORDS))
    assert len(found) == 1
    assert digest(tmp_path / "bare.jsonl") not in found


def test_the_items_of_a_survey_may_stand_in_any_order(tmp_path):
    survey = {"reuse": "Yes", "overall_score": "4 (Good)"}
    found = []
    for k, answers in enumerate((survey, dict(reversed(survey.items())), {"reuse": "Yes"})):
        path = tmp_path / f"file{k}.jsonl"
        path.write_text(lines([{**RECORDS[0], "survey": answers}]))
        found.append(digest(path))
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r[0].update(reward=0),
        lambda r: r[0].update(id="c"),
        lambda r: r[0]["x"].update(p=2),
        lambda r: r[1].update(task_id="u"),
        lambda r: r[1].update(simulator="s"),
        lambda r: r[2]["messages"][0].update(content="hi "),
        lambda r: r[2]["messages"].append({"role": "assistant", "content": None}),
        lambda r: r.pop(),  # a session twice is not a session once
        lambda r: r.append(r[2]),
    ],
)
def test_everything_that_was_read_counts(tmp_path, plain, change):
    records = json.loads(json.dumps(RECORDS))
    change(records)
    (tmp_path / "other.jsonl").write_text(lines(records))
    assert digest(tmp_path / "other.jsonl") != plain


def test_a_digest_is_the_sum_of_those_of_its_sessions(tmp_path, plain):
    total = 0
    for k, record in enumerate(RECORDS):
        path = tmp_path / f"{k}.jsonl"
        path.write_text(lines([record]))
        total += int(digest(path), 16)
    assert plain == f"{total % 2**256:064x}"
    parts = [digest(tmp_path / f"{k}.jsonl") for k in range(len(RECORDS))]
    assert combined_content(parts) == plain
    assert combined_content(parts[:1]) == parts[0]


def test_every_file_of_a_stream_has_its_own(tmp_path, plain):
    (tmp_path / "a.jsonl").write_text(lines(RECORDS[:1]))
    (tmp_path / "b.jsonl").write_text(lines(RECORDS[1:]))
    stream = open_sessions([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    names = [session.session_id for session, _ in stream.with_digests()]
    digests = [file.content_digest for file in stream.notes.files]
    assert digests == [digest(tmp_path / "a.jsonl"), digest(tmp_path / "b.jsonl")]
    assert combined_content(digests) == plain
    assert names[3] == f"{names[2]}-2"
    one, other = group_by_simulator([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    assert [len(list(s.with_digests())) for s in (one, other)] == [1, 3]
    assert [s.notes.files[0].content_digest for s in (one, other)] == digests


def test_what_utf_8_or_64_bits_cannot_hold_is_digested_all_the_same():
    odd = [
        Session(session_id="x", turns=(Turn("user", "\ud800"),)),
        Session(session_id="x", turns=(Turn("user", "\ud801"),)),
        Session(session_id="x", meta={"n": 2**80}),
        Session(session_id="x", meta={"n": 2**81}),
        Session(session_id="x", meta={"n": object}),
    ]
    assert len({session_digest(session) for session in odd}) == len(odd)


@given(st.lists(st.binary(max_size=4), max_size=8), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_a_content_digest_is_one_of_a_multiset(records, random):
    turned = random.sample(records, len(records))
    one, other, more = ContentDigest(), ContentDigest(), ContentDigest()
    for record in records:
        one.add(record)
    for record in turned:
        other.add_hash(hashlib.sha256(record).digest())
    for record in [*records, b"more"]:
        more.add(record)
    assert one.hexdigest() == other.hexdigest() != more.hexdigest()
    assert len(one.hexdigest()) == 64


def test_values_by_what_they_hold():
    assert value_digest({"a": [1, 2], "b": None}) == value_digest({"b": None, "a": [1, 2]})
    assert value_digest({"a": [1, 2]}) != value_digest({"a": [2, 1]})
    assert value_digest({"a": 1, "b": 2}, ordered=True) != value_digest(
        {"b": 2, "a": 1}, ordered=True
    )
