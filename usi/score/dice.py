"""Dice score of two non-negative numbers, and the mean of several as a dimension score."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from usi.errors import UsiError


def dice(human: float, simulator: float) -> float:
    """Likeness of two magnitudes: ``2 min(h, m) / (h + m)`` on absolute values.

    Parameters
    ----------
    human, simulator
        Finite values in the same unit; only the ratio matters.

    Returns
    -------
    float
        In [0, 1]; 1 where both are equal, and by convention where both are zero.

    Raises
    ------
    UsiError
        Where a value is not finite. (The public scorer lets NaN pass as 1.0; this is the one
        place where usi differs from it on purpose.)

    References
    ----------
    arXiv 2603.11245, the User-Sim Index.

    Examples
    --------
    >>> dice(1.0, 3.0), dice(0.0, 0.0), dice(0.0, 0.2)
    (0.5, 1.0, 0.0)
    """
    if not (math.isfinite(human) and math.isfinite(simulator)):
        raise UsiError("a feature without a finite value can't be compared")
    h, m = abs(human), abs(simulator)
    total = h + m
    return 2 * min(h, m) / total if total > 0 else 1.0


def dimension_score(human: Sequence[float], simulator: Sequence[float]) -> float:
    """Mean Dice score over the features of one dimension, in points (0 to 100).

    >>> dimension_score([1.0, 2.0], [3.0, 2.0])
    75.0
    """
    scores = [dice(h, m) for h, m in zip(human, simulator, strict=True)]
    return float(np.mean(scores)) * 100
