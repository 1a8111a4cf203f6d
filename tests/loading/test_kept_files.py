"""A file is opened once, whatever looks at it, and every reader has a place of its own."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from usi.errors import InputError
from usi.loading.source import BUFFER, KEPT_FILES, file_source

OPENED: Counter[str] = Counter()


def _count(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str) and "kept-file" in arguments[0]:
        OPENED[arguments[0]] += 1


sys.addaudithook(_count)


def made(folder: Path, name: str, size: int) -> tuple[Path, bytes]:
    data = bytes((7 * k + k // 251) % 256 for k in range(min(size, 4096)))
    data = (data * (size // 4096 + 1))[:size] if size else b""
    path = folder / f"kept-file-{name}"
    path.write_bytes(data)
    OPENED.clear()
    return path, data


@pytest.mark.parametrize("size", [1, 1000, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER + 17])
def test_looks_at_the_beginning_and_one_whole_reading_open_it_once(tmp_path, size):
    path, data = made(tmp_path, "a", size)
    source = file_source(path, "a")
    for _ in range(3):
        with source.open() as stream:
            assert stream.read(100) == data[:100]
    with source.open() as stream:
        assert b"".join(iter(lambda: stream.read(BUFFER // 3), b"")) == data
        assert stream.digest()[1] == size
    assert OPENED[str(path)] == 1


def test_two_readers_do_not_move_each_other(tmp_path):
    path, data = made(tmp_path, "b", 2 * BUFFER + 5)
    source = file_source(path, "b")
    with source.open() as one, source.open() as other:
        half = len(data) // 2
        assert one.read(half) == data[:half]
        assert other.read(10) == data[:10]
        assert one.read(len(data)) == data[half:]
    assert OPENED[str(path)] == 1


def test_more_files_than_are_kept_are_read_all_the_same(tmp_path):
    files = [made(tmp_path, f"c{k}", 3000 + k) for k in range(KEPT_FILES + 5)]
    sources = [file_source(path, path.name) for path, _ in files]
    for source, (_, data) in zip(sources, files, strict=True):
        with source.open() as stream:
            assert stream.read(10) == data[:10]
    for source, (_, data) in zip(sources, files, strict=True):
        with source.open() as stream:
            assert stream.read(5000) == data


def test_a_reader_goes_on_where_its_file_was_let_go(tmp_path):
    path, data = made(tmp_path, "d", 2 * BUFFER)
    raw = file_source(path, "d").open_stored()
    assert raw.read(10) == data[:10]
    for k in range(KEPT_FILES + 1):
        other, _ = made(tmp_path, f"e{k}", 10)
        file_source(other, "e").open_stored().read(1)
    assert raw.read(BUFFER) == data[10 : 10 + BUFFER]


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="can't be opened"):
        file_source(tmp_path / "kept-file-none", "none").open()
