"""Zip and tar archives, read in place: no member is ever written to a path.

Hostile archives are refused: names that lead out of the archive, links and devices, members or
whole archives that grow out of proportion.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from typing import Any, NoReturn

from usi.errors import InputError
from usi.loading.source import BUFFER, EXPANDED_FREELY, MAX_RATIO, PACKED, Source, Window

MAX_MEMBERS = 100_000
_OUTSIDE = re.compile(r"^([/\\]|[A-Za-z]:)|(^|[/\\])\.\.([/\\]|$)|\x00")
ZSTD = 93
_KNOWN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_LOCAL = struct.Struct("<4s5H3I2H")
_TAIL = 2**16 + 22 + 76
"""Bytes at the end of a zip that hold its end records, with the longest comment."""
_USTAR = slice(257, 262)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def may_be_archive(source: Source) -> bool:
    """Whether the first stored bytes are those of an archive or of something compressed."""
    with source.open_stored() as stored:
        head: bytes = stored.read(512)
    return head.startswith((*_ZIP, *PACKED)) or head[_USTAR] == b"ustar"


def members(source: Source) -> list[Source] | None:
    """The files of an archive in sorted order, or ``None`` where the source is no archive.

    Raises
    ------
    InputError
        The archive is damaged, encrypted or hostile.
    """
    with source.open() as stream:
        head = stream.read(512)
    if head.startswith(_ZIP):
        found = list(_zip_members(source))
    elif head[_USTAR] == b"ustar":
        found = list(_tar_members(source))
    else:
        return None
    return sorted(found, key=lambda member: member.name)


def _refuse(source: Source, why: str) -> NoReturn:
    raise InputError(f"refused: {why}. Unpack it yourself if you trust it", file=source.name)


def _check_name(source: Source, name: str) -> None:
    if _OUTSIDE.search(name):
        _refuse(source, f"the archive has a member whose name leads out of it ({name!r:.80})")


def _member(source: Source, name: str, opened: Any) -> Source:
    return Source(f"{source.name}/{name}", opened, source.name)


def _zip_members(source: Source) -> Iterator[Source]:
    stored = source.open_stored()
    if _declared_members(stored) > MAX_MEMBERS:
        _refuse(source, f"the archive has more than {MAX_MEMBERS} members")
    try:
        archive = zipfile.ZipFile(stored)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise InputError(f"the archive is damaged: {error}", file=source.name) from None
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        _refuse(source, f"the archive has more than {MAX_MEMBERS} members")
    size = stored.seek(0, io.SEEK_END)
    expanded = sum(info.file_size for info in infos)
    if expanded > max(EXPANDED_FREELY, MAX_RATIO * size):
        _refuse(source, f"the archive grows more than {MAX_RATIO}-fold, as archive bombs do")
    for info in infos:
        _check_name(source, info.filename)
        if stat.S_ISLNK(info.external_attr >> 16):
            _refuse(source, f"the archive has a link as member ({info.filename!r:.80})")
        if info.flag_bits & 1:
            raise InputError("the archive is encrypted; unpack it first", file=source.name)
        if info.is_dir():
            continue
        if info.compress_type == ZSTD:
            yield _member(source, info.filename, _zstd_window(source, stored, info))
        elif info.compress_type in _KNOWN:
            yield _member(source, info.filename, lambda info=info: archive.open(info))
        else:
            raise InputError(
                f"its member {info.filename!r:.80} is compressed by a method that is not read "
                f"({info.compress_type}); unpack it and pack it anew",
                file=source.name,
            )


def _declared_members(stored: Any) -> int:
    """How many members a zip says it has, before its directory is read into memory."""
    size = stored.seek(0, io.SEEK_END)
    stored.seek(max(0, size - _TAIL))
    tail = stored.read(_TAIL)
    stored.seek(0)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 12:
        return 0
    count = int.from_bytes(tail[end + 10 : end + 12], "little")
    large = tail.rfind(b"PK\x06\x06", 0, end)
    if count == 0xFFFF and large >= 0:
        count = int.from_bytes(tail[large + 32 : large + 40], "little")
    return count


def _zstd_window(source: Source, stored: Any, info: zipfile.ZipInfo) -> Any:
    """Opens a zstd member, which `zipfile` can't: its bytes as stored, unpacked by their magic."""
    stored.seek(info.header_offset)
    head = stored.read(_LOCAL.size)
    if len(head) < _LOCAL.size or not head.startswith(b"PK\x03\x04"):
        raise InputError("the archive is damaged: a member's header is missing", file=source.name)
    name, extra = _LOCAL.unpack(head)[-2:]
    start = info.header_offset + _LOCAL.size + name + extra
    return lambda: Window(stored, start, info.compress_size)


def _tar_members(source: Source) -> Iterator[Source]:
    plain = _uncompressed(source)
    size = plain.seek(0, io.SEEK_END)
    plain.seek(0)
    try:
        with tarfile.open(fileobj=plain, mode="r:") as archive:
            for number, info in enumerate(archive, start=1):
                if number > MAX_MEMBERS:
                    _refuse(source, f"the archive has more than {MAX_MEMBERS} members")
                _check_name(source, info.name)
                if info.isdir():
                    continue
                if not info.isfile() or info.issparse():
                    _refuse(source, f"the archive has a link or device ({info.name!r:.80})")
                if info.offset_data + info.size > size:
                    raise InputError("the archive is truncated", file=source.name)
                yield _member(
                    source,
                    info.name,
                    lambda info=info: Window(plain, info.offset_data, info.size),
                )
            # Cut between two members, a tar lists the rest as if nothing were missing.
            plain.seek(archive.offset)
            if plain.read(tarfile.BLOCKSIZE).strip(b"\0") or plain.tell() == archive.offset:
                raise InputError("the archive is truncated", file=source.name)
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
        raise InputError(f"the archive is damaged: {error}", file=source.name) from None


def _uncompressed(source: Source) -> Any:
    """The tar itself, seekable: as it lies, or decompressed to an unnamed temporary file."""
    stored = source.open_stored()
    if stored.read(512)[_USTAR] == b"ustar":
        return stored
    stored.close()
    kept = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the members do
    with source.open() as stream:
        while block := stream.read(BUFFER):
            kept.write(block)
    return kept
