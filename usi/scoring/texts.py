"""Texts of sessions kept aside while files are read once, for the few that a report shows.

Which sessions are shown is known when all of them have been counted. Their texts wait in a
temporary file without a name, which is gone when it is closed or the program ends; in memory
stand eight bytes a session. The variable ``TMPDIR`` chooses the folder.
"""

from __future__ import annotations

import json
import tempfile
import zlib
from array import array
from typing import Any

import msgspec

from usi.records import Session

IN_MEMORY = 8 * 2**20
"""Bytes up to which nothing is written to disk."""
_FAST = 1
_PACKED, _WRITTEN = b"p", b"w"


class TextStore:
    """Sessions by their place in a stream.

    Only what a reader sees is kept: id, status and turns.
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  closed by `close`
        self._ends = array("Q")

    def __len__(self) -> int:
        """Return the number of sessions."""
        return len(self._ends)

    def add(self, session: Session) -> None:
        """Keep the next session of the stream."""
        kept = Session(session_id=session.session_id, status=session.status, turns=session.turns)
        self._file.write(zlib.compress(_encode(kept), _FAST))
        self._ends.append(self._file.tell())

    def get(self, place: int) -> Session:
        """The session at a place, counted from 0.

        Raises
        ------
        IndexError
            Where there is none.
        """
        if not 0 <= place < len(self._ends):
            raise IndexError(f"{len(self._ends)} sessions are kept, and not one at {place}")
        start = self._ends[place - 1] if place else 0
        self._file.seek(start)
        return _decode(zlib.decompress(self._file.read(self._ends[place] - start)))

    def close(self) -> None:
        """Remove the texts."""
        self._file.close()
        self._ends = array("Q")


class SaidByPeople:
    """Fingerprints of people's talks, to leave them out where a simulator repeats them.

    A user that replays recorded talks speaks in people's words; where these may not be passed on,
    neither may the copy.
    """

    FEWEST = 6
    """Words from which on an equal message is taken for a copy; two may say "yes, please"."""
    INSTEAD = "(left out: the same words as in a talk of a person)"

    def __init__(self) -> None:
        self._said: set[int] = set()

    def add(self, session: Session) -> None:
        """Note the messages of a session, those of the agent, too."""
        for turn in session.turns:
            if isinstance(turn.content, str):
                self._said.add(_fingerprint(turn.content))

    def without(self, session: Session) -> Session:
        """The session, or where it is a copy in part, with `INSTEAD` for what is the same.

        It is one where a message of its user is the same as in a talk of people and has at least
        `FEWEST` words, or where every message of its user is the same.
        """
        same = [
            isinstance(turn.content, str) and _fingerprint(turn.content) in self._said
            for turn in session.turns
        ]
        users = [
            (known, len(turn.content.split()) if isinstance(turn.content, str) else 0)
            for known, turn in zip(same, session.turns, strict=True)
            if turn.role == "user"
        ]
        if not users or not (
            all(known for known, _ in users)
            or any(known and words >= self.FEWEST for known, words in users)
        ):
            return session
        turns = tuple(
            msgspec.structs.replace(turn, content=self.INSTEAD) if known else turn
            for known, turn in zip(same, session.turns, strict=True)
        )
        return msgspec.structs.replace(session, turns=turns)


def _fingerprint(text: str) -> int:
    return hash(" ".join(text.casefold().split()))


def _encode(session: Session) -> bytes:
    try:
        return _PACKED + msgspec.msgpack.encode(session)
    except (UnicodeEncodeError, OverflowError):  # a lone surrogate, a very large number
        plain: Any = msgspec.to_builtins(session)
        return _WRITTEN + json.dumps(plain).encode("ascii")


def _decode(data: bytes) -> Session:
    if data[:1] == _PACKED:
        return msgspec.msgpack.decode(data[1:], type=Session)
    return msgspec.convert(json.loads(data[1:]), Session)
