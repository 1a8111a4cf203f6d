"""How much of a feature belongs to the task: intraclass correlation over human batches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed

Array = NDArray[np.float64]


def icc1(sums: Array, squares: Array, counts: Array) -> Estimate:
    """ICC(1) = (MSB - MSW) / (MSB + (m0 - 1) MSW), one-way random effects (Shrout, Fleiss 1979).

    Parameters
    ----------
    sums, squares, counts
        Sum, sum of squares and number of the values of each task, shape (tasks,). m0 is the
        usual mean group size for unequal numbers.

    Returns
    -------
    Estimate
        In [-1, 1], unit ``"correlation"``, n = tasks with a value; below 0 where tasks differ
        less than chance alone would make them.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0, 1.0], [3.0, 3.0, 3.0]])
    >>> icc1(x.sum(axis=1), (x * x).sum(axis=1), np.array([3.0, 3.0])).value
    1.0
    """
    keep = counts > 0
    s, q, m = sums[keep], squares[keep], counts[keep]
    k, total = len(m), float(m.sum())
    if k < 2 or total <= k:
        return not_assessed(
            "needs at least 2 tasks, and tasks with at least 2 sessions", unit="correlation", n=k
        )
    within = max(0.0, float((q - s * s / m).sum()))
    between = max(0.0, float((s * s / m).sum() - s.sum() ** 2 / total))
    msb, msw = between / (k - 1), within / (total - k)
    m0 = (total - float((m * m).sum()) / total) / (k - 1)
    bottom = msb + (m0 - 1) * msw
    if bottom <= 1e-12 * float(q.sum()) / total:  # rounding alone
        return not_assessed("it does not vary", unit="correlation", n=k)
    return Estimate(value=min(1.0, max(-1.0, (msb - msw) / bottom)), n=k, unit="correlation")
