"""How alike two sides are in one feature, by the scale it is measured on."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from usi.errors import UsageError
from usi.estimate import Estimate, unscorable
from usi.reasons import NEITHER_SHOWS, PEOPLE_CONSTANT, SIDE_EMPTY


def similarity(
    simulator: ArrayLike,
    human: ArrayLike,
    *,
    scale: Literal["amount", "ratio", "interval"] = "amount",
) -> Estimate:
    """Similarity of two samples in [0, 1]; 1 = alike.

    Parameters
    ----------
    simulator, human
        One value a session; not empty, finite.
    scale
        ``"amount"``: Dice of the means, 1 - abs(a - b) / (a + b), for values >= 0.
        ``"ratio"`` (durations): 1 - tanh(abs(mean log a - mean log b) / 2), which is Dice of the
        geometric means and does not depend on the unit. ``"interval"``:
        1 - min(1, W1 / sd of the humans).

    Returns
    -------
    Estimate
        Unit ``"share"``; unscorable where both sides are 0, or the humans do not vary.

    Examples
    --------
    >>> similarity([1.0, 3.0], [1.0, 1.0]).value
    0.6666666666666667
    >>> round(similarity([120.0], [60.0], scale="ratio").value, 4)
    0.6667
    >>> similarity([0.0], [0.0]).reason.code
    'neither_shows'
    """
    a, b = (np.asarray(side, dtype=np.float64).ravel() for side in (simulator, human))
    if not len(a) or not len(b) or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return unscorable(SIDE_EMPTY, unit="share")
    if scale == "ratio":
        if min(a.min(), b.min()) <= 0:
            raise UsageError("a ratio scale needs values above 0")
        gap = abs(float(np.log(a).mean() - np.log(b).mean()))
        return Estimate(value=1 - float(np.tanh(gap / 2)), unit="share")
    if scale == "interval":
        from scipy.stats import wasserstein_distance

        spread = float(b.std())
        if spread == 0:
            return unscorable(PEOPLE_CONSTANT, unit="share")
        return Estimate(value=1 - min(1.0, wasserstein_distance(a, b) / spread), unit="share")
    if min(a.min(), b.min()) < 0:
        raise UsageError("Dice needs values of 0 or more; this feature is on an interval scale")
    mean_a, mean_b = float(a.mean()), float(b.mean())
    if mean_a + mean_b == 0:
        return unscorable(NEITHER_SHOWS, unit="share")
    return Estimate(value=1 - abs(mean_a - mean_b) / (mean_a + mean_b), unit="share")
