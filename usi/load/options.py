"""What the user may say about how files are read."""

from __future__ import annotations

from dataclasses import dataclass

MAX_RECORD = 64 * 2**20
"""Largest JSON Lines record or array element, in bytes, that is read without being asked to."""


@dataclass(frozen=True)
class LoadOptions:
    """Options of every loader.

    Attributes
    ----------
    format
        Name of a format (see `usi.load.FORMATS`); ``None`` chooses by content.
    domain
        Domain of sessions whose data name none.
    name
        Label of the simulator, instead of the one that the file name gives.
    max_record
        Largest JSON Lines record or array element, in bytes.
    """

    format: str | None = None
    domain: str | None = None
    name: str | None = None
    max_record: int = MAX_RECORD
