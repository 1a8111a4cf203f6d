"""Where bytes come from: files, folders, stdin, compressed files and archives, read as they are.

Compression is told by the first bytes, never by the name. Nothing is ever unpacked to a path.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import stat
import sys
import tempfile
import weakref
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from usi.errors import InputError
from usi.reading import reading

BUFFER = 2**20
STDIN = "-"
EXPANDED_FREELY = 256 * 2**20
MAX_RATIO = 200
"""A file that grows beyond `EXPANDED_FREELY` and by more than this factor is taken for a bomb."""


_GZIP, _XZ, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
PACKED = (_GZIP, _XZ, _ZSTD)
"""First bytes of what is compressed."""
_BROKEN = (EOFError, OSError, RuntimeError, lzma.LZMAError, zlib.error, zipfile.BadZipFile)
"""What damaged or unreadable files make the standard library raise."""


class _Hashing(io.RawIOBase):
    """Passes bytes through and hashes them."""

    def __init__(self, raw: Any, name: str) -> None:
        self._raw, self._name, self._hash, self.size = raw, name, hashlib.sha256(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._raw.read(len(buffer))
        except _BROKEN as error:
            raise InputError(f"can't be read: {error}", file=self._name) from None
        buffer[: len(data)] = data
        self._hash.update(data)
        self.size += len(data)
        return len(data)

    def finish(self) -> str:
        """Read what is left (so that the hash is that of the whole file); the hex digest."""
        while self.read(BUFFER):
            pass
        if isinstance(self._raw, _Whole):
            self._raw.file.let_go()
        return self._hash.hexdigest()

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Guarded(io.RawIOBase):
    """Turns the many errors of decompression into ours and refuses what grows without end."""

    def __init__(self, inner: Any, name: str, stored: Callable[[], int], packed: bool) -> None:
        self._inner, self._name, self._stored, self._packed = inner, name, stored, packed
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._inner.read(len(buffer))
        except _BROKEN as error:
            raise InputError(
                f"can't be decompressed: {error}. The file is truncated or damaged",
                file=self._name,
            ) from None
        buffer[: len(data)] = data
        self._size += len(data)
        if self._packed and self._size > max(EXPANDED_FREELY, MAX_RATIO * self._stored()):
            raise InputError(
                f"refused: it grows more than {MAX_RATIO}-fold when decompressed, as archive "
                "bombs do. Unpack it yourself if you trust it",
                file=self._name,
            )
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


@dataclass
class Stream:
    """An opened source: buffered, decompressed bytes and the digest of what is stored."""

    buffered: io.BufferedReader
    hashing: _Hashing

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; empty at the end."""
        return self.buffered.read(size)

    def readline(self, size: int, /) -> bytes:
        """A line, or the first `size` bytes of it."""
        return self.buffered.readline(size)

    def digest(self) -> tuple[str, int]:
        """SHA-256 and size of the stored bytes, reading whatever was not read yet."""
        return self.hashing.finish(), self.hashing.size

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.buffered.close()
        self.hashing.close()


@dataclass(frozen=True)
class Source:
    """One file, wherever it lies; every `open` starts from its beginning.

    Attributes
    ----------
    name
        As the user gave it; for members ``archive/member``.
    open_stored
        Opens the stored bytes.
    folder
        Name of the folder or archive that was given, where the file was found in one.
    parts
        Files that belong to this one (the simulations of a tau2 folder).
    label
        Simulator's label, where it is not that of the file name.
    layout
        Its format, where what lies around it (an archive) has told that already.
    """

    name: str
    open_stored: Callable[[], Any] = field(repr=False, compare=False)
    folder: str | None = None
    parts: tuple[Source, ...] = ()
    label: str | None = None
    layout: str | None = None

    @property
    def filename(self) -> str:
        """Last part of the name, which labels and domains come from."""
        return "stdin" if self.name == STDIN else self.name.replace("\\", "/").rsplit("/", 1)[-1]

    def open(self) -> Stream:
        """Open for reading; decompressed where the first bytes say so."""
        with reading(self.name):
            hashing = _Hashing(self.open_stored(), self.name)
        first = io.BufferedReader(hashing, BUFFER)
        unpacked = decompressor(first)
        guarded = _Guarded(unpacked or first, self.name, lambda: hashing.size, bool(unpacked))
        return Stream(io.BufferedReader(guarded, BUFFER), hashing)

    def check_not_empty(self) -> None:
        """Refuse a file of no bytes or of white space alone."""
        with self.open() as stream:
            while block := stream.read(BUFFER):
                if block.strip(b"\xef\xbb\xbf \t\r\n"):
                    return
        raise InputError("the file is empty", file=self.name)


def decompressor(stored: Any) -> Any:
    """A reader of the decompressed bytes, or ``None`` where the bytes are not compressed."""
    magic = stored.peek(8)[:8]
    if magic.startswith(_GZIP):
        return gzip.GzipFile(fileobj=stored)
    if magic.startswith(_XZ):
        return lzma.LZMAFile(stored)
    if magic.startswith(_ZSTD):
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(stored, mode="r"), "zstd")
    return None


def opened(path: Path, name: str) -> IO[bytes]:
    """Open a file, or say in one line why not."""
    try:
        return path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(f"can't be opened: {error.strerror}", file=name) from None


KEPT_FILES = 64
"""Files whose first `BUFFER` bytes, and which, where they are longer, stay open at a time."""


class _KeptFile:
    """A file on disk that is opened once, however often its beginning is looked at.

    Recognising a format looks at the beginning of a file several times before it is read as a
    whole. The beginning stays in memory, and a longer file open, until the whole was digested or
    more than `KEPT_FILES` other files were opened after it; then it is opened again.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._file: IO[bytes] | None = None
        self._head = b""
        self._size = -1
        self._at = 0

    def open(self) -> Any:
        """A reader with a position of its own, at the beginning."""
        if self._size < 0 and not self._load():
            return opened(self._path, self._name)  # no regular file: its size says nothing
        _in_use(self)
        return _Whole(self)

    def _load(self) -> bool:
        file = opened(self._path, self._name)
        weakref.finalize(self, file.close)
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or not about.st_size:
            file.close()
            return False
        self._head = file.read(BUFFER)
        self._size = about.st_size
        if len(self._head) < self._size:
            self._file = file
        else:
            file.close()
        return True

    @property
    def size(self) -> int:
        """Bytes of the file when it was opened."""
        return self._size

    def seek(self, at: int) -> int:
        """Go to a place for the next `read`."""
        self._at = at
        return at

    def read(self, size: int) -> bytes:
        """Bytes at the place; from memory, where they stand there."""
        if self._at + size <= len(self._head):
            return self._head[self._at : self._at + size]
        if self._file is None:
            if self._size < 0 and not self._load():
                return b""
            if self._file is None:
                return self._head[self._at : self._at + size]
        self._file.seek(self._at)
        try:
            return self._file.read(size)
        except OSError as error:
            raise InputError(f"can't be read: {error.strerror}", file=self._name) from None

    def let_go(self) -> None:
        """Close the file and forget its beginning; `open` opens it again."""
        if self._file is not None:
            self._file.close()
        self._file, self._head, self._size = None, b"", -1


_kept: OrderedDict[int, weakref.ref[_KeptFile]] = OrderedDict()
"""The kept files, the one that was opened last at the end."""


def _in_use(file: _KeptFile) -> None:
    """Let the files that were opened longest ago go where there are too many."""
    _kept.pop(id(file), None)
    _kept[id(file)] = weakref.ref(file)
    while len(_kept) > KEPT_FILES:
        _, oldest = _kept.popitem(last=False)
        other = oldest()
        if other is not None:
            other.let_go()


def file_source(path: Path, name: str, folder: str | None = None) -> Source:
    """The source of one file on disk."""
    return Source(name, _KeptFile(path, name).open, folder)


def stdin_source() -> Source:
    """Standard input, kept in an unnamed temporary file so that it can be read again."""
    kept = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the source
    stdin = sys.stdin.buffer
    while block := stdin.read(BUFFER):
        kept.write(block)
    kept.flush()
    return Source(STDIN, lambda: Window(kept, 0, kept.seek(0, io.SEEK_END)))


class Seekable(Protocol):
    """All that a window needs of what it is a part of."""

    def seek(self, offset: int, /) -> int: ...

    def read(self, size: int, /) -> bytes: ...


class Window(io.RawIOBase):
    """A part of an open file, with a position of its own."""

    def __init__(self, whole: Seekable, start: int, size: int) -> None:
        self._whole, self._start, self._at, self._end = whole, start, start, start + size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        origin = {io.SEEK_SET: self._start, io.SEEK_CUR: self._at, io.SEEK_END: self._end}[whence]
        self._at = max(self._start, origin + offset)
        return self._at - self._start

    def readinto(self, buffer: Any) -> int:
        self._whole.seek(self._at)
        data = self._whole.read(max(0, min(len(buffer), self._end - self._at)))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class _Whole(Window):
    """All of a kept file."""

    def __init__(self, file: _KeptFile) -> None:
        super().__init__(file, 0, file.size)
        self.file = file


def walk(folder: Path, name: str) -> Iterator[tuple[Path, str]]:
    """Every visible file below a folder, sorted by name, with the name to show for it."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(entry for entry in folders if not entry.startswith("."))
        for entry in sorted(files):
            path = Path(root, entry)
            if not entry.startswith("."):
                yield path, "/".join((name.rstrip("/"), path.relative_to(folder).as_posix()))
