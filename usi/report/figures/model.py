"""What a figure shows, without how it is drawn.

The human reference is always blue with squares and solid lines, a simulator orange with circles
and dashes; both colours are of the Okabe-Ito palette and differ in lightness, too. Axes of
points and shares always run over their whole range.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    """One value with its bounds."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Row:
    """One line of an interval figure.

    Attributes
    ----------
    label
        Shown at the left.
    own, human
        The simulator's value, and that of people among themselves.
    ceiling, floor
        What a perfect simulator and the best degenerate user would score.
    threshold
        What the criteria ask for.
    strong
        Whether the row stands out (the index).
    """

    label: str
    own: Mark | None
    human: Mark | None = None
    ceiling: float | None = None
    floor: float | None = None
    threshold: float | None = None
    strong: bool = False


@dataclass(frozen=True)
class Intervals:
    """Dots with intervals on 0 to 100 points.

    Attributes
    ----------
    like
        What 100 points are like.
    """

    title: str
    rows: tuple[Row, ...]
    like: str = "people"


@dataclass(frozen=True)
class Bars:
    """A binned distribution of people and one simulator, shares of sessions from 0.

    Attributes
    ----------
    labels
        What each bin holds.
    human, own
        Shares by bin.
    n_human, n_own
        Sessions behind them.
    unit
        Of the bins.
    """

    title: str
    labels: tuple[str, ...]
    human: tuple[float, ...]
    own: tuple[float, ...]
    n_human: int
    n_own: int
    unit: str
    name: str


@dataclass(frozen=True)
class Pair:
    """Success of people and of the simulator in one bin of difficulty."""

    label: str
    tasks: int
    human: Mark
    own: Mark


@dataclass(frozen=True)
class Scatter:
    """People's success against the simulator's, with the diagonal of equality."""

    title: str
    pairs: tuple[Pair, ...]
    name: str


@dataclass(frozen=True)
class Curves:
    """pass^k of both sides over k, shares from 0 to 1."""

    title: str
    ks: tuple[int, ...]
    human: tuple[Mark | None, ...]
    own: tuple[Mark | None, ...]
    name: str


Figure = Intervals | Bars | Scatter | Curves
HUMAN, OWN = "#0072B2", "#D55E00"
"""Okabe-Ito blue and vermilion."""
