"""Public corpora that can be fetched: addresses, licences and terms, as data."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from usi.errors import unknown_name

_ABOUT = (
    "title", "licence", "terms", "redistribute", "research_only", "source", "citation",
    "language", "channel", "protocol", "agent", "task_set",
)  # fmt: skip


@dataclass(frozen=True)
class RemoteFile:
    """One file of a public corpus.

    Attributes
    ----------
    name
        Under which it is kept.
    url
        Where it is; or, on the Hugging Face Hub, `hub` (data set) and `path`.
    sha256
        Expected hash; ``None`` where the host packs it anew.
    take
        Patterns of the members of an archive that are data; ``()`` keeps the file as it is.
    """

    name: str
    url: str | None = None
    hub: str | None = None
    path: str | None = None
    sha256: str | None = None
    take: tuple[str, ...] = ()


@dataclass(frozen=True)
class CorpusSource:
    """A public corpus: what its manifest says, and its files."""

    name: str
    about: dict[str, Any]
    files: tuple[RemoteFile, ...]

    @property
    def terms(self) -> str | None:
        """Terms that have to be accepted; ``None`` where the licence is all."""
        terms: str | None = self.about.get("terms")
        return terms


@cache
def known_sources() -> dict[str, CorpusSource]:
    """All corpora of ``sources.toml`` by name."""
    text = resources.files("usi.corpus").joinpath("sources.toml").read_text("utf-8")
    return {name: _source(name, data) for name, data in tomllib.loads(text).items()}


def _source(name: str, data: dict[str, Any]) -> CorpusSource:
    files = tuple(
        RemoteFile(**{**file, "take": tuple(file.get("take", ()))}) for file in data["file"]
    )
    return CorpusSource(name, {k: data[k] for k in _ABOUT if k in data}, files)


def get_source(name: str) -> CorpusSource:
    """A known corpus; the data set's own name on the Hub is understood, too.

    Raises
    ------
    UsageError
        For an unknown name, with near matches.
    """
    sources = known_sources()
    for source in sources.values():
        if name == source.name or any(name == file.hub for file in source.files):
            return source
    raise unknown_name("public corpus", name, list(sources))
