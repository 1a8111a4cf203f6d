"""From reading options of the command line to those of the loaders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi.cli.options import parse_size
from usi.errors import UsageError

if TYPE_CHECKING:
    from usi.corpus.resolve import Reference
    from usi.load import LoadOptions


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
    from usi.load import LoadOptions

    given: dict[str, Any] = {"format": format_, "domain": domain, "name": name}
    given |= who_and_where(user_role=user_role, user_speaker=user_speaker, flip=flip, map_=map_)
    if max_record is not None:
        given["max_record"] = parse_size(max_record)
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
    from usi.load.columns import check_map, parse_map

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
    from usi.corpus.resolve import resolve
    from usi.score.people.aggregate import is_aggregate

    if is_aggregate(human):
        raise UsageError(f"{human} is an aggregate and holds no sessions; give the corpus itself")
    return resolve(human)


def named_corpus(files: Sequence[str]) -> Reference | None:
    """The corpus that a single argument names, by its name, a part, or a folder with a manifest."""
    from usi.corpus.manifest import MANIFEST
    from usi.corpus.resolve import corpus_names, resolve

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
