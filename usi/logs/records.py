"""CSV bytes in blocks that end where a record ends, whatever stands in quotes.

Reading ahead is left to nobody: one block is held, so memory does not grow with the file.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from usi.errors import InputError
from usi.loading.source import BUFFER, Stream

BLOCK_BYTES = 8 * 2**20
LONGEST = 4
"""A block grows to so many blocks in search of the end of a quoted cell."""


def utf8_pieces(stream: Stream, encoding: str, file: str) -> Iterator[bytes]:
    """The file's text in UTF-8 without a byte order mark, piece by piece."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        first = True
        while data := stream.read(BUFFER):
            yield data.removeprefix(codecs.BOM_UTF8) if first else data
            first = False
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while data := stream.read(BUFFER):
            yield decoder.decode(data).encode("utf-8")
        yield decoder.decode(b"", True).encode("utf-8")
    except UnicodeError as error:
        raise InputError(f"is not {encoding}: {error}. Declare its encoding", file=file) from None


def record_blocks(pieces: Iterator[bytes], quote: str, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Blocks of about ``size`` bytes of whole records.

    A newline ends a record where an even number of quotes stands before it in the block. A block
    in which that does not hold for long (a stray quote) is cut at its last newline.
    """
    mark = quote.encode()
    held = bytearray()
    wanted = size
    for piece in pieces:
        held += piece
        if len(held) < wanted:
            continue
        end = _record_end(held, mark)
        if end == 0 and len(held) >= LONGEST * size:
            end = held.rfind(b"\n") + 1
        if end == 0:
            wanted = len(held) + size
            continue
        yield bytes(held[:end])
        del held[:end]
        wanted = size
    if held:
        yield bytes(held)


def _record_end(held: bytearray, mark: bytes) -> int:
    """Where the last whole record ends; 0 where none does."""
    end = held.rfind(b"\n")
    if not mark:
        return end + 1
    quotes = held.count(mark, 0, end + 1)
    while end >= 0 and quotes % 2:
        before = held.rfind(b"\n", 0, end)
        quotes -= held.count(mark, before + 1, end + 1)
        end = before
    return end + 1
