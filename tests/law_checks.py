"""The laws that a metric must obey, as checks that raise `Broken`; `test_laws.py` applies them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, database=None)
amounts = st.floats(min_value=0, max_value=1e6, allow_nan=False, allow_subnormal=False)


class Broken(AssertionError):
    """A law does not hold."""


def hold(condition: bool, law: str, *shown: object) -> None:
    if not condition:
        raise Broken(f"{law}: {shown}")


Number = Callable[[float, float], float]


@dataclass(frozen=True)
class PairMetric:
    """A likeness in [0, 1] of two amounts, with the laws that are claimed for it."""

    function: Number
    laws: frozenset[str] = frozenset({"bounds", "identity", "symmetry", "monotone", "no_nan"})
    values: st.SearchStrategy[float] = field(default=amounts, repr=False)


def check_pair(metric: PairMetric) -> None:
    """Bounds, identity, symmetry, falling with distance, and no number for a missing value."""
    f = metric.function

    @SETTINGS
    @given(metric.values, metric.values, st.floats(1.001, 100), st.floats(1.001, 100))
    def laws(a: float, b: float, near: float, further: float) -> None:
        value = f(a, b)
        if "bounds" in metric.laws:
            hold(0 <= value <= 1, "bounds", a, b, value)
        if "identity" in metric.laws and a > 0:
            hold(f(a, a) == 1, "identity", a, f(a, a))
        if "symmetry" in metric.laws:
            hold(math.isclose(value, f(b, a), abs_tol=1e-12), "symmetry", a, b)
        if "monotone" in metric.laws and a > 1e-6:
            one, two = f(a, a * near), f(a, a * near * further)
            hold(two < one + 1e-12, "monotone", a, near, further)
            hold(one < 1, "responds to a change", a, near)

    laws()
    if "no_nan" in metric.laws:
        for pair in ((math.nan, 1.0), (1.0, math.nan), (math.nan, math.nan)):
            try:
                value = f(*pair)
            except Exception:  # noqa: BLE001 - any refusal will do, a number will not
                continue
            hold(False, "a missing value has no score", pair, value)


@dataclass(frozen=True)
class FeatureLaw:
    """How a registered feature must respond.

    Attributes
    ----------
    parameter
        The phantom's parameter that drives it, or `None` where it is constant on the phantom.
    low, high
        Values of that parameter; a mean rate, or a factor for sizes.
    rises
        Whether the feature rises with the parameter.
    """

    parameter: str | None
    low: float = 0.02
    high: float = 0.25
    rises: bool = True


def unclassified(names: Sequence[str], table: dict[str, object]) -> set[str]:
    """Registered names without laws, and laws without a registered name."""
    return set(names) ^ set(table)


def check_values(kind: str, name: str, values: Sequence[float | None]) -> None:
    """Bounds of a feature's values by its kind; undefined is null, never NaN."""
    for value in values:
        if value is None:
            continue
        hold(math.isfinite(value), "finite", name, value)
        hold(value >= 0, "bounds", name, value)
        if kind in ("rate", "share", "flag"):
            hold(value <= 1, "bounds", name, value)
        if kind == "flag":
            hold(value in (0, 1), "a flag is 0 or 1", name, value)


def check_response(law: FeatureLaw, name: str, means: Sequence[float], like: Number) -> None:
    """Means at rising corruption: strictly monotone, and likeness to the first strictly falls."""
    steps = list(pairwise(means))
    moves = all(b > a if law.rises else b < a for a, b in steps)
    hold(moves, "monotone response", name, means)
    scores = [like(means[0], value) for value in means]
    hold(all(b < a for a, b in pairwise(scores)), "score falls", name, scores)
