"""The digest of a record: SHA-256 of everything else that stands in it.

Scorecards, verdicts, admission and run records carry one. Whoever edits a record by hand leaves
the old digest behind; whoever makes a new digest, too, is found out by the files that the record
was made from, which the verbs that decide check against it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from usi.errors import InputError

DIGEST = "digest"
"""Field of a record that holds the digest of everything else in it."""


def digest_of(data: Mapping[str, Any]) -> str:
    """SHA-256 of a record's content, whatever the order of keys and the white space.

    Parameters
    ----------
    data
        The JSON form; its own `digest` does not count.

    >>> digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1, "digest": "x"})
    True
    """
    rest = {key: value for key, value in data.items() if key != DIGEST}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def with_digest(data: Mapping[str, Any]) -> dict[str, Any]:
    """The record with the digest of what it says."""
    return {**data, DIGEST: digest_of(data)}


def is_intact(data: Mapping[str, Any]) -> bool:
    """Whether the digest of a record is that of its content."""
    return data.get(DIGEST) == digest_of(data)


def require_intact(data: Mapping[str, Any], changed: str, *, again: str, file: str) -> None:
    """Refuse a record whose digest is not that of its content.

    Parameters
    ----------
    changed, again
        What happened to it, and what makes it anew.
    """
    if not is_intact(data):
        raise InputError(
            f"{changed} (its digest is not that of its content): {again}", file=file, field=DIGEST
        )
