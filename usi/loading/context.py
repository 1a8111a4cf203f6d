"""What a format's reader is given beside its file: options, and where to note things."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from usi.errors import InputError, told
from usi.loading.fields import BadField
from usi.loading.jsonstream import Cursor
from usi.loading.labels import domain_for
from usi.loading.notes import InputFile, LoadNotes
from usi.loading.role_names import OTHER_ROLE, usual_name
from usi.loading.source import Source, Stream
from usi.options import LoadOptions
from usi.reading import as_input_error
from usi.records import Session

Made = TypeVar("Made")
MAX_ROLES = 1000
"""Names of roles that are counted apart; a file may have a name a message."""
Records = Iterable[tuple[int, Mapping[str, Any]]]
"""Records with the rows that they stand in."""


def mark_of(content: Any) -> bytes:
    """Digest of plain values, to tell copies from other content."""
    try:
        data = msgspec.json.encode(content)
    except (TypeError, ValueError, OverflowError, RecursionError):  # what JSON has no form for
        data = repr(content).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).digest()


@dataclass
class Context:
    """One file being read.

    Attributes
    ----------
    source, options, notes
        The file, what the user asked for, and where remarks go.
    label
        Simulator's label of sessions that carry none.
    file
        What is noted of the file.
    seen
        Keys of sessions that were read under this label, to find duplicates.
    sessions_of_records
        Reads numbered records of a table as if they were lines of JSON; see `read_records`.
    """

    source: Source
    options: LoadOptions
    notes: LoadNotes
    label: str
    file: InputFile
    seen: set[Any] = field(default_factory=set)
    sessions_of_records: Callable[[Context, Records], Iterator[Session]] | None = None
    _cursor: Cursor | None = None
    _row: int | None = None

    def domain(self, found: str | None) -> str:
        """Apply the domain rule."""
        return domain_for(found, self.options.domain, self.source.filename)

    @contextmanager
    def open(self, part: Source | None = None) -> Iterator[Stream]:
        """Open the file (or a part of it) to read its sessions; notes its digest at the end."""
        file = self.file if part is None else InputFile(part.name, self.file.layout, sessions=1)
        if part is not None:
            self.notes.files.append(file)
        with (part or self.source).open() as stream:
            yield stream
            file.sha256, file.bytes = stream.digest()

    def read_records(self, records: Records) -> Iterator[Session]:
        """Sessions of a table with one record a row, read by the format that the records have."""
        if self.sessions_of_records is None:
            raise InputError("holds one record a row", file=self.source.name)
        return self.sessions_of_records(self, records)

    def cursor(self, stream: Stream) -> Cursor:
        """A cursor over the opened file."""
        self._cursor = Cursor(stream, file=self.source.name, max_record=self.options.max_record)
        return self._cursor

    def row(self) -> int | None:
        """Row that is being read, where one is known."""
        return self._cursor.row if self._cursor is not None else self._row

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count something that is set aside."""
        self.notes.left_out[reason] += count

    def is_chosen(self, role: Any, name: Any) -> bool:
        """Whether the caller named this role or speaker as the user: then it is never set aside."""
        wanted = self.options
        return (wanted.user_role is not None and role == wanted.user_role) or (
            wanted.user_speaker is not None and name == wanted.user_speaker
        )

    def role(self, found: Any, name: Any = None) -> Any:
        """A role by its usual name (`usual_name`); one that the caller chose stays as it is."""
        return found if self.is_chosen(found, name) else usual_name(found)

    def note_role(self, role: Any) -> None:
        """Count a message whose role is not known, by the role."""
        if len(self.notes.roles) < MAX_ROLES or role in self.notes.roles:
            self.notes.roles[told(role) if isinstance(role, str) else "no role"] += 1

    def other_role(self, role: Any) -> None:
        """Set a message aside whose role is not known."""
        self.leave_out(OTHER_ROLE)
        self.note_role(role)

    def guess(self, what: str, count: int = 1) -> None:
        """Count something that the data don't say and that a rule decided."""
        self.notes.guessed[what] += count

    def merge(self, what: str, count: int = 1) -> None:
        """Count things that became one."""
        self.notes.merged[what] += count

    def is_new(self, key: Any, reason: str) -> bool:
        """Whether a session of this key was not read before; a repeated one is counted."""
        if key in self.seen:
            self.leave_out(reason)
            return False
        self.seen.add(key)
        return True

    def run_of(
        self, key: Any, trial: str | None, content: Any, reason: str
    ) -> tuple[str | None] | None:
        """The trial of a session whose task and trial may have been read before.

        One result file a run is usual, and each begins with trial 0: another talk under the same
        key is another run, ``0+2`` the second. Only the same talk is a duplicate: ``None``, and
        counted.

        Parameters
        ----------
        key
            What names the session.
        trial
            Trial as found.
        content
            What the session holds.
        reason
            Under which a duplicate is counted.
        """
        if not self.is_new(("content", key, mark_of(content)), reason):
            return None
        number = 1
        while (key, number) in self.seen:
            number += 1
        self.seen.add((key, number))
        if number == 1:
            return (trial,)
        self.guess(
            "session: another talk of a task and trial that were read; taken for another run"
        )
        return (f"{trial or ''}+{number}",)

    def build(self, make: Callable[[], Session | None], row: int | None) -> Session | None:
        """Make a session; whatever is wrong becomes a noted problem and gives ``None``."""
        return self.made(make, row)

    def made(self, make: Callable[[], Made], row: int | None) -> Made | None:
        """Make something of a row; whatever is wrong becomes a noted problem and gives ``None``."""
        self._row = row
        try:
            return make()
        except BadField as bad:
            problem = bad.at(self.source.name, row)
        except Exception as error:  # noqa: BLE001  the boundary: whatever a reader raises
            problem = as_input_error(error, self.source.name, row)
        self.notes.add_problem(problem)
        return None
