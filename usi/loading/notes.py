"""What a loader has to tell beside the sessions: files, what it left out, what was wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from usi.errors import InputError

MAX_PROBLEMS = 10_000
"""Problems kept with their place; a file of millions of bad rows must not fill the memory."""


@dataclass
class InputFile:
    """One file that was read.

    Attributes
    ----------
    name
        As the user gave it; members of an archive as ``archive.zip/member.json``.
    layout
        The format that read it.
    sha256, bytes
        Of the stored bytes of the file (of a member: its own bytes), once it was read whole.
    sessions
        How many sessions came out of it.
    content_digest
        Of these sessions as loaded, in any order (`usi.provenance.content`); if asked for.
    """

    name: str
    layout: str
    sha256: str | None = None
    bytes: int = 0
    sessions: int = 0
    content_digest: str | None = None


LossKind = Literal["dropped", "guessed", "merged"]


@dataclass(frozen=True, order=True)
class Loss:
    """One line of the lossiness note: what was dropped, guessed or merged, and how often."""

    kind: LossKind
    what: str
    count: int


@dataclass
class LoadNotes:
    """Complete when the sessions were read to their end.

    Attributes
    ----------
    left_out
        Reason to count of what the loader set aside or dropped. Reasons that speak of messages
        begin with ``"message: "``, those that speak of sessions with ``"session: "``, those that
        speak of parts of a message or of fields with ``"part: "`` and ``"field: "``.
    guessed, merged
        The same of what was decided by rule because the data don't say it, and of what became
        one thing of several.
    problems
        Bad rows; they are raised together when the stream ends.
    remarks
        What the user should know and need not mend.
    files
        The files, in the order in which they were read.
    roles
        Messages of roles that are not known, by role.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    guessed: Counter[str] = field(default_factory=Counter)
    merged: Counter[str] = field(default_factory=Counter)
    problems: list[InputError] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    files: list[InputFile] = field(default_factory=list)
    more_problems: int = 0
    roles: Counter[str] = field(default_factory=Counter)

    @property
    def layout(self) -> str | None:
        """The format of the files; several joined by ``+``; ``None`` before a file was read."""
        return "+".join(sorted({file.layout for file in self.files})) or None

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The lossiness note, sorted: everything dropped, guessed and merged."""
        kinds: tuple[tuple[LossKind, Counter[str]], ...] = (
            ("dropped", self.left_out),
            ("guessed", self.guessed),
            ("merged", self.merged),
        )
        return tuple(
            Loss(kind, what, count)
            for kind, counts in kinds
            for what, count in sorted(counts.items())
            if count
        )

    def add_problem(self, problem: InputError) -> None:
        """Keep a bad row, up to `MAX_PROBLEMS`."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        else:
            self.more_problems += 1

    def remark(self, text: str) -> None:
        """Keep a remark, once."""
        if text not in self.remarks:
            self.remarks.append(text)
