"""What changed between two scorecards of the same people: better, worse, or noise.

Differences of scores that contain an absolute difference get point ± z times the bootstrap
standard error of the difference (the draws are shared, so what the two have in common cancels).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from usi.decisions.bounds import ALPHA, quantile
from usi.estimate import Estimate
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.terms import PARTS, Terms

Word = Literal["better", "worse", "noise", "unknown"]


@dataclass(frozen=True)
class Difference:
    """Difference B - A of one score, in points; above 0 = B is nearer to people.

    Attributes
    ----------
    name
        Index, component, or feature.
    part
        ``"index"``, ``"component"``, or the dimension of a feature.
    a, b
        Scores of the two.
    difference
        With 90 % bounds where they are known.
    word
        ``"better"`` or ``"worse"`` where the bounds leave out 0, ``"noise"`` where they hold it,
        ``"unknown"`` without bounds.
    """

    name: str
    part: str
    a: float
    b: float
    difference: Estimate
    word: Word


def judged(name: str, part: str, a: float, b: float, se: float | None) -> Difference:
    """A difference from two scores and its standard error (``None`` = not known)."""
    a, b, value = tidy(a), tidy(b), tidy(b - a)
    if se is None or not np.isfinite(se):
        return Difference(name, part, a, b, Estimate(value=value), "unknown")
    reach = quantile(ALPHA) * se
    low, high = tidy(value - reach), tidy(value + reach)
    word: Word = "better" if low > 0 else "worse" if high < 0 else "noise"
    return Difference(name, part, a, b, Estimate(value=value, low=low, high=high), word)


def paired_differences(a: Mapping[str, Terms], b: Mapping[str, Terms]) -> tuple[Difference, ...]:
    """Differences of the index, the components and the features that both have.

    Parameters
    ----------
    a, b
        Terms with replicates of the same draws.

    Returns
    -------
    tuple of Difference
        Index first (the mean of the components that both have), components in their order, then
        features by the size of their change.
    """
    common = [name for name in a if name in b]
    rows, features = [], []
    draws, values_a, values_b = [], [], []
    for name in common:
        one, two = a[name], b[name]
        moved = two.replicated() - one.replicated()
        draws.append(moved)
        values_a.append(one.raw)
        values_b.append(two.raw)
        rows.append(judged(name, "component", one.raw, two.raw, _sd(moved)))
        features += _terms(name, one, two)
    if not rows:
        return ()
    mean = np.mean(draws, axis=0)
    # A mean over fewer components is another quantity, and does not bear the index's name.
    name = "index" if set(PARTS) <= set(common) else f"mean of {len(common)} components"
    index = judged(name, "index", float(np.mean(values_a)), float(np.mean(values_b)), _sd(mean))
    features.sort(key=lambda row: (-abs(row.difference.value or 0.0), row.name))
    return (index, *rows, *features)


def _terms(component: str, a: Terms, b: Terms) -> list[Difference]:
    rows = []
    for name in a.names:
        if name not in b.names:
            continue
        i, j = a.names.index(name), b.names.index(name)
        se = None
        if a.folded is not None and b.folded is not None:
            se = 100 * _sd(a.folded[:, i] - b.folded[:, j])
        score_a, score_b = (100 * (1 - abs(float(x))) for x in (a.point[i], b.point[j]))
        label = f"outcome {name}" if component == "outcome" else name
        rows.append(judged(label, component, score_a, score_b, se))
    return rows


def _sd(draws: np.ndarray) -> float:
    known = draws[~np.isnan(draws)]
    return float(known.std(ddof=1)) if len(known) > 1 else float("nan")
