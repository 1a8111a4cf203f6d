"""Archives made to harm: bombs of every layer, lies about sizes, links, huge counts."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import tracemalloc
import zipfile
import zlib

import pyarrow as pa
import pytest

from usi.errors import InputError, UsiError
from usi.loading import archive, open_sessions, source
from usi.loading.jsonstream import decode

LINE = json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode() + b"\n"


@pytest.fixture
def small(monkeypatch):
    """Limits small enough for a test."""
    for place in (source, archive):
        monkeypatch.setattr(place, "EXPANDED_FREELY", 2**20)


def refused(path, why="refused"):
    with pytest.raises(InputError, match=why) as caught:
        list(open_sessions(path))
    return caught.value


def zipped(name, data, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as packed:
        packed.writestr(name, data)
    return out.getvalue()


BOMB = b" " * (4 * 2**20) + LINE


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_bombs_in_a_zip(write, small, method):
    refused(write("x.zip", zipped("a.jsonl", BOMB, method)))


def test_bombs_inside_a_member(write, small):
    refused(write("x.zip", zipped("a.jsonl.gz", gzip.compress(BOMB), zipfile.ZIP_STORED)))
    refused(write("y.zip", zipped("a.jsonl", pa.compress(BOMB, codec="zstd", asbytes=True))))


def zstd_zip(plain, declared):
    """A zip with one zstd member that says it is smaller than it is."""
    packed = pa.compress(plain, codec="zstd", asbytes=True)
    fields = (63, 0, 93, 0, 0, zlib.crc32(plain), len(packed), declared, 7, 0)
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", *fields) + b"a.jsonl" + packed
    central = struct.pack(
        "<4sH5H3I5H2I", b"PK\x01\x02", 63, *fields[:5], *fields[5:8], 7, 0, 0, 0, 0, 0, 0
    ) + b"a.jsonl"  # fmt: skip
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + end


def test_a_member_that_lies_about_its_size(write, small):
    assert len(list(open_sessions(write("ok.zip", zstd_zip(LINE, len(LINE)))))) == 1
    refused(write("x.zip", zstd_zip(BOMB, 10)))
    honest = zipped("a.jsonl", BOMB)
    lying = honest.replace(struct.pack("<I", len(BOMB)), struct.pack("<I", 100))
    assert lying != honest
    refused(write("y.zip", lying), "can't be|empty|damaged")


def test_members_that_share_their_bytes(write, small):
    """The quoted-overlap bomb: many directory entries point to one body."""
    one = zipped("a.jsonl", b" " * 2**19 + LINE)
    end = one.rindex(b"PK\x05\x06")
    start = int.from_bytes(one[end + 16 : end + 20], "little")
    entry = one[start:end]
    count = 50
    tail = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(entry) * count, start, 0)
    refused(write("x.zip", one[:start] + entry * count + tail), "refused|damaged")


def test_a_directory_of_millions_is_not_read(write, monkeypatch):
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("the directory was read"))
    for count, large in ((50_000, None), (0xFFFF, 10**9)):
        tail = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, 0, 0, 0)
        if large is not None:
            tail = (
                struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, large, large, 0, 0)
                + tail
            )
        monkeypatch.setattr(archive, "MAX_MEMBERS", 10_000)
        refused(write("x.zip", b"PK\x03\x04" + tail), "more than 10000 members")


def tarred(*members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for info, data in members:
            packed.addfile(info, io.BytesIO(data))
    return out.getvalue()


def member(name, kind=tarfile.REGTYPE, link="", data=b""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(data)
    return info, data


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
@pytest.mark.parametrize("packed", [False, True])
def test_links_and_devices_in_a_tar(write, kind, packed):
    good = member("a.jsonl", data=LINE)
    data = tarred(good, member("b.jsonl", kind, "/etc/passwd"))
    refused(write("x.tar", gzip.compress(data) if packed else data), "link or device")


@pytest.mark.parametrize("name", ["../a.jsonl", "/a.jsonl", "x/../../a.jsonl", "C:\\a.jsonl"])
def test_paths_that_lead_out_of_a_tar(write, name):
    refused(write("x.tar", tarred(member(name, data=LINE))), "leads out of it")


def test_a_tar_that_claims_more_than_it_holds(write):
    data = tarred(member("a.jsonl", data=LINE))
    info = tarfile.TarInfo("b.jsonl")
    info.size = 2**40
    refused(
        write("x.tar", data[:1024] + info.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1024),
        "truncated|damaged",
    )


def test_a_bomb_of_a_tar(write, small):
    data = tarred(member("a.jsonl", data=BOMB))
    refused(write("x.tar.gz", gzip.compress(data)))


def test_refusing_takes_no_memory(write):
    bomb = gzip.compress(b"\0" * (300 * 2**20), 1)
    path = write("x.jsonl.gz", bomb)
    tracemalloc.start()
    with pytest.raises(UsiError):
        list(open_sessions(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * 2**20  # the largest record, and its copy while it grows


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '[{"b":1,"b" :2}]', '{"a":1,"a":"\\u0022:"}'])
def test_a_key_that_occurs_twice_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"row 3: the key '.' occurs twice"):
        decode(text.encode(), row=3)


@pytest.mark.parametrize("text", ['{"a\\\\":1,"b":"x\\":y"}', '{"c":"\\u0022:", "d" : [{"e":1}]}'])
def test_keys_that_occur_once_are_read(text: str) -> None:
    assert decode(text.encode()) == json.loads(text)
