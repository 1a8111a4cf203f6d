"""What the arguments of a verb name: a reference, a corpus, files that no output may overwrite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from usi.errors import UsageError

if TYPE_CHECKING:
    from usi.corpora.resolve import Corpus


def people_with_sessions(human: str) -> Corpus:
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


def named_corpus(files: Sequence[str]) -> Corpus | None:
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
