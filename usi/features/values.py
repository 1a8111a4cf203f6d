"""Feature values from the integers of the session table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from usi.features.spec import FeatureSpec

MICROSECONDS_PER_HOUR = 3_600_000_000


def derive(
    frame: pl.DataFrame, specs: Sequence[FeatureSpec], *, without_denominator: float | None
) -> pl.DataFrame:
    """Compute raw feature values (rates in 0 to 1), one column a feature.

    Parameters
    ----------
    frame
        Session table, or any frame with its count columns.
    specs
        Features to compute, in the order of the result.
    without_denominator
        Value where the denominator is 0 (published definition: 0); ``None`` is undefined.

    Returns
    -------
    pl.DataFrame
        Float64 columns with as many rows as ``frame``; null where the counts are null.
    """
    columns = [_column(frame, spec, without_denominator) for spec in specs]
    return pl.DataFrame(columns)


def _column(frame: pl.DataFrame, spec: FeatureSpec, empty: float | None) -> pl.Series:
    if spec.kind == "cv":
        return verbosity_cv(frame).alias(spec.name)
    numerator = frame[spec.numerator]
    if spec.kind == "duration":
        return (numerator / MICROSECONDS_PER_HOUR).cast(pl.Float64).alias(spec.name)
    if spec.kind == "geometric":
        mean = pl.col(spec.numerator) / pl.col(spec.denominator)
        known = pl.when(pl.col(spec.denominator) > 0).then(mean.exp())
        return frame.select(known.alias(spec.name)).to_series()
    if not spec.denominator:
        return numerator.cast(pl.Float64).alias(spec.name)
    expression = (
        pl.when(pl.col(spec.denominator) == 0)
        .then(pl.lit(empty, dtype=pl.Float64))
        .otherwise(pl.col(spec.numerator) / pl.col(spec.denominator))
    )
    return frame.select(expression.alias(spec.name)).to_series()


def verbosity_cv(frame: pl.DataFrame) -> pl.Series:
    r"""Population standard deviation over mean of words a turn, by session.

    With :math:`N` turns of :math:`w_i` words it is
    :math:`\sqrt{N \sum w_i^2 - (\sum w_i)^2} / \sum w_i`, exact under the root; 0 where
    ``N <= 1`` or there are no words; null where the counts are null.
    """
    counted = frame["user_turns"].is_not_null()
    n, words, squares = (
        frame[name].fill_null(0).to_numpy().astype(np.int64)
        for name in ("user_turns", "words", "words_sq")
    )
    value: npt.NDArray[np.float64] = np.zeros(len(n), dtype=np.float64)
    spread = (n > 1) & (words > 0)
    big = spread & (n.astype(np.float64) * squares.astype(np.float64) > 4e18)
    plain = spread & ~big
    under = n[plain] * squares[plain] - words[plain] ** 2
    value[plain] = np.sqrt(under.astype(np.float64)) / words[plain]
    for row in np.flatnonzero(big):  # beyond 64 bits: Python's integers
        exact = int(n[row]) * int(squares[row]) - int(words[row]) ** 2
        value[row] = math.sqrt(exact) / int(words[row])
    return pl.select(
        pl.when(counted).then(pl.Series(value)).otherwise(None).alias("verbosity_cv")
    ).to_series()
