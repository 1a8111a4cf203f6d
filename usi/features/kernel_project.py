r"""Projecting lower-cased text to ASCII, one character to one character.

After ``str.lower()`` the letters A to Z are free, so they can carry what ASCII lacks: other
decimal digits become ``D``, other word characters ``A``, other white space TAB, all else
``\x01``. Any engine with ASCII semantics then finds exactly what Python's `re` finds with its
Unicode ``\b \w \d \s`` and character counts; lone surrogates need no special case.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt


@cache
def projection_table() -> npt.NDArray[np.uint8]:
    """ASCII code of every code point, shape (0x110000,), by Python's own classes."""
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    table = np.full(len(everything), 0x01, dtype=np.uint8)
    for pattern, code in ((r"\w+", "A"), (r"\d+", "D"), (r"\s+", "\t")):
        for found in re.finditer(pattern, everything):
            table[found.start() : found.end()] = ord(code)
    table[:128] = np.arange(128, dtype=np.uint8)
    return table


def project(lowers: Sequence[str]) -> list[str]:
    """Projection of each lower-cased text; lengths in characters are kept.

    >>> project(["café \u0663", "plain"])
    ['cafA D', 'plain']
    """
    wide = wide_turns(lowers)
    projected = list(lowers)
    if not wide:
        return projected
    joined = "".join([lowers[index] for index in wide])
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    flat = projection_table()[codes].tobytes().decode("ascii")
    at = 0
    for index in wide:
        end = at + len(lowers[index])
        projected[index] = flat[at:end]
        at = end
    return projected


def wide_turns(texts: Sequence[str]) -> list[int]:
    """Indices of the texts that hold a character beyond ASCII."""
    if "".join(texts).isascii():
        return []
    return [index for index, text in enumerate(texts) if not text.isascii()]
