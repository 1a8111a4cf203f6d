"""Content hashes: what a number rests on, without saying where it was kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from usi.errors import InputError

_CHUNK = 1 << 20


def sha256_bytes(data: bytes) -> str:
    """Hexadecimal SHA-256 of bytes.

    >>> sha256_bytes(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: str | Path) -> str:
    """Hexadecimal SHA-256 of a file, read in pieces.

    Raises
    ------
    InputError
        Where the file can't be read.
    """
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise InputError(f"can't read the file ({error.strerror})", file=str(path)) from error
    return digest.hexdigest()


def combined_sha256(hashes: Iterable[str]) -> str:
    """One hash for a set of files, whatever their order; that of a single file is its own."""
    ordered = sorted(hashes)
    if len(ordered) == 1:
        return ordered[0]
    return sha256_bytes("\n".join(ordered).encode("ascii"))
