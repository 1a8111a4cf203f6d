"""Reading the few sessions that a report shows, in a second pass over the transcripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from usi.load import LoadOptions, SessionStream, group_by_simulator, open_sessions
from usi.records import Session
from usi.score.watched import CONTENT_DIGITS

Key = tuple[str, str, str, str, str]
"""Simulator (people: ``""``), session id, trial, batch: as in the session table; and the digest of
the content, which tells sessions apart that share all of these (``""``: the table has none)."""
STDIN = "-"


def key_of(session: Session, label: str, digest: str = "") -> Key:
    """Key of a session under the label of its simulator."""
    batch = "" if session.batch is None else str(session.batch)
    content = digest[:CONTENT_DIGITS]
    return (label, shown(session.session_id), session.trial or "", batch, content)


def shown(text: str) -> str:
    """Text as a table keeps it: lone surrogates as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _collect(sessions: Iterable[tuple[Session, str, str]], wanted: set[Key]) -> dict[Key, Session]:
    found: dict[Key, Session] = {}
    for session, label, digest in sessions:
        for key in (key_of(session, label, digest), key_of(session, label)):
            if key in wanted and key not in found:
                found[key] = session
    return found


def readable(paths: Sequence[str | Path]) -> list[str | Path]:
    """Paths that hold transcripts and can be read twice."""
    from usi.score.inputs import is_table

    again = [p for p in paths if str(p) != STDIN and (Path(p).is_file() or Path(p).is_dir())]
    return [p for p in again if not is_table(p)]


def read_people(
    paths: Sequence[str | Path], options: LoadOptions, wanted: set[Key]
) -> dict[Key, Session]:
    """The wanted sessions of the reference."""
    paths = readable(paths)
    if not paths or not wanted:
        return {}
    stream = open_sessions(paths, options=options)
    pairs = stream.with_digests()
    return _collect(((session, "", digest) for session, digest in pairs), wanted)


def read_simulators(
    paths: Sequence[str | Path], options: LoadOptions, wanted: set[Key]
) -> dict[Key, Session]:
    """The wanted sessions of the simulators."""
    paths = readable(paths)
    if not paths or not wanted:
        return {}

    def every(streams: Iterable[SessionStream]) -> Iterable[tuple[Session, str, str]]:
        for stream in streams:
            for session, digest in stream.with_digests():
                yield session, session.simulator or stream.label, digest

    return _collect(every(group_by_simulator(paths, options)), wanted)
