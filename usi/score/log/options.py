"""Choices of one scoring that only logs know."""

from __future__ import annotations

from dataclasses import dataclass

SCOPE = "log-observable"
"""What a card of this profile speaks of: wording and feelings leave no trace in a log."""
TIER_LIMIT = "B"
"""The highest tier that logs alone can certify."""


@dataclass(frozen=True, kw_only=True)
class LogChoices:
    """How two logs are read and compared.

    Attributes
    ----------
    config
        Preset or TOML file; ``None`` where session tables are given, or with `no_classes`.
    timezone
        Zone of times that carry none, in place of the configuration's.
    no_classes
        Go on without a class map; waiting, reopenings and the outcome are not assessed.
    horizon
        Hours of every case that are looked at, the same on both sides.
    standardise
        Whether the simulator's cases are weighted to the people's mix of priority and category.
    """

    config: str | None = None
    timezone: str | None = None
    no_classes: bool = False
    horizon: float | None = None
    standardise: bool = True
