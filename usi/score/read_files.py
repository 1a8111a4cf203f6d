"""The files that numbers rest on: their content for the card, their bytes for the run record.

A card says what was scored, so it names every input by a digest of its content, which the order
of rows does not change. Whether a file is the very file of then is told by the SHA-256 of its
bytes, which stands in the run record.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from usi.errors import InputError
from usi.features.spec import IDENTITY_SCHEMA
from usi.features.table import SessionTable
from usi.load.logs.digest import lines_of
from usi.run.content import ContentDigest, value_digest
from usi.run.manifest import sha256_file
from usi.score.scorecard import InputFile

_SURVEY_PREFIX = "survey_comparable_"


@dataclass(frozen=True)
class ReadFile:
    """A file that was read.

    Attributes
    ----------
    card
        What a card says of it.
    sha256, bytes
        Of its stored bytes; for the run record.
    """

    card: InputFile
    sha256: str
    bytes: int

    @property
    def order(self) -> tuple[str, str, str]:
        """Place among other files: by role, name, content."""
        return self.card.role, self.card.name, self.card.content_digest


def read_file(
    role: str,
    path: str | Path,
    *,
    layout: str,
    content: str,
    sessions: int = 0,
) -> ReadFile:
    """A file on disk whose content was digested already."""
    card = InputFile(
        role=role, name=Path(path).name, content_digest=content, layout=layout, sessions=sessions
    )
    return ReadFile(card, sha256_file(path), Path(path).stat().st_size)


def table_file(role: str, path: str | Path, table: SessionTable) -> ReadFile:
    """A session table on disk."""
    return read_file(
        role,
        path,
        layout="session-table",
        content=table_digest(table),
        sessions=table.frame.height,
    )


def survey_files(
    directory: str | Path, labels: Iterable[str], *, ordered: Sequence[str] = ()
) -> list[ReadFile]:
    """The survey files of some labels; of those `ordered` the order of entries is content."""
    wanted = tuple(f"{_SURVEY_PREFIX}{label}.json" for label in labels)
    strict = tuple(f"{_SURVEY_PREFIX}{label}.json" for label in ordered)
    return [
        read_file(
            "survey",
            path,
            layout="surveys",
            content=json_digest(path, ordered=path.name.startswith(strict)),
        )
        for path in sorted(Path(directory).iterdir())
        if path.name.startswith(wanted)
    ]


def difficulty_file(path: str | Path) -> ReadFile:
    """The difficulty file."""
    return read_file("difficulty", path, layout="difficulty", content=json_digest(path))


def in_order(paths: Sequence[str | Path]) -> list[str | Path]:
    """Paths by the names of their files: the order in which they were given says nothing."""
    return sorted(paths, key=lambda path: (Path(path).name, str(path)))


def json_digest(path: str | Path, *, ordered: bool = False) -> str:
    """SHA-256 of what a JSON file holds: keys of objects count in any order, white space not.

    With `ordered` the order of keys counts, too.

    A file that is no JSON (or compressed) is taken by its bytes.
    """
    try:
        return value_digest(json.loads(Path(path).read_bytes()), ordered=ordered)
    except OSError as error:
        raise InputError(f"can't read the file ({error.strerror})", file=str(path)) from error
    except (ValueError, RecursionError):
        return sha256_file(path)


def table_digest(table: SessionTable) -> str:
    """Digest of a session table, whatever the order of its rows.

    Only what its file gave counts: keys that were resolved later, and the place in the file, do
    not.
    """
    later = {"seq", "task", "run", "batch"}
    names = [name for name in IDENTITY_SCHEMA if name not in later]
    names += sorted(name for name in table.frame.columns if name not in IDENTITY_SCHEMA)
    found = ContentDigest()
    for line in lines_of(table.frame.select(names)):
        found.add(line)
    return found.hexdigest()
