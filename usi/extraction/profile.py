"""What a scoring profile brings to feature extraction.

Profiles by name; an unknown name lists near matches.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from usi.errors import UsageError, unknown_name
from usi.extraction.kernel import Flat, Gathered, Ints
from usi.extraction.spec import FeatureSpec
from usi.records import Side, Turn


@dataclass(frozen=True)
class FeatureProfile:
    """A versioned definition of cleaning and counting; everything else is shared.

    Attributes
    ----------
    name, version
        Such as ``robust`` and ``1``; the tag is ``robust@2``.
    lexicon
        Tag of the word lists, such as ``tau19@1``.
    specs
        Its features, in the order in which they are shown.
    columns
        Its own columns of the session table, in order, after the core counts: integers, and
        words where it has `heard`.
    gather
        Conversations of a block and their source -> cleaned user turns.
    count
        Flat turns and what was gathered -> each of ``columns`` by session.
    always
        Those of ``columns`` that hold a number for sessions without a user turn too (what
        cleaning left out); elsewhere counts of such sessions are null.
    types
        Types of those of ``columns`` that are no 64-bit integers.
    titles
        Names of the dimensions where they differ from those of chat.
    without_denominator
        Value of a feature whose denominator is 0; ``None`` is undefined.
    heard
        What was gathered -> messages of the agent, and which of them each turn answers (-1 =
        none): for a profile that keeps hashed words (`usi.extraction.content`).
    for_language
        Language -> the profile that counts sessions in it; ``None`` where the profile has one
        language alone.
    lexical_columns, word_columns
        Columns without a value where there are no word lists, or no words, for a language.
    """

    name: str
    version: str
    lexicon: str
    specs: tuple[FeatureSpec, ...]
    columns: tuple[str, ...]
    gather: Callable[[Sequence[Sequence[Turn]], Side], Gathered]
    count: Callable[[Flat, Gathered], Mapping[str, Ints]]
    without_denominator: float | None = None
    always: tuple[str, ...] = ()
    types: Mapping[str, pl.DataType] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    heard: Callable[[Gathered], tuple[Sequence[str], Ints]] | None = None
    for_language: Callable[[str], FeatureProfile] | None = None
    lexical_columns: frozenset[str] = frozenset()
    word_columns: frozenset[str] = frozenset()

    @property
    def tag(self) -> str:
        """Name and version, such as ``robust@2``."""
        return f"{self.name}@{self.version}"


_MODULES = {"tau-usi": "usi.extraction.published", "robust": "usi.extraction.robust.profile"}
"""Where each profile's ``PROFILE`` stands; imported when it is asked for."""
PROFILES: tuple[str, ...] = tuple(_MODULES)
"""Profiles of conversations."""
_LOG_MODULES = {"log": "usi.logs.features"}
LOG_PROFILES: tuple[str, ...] = tuple(_LOG_MODULES)
"""Profiles of operational logs: one row a case; `usi.logs.extract` makes the tables."""


def get_feature_profile(name: str) -> FeatureProfile:
    """Profile by name, with or without its version (``robust`` or ``robust@2``).

    Raises
    ------
    UsageError
        For an unknown name, or a version that this usi does not have.
    """
    stem, _, version = name.partition("@")
    modules = {**_MODULES, **_LOG_MODULES}
    if stem not in modules:
        raise unknown_name("profile", name, tuple(modules))
    profile: FeatureProfile = importlib.import_module(modules[stem]).PROFILE
    if version and version != profile.version:
        raise UsageError(f"profile {stem!r} has version {profile.version} here, not {version}")
    return profile


def get_specs(profile: str) -> tuple[FeatureSpec, ...]:
    """Features of a profile, in the order in which they are shown."""
    return get_feature_profile(profile).specs
