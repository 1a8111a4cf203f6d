"""Scores within one value of a column: a simulator can be good on average and bad somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from usi.errors import NotScorable
from usi.estimate import Estimate, not_assessed
from usi.options import RobustOptions
from usi.reasons import SUBGROUP_EMPTY
from usi.scoring.robust.card_parts import Extras, components, index_of
from usi.scoring.robust.design import require_column
from usi.scoring.robust.difficulty import Pool
from usi.scoring.robust.reference import Reference
from usi.scoring.robust.study import Study, study
from usi.scoring.scorecard import SubgroupScore

DIFFICULTY = "difficulty"


def part_of(ref: Reference, keep: np.ndarray) -> Reference:
    """Some of the human sessions; which features are scored stays decided by all of them."""
    return replace(ref, frame=ref.frame.filter(pl.Series(keep)), values=ref.values[keep])


def _parts(result: Study, by: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Value, and which human and simulator sessions have it."""
    human, simulator = result.reference.frame, result.frame
    if by == DIFFICULTY:
        if result.on_simulator:
            for k, label in enumerate(result.bins.labels):
                yield label, result.bins.human == k, result.bins.simulator == k
        return
    for side in (human, simulator):
        require_column(side, by, "--by")
    columns = [side[by].cast(pl.String) for side in (human, simulator)]
    for value in sorted(set(columns[0].drop_nulls()) | set(columns[1].drop_nulls())):
        masks = [(column == value).fill_null(False).to_numpy() for column in columns]
        yield value, masks[0], masks[1]


def subgroups(
    result: Study, options: RobustOptions, pool: Pool | None
) -> tuple[SubgroupScore, ...]:
    """Score every value of every column named in `options.by`."""
    found = []
    for by in options.by:
        for value, human, simulator in _parts(result, by):
            found.append(_score(result, by, value, human, simulator, options, pool))
    return tuple(found)


def _score(
    result: Study,
    by: str,
    value: str,
    human: np.ndarray,
    simulator: np.ndarray,
    options: RobustOptions,
    pool: Pool | None,
) -> SubgroupScore:
    if not human.any() or not simulator.any():
        who = "people" if not human.any() else "simulator"
        return SubgroupScore(by=by, value=value, index=not_assessed(SUBGROUP_EMPTY, who=who))
    design = "paired" if result.design.paired else "unpaired"
    own = replace(options, tasks="common", design=design, by=())  # type: ignore[arg-type]
    try:
        part = study(
            part_of(result.reference, human),
            result.frame.filter(pl.Series(simulator)),
            own,
            pool=pool,
        )
    except NotScorable as error:
        return SubgroupScore(by=by, value=value, index=not_assessed(error.reason))
    extras = Extras({}, {})
    names = Estimate.model_fields
    plain = {
        name: Estimate(**{f: getattr(component, f) for f in names})
        for name, component in components(part, extras).items()
    }
    index = index_of(part, extras)
    return SubgroupScore(
        by=by,
        value=value,
        index=Estimate(**{f: getattr(index, f) for f in names}),
        components=plain,
        tasks=len(part.human.units),
    )
