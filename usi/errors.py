"""The few errors that usi raises on purpose; every message says what to do.

`cli/` turns a `UsiError` into one line on stderr and exit code 2. Anything else is a defect
of usi itself and ends with exit code 70.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from usi.reasons import NOT_SCORABLE, Reason
from usi.secrets import hidden


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
