"""Word lists as data: reading, checking and compiling `lexicons/*.toml`.

Patterns stay in the subset that every automaton runs in linear time. They are written with the
meaning that Python's `re` gives them on lower-cased text and compiled for the ASCII projection
of that text (`usi.extraction.kernel`), where both engines agree exactly.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from usi.errors import InputError

How = Literal["search", "whole", "count"]

ANY = r"[\x00-\x09\x0b-\x7f]"
"""What a dot reads: any character but a newline."""
BOUNDARY = r"(?-u:\b)"
_CLASSES = {"w": "0-9A-Z_a-z", "d": "0-9D", "s": r"\x09-\x0d\x1c-\x20"}
"""Classes over projected text: `D` stands for a decimal digit and `A` for a letter that ASCII
does not have; the four separators U+001C to U+001F are white space as in Python."""
_PLAIN = re.compile(r"[ !\"#$%&'*+,\-/0-9:;<=>?@^_`a-z{|}~]*")
"""Patterns that read the same over projected text: no group, class, escape or dot."""
_ESCAPABLE = frozenset(r"\.+*?()|[]{}^$-#&~/@'") | frozenset('"')


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One feature's word list.

    Attributes
    ----------
    name
        Column of the session table (or another name that the profile's code gives it).
    how
        ``search``, ``whole`` (of the stripped turn) or ``count`` (non-overlapping matches).
    match
        Alternatives, in the order in which they are tried.
    bounded
        Whether a word boundary stands at both ends of every alternative (not with ``whole``).
    tail
        Pattern that may follow the match of ``whole``.
    positive, negative
        Turns that do and do not count; they run as tests.
    """

    name: str
    match: tuple[str, ...]
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    how: How = "search"
    bounded: bool = True
    tail: str = ""

    def pattern(self) -> str:
        """Pattern of ``match`` for projected text."""
        return _compiled(self.match, self.how, self.bounded, self.tail)


@cache
def _compiled(alternatives: tuple[str, ...], how: How, bounded: bool, tail: str) -> str:
    choice = f"(?:{'|'.join(translate(pattern) for pattern in alternatives)})"
    if how == "whole":
        blank = f"[{_CLASSES['s']}]*"
        return rf"\A{blank}{choice}{translate(tail)}{blank}\z"
    return f"{BOUNDARY}{choice}{BOUNDARY}" if bounded else choice


class _Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    version: str
    source: str


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lexicon: _Head
    entry: tuple[Entry, ...]


class Lexicon(msgspec.Struct, frozen=True):
    """A versioned set of word lists; `tag` is what signatures and tables carry."""

    name: str
    version: str
    source: str
    entries: tuple[Entry, ...]

    @property
    def tag(self) -> str:
        """Name and version, such as ``tau19@1``."""
        return f"{self.name}@{self.version}"

    def __getitem__(self, name: str) -> Entry:
        """Entry of that name; `KeyError` where there is none."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise KeyError(name)


def translate(pattern: str) -> str:
    r"""Rewrite a pattern for the ASCII projection of lower-cased text.

    Parameters
    ----------
    pattern
        Linear-time subset of Python's syntax, lower case, ASCII.

    Returns
    -------
    str
        The same meaning in the Rust engine's syntax over projected text.

    Raises
    ------
    ValueError
        For look-around, back-references, capital letters and whatever else is outside.

    Examples
    --------
    >>> translate(r"i'?d\b")
    "i'?d(?-u:\\b)"
    >>> translate(r"\d+")
    '[0-9D]+'
    """
    if _PLAIN.fullmatch(pattern):
        return pattern
    out: list[str] = []
    inside = False  # inside a character class
    i = 0
    while i < len(pattern):
        char = pattern[i]
        pair = pattern[i : i + 2]
        if char == "\\":
            out.append(_escape(pair[1:], inside, pattern))
            i += 2
            continue
        if not char.isascii() or char.isupper():
            raise ValueError(f"pattern {pattern!r}: only lower-case ASCII can match, not {char!r}")
        if inside and (char == "[" or pair in ("&&", "--", "~~")):
            raise ValueError(f"pattern {pattern!r}: nested classes and set operators are refused")
        if not inside and pair == "(?" and pattern[i + 2 : i + 3] != ":":
            raise ValueError(f"pattern {pattern!r}: only (?:...) groups, no look-around or flags")
        if not inside and char == "(" and pair != "(?":
            raise ValueError(f"pattern {pattern!r}: write groups as (?:...)")
        if char == "[":
            inside = True
        elif char == "]":
            inside = False
        out.append(ANY if char == "." and not inside else char)
        i += 1
    return "".join(out)


def _escape(char: str, inside: bool, pattern: str) -> str:
    if char in _CLASSES and char:
        return _CLASSES[char] if inside else f"[{_CLASSES[char]}]"
    if char == "b" and not inside:
        return BOUNDARY
    if char == "n":
        return r"\n"
    if char and char in _ESCAPABLE:
        return f"\\{char}" if char not in "/@'\"" else char
    raise ValueError(f"pattern {pattern!r}: escape \\{char} is outside the allowed subset")


def parse_lexicon(text: str, *, file: str) -> Lexicon:
    """Read and check a lexicon's TOML text.

    Raises
    ------
    InputError
        For TOML that can't be read, unknown or missing keys, names given twice, a list without
        examples, and patterns outside the linear-time subset.
    """
    try:
        document = msgspec.convert(tomllib.loads(text), _Document)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InputError(f"not a lexicon: {error}", file=file) from error
    seen: set[str] = set()
    for entry in document.entry:
        if entry.name in seen:
            raise InputError("this name stands twice", file=file, field=entry.name)
        seen.add(entry.name)
        if not (entry.match and entry.positive and entry.negative):
            raise InputError(
                "needs at least one pattern, one positive and one negative example",
                file=file,
                field=entry.name,
            )
        try:
            entry.pattern()
        except ValueError as error:
            raise InputError(str(error), file=file, field=entry.name) from error
    head = document.lexicon
    return Lexicon(head.name, head.version, head.source, document.entry)


@cache
def load_lexicon(stem: str) -> Lexicon:
    """Lexicon that usi ships, by the stem of its file below ``usi/extraction/lexicons``."""
    name = f"{stem}.toml"
    text = files("usi.extraction").joinpath("lexicons", name).read_text(encoding="utf-8")
    return parse_lexicon(text, file=name)
