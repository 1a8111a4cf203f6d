"""The published index: the mean of its six terms, or of five where there is no survey.

Index of one batch = (D1 + D2 + D3 + D4 [+ Eval] + 100 (1 - ECE)) / 6 [or 5], Eval being the one
number that is already averaged over batches (arXiv 2603.11245).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TERMS_WITH_SURVEY = 6
TERMS_WITHOUT_SURVEY = 5


def index_of_batch(dimensions: Sequence[float], ece: float, survey: float | None) -> float:
    """Index of one batch, in points.

    Parameters
    ----------
    dimensions
        The four dimension scores of the batch, in points.
    ece
        Outcome gap of the batch, 0 to 1.
    survey
        Survey agreement in points, or ``None`` for the five-term index.

    Examples
    --------
    >>> index_of_batch([80.0, 80.0, 80.0, 80.0], 0.1, None)
    82.0
    >>> index_of_batch([80.0, 80.0, 80.0, 80.0], 0.1, 70.0)
    80.0
    """
    outcome = (1 - ece) * 100
    if survey is None:
        return (sum(dimensions) + outcome) / TERMS_WITHOUT_SURVEY
    return (sum(dimensions) + survey + outcome) / TERMS_WITH_SURVEY


def mean_sd(values: Sequence[float]) -> tuple[float, float]:
    """Mean and population standard deviation (ddof 0), as the published tables print them.

    >>> mean_sd([1.0, 3.0])
    (2.0, 1.0)
    """
    return float(np.mean(values)), float(np.std(values))
