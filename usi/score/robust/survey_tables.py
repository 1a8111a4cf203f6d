"""Survey items added up by task, and their numbers for any weights of the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usi.score.robust.agreement import distances, median_without_one, weighted_kappa
from usi.score.robust.instrument import Item
from usi.score.robust.survey_pairs import Pairs

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ItemTables:
    """One item, added up by task: every task that has a pair weighs 1.

    Attributes
    ----------
    table
        Joint distribution of (human, respondent) by task, shape (units, levels²).
    answered
        Share of the people's valid answers that the respondent answered, by task.
    asked
        1 where people answered the item in the task.
    pairs
        Answered pairs.
    marginal
        Counts of the respondent's answers.
    humans
        Counts of the people's answers (of the pairs).
    worst
        Sum over unanswered pairs of the largest possible error, by task as a share of its pairs.
    """

    item: Item
    table: Array
    answered: Array
    asked: Array
    worst: Array
    pairs: int
    marginal: NDArray[np.int64]
    humans: NDArray[np.int64]


def item_tables(pairs: Pairs, items: Sequence[Item], units: int) -> list[ItemTables]:
    """Add pairs up by task."""
    result = []
    for column, item in enumerate(items):
        k = item.size
        valid = pairs.human[:, column] >= 0
        unit, h, s = pairs.unit[valid], pairs.human[valid, column], pairs.other[valid, column]
        asked_n = np.bincount(unit, minlength=units).astype(float)
        there = s >= 0
        cell = unit[there] * k * k + h[there] * k + s[there]
        counts = np.bincount(cell, minlength=units * k * k).reshape(units, k * k).astype(float)
        n = counts.sum(axis=1, keepdims=True)
        far = distances(k, nominal=item.scale == "nominal").max(axis=1)
        missed = np.bincount(unit[~there], weights=far[h[~there]], minlength=units)
        safe = np.maximum(asked_n, 1.0)
        result.append(
            ItemTables(
                item=item,
                table=np.divide(counts, n, out=np.zeros_like(counts), where=n > 0),
                answered=n[:, 0] / safe,
                asked=(asked_n > 0).astype(float),
                worst=missed / safe,
                pairs=int(there.sum()),
                marginal=np.bincount(s[there], minlength=k),
                humans=np.bincount(h, minlength=k),
            )
        )
    return result


@dataclass(frozen=True)
class ItemNumbers:
    """Numbers of one item for given task weights; arrays over replicates, or over one point."""

    mae: Array
    bias: Array
    kappa: Array
    answered: Array
    worst: Array
    constant: Array


def item_numbers(tables: ItemTables, weights: Array) -> ItemNumbers:
    """Numbers of an item for task weights of shape (replicates, units)."""
    k = tables.item.size
    nominal = tables.item.scale == "nominal"
    d = distances(k, nominal=nominal)
    joint = (weights @ tables.table).reshape(-1, k, k)
    mass = joint.sum(axis=(1, 2))
    step = np.arange(k) / max(1, k - 1)
    signed = np.zeros((k, k)) if nominal else step[None, :] - step[:, None]
    asked = weights @ tables.asked
    share = ratio(weights @ (tables.answered * tables.asked), asked)
    # worst case over what was asked: answered pairs keep their error, the rest take the largest
    error = (tables.table.reshape(-1, k, k) * d).sum(axis=(1, 2)) * tables.answered + tables.worst
    median = median_without_one(tables.humans)
    against = np.zeros(k)
    known = ~np.isnan(median)
    if nominal:
        against[known] = 1.0 - tables.humans.max() / max(1, tables.humans.sum())
    else:
        against[known] = np.abs(np.flatnonzero(known) - median[known]) / max(1, k - 1)
    return ItemNumbers(
        mae=ratio((joint * d).sum(axis=(1, 2)), mass),
        bias=ratio((joint * signed).sum(axis=(1, 2)), mass),
        kappa=weighted_kappa(joint, d),
        answered=share,
        worst=ratio(weights @ (error * tables.asked), asked),
        constant=ratio(joint.sum(axis=2) @ against, mass),
    )


def ratio(top: Array, bottom: Array) -> Array:
    """Quotient, NaN where the bottom is 0."""
    result: Array = np.full(np.shape(top), np.nan)
    np.divide(top, bottom, out=result, where=bottom > 0)
    return result


def mean_of_items(columns: Sequence[Array]) -> Array:
    """Mean over the items that have a value, replicate by replicate; NaN where none has."""
    stack = np.stack(columns)
    there = ~np.isnan(stack)
    return ratio(np.where(there, stack, 0.0).sum(axis=0), there.sum(axis=0).astype(float))
