"""Rounding of every number that is written or decided on.

The last digits of a float follow the processor: BLAS kernels, vector instructions and fused
multiply-adds sum in another order. Numbers are therefore rounded once, where a card, verdict,
ranking or table takes them, far above that noise (a few parts in 10^14) and far below any
meaning; decisions are taken on the rounded numbers, so that text and verdict agree.
"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import AfterValidator

DIGITS = 12
"""Significant digits of any number that is written: the published metric is defined to 1e-9."""
COMPUTED = 10
"""Of what is summed in floating point: bounds, standard errors, distances, variances."""
FITTED = 6
"""Of what an optimiser finds: coefficients of a classifier."""
SMALLEST = 1e-12
"""A number nearer to 0 than this is 0: what is left of a difference that should vanish."""


def rounded(value: float, digits: int = COMPUTED) -> float:
    """A number with so many significant digits; below 1e-12 it is 0, never minus 0.

    >>> rounded(0.10287206812475476), rounded(-4.5e-17), rounded(2 / 3, DIGITS)
    (0.1028720681, 0.0, 0.666666666667)
    """
    if not math.isfinite(value):
        return value
    return 0.0 if abs(value) < SMALLEST else float(f"{value:.{digits}g}")


def rounded_p(value: float) -> float:
    """A p-value with ten significant digits, however small.

    >>> rounded_p(1.6670533243866152e-62)
    1.667053324e-62
    """
    return float(f"{value:.{COMPUTED}g}")


def _twelve(value: float) -> float:
    return rounded(value, DIGITS)


Number = Annotated[float, AfterValidator(_twelve)]
"""Type of a float field of a model: rounded when the model is made or read."""
PValue = Annotated[float, AfterValidator(rounded_p)]
"""Type of a p-value of a model."""
