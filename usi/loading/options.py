"""What the user may say about how files are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from usi.errors import UsageError

MAX_RECORD = 64 * 2**20
"""Largest JSON Lines record or array element, in bytes, that is read without being asked to."""


@dataclass(frozen=True)
class LoadOptions:
    """Options of every loader.

    Attributes
    ----------
    format
        Name of a format (see `usi.loading.FORMATS`); ``None`` chooses by content.
    domain
        Domain of sessions whose data name none.
    name
        Label of the simulator, instead of the one that the file name gives.
    max_record
        Largest JSON Lines record or array element, in bytes.
    user_role
        Role whose messages are the user's, as it is written in the data; messages of the role
        ``user`` are then the agent's. A session without this role is read by rule.
    user_speaker
        The same by the speaker's name.
    flip
        User and assistant change places: logs that were written from the simulator's view.
    map
        Of tables: what is meant -> name of the column (``session``, ``role``, ``text``, ...).
    """

    format: str | None = None
    domain: str | None = None
    name: str | None = None
    max_record: int = MAX_RECORD
    user_role: str | None = None
    user_speaker: str | None = None
    flip: bool = False
    map: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chosen = [
            name
            for name, given in (
                ("--user-role", self.user_role is not None),
                ("--user-speaker", self.user_speaker is not None),
                ("--flip", self.flip),
            )
            if given
        ]
        if len(chosen) > 1:
            raise UsageError(f"{' and '.join(chosen)} both say who the user is: give one of them")
