"""What a format is to the loaders: the protocol that every reader keeps, own or of a plug-in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from usi.loading.context import Context
from usi.loading.notes import LoadNotes
from usi.loading.sample import Sample
from usi.records import Session

Lines = Callable[[Iterable[Session], LoadNotes], Iterator[str]]
"""Sessions to lines of text; what is lost is counted in the notes."""
CARRIED: tuple[str, ...] = ("agent", "tools", "task", "run", "outcome", "survey", "person")
"""What a format may carry beside the user's words: what the agent says, tool calls, task ids,
runs (trials, epochs), how it ended (reward), survey answers, and who took part."""


@dataclass(frozen=True)
class About:
    """What a format holds and can carry, for people.

    Attributes
    ----------
    holds
        One line: what a file of it looks like.
    carries
        Which of `CARRIED`.
    lacks
        What it can't carry, or what is lost in reading, in words.
    follows
        The public documentation that the reader was written after.
    version
        Version of the format or of its documentation that was looked at.
    told_by
        What a file of it is recognised by, in words.
    """

    holds: str
    carries: frozenset[str] = frozenset()
    lacks: str = ""
    follows: str = ""
    version: str = ""
    told_by: str = ""


@runtime_checkable
class Reader(Protocol):
    """A module or object that reads one format.

    Attributes
    ----------
    NAME
        What ``--format`` calls it; small letters, digits and hyphens.
    ABOUT
        What it holds and carries.
    """

    NAME: str
    ABOUT: About

    def recognise(self, sample: Sample) -> bool:
        """Whether a file is of this format, by what it holds; False where in doubt."""

    def read(self, context: Context) -> Iterator[Session]:
        """Sessions of one file in its order; what is set aside is counted in the context."""


def carries(*names: str) -> frozenset[str]:
    """Some of `CARRIED`.

    Raises
    ------
    ValueError
        For another name: a defect of the reader.
    """
    unknown = set(names) - set(CARRIED)
    if unknown:
        raise ValueError(f"formats carry {', '.join(CARRIED)}, not {', '.join(sorted(unknown))}")
    return frozenset(names)


@dataclass(frozen=True)
class Target:
    """A format that can be written.

    Attributes
    ----------
    name, suffixes
        What ``--to`` calls it, and the endings of its files.
    lines
        Sessions to lines of text; what is lost is counted in the notes.
    loses
        The same in words.
    """

    name: str
    suffixes: tuple[str, ...]
    lines: Lines
    loses: str


@runtime_checkable
class Writer(Protocol):
    """A reader whose format can be written, too."""

    TARGET: Target
