"""The few errors that usi raises on purpose; every message says what to do.

`cli/` turns a `UsiError` into one line on stderr and exit code 2. Anything else is a defect
of usi itself and ends with exit code 70.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from usi.reasons import NOT_SCORABLE, Reason
from usi.secrets import hidden

LONGEST_QUOTED = 24
"""Characters of a value from a file that a message repeats."""
_LIKE_A_TIME = re.compile(
    r"(?=.{1,40}$)[\d\s:/.,+-]*(?:[A-Za-z]{1,3}[\d\s:/.,+-]+){0,4}[A-Za-z]{0,3}"
)


def told(text: str) -> str:
    """A text of a file of transcripts or tickets, as messages and counts name it.

    A mark, a number, a date or a name of at most two short words stands as it is; of anything
    longer only the size is told, since it may be something that a person said.

    >>> told("bot"), told("my name is Ada Lovelace")
    ('bot', 'a text of 23 characters')
    """
    short = len(text) <= LONGEST_QUOTED and len(text.split()) <= 2
    return text if short or _LIKE_A_TIME.fullmatch(text) else f"a text of {len(text):,} characters"


LONGEST_HEADER = 48


def told_columns(names: Iterable[str], most: int) -> str:
    """Names of columns, the first `most` of them, in a message.

    Where one is too long for a header the first row may be what people said: then each is as
    `told`.
    """
    shown = list(names)[:most]
    if any(len(name) > LONGEST_HEADER or "\n" in name for name in shown):
        shown = [told(name) for name in shown]
    return ", ".join(shown)


def quoted(value: object) -> str:
    """A value of such a file in a message: a text as `told`, in quotation marks where it stands.

    >>> quoted("bot"), quoted("my name is Ada Lovelace"), quoted(3), quoted(["a"])
    ("'bot'", 'a text of 23 characters', '3', 'a list')
    """
    if isinstance(value, str):
        return repr(value) if told(value) == value else told(value)
    if value is None or isinstance(value, bool | int | float):
        return f"{value!r:.40}"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return f"a {type(value).__name__}"


class UsiError(Exception):
    """Base of everything that a user can mend. Exit code 2, nothing is scored.

    Secrets are hidden in its message.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(hidden(message))


class InputError(UsiError):
    """A file that can't be read or does not hold what it should.

    Parameters
    ----------
    message
        What is wrong and what to do about it.
    file
        Name of the file as the user gave it (never resolved to an absolute path).
    row
        1-based line (JSON Lines, CSV) or record number (arrays), where one is known.
    field
        Dotted path inside the record, such as ``traj[3].role``.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        row: int | None = None,
        field: str | None = None,
    ) -> None:
        message, file = hidden(message), file and hidden(file)
        self.message, self.file, self.row, self.field = message, file, row, field
        where = ", ".join(
            part
            for part in (
                file or "",
                f"row {row}" if row is not None else "",
                f"field {field}" if field else "",
            )
            if part
        )
        super().__init__(f"{where}: {message}" if where else message)


class InputErrors(InputError):
    """Several bad rows, reported together; ``problems`` holds each of them."""

    def __init__(self, problems: Sequence[InputError]) -> None:
        self.problems = tuple(problems)
        shown = [str(problem) for problem in self.problems[:20]]
        if len(self.problems) > len(shown):
            shown.append(f"... and {len(self.problems) - len(shown)} more problems")
        super().__init__("\n".join(shown))


class NotScorable(UsiError):
    """The data were read, but no honest score follows from them (why, and the way out).

    Parameters
    ----------
    why
        A reason with its code, or a sentence.
    """

    def __init__(self, why: Reason | str) -> None:
        self.reason = why if isinstance(why, Reason) else NOT_SCORABLE(message=why)
        super().__init__(self.reason.text)


class UsageError(UsiError):
    """Options that do not go together, or a name that does not exist."""


def unknown_name(kind: str, name: str, known: Sequence[str]) -> UsageError:
    """Build the error for an unknown name, with near matches and the whole list.

    >>> str(unknown_name("profile", "tau-uis", ["tau-usi", "robust"]))
    "unknown profile 'tau-uis'; did you mean 'tau-usi'? Known: tau-usi, robust"
    """
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return UsageError(f"unknown {kind} {name!r}{hint} Known: {', '.join(known)}")
