"""Word lists by language: a pack is a folder of three TOML files, and nothing else.

``lexicons/LANG/robust1.toml``, ``style1.toml`` and ``context1.toml`` hold the same entries as the
English files beside them. A session in a language without a pack has no value in what rests on
word lists: not 0, which would say that its user never says please.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import polars as pl

from usi.errors import InputError
from usi.extraction.language import ENGLISH
from usi.extraction.word_lists import WordLists, load_word_lists

ROBUST, STYLE, CONTEXT = "robust1", "style1", "context1"
NOT_NEEDED = frozenset({"dash"})
"""Entries of the English files that are facts about characters, not about English."""


@dataclass(frozen=True)
class Pack:
    """Word lists of one language, by the stem of their files."""

    language: str
    robust: WordLists
    style: WordLists
    context: WordLists

    @property
    def tag(self) -> str:
        """Names and versions, such as ``de-robust@1+de-style@1+de-context@1``."""
        return "+".join(lists.tag for lists in (self.robust, self.style, self.context))


@cache
def pack_languages() -> tuple[str, ...]:
    """Languages that usi has packs for besides English, sorted."""
    folder = files("usi.extraction").joinpath("lexicons")
    return tuple(
        sorted(
            entry.name
            for entry in folder.iterdir()
            if entry.is_dir() and entry.joinpath(f"{ROBUST}.toml").is_file()
        )
    )


@cache
def load_pack(language: str) -> Pack:
    """Pack of a language.

    Raises
    ------
    InputError
        For a file that does not fit the format, or that lacks an entry.
    """
    lists = {}
    for stem in (ROBUST, STYLE, CONTEXT):
        path = stem if language == ENGLISH else f"{language}/{stem}"
        found = load_word_lists(path)
        have = {entry.name for entry in found.entries}
        missing = {e.name for e in load_word_lists(stem).entries} - have - NOT_NEEDED
        if missing:
            raise InputError(f"lacks the entries {', '.join(sorted(missing))}", file=f"{path}.toml")
        lists[stem] = found
    return Pack(language, lists[ROBUST], lists[STYLE], lists[CONTEXT])


def reason_of(language: str, *, words: bool) -> str | None:
    """What stands beside a session of a language; ``None`` for English.

    Parameters
    ----------
    words
        Whether its words could be counted.
    """
    if language == ENGLISH:
        return None
    how = word_lists_of(language) or "no word lists"
    return f"language: {language} ({how}{'' if words else ', words can not be told apart'})"


def word_lists_of(language: str) -> str | None:
    """Names and versions of the word lists of a language; ``None`` where there are none."""
    return load_pack(language).tag if language in (ENGLISH, *pack_languages()) else None


def languages_in(frame: pl.DataFrame) -> dict[str, int]:
    """Language -> sessions of a table, other than English, sorted."""
    return dict(sorted(_foreign(frame)["language"].value_counts().iter_rows()))


def without_lists(frame: pl.DataFrame) -> tuple[str, ...]:
    """Languages in a table whose sessions no word list can read, sorted."""
    unread = _foreign(frame).filter(pl.col("word_lists").is_null())
    return tuple(sorted(set(unread["language"])))


def _foreign(frame: pl.DataFrame) -> pl.DataFrame:
    """Languages and word lists of the sessions in another language than English."""
    schema = {"language": pl.String(), "word_lists": pl.String()}
    if not schema.keys() <= set(frame.columns):
        return pl.DataFrame(schema=schema)
    return frame.select(*schema).filter(pl.col("language") != ENGLISH)
