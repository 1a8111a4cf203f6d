"""Digests of content that do not depend on order: the same sessions give the same digest.

A digest is the sum, modulo 2^256, of the SHA-256 of every record: that of a multiset, so records
that occur twice count twice, and the digest of two files together is the sum of theirs. It names
content; it does not guard a file against forgery (sums can be steered), which is what the SHA-256
of its bytes in the run record is for.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_MODULUS = 1 << 256


@dataclass
class ContentDigest:
    """Digest of a multiset of records, added one by one in any order.

    >>> one, other = ContentDigest(), ContentDigest()
    >>> for record in (b"a", b"b"):
    ...     one.add(record)
    >>> for record in (b"b", b"a"):
    ...     other.add(record)
    >>> one.hexdigest() == other.hexdigest()
    True
    """

    total: int = 0

    def add(self, record: bytes) -> None:
        """Count a record, given as its bytes."""
        self.add_hash(hashlib.sha256(record).digest())

    def add_hash(self, digest: bytes) -> None:
        """Count a record, given as its SHA-256 (32 bytes)."""
        self.total += int.from_bytes(digest, "big")

    def hexdigest(self) -> str:
        """64 hexadecimal digits; that of nothing is all zeros."""
        return f"{self.total % _MODULUS:064x}"


def frame_records(frame: pl.DataFrame) -> list[bytes]:
    """Rows of a frame as records to count: one JSON object a row, as bytes."""
    sink = io.BytesIO()
    frame.write_ndjson(sink)
    return sink.getvalue().split(b"\n")[:-1]


def value_digest(value: Any, *, ordered: bool = False) -> str:
    """SHA-256 of a JSON value: keys of objects count in any order, unless `ordered`.

    >>> value_digest({"a": 1, "b": 2}) == value_digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=not ordered, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def combined_content(digests: Iterable[str]) -> str:
    """The digest of the content of several files together, however it is spread over them.

    >>> combined_content(["01", "02"]) == combined_content(["03"])
    True
    """
    return f"{sum(int(digest or '0', 16) for digest in digests) % _MODULUS:064x}"
