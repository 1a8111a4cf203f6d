"""One number a session and feature, from the integer columns of the session table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.features.spec import FeatureSpec
from usi.features.values import derive

Array = NDArray[np.float64]


def session_values(frame: pl.DataFrame, specs: Sequence[FeatureSpec]) -> Array:
    """Natural values of every session and feature, from the integers of the session table.

    Parameters
    ----------
    frame
        Session table rows with the count columns of `specs`.
    specs
        Features, in the order of the columns of the result.

    Returns
    -------
    array of shape (sessions, features)
        NaN where a value is undefined (a denominator of 0); NaN never leaves this room.
    """
    if not specs:
        return np.empty((frame.height, 0))
    columns = derive(frame, specs, without_denominator=None)
    return columns.cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(np.float64)


def scored_values(values: Array, specs: Sequence[FeatureSpec]) -> Array:
    """Values on the scale that is averaged: the counted pole, logarithms on a ratio scale.

    A duration that is not above 0 has no logarithm and counts as undefined.
    """
    result = values.copy()
    for column, spec in enumerate(specs):
        if spec.scale == "ratio":
            positive = result[:, column] > 0
            logs = np.full(len(result), np.nan)
            logs[positive] = np.log(result[positive, column])
            result[:, column] = logs
        elif spec.pole == "complement":
            result[:, column] = 1.0 - result[:, column]
    return result


def natural(mean: float, spec: FeatureSpec) -> float:
    """Undo `scored_values` for a mean: natural pole, geometric mean on a ratio scale."""
    if spec.scale == "ratio":
        return float(np.exp(mean))
    return 1.0 - mean if spec.pole == "complement" else mean
