"""A structured mutator: small valid inputs of every kind, odd values in them, damaged bytes."""

from __future__ import annotations

import copy
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

RAW = "\ue000"
"""Marks a text that stands in JSON as it is, without its quotation marks."""
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, "", " ", "\0", "1_000", "１２", "User", "\ud800",
    "x" * 5000,
    [], {}, [[]], [None], [1, "a", None], {"a": None}, {"": []}, [["agent"], "hi"],
    RAW + "NaN", RAW + "Infinity", RAW + "-1e999", RAW + "9" * 5000, RAW + "[" * 600 + "]" * 600,
    RAW + '{"a": 1, "a": 2}', "2016-13-45T00:00:00Z", "9999-12-31T23:59:59Z", "=1+1", "%s{0}",
)  # fmt: skip
Mutation = tuple[int, str, int]
STRUCTURE = st.tuples(
    st.integers(0, 400),
    st.sampled_from(["replace", "delete", "rename", "wrap", "repeat", "text"]),
    st.integers(0, len(ODD) - 1),
)
BYTES = st.tuples(
    st.integers(0, 10_000), st.sampled_from(["flip", "cut", "drop", "insert", "nul"]),
    st.integers(0, 255),
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of everything in a value."""
    found = [path] if path else []
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, part in items:
        found += places(part, (*path, key))
    return found


def mutated(value: Any, changes: list[Mutation]) -> Any:
    """A copy with the changes; each is a place (modulo their number), what to do, an odd value."""
    value = copy.deepcopy(value)
    for at, what, which in changes:
        paths = places(value)
        if not paths:
            return ODD[which]
        *above, key = paths[at % len(paths)]
        owner = value
        for step in above:
            owner = owner[step]
        old = owner[key]
        if what == "replace":
            owner[key] = copy.deepcopy(ODD[which])
        elif what == "delete":
            del owner[key]
        elif what == "wrap":
            owner[key] = [old]
        elif what == "text":
            owner[key] = str(old)
        elif what == "repeat" and isinstance(owner, list):
            owner += [copy.deepcopy(old)] * 3
        elif what == "rename" and isinstance(owner, dict):
            owner[str(ODD[which])[:20]] = owner.pop(key)
    return value


def json_bytes(value: Any) -> bytes:
    """JSON, lone surrogates and raw tokens as they are meant."""
    text = json.dumps(value)
    mark = json.dumps(RAW)[1:-1]
    while f'"{mark}' in text:
        start = text.index(f'"{mark}')
        token, end = json.decoder.scanstring(text, start + 1)
        text = text[:start] + token[1:] + text[end:]
    return text.encode("utf-8", "surrogatepass")


def damaged(data: bytes, changes: list[Mutation]) -> bytes:
    """Bytes with the changes."""
    for at, what, value in changes:
        place = at % (len(data) + 1)
        byte = bytes([value])
        if what == "flip":
            data = data[:place] + byte + data[place + 1 :]
        elif what == "cut":
            data = data[:place]
        elif what == "drop":
            data = data[:place] + data[place + 1 + value % 40 :]
        elif what == "insert":
            data = data[:place] + byte * (1 + value % 5) + data[place:]
        else:
            data = data[:place] + b"\0" + data[place:]
    return data


def _zip(data: bytes, name: str) -> bytes:
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), data)
    return found.getvalue()


def _tar(data: bytes, name: str) -> bytes:
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return found.getvalue()


PACKED: dict[str, Callable[[bytes, str], bytes]] = {
    "": lambda data, _: data,
    ".gz": lambda data, _: gzip.compress(data, mtime=0),
    ".xz": lambda data, _: lzma.compress(data),
    ".zip": _zip,
    ".tar": _tar,
}
