"""Digests of sessions as they were loaded, and names made of them where a file gives none."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from usi.records import Session

NAME_DIGITS = 12
"""Hexadecimal digits of the digest in the name of a session that has no id."""


def _plain(value: Any) -> str:
    """Values that tables bring and JSON lacks, as text."""
    return repr(value)


_ENCODER = msgspec.json.Encoder(order="deterministic", enc_hook=_plain)


def session_digest(session: Session, label: str = "") -> bytes:
    """SHA-256 of a session's record as loaded.

    Everything counts but where it stood: its row, and the label of the simulator where that came
    from outside the record (`label`). Keys of objects, and so a survey's items, count in any order.

    Parameters
    ----------
    session
        As a reader gives it; an empty `session_id` says that the file gives none.
    label
        Label that the reader was given for sessions that carry none: that very object, since a
        record may say the same word.

    Returns
    -------
    bytes
        32 bytes.
    """
    # By identity: a file may be called as the simulator that its records name, and then be renamed.
    simulator = "" if session.simulator is label else session.simulator
    survey = session.survey
    if survey is not None:
        survey = tuple(sorted(survey, key=lambda answer: answer.item))
    bare = replace(session, row=0, simulator=simulator, survey=survey)
    try:
        data = _ENCODER.encode(bare)
    except (UnicodeEncodeError, OverflowError, TypeError, ValueError):
        # A lone surrogate, or a number beyond 64 bits: both have an escape in plain JSON.
        found = msgspec.to_builtins(bare, enc_hook=_plain)
        data = json.dumps(found, sort_keys=True, default=repr).encode("ascii")
    return hashlib.sha256(data).digest()


@dataclass
class Namer:
    """Names sessions without an id by their content, so that no name depends on a row.

    A session that equals an earlier one of its simulator in everything gets a number behind its
    name: which of them gets which makes no difference.
    """

    _seen: Counter[tuple[str, bytes]] = field(default_factory=Counter)

    def named(self, session: Session, digest: bytes) -> Session:
        """The session with its name: ``session-3f9a0c51d2e8``, ``session-3f9a0c51d2e8-2``."""
        key = (session.simulator, digest)
        self._seen[key] += 1
        tail = f"-{self._seen[key]}" if self._seen[key] > 1 else ""
        return replace(session, session_id=f"session-{digest.hex()[:NAME_DIGITS]}{tail}")
