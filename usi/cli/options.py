"""Options that several verbs share, and how their text is read.

From reading options of the command line to those of the loaders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from usi.errors import UsageError

if TYPE_CHECKING:
    from usi.corpora.resolve import Reference
    from usi.loading import LoadOptions


T = TypeVar("T")


class Printed(StrEnum):
    """What goes to stdout."""

    AUTO = "auto"
    TABLE = "table"
    JSON = "json"
    NONE = "none"


class RunIds(StrEnum):
    """How session ids of a simulator split into task and run."""

    AUTO = "auto"
    SUFFIX = "suffix"
    NONE = "none"


class SideName(StrEnum):
    """Whose sessions, which decides how messages are cleaned."""

    HUMAN = "human"
    SIMULATED = "simulated"


_FORM, _SAID, _READ = "Output", "What is said", "Reading"

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES...", help="Transcript files or folders; - reads stdin.", show_default=False
    ),
]
Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write FILE; several -o may be given.",
        rich_help_panel=_FORM, show_default=False,
    ),
]  # fmt: skip
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite a file that usi did not write.", rich_help_panel=_FORM),
]
Print = Annotated[
    Printed,
    typer.Option(
        "--print", help="To stdout; auto: a table on a terminal, else JSON.", rich_help_panel=_SAID
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="On stderr nothing but errors.", rich_help_panel=_SAID),
]
ExitZero = Annotated[
    bool,
    typer.Option(
        "--exit-zero",
        help="Exit 0 whatever the data are like; for jobs that only report.",
        rich_help_panel=_SAID,
    ),
]
Profile = Annotated[
    str | None,
    typer.Option("--profile", metavar="NAME", help="Scoring definition.", show_default=False),
]
Domain = Annotated[
    str | None,
    typer.Option(
        "--domain", metavar="NAME", help="Domain of files that name none.",
        rich_help_panel=_READ, show_default=False,
    ),
]  # fmt: skip
Name = Annotated[
    str | None,
    typer.Option(
        "--name", metavar="LABEL", help="Name of the simulator in place of the file's name.",
        rich_help_panel=_READ, show_default=False,
    ),
]  # fmt: skip
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help="Read as FORMAT (see: usi formats), not by content.",
        rich_help_panel=_READ, show_default=False,
    ),
]  # fmt: skip
MaxRecord = Annotated[
    str | None,
    typer.Option(
        "--max-record", metavar="SIZE", help="Largest record that is read, such as 64MB (default).",
        rich_help_panel=_READ, show_default=False,
    ),
]  # fmt: skip

UserRole = Annotated[
    str | None,
    typer.Option(
        "--user-role", metavar="ROLE", help="Messages of this role are the user's.",
        rich_help_panel=_READ, show_default=False,
    ),
]  # fmt: skip
UserSpeaker = Annotated[
    str | None,
    typer.Option(
        "--user-speaker", metavar="NAME", help="Messages of this speaker are the user's.",
        rich_help_panel=_READ, show_default=False,
    ),
]  # fmt: skip
Flip = Annotated[
    bool,
    typer.Option(
        "--flip", help="Swap user and assistant: logs that store the simulator as assistant.",
        rich_help_panel=_READ,
    ),
]  # fmt: skip
Map = Annotated[
    str | None,
    typer.Option(
        "--map", metavar="MAP", show_default=False, rich_help_panel=_READ,
        help="Columns of a table: session=COLUMN,role=COLUMN,text=COLUMN,...",
    ),
]  # fmt: skip

Language = Annotated[
    str | None,
    typer.Option(
        "--language", metavar="CODE", show_default=False, rich_help_panel=_READ,
        help="Language of sessions that declare none, such as de.",
    ),
]  # fmt: skip


def pick(*values: T | None) -> T | None:
    """First value that is given: command line, then settings, then default."""
    return next((value for value in values if value is not None), None)


def load_options(
    *,
    format_: str | None = None,
    domain: str | None = None,
    name: str | None = None,
    max_record: str | int | None = None,
    user_role: str | None = None,
    user_speaker: str | None = None,
    flip: bool = False,
    map_: str | None = None,
) -> LoadOptions:
    """Options of the loaders; what is not given keeps its default."""
    from usi.options import LoadOptions, parse_size

    given: dict[str, Any] = {"format": format_, "domain": domain, "name": name}
    given |= who_and_where(user_role=user_role, user_speaker=user_speaker, flip=flip, map_=map_)
    if max_record is not None:
        given["max_record"] = parse_size(str(max_record))
    return LoadOptions(**given)


def who_and_where(
    *,
    user_role: str | None = None,
    user_speaker: str | None = None,
    flip: bool = False,
    map_: str | None = None,
) -> dict[str, Any]:
    """Who the user is and which column means what: command line over ``[load]`` of the settings.

    A user that the command line names takes the place of whatever the settings say of it.
    """
    from usi.cli.settings import find_workspace
    from usi.options import check_map, parse_map

    own = find_workspace().settings.load
    if user_role is None and user_speaker is None and not flip:
        user_role, user_speaker, flip = own.user_role, own.user_speaker, own.flip
    check_map(own.map)
    return {
        "user_role": user_role,
        "user_speaker": user_speaker,
        "flip": flip,
        "map": own.map if map_ is None else parse_map(map_),
    }


def people_with_sessions(human: str) -> Reference:
    """A human reference of which single sessions are needed.

    Raises
    ------
    UsageError
        Where it is an aggregate, which holds none.
    """
    from usi.corpora.resolve import resolve
    from usi.scoring.aggregate import is_aggregate

    if is_aggregate(human):
        raise UsageError(f"{human} is an aggregate and holds no sessions; give the corpus itself")
    return resolve(human)


def named_corpus(files: Sequence[str]) -> Reference | None:
    """The corpus that a single argument names, by its name, a part, or a folder with a manifest."""
    from usi.corpora.manifest import MANIFEST
    from usi.corpora.resolve import corpus_names, resolve

    if len(files) != 1 or files[0] == "-":
        return None
    path = Path(files[0])
    if path.exists():
        return resolve(path) if (path / MANIFEST).is_file() else None
    known = corpus_names()
    return resolve(files[0]) if {files[0], files[0].rpartition("@")[0]} & {*known} else None


def sources(files: Iterable[str]) -> list[Path]:
    """Every file that the arguments name or hold, which no output may overwrite."""
    found: list[Path] = []
    for name in files:
        path = Path(name)
        if name == "-":
            continue
        found.append(path)
        if path.is_dir():
            found += [inner for inner in path.rglob("*") if inner.is_file()]
    return found
