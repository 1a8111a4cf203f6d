"""Where every session stands: its unit (task or cluster) and what is drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.score.robust.design import Design, joined_clusters, own_clusters, require_column
from usi.score.robust.options import RobustOptions

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Placement:
    """Units of both sides.

    Attributes
    ----------
    human, simulator
        Unit index of every session, -1 = not compared.
    human_units, simulator_units
        Names of the units; the same in paired designs.
    cluster
        Cluster of each unit where several are drawn together; else ``None``.
    unit_name
        What is resampled, for messages.
    """

    human: Index
    simulator: Index
    human_units: tuple[str, ...]
    simulator_units: tuple[str, ...]
    cluster: Index | None
    unit_name: str


def unit_index(labels: pl.Series, units: Sequence[str]) -> Index:
    """Index of every label among the units, -1 where it is none of them."""
    place = {unit: k for k, unit in enumerate(units)}
    values = labels.cast(pl.String).to_list()
    return np.array([place.get(v, -1) if v is not None else -1 for v in values], dtype=np.int64)


def placement(
    human: pl.DataFrame, simulator: pl.DataFrame, design: Design, options: RobustOptions
) -> Placement:
    """Place the sessions of both sides.

    Raises
    ------
    UsageError
        For a cluster column that does not exist.
    """
    if not design.paired:
        (name_h, labels_h), (name_s, labels_s) = (
            own_clusters(side, options.cluster) for side in (human, simulator)
        )
        units_h, units_s = (tuple(sorted(set(labels))) for labels in (labels_h, labels_s))
        name = name_h if name_h == name_s else f"{name_h} (people), {name_s} (simulator)"
        return Placement(
            unit_index(labels_h, units_h), unit_index(labels_s, units_s), units_h, units_s,
            None, name,
        )  # fmt: skip
    units = design.common
    index = [unit_index(side[design.unit], units) for side in (human, simulator)]
    cluster, name = None, design.unit
    if options.cluster not in ("task", design.unit):
        labels = []
        for side, own in zip((human, simulator), index, strict=True):
            require_column(side, options.cluster, "--cluster")
            labels.append(side[options.cluster].filter(pl.Series(own >= 0)))
        cluster = joined_clusters([own[own >= 0] for own in index], labels)
        name = f"{design.unit} joined with {options.cluster}"
    return Placement(index[0], index[1], units, units, cluster, name)
