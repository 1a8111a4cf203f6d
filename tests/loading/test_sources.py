"""Files, folders, stdin, compression, archives and hostile archives; formats and labels."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import sys
import tarfile
import zipfile

import pyarrow as pa
import pytest
from helpers import shared

from usi.errors import InputError, UsageError
from usi.loading import LoadOptions, archive, group_by_simulator, open_sessions, source
from usi.loading.labels import simulator_label

HI = [{"role": "user", "content": "hi"}]


def runs(*tasks: int) -> bytes:
    rows = [{"task_id": t, "trial": 0, "reward": 1.0, "traj": HI} for t in tasks]
    return json.dumps(rows).encode()


def zstd(data: bytes) -> bytes:
    out = io.BytesIO()
    with pa.CompressedOutputStream(pa.PythonFile(out, mode="w"), "zstd") as stream:
        stream.write(data)
        stream.flush()
        stream.close()
    return out.getvalue()


PACKED = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("suffix", sorted(PACKED))
def test_compressed_files_are_read_as_they_are(write, suffix):
    stored = PACKED[suffix](runs(1, 2))
    for name in (f"airline_x.json.{suffix}", "airline_x"):
        stream = open_sessions(write(name, stored))
        assert [s.session_id for s in stream] == ["airline_1", "airline_2"]
        assert stream.label == "airline_x"
        (file,) = stream.notes.files
        assert (file.sha256, file.bytes) == (hashlib.sha256(stored).hexdigest(), len(stored))


@pytest.mark.parametrize("suffix", sorted(PACKED))
def test_truncated_compressed_files(write, suffix):
    stored = PACKED[suffix](runs(*range(50)))
    path = write(f"x.{suffix}", stored[: len(stored) // 2])
    with pytest.raises(InputError) as caught:
        list(open_sessions(path))
    assert caught.value.file == str(path)


def test_names_and_digests_are_of_what_was_given(write, monkeypatch, tmp_path):
    path = write("sub/x.json", runs(1))
    monkeypatch.chdir(tmp_path)
    stream = open_sessions("sub/x.json")
    list(stream)
    assert stream.notes.files[0].name == "sub/x.json"
    assert stream.notes.files[0].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert stream.notes.files[0].bytes == path.stat().st_size


class Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(monkeypatch, pack):
    data = json.dumps({"airline_1": {"conversation": HI}, "airline_2": {"conversation": HI}})
    monkeypatch.setattr(sys, "stdin", Stdin(pack(data.encode())))
    stream = open_sessions("-")
    assert [s.session_id for s in stream] == ["airline_1", "airline_2"]
    assert (stream.label, stream.notes.files[0].name) == ("stdin", "-")


def test_folders_are_walked_in_sorted_order(write, tmp_path):
    write("d/b.json", runs(2))
    write("d/a/c.json", runs(1))
    write("d/README.md", "x")
    write("d/LICENSE", "x")
    write("d/.hidden", "x")
    write("d/survey_data/survey_comparable_b.json", "{}")
    stream = open_sessions(tmp_path / "d")
    assert [s.simulator for s in stream] == ["b", "c"]
    assert "LICENSE" in stream.notes.remarks[0]
    assert "survey_comparable_b" in stream.notes.remarks[0]


def test_archives_in_a_folder_are_read_as_they_are_alone(write, tmp_path):
    folder = write("d/README.md", "x").parent
    with tarfile.open(folder / "b.tar.xz", "w:xz") as archive:
        for name, content in (("LICENSE", b"x"), ("c.json", runs(1))):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    (folder / "a.json.gz").write_bytes(gzip.compress(runs(2)))
    stream = open_sessions(folder)
    assert [(s.simulator, s.session_id) for s in stream] == [
        (s.simulator, s.session_id) for part in ("a.json.gz", "b.tar.xz")
        for s in open_sessions(folder / part)]  # fmt: skip
    assert [file.name.removeprefix(f"{folder}/") for file in stream.notes.files] == [
        "a.json.gz", "b.tar.xz/c.json"]  # fmt: skip
    assert "b.tar.xz/LICENSE" in stream.notes.remarks[0]
    (folder / "bad.zip").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(InputError, match=r"bad\.zip.*damaged"):
        open_sessions(folder)


def test_a_real_folder_with_a_packed_corpus(tmp_path):
    alone = open_sessions(shared("data/star/dialogues_even.tar.xz"))
    inside = open_sessions(shared("data/star"))
    assert next(alone) == next(inside)
    assert inside.label == alone.label


def test_a_folder_of_mixed_things_is_one_message(write, tmp_path):
    write("d/a.json", runs(1))
    write("d/b.jsonl", [{"messages": HI}], lines=True)
    write("d/c.csv", "a;b\n1;2\n")
    write("d/e.json", {"x": 1})
    write("d/f.json", "")
    with pytest.raises(InputError) as caught:
        open_sessions(tmp_path / "d")
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[-1][:14] for line in lines[1:3]] == ["tau-bench", "usi-jsonl"]
    assert "not readable" in lines[3]
    assert "not recognised" in lines[4]
    assert "empty" in lines[5]
    with pytest.raises(InputError, match="no data"):
        open_sessions(write("empty/README", "x").parent)


def test_missing_files_and_no_input(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        open_sessions(tmp_path / "absent.json")
    with pytest.raises(UsageError):
        open_sessions([])


def test_the_format_can_be_forced(write):
    path = write("x.json", {"a": 1, "results": [{"traj": HI, "task_id": 1, "conversation": HI}]})
    assert open_sessions(path).notes.layout is None
    for fmt in ("tau-bench", "odyssim"):
        (session,) = open_sessions(path, options=LoadOptions(format=fmt))
        assert session.layout == fmt
    with pytest.raises(UsageError, match="did you mean 'tau-bench'"):
        open_sessions(path, options=LoadOptions(format="taubench"))
    with pytest.raises(InputError, match="--format"):
        open_sessions(write("y.json", {"a": 1}))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("eval_results_gpt-4.1.json", "gpt-4.1"),
        ("eval_results_x.json.gz", "x"),
        ("x.tar.gz", "x"),
        ("gpt-4.1", "gpt-4.1"),
        ("a.b.jsonl.zst", "a.b"),
        ("eval_results_.json", "eval_results_.json"),
    ],
)
def test_labels(name, label):
    assert simulator_label(name) == label


def test_simulators_of_the_same_label_are_told_apart_by_folder(write, tmp_path):
    paths = [write("a/r.json", runs(1)), write("b/r.json", runs(1)), write("c.json", runs(1))]
    assert [s.label for s in group_by_simulator(paths)] == ["a/r", "b/r", "c"]
    (one,) = group_by_simulator(paths[:2], LoadOptions(name="one"))
    assert one.label == "one"
    assert {s.simulator for s in one} == {"one"}
    with pytest.raises(UsageError, match="--name"):
        group_by_simulator([paths[0], paths[0]])


# ---- archives


def make_zip(path, members) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members:
            packed.writestr(name, data)


def make_tar(path, members, mode="w") -> None:
    with tarfile.open(path, mode) as packed:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))


MEMBERS = [("d/retail_b.json", runs(2)), ("d/airline_a.json", runs(1)), ("README", b"x")]


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.xz", "tar.zst"])
def test_archives_are_read_as_they_are(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    if kind == "zip":
        make_zip(path, MEMBERS)
    elif kind == "tar.zst":
        make_tar(tmp_path / "plain.tar", MEMBERS)
        path.write_bytes(pa.compress((tmp_path / "plain.tar").read_bytes(), "zstd", asbytes=True))
    else:
        make_tar(path, MEMBERS, "w:" + kind.partition(".")[2])
    stream = open_sessions(path)
    assert [s.session_id for s in stream] == ["airline_1", "retail_2"]
    assert [f.name for f in stream.notes.files] == [
        f"{path}/d/airline_a.json",
        f"{path}/d/retail_b.json",
    ]
    assert stream.notes.files[0].sha256 == hashlib.sha256(runs(1)).hexdigest()
    assert [s.label for s in group_by_simulator(path)] == ["airline_a", "retail_b"]


@pytest.mark.parametrize(
    "name", ["../x.json", "/etc/x.json", "a/../../x.json", "C:\\x.json", "..\\x"]
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_names_that_lead_out_are_refused(tmp_path, name, kind):
    path = tmp_path / f"x.{kind}"
    (make_zip if kind == "zip" else make_tar)(path, [("a.json", runs(1)), (name, runs(2))])
    with pytest.raises(InputError, match="refused"):
        open_sessions(path)


def test_links_and_devices_are_refused(tmp_path):
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        with tarfile.open(tmp_path / "x.tar", "w") as packed:
            info = tarfile.TarInfo("a.json")
            info.type, info.linkname = kind, "/etc/passwd"
            packed.addfile(info)
        with pytest.raises(InputError, match="link or device"):
            open_sessions(tmp_path / "x.tar")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        link = zipfile.ZipInfo("a.json")
        link.external_attr = 0o120777 << 16
        packed.writestr(link, "/etc/passwd")
    with pytest.raises(InputError, match="link"):
        open_sessions(tmp_path / "x.zip")


def test_bombs_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "EXPANDED_FREELY", 2**20)
    monkeypatch.setattr(archive, "EXPANDED_FREELY", 2**20)
    zeros = b"[" + b" " * (4 * 2**20)
    make_zip(tmp_path / "x.zip", [("a.json", zeros)])
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(zeros))
    (tmp_path / "x.json.xz").write_bytes(lzma.compress(zeros))
    make_tar(tmp_path / "x.tar.gz", [("a.json", zeros)], "w:gz")
    for name in ("x.zip", "x.json.gz", "x.json.xz", "x.tar.gz"):
        with pytest.raises(InputError, match="refused"):
            list(open_sessions(tmp_path / name))


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_MEMBERS", 3)
    members = [(f"{i}.json", runs(i)) for i in range(4)]
    make_zip(tmp_path / "x.zip", members)
    make_tar(tmp_path / "x.tar", members)
    for name in ("x.zip", "x.tar"):
        with pytest.raises(InputError, match="more than 3"):
            open_sessions(tmp_path / name)


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_damaged_archives(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    if kind == "zip":
        make_zip(path, MEMBERS)
    else:
        make_tar(path, MEMBERS, "w:" + kind.partition(".")[2])
    whole = path.read_bytes()
    used = 512 * 6 if kind == "tar" else len(whole)
    for size in (used, used * 3 // 4, used // 2, used // 3)[kind != "tar" :]:
        path.write_bytes(whole[:size])
        with pytest.raises(InputError):
            list(open_sessions(path))
    if kind == "zip":
        flipped = bytearray(whole)
        flipped[whole.index(b"retail_b.json") + 20] ^= 0xFF
        path.write_bytes(flipped)
        with pytest.raises(InputError):
            list(open_sessions(path))
