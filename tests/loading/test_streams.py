"""The cursor over big JSON, and everything that can be wrong with bytes."""

from __future__ import annotations

import io
import json
import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.errors import InputError, UsiError
from usi.loading import LoadOptions, jsonstream, open_sessions
from usi.loading.jsonstream import Cursor

HI = [{"role": "user", "content": "hi"}]
RUN = {"task_id": 0, "trial": 0, "reward": 1.0, "traj": HI}


class Drip(io.BytesIO):
    """Gives few bytes at a time, so that every value is cut somewhere."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 1, 7))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(['"', "\\", '\\"', "]}", "é\u2028", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(JSON, max_size=5), indent=st.none() | st.integers(0, 2), escape=st.booleans()
)
def test_elements_are_those_of_python(values, indent, escape):
    text = json.dumps(values, indent=indent, ensure_ascii=escape)
    data = text.encode("utf-8", "replace")
    cursor = Cursor(Drip(data), file="x")
    found = [cursor.value() for _ in cursor.elements()]
    cursor.end()
    assert found == json.loads(data.decode("utf-8"))


@settings(max_examples=100, deadline=None)
@given(value=st.dictionaries(st.text(max_size=8), JSON, max_size=5), skipped=st.integers(0, 3))
def test_members_are_those_of_python(value, skipped):
    cursor = Cursor(Drip(json.dumps(value).encode()), file="x")
    found = {}
    for number, key in enumerate(cursor.members()):
        if number == skipped:
            cursor.skip()
        else:
            found[key] = cursor.value()
    cursor.end()
    expected = {k: v for n, (k, v) in enumerate(value.items()) if n != skipped}
    assert found == expected


def test_the_slow_road_finds_the_same_ends(monkeypatch):
    values = [{"a": '"]}'}, [[], {}], {"b": {"c": "\\"}}]
    monkeypatch.setattr(jsonstream.Cursor, "_container_end", jsonstream.Cursor._scan_container)
    cursor = Cursor(Drip(json.dumps(values).encode()), file="x")
    assert [cursor.value() for _ in cursor.elements()] == values


@pytest.mark.parametrize(
    "data",
    [b"[1 2]", b"[1,]", b"[1", b"[,1]", b"[1}", b'["a', b"[tru]", b"[1] 2", b"[{]", b'[{"a" 1}]'],
)
def test_what_is_no_json_is_an_input_error(data):
    def walk() -> None:
        cursor = Cursor(io.BytesIO(data), file="x")
        for _ in cursor.elements():
            cursor.value()
        cursor.end()

    with pytest.raises(InputError) as caught:
        walk()
    assert caught.value.file == "x"


def error_of(path, **options) -> InputError:
    with pytest.raises(InputError) as caught:
        list(open_sessions(path, options=LoadOptions(**options)))
    return caught.value


def whole_files() -> dict[str, bytes]:
    """A small valid file of each format."""
    tau2 = {
        "info": {"environment_info": {"domain_name": "airline"}},
        "tasks": [],
        "simulations": [{"task_id": i, "reward_info": None, "messages": HI} for i in range(3)],
    }
    odyssim = {"n": 1, "results": [{"instance_id": f"a_{i}", "conversation": HI} for i in range(3)]}
    return {
        "taubench": json.dumps([RUN | {"task_id": i} for i in range(3)], indent=1).encode(),
        "tau2": json.dumps(tau2).encode(),
        "tau_usi": json.dumps({f"airline_{i}": {"conversation": HI} for i in range(3)}).encode(),
        "odyssim": json.dumps(odyssim).encode(),
        "usi_jsonl": b"".join(json.dumps({"messages": HI}).encode() + b"\n" for _ in range(3)),
    }


FORMATS = sorted(whole_files())


@pytest.mark.parametrize("name", FORMATS)
def test_whole_files_load(write, name):
    assert len(list(open_sessions(write("x", whole_files()[name])))) == 3


@pytest.mark.parametrize("name", FORMATS)
def test_truncated(write, name):
    data = whole_files()[name].rstrip()
    error = error_of(write("x.json", data[: len(data) * 3 // 4]))
    assert error.file.endswith("x.json")
    assert error.row == 3


@pytest.mark.parametrize("name", FORMATS)
def test_empty(write, name):
    fmt = name.replace("taubench", "tau-bench").replace("_", "-")
    for data in (b"", b"\n \n", b"\xef\xbb\xbf\n"):
        assert "empty" in str(error_of(write("x.json", data)))
        assert isinstance(error_of(write("x.json", data), format=fmt), InputError)


@pytest.mark.parametrize("name", FORMATS)
def test_not_utf8(write, name):
    data = whole_files()[name]
    place = data.rindex(b"hi")
    error = error_of(write("x.json", data.replace(b'"hi"', b'"h\xff"')))
    assert "UTF-8" in str(error)
    last = data[:place] + b"\xe9i" + data[place + 2 :]
    error = error_of(write("x.json", last))
    assert (error.row, f"byte {place}" in str(error)) == (3, True)
    assert "UTF-8" in str(error_of(write("x.json", data.decode().encode("utf-16"))))


@pytest.mark.parametrize("name", FORMATS)
def test_deep_nesting(write, name):
    deep = b"[" * 100_000 + b"]" * 100_000
    error = error_of(write("x.json", whole_files()[name].replace(b'"hi"', deep)))
    assert "nested too deeply" in str(error)
    assert error.row == 1
    assert isinstance(error_of(write("y.json", b"[" * 100_000)), InputError)


@pytest.mark.parametrize("name", FORMATS)
def test_one_record_over_the_limit(write, name):
    data = whole_files()[name].replace(b'"hi"', b'"' + b"h" * 5000 + b'"')
    path = write("x.json", data)
    assert len(list(open_sessions(path))) == 3
    error = error_of(path, max_record=4000)
    assert "--max-record" in str(error)
    assert error.row == 1


def test_a_record_over_64_mib_is_refused_by_default(write):
    line = b'{"messages": [{"role": "user", "content": "' + b"x" * (64 * 2**20) + b'"}]}\n'
    path = write("x.jsonl", line)
    assert "64 MiB" in str(error_of(path))
    (session,) = open_sessions(path, options=LoadOptions(max_record=70 * 2**20))
    assert len(session.turns[0].content) == 64 * 2**20


@pytest.mark.parametrize("name", FORMATS)
def test_byte_order_mark_and_dos_line_ends(write, name):
    data = b"\xef\xbb\xbf" + whole_files()[name].replace(b"\n", b"\r\n")
    assert len(list(open_sessions(write("x.json", data)))) == 3


@pytest.mark.parametrize("name", FORMATS)
def test_wrong_types_at_the_top(write, name):
    fmt = name.replace("taubench", "tau-bench").replace("_", "-")
    for text in ("3", '"text"', "null", "[3]", '{"a": 3}', "[]", "{}", '{"results": 3}'):
        assert isinstance(error_of(write("x.json", text)), InputError)
        if (text, fmt) == ("[]", "usi-jsonl"):
            continue  # one line that holds a session of no messages
        assert isinstance(error_of(write("x.json", text), format=fmt), InputError)


def test_numbers_of_thousands_of_digits_are_refused(write):
    text = '{"messages": [{"role": "user", "content": %s}]}' % ("9" * 5000)
    assert "number" in str(error_of(write("x.jsonl", text)))


@settings(max_examples=200, deadline=None)
@given(
    data=st.binary(max_size=200), start=st.sampled_from([b"", b"[", b"{", b'{"a":', b'[{"traj":'])
)
def test_random_bytes_give_nothing_but_our_errors(tmp_path_factory, data, start):
    path = tmp_path_factory.mktemp("fuzz") / "x.json"
    path.write_bytes(start + data)
    try:
        list(open_sessions(path))
    except UsiError:
        return


@pytest.mark.parametrize("name", FORMATS)
def test_mutated_files_give_sessions_or_our_errors(write, name):
    rng = random.Random(name)
    whole = whole_files()[name]
    pieces = [
        b"null",
        b"{}",
        b"[]",
        b'"',
        b"\\",
        b"}",
        b"1e999",
        b"\xff",
        b"\x00",
        b"-1",
        b"[[",
        b",",
    ]
    ends = {"ok": 0, "refused": 0}
    for _ in range(250):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(data))
            data[at : at + rng.randint(0, 12)] = rng.choice(pieces)
        try:
            list(open_sessions(write("x.json", bytes(data))))
            ends["ok"] += 1
        except UsiError:
            ends["refused"] += 1
    assert ends["refused"] > 50


@pytest.mark.parametrize(
    "text",
    [
        b'{"info": {}, "tasks": [{"id": "\xe9"}], "simulations": [{"id": "a", "messages": []}]}',
        b'{"metrics": "\xe9", "results": [{"task_id": 0, "traj": []}]}',
    ],
)
def test_bytes_that_are_no_text_are_refused_where_nobody_reads_them_too(write, text):
    error = error_of(write("x.json", text))
    assert f"not UTF-8 at byte {text.index(bytes([0xE9]))}" in str(error)
    assert "NUL" in str(error_of(write("x.json", text.replace(bytes([0xE9]), bytes(1)))))


def test_pipes_and_empty_paths_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    for path in (tmp_path, tmp_path / "pipe.jsonl"):
        with pytest.raises(InputError, match="pipe"):
            list(open_sessions(path))
    with pytest.raises(InputError, match="empty path"):
        list(open_sessions(""))
