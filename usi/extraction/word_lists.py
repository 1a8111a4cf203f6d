r"""Word lists of the profile `robust`: ``match`` and ``unless``, two linear passes.

The format adds to that of `usi.extraction.lexicon` what the mended definitions need: alternatives
without word boundaries (``free``), spans to mask (``unless``), and the two starts ``<S>`` (of a
turn or sentence) and ``<C>`` (of a clause). A blank reads a blank or a newline, since cleaning
leaves no other white space.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from usi.errors import InputError
from usi.extraction.lexicon import BOUNDARY, translate

MASK = "\x01"
"""What a masked span becomes: one character that belongs to no word."""
_WIDE = re.compile(r"[^\x00-\x7f]")
_LETTER = "[A-CE-Za-z]"
r"""``\l`` over projected text: `A` stands for a letter beyond ASCII and `D` for a digit."""


class WordList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One definition: a turn counts where `match` is found, and still is once `unless` is masked.

    Attributes
    ----------
    name
        Column that it fills.
    match, free
        Alternatives with a word boundary at both ends, and as they stand.
    unless, unless_free
        Spans that are masked before the second search, likewise.
    positive, negative
        Turns that count and do not; they run as tests.
    reason
        Why the definition differs from the published one.
    """

    name: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    reason: str
    match: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    unless_free: tuple[str, ...] = ()


class WordLists(msgspec.Struct, frozen=True):
    """A versioned file of definitions."""

    name: str
    version: str
    source: str
    macros: dict[str, str]
    entries: tuple[WordList, ...]

    @property
    def tag(self) -> str:
        """Name and version, such as ``style@1``."""
        return f"{self.name}@{self.version}"

    def __getitem__(self, name: str) -> WordList:
        """Definition of that name; `KeyError` where there is none."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise KeyError(name)

    def pattern(self, name: str) -> str:
        """What is searched, compiled for projected text."""
        entry = self[name]
        return self._compile(entry.match, entry.free)

    def mask(self, name: str) -> str | None:
        """What is masked, compiled for projected text; ``None`` where there is nothing."""
        entry = self[name]
        if not entry.unless and not entry.unless_free:
            return None
        return self._compile(entry.unless, entry.unless_free)

    def _compile(self, bounded: tuple[str, ...], free: tuple[str, ...]) -> str:
        choices = []
        if bounded:
            inner = "|".join(map(self._translate, bounded))
            choices.append(f"{BOUNDARY}(?:{inner}){BOUNDARY}")
        choices += [f"(?:{self._translate(pattern)})" for pattern in free]
        return "|".join(choices)

    def _translate(self, pattern: str) -> str:
        for macro, text in self.macros.items():
            pattern = pattern.replace(f"<{macro}>", text)
        pieces = blanks(pattern).split(r"\l")
        return _LETTER.join(map(_plain, pieces))


def _plain(piece: str) -> str:
    """A piece of a pattern translated; small letters beyond ASCII read the `A` they project to."""
    if piece.isascii():
        return translate(piece)
    inside = escaped = False
    for char in piece:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in "[]":
            inside = char == "["
        elif inside and not char.isascii():
            raise ValueError(f"pattern {piece!r}: no letter beyond ASCII inside [...]")
    return "A".join(map(translate, _WIDE.split(piece)))


def blanks(pattern: str) -> str:
    r"""Pattern in which a blank reads a blank or a newline.

    >>> blanks("how much[ ,]is")
    'how[ \\n]much[ \\n,]is'
    """
    if "[" not in pattern and "\\" not in pattern:
        return pattern.replace(" ", r"[ \n]")
    out: list[str] = []
    inside = escaped = False
    for char in pattern:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in "[]":
            inside = char == "["
        elif char == " ":
            out.append(r" \n" if inside else r"[ \n]")
            continue
        out.append(char)
    return "".join(out)


@cache
def load_word_lists(stem: str) -> WordLists:
    """Read ``usi/extraction/lexicons/<stem>.toml``.

    Raises
    ------
    InputError
        For a file that does not fit the format, naming the entry.
    """
    name = f"{stem}.toml"
    text = files("usi.extraction").joinpath("lexicons", name).read_text(encoding="utf-8")
    try:
        raw: dict[str, Any] = tomllib.loads(text)
        entries = msgspec.convert(raw["entry"], tuple[WordList, ...])
        head = raw["lexicon"]
        lists = WordLists(
            head["name"], head["version"], head["source"], raw.get("macros", {}), entries
        )
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, KeyError) as error:
        raise InputError(f"not a word list: {error}", file=name) from error
    return lists
