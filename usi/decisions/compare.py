"""What changed between two scorecards of the same people: better, worse, or noise.

Differences of scores that contain an absolute difference get point ± z times the bootstrap
standard error of the difference (the draws are shared, so what the two have in common cancels).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from usi.decisions.bounds import ALPHA, quantile
from usi.estimate import Estimate
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.gaps import FALSE_DISCOVERIES, benjamini_hochberg, two_sided
from usi.scoring.robust.terms import PARTS, ROOT, Terms

Word = Literal["better", "worse", "may be chance", "noise", "unknown"]


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
        ``"unknown"`` without bounds. Of features, ``"better"`` and ``"worse"`` are those that
        Benjamini and Hochberg (1995) reject at a false discovery rate of 5 %; the rest whose bounds
        leave out 0 ``"may be chance"``.
    p_value
        Two-sided tail of difference / standard error; ``None`` without one.
    """

    name: str
    part: str
    a: float
    b: float
    difference: Estimate
    word: Word
    p_value: float | None = None


def judged(
    name: str,
    part: str,
    a: float,
    b: float,
    se: float | None,
    bias: tuple[float, float] = (0.0, 0.0),
) -> Difference:
    """A difference from two scores and its standard error (``None`` = not known).

    Parameters
    ----------
    bias
        Least and largest amount by which B - A may be wrong upward where both are equal; the
        bounds make up for it.
    """
    a, b, value = tidy(a), tidy(b), tidy(b - a)
    if se is None or not np.isfinite(se):
        return Difference(name, part, a, b, Estimate(value=value), "unknown")
    reach = quantile(ALPHA) * se
    low, high = tidy(value - reach - max(0.0, bias[1])), tidy(value + reach - min(0.0, bias[0]))
    word: Word = "better" if low > 0 else "worse" if high < 0 else "noise"
    far = max(0.0, value - max(0.0, bias[1]), min(0.0, bias[0]) - value)
    p = two_sided(far, se, None)
    return Difference(name, part, a, b, Estimate(value=value, low=low, high=high), word, tidy(p))


def paired_differences(
    a: Mapping[str, Terms], b: Mapping[str, Terms], *, even: bool = True
) -> tuple[Difference, ...]:
    """Differences of the index, the components and the features that both have.

    Parameters
    ----------
    a, b
        Terms with replicates of the same draws.
    even
        Whether both have as many sessions a task. If not, the one with fewer has the lower score
        by up to the difference of the largest biases, and bounds are wider by that.

    Returns
    -------
    tuple of Difference
        Index first (the mean of the components that both have), components in their order, then
        features by the size of their change.
    """
    common = [name for name in a if name in b]
    rows, features = [], []
    draws, values_a, values_b, biases = [], [], [], []
    for name in common:
        one, two = a[name], b[name]
        moved = two.replicated() - one.replicated()
        draws.append(moved)
        values_a.append(one.raw)
        values_b.append(two.raw)
        bias = (0.0, 0.0) if even else _bias(one.maxbias - two.maxbias)
        biases.append(bias)
        rows.append(judged(name, "component", one.raw, two.raw, _sd(moved), bias))
        features += _terms(name, one, two, even=even)
    if not rows:
        return ()
    mean = np.mean(draws, axis=0)
    # A mean over fewer components is another quantity, and does not bear the index's name.
    name = "index" if set(PARTS) <= set(common) else f"mean of {len(common)} components"
    index = judged(
        name,
        "index",
        float(np.mean(values_a)),
        float(np.mean(values_b)),
        _sd(mean),
        (float(np.mean([low for low, _ in biases])), float(np.mean([high for _, high in biases]))),
    )
    features = told_of_many(features)
    features.sort(key=lambda row: (-abs(row.difference.value or 0.0), row.name))
    return (index, *rows, *features)


def told_of_many(rows: Sequence[Difference]) -> list[Difference]:
    """Differences of many features, of which only those that stand together keep their word.

    Of twenty features that are equal, two leave out 0 at 90 % by chance. Kept are those that
    Benjamini and Hochberg (1995) reject: among them the expected share of chance is at most 5 %,
    where the features are independent or depend on each other positively, as those of one set of
    sessions mostly do.
    """
    tested = [row for row in rows if row.p_value is not None]
    kept = benjamini_hochberg([row.p_value or 0.0 for row in tested], FALSE_DISCOVERIES)
    stands = {id(row): keep for row, keep in zip(tested, kept, strict=True)}
    return [
        replace(row, word="may be chance")
        if row.word in ("better", "worse") and not stands.get(id(row), False)
        else row
        for row in rows
    ]


def _bias(difference: float) -> tuple[float, float]:
    """Range of the bias of B - A, from largest bias of A minus that of B."""
    return min(0.0, difference), max(0.0, difference)


def _terms(component: str, a: Terms, b: Terms, *, even: bool) -> list[Difference]:
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
        own = _bias(100 * ROOT * float(a.noise[i] - b.noise[j]))
        bias = (0.0, 0.0) if even else own
        rows.append(judged(label, component, score_a, score_b, se, bias))
    return rows


def _sd(draws: np.ndarray) -> float:
    known = draws[~np.isnan(draws)]
    return float(known.std(ddof=1)) if len(known) > 1 else float("nan")
