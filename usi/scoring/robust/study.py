"""One simulator against one human reference, from session tables to scored components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.errors import NotScorable
from usi.options import RobustOptions
from usi.reasons import (
    FEATURES_RARE,
    FEW_SESSIONS_SHOW,
    NO_COMMON_BIN,
    NO_USER_TURNS,
    ONE_PARTICIPANT,
    ONE_UNIT,
    TASKS_DIFFER,
    Reason,
)
from usi.scoring.robust.bounds import Interval, Score, interval_rule, score_terms
from usi.scoring.robust.ceiling import ceilings, perfect_errors
from usi.scoring.robust.crossed import Block, People, people_of, session_weights
from usi.scoring.robust.design import Design, detect_design, placement, require_column
from usi.scoring.robust.difficulty import Bins, Pool, assign_bins
from usi.scoring.robust.outcome import Success, label_indicators, other_agents, successes
from usi.scoring.robust.reference import Reference, scorable_rows
from usi.scoring.robust.scorable import STYLE, Selection, scored_values, select, select_style
from usi.scoring.robust.sums import SideSums, side_sums
from usi.scoring.robust.terms import Contrast, Terms, all_terms, contrast, feature_terms

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Style:
    """The score of the style features, which is no term of the index.

    Attributes
    ----------
    selection
        Features that enter it.
    score, ceiling
        Score, and what a perfect simulator would reach; ``None`` where `reason` says why not.
    """

    selection: Selection
    score: Score | None
    ceiling: float | None
    reason: Reason | None


@dataclass(frozen=True)
class Study:
    """A simulator against the reference, scored.

    Attributes
    ----------
    reference, frame, values
        The human side, and the simulator's sessions that count with their natural values.
    design, unit_name
        The design, and what is resampled.
    success, bins
        Outcomes of both sides and their difficulty bins.
    human, simulator
        Sums of both sides.
    on_simulator
        See `usi.scoring.robust.difficulty.Bins`.
    selections
        Features scored in each dimension.
    data
        Means, errors, replicates.
    terms, scores, ceiling
        By component; a component that can't be assessed is absent, `reasons` says why.
    style
        Score of the style features.
    rule
        How standard errors become bounds.
    people
        Participants behind the human sessions; ``None`` where none is known to have done two.
    seed
        Seed of its draws.
    """

    reference: Reference
    frame: pl.DataFrame
    values: Array
    design: Design
    unit_name: str
    success: Success
    bins: Bins
    human: SideSums
    simulator: SideSums
    selections: dict[str, Selection]
    data: Contrast
    terms: dict[str, Terms]
    scores: dict[str, Score]
    ceiling: dict[str, float]
    style: Style
    reasons: dict[str, Reason]
    rule: Interval
    people: People | None
    seed: int

    @property
    def on_simulator(self) -> bool:
        """Whether the simulator's sessions have bins of their own."""
        return self.bins.on_simulator or not self.design.paired


def _splits(frame: pl.DataFrame, column: str) -> list[str]:
    return [str(value) for value in frame[column].cast(pl.String).fill_null("1").to_list()]


def study(
    ref: Reference,
    simulator: pl.DataFrame,
    options: RobustOptions,
    *,
    pool: Pool | None = None,
    weight: str | None = None,
) -> Study:
    """Score one simulator against the reference.

    Parameters
    ----------
    ref
        The human side, from `reference`.
    simulator
        Session table of the simulator, with keys.
    options
        Choices of the profile.
    pool
        Difficulty of tasks from outcomes that are not being scored.
    weight
        Column of the simulator's sessions with what each counts for (standardisation to the
        people's mix); taken as known in the bootstrap. ``None``: 1 each.

    Raises
    ------
    NotScorable
        Where no session counts, or the design can't be scored; the message names the way out.
    """
    rows = scorable_rows(simulator)
    if not rows.height:
        raise NotScorable(NO_USER_TURNS())
    specs = ref.specs
    design = detect_design(ref.frame, rows, options, every=simulator)
    place = placement(ref.frame, rows, design, options)
    if options.strata is not None:
        for side in (ref.frame, rows):
            require_column(side, options.strata, "--strata")
    success = successes(ref.frame, rows, options.success_at)
    strangers = None if options.other_agent else other_agents(ref.frame, rows)
    if strangers and success.reason is None:
        none = [np.full(side.height, np.nan) for side in (ref.frame, rows)]
        success = Success(none[0], none[1], success.threshold, strangers, success.missing)
    inside = place.human >= 0, place.simulator >= 0
    bins = _bins(ref.frame, rows, *inside, success.human, design, options, pool)
    names = tuple(spec.name for spec in specs)
    values = ref.values_of(rows)
    people = (ref.frame, place.human, place.human_units, ref.values, success.human, bins.human)
    model = (rows, place.simulator, place.simulator_units, values, success.simulator,
             bins.simulator)  # fmt: skip
    sides = []
    for (frame, index, units, natural, y, bin_index), split in (
        (people, "batch"),
        (model, "run"),
    ):
        sides.append(
            side_sums(
                unit=index,
                units=units,
                split=_splits(frame, split),
                bin_index=bin_index,
                bins=bins.labels,
                features=names,
                values=scored_values(natural, specs),
                hits=(natural > 0).astype(np.float64),
                success=y,
                labels=label_indicators(frame),
                cluster=place.cluster,
                weight=rows[weight].to_numpy() if weight and frame is rows else None,
                grids=ref.grids,
            )
        )
    human, sim = sides
    on_simulator = bins.on_simulator or not design.paired
    data = contrast(
        sim,
        human,
        paired=design.paired,
        on_simulator=on_simulator,
        replicates=options.replicates,
        seed=options.seed,
    )
    behind = _people(ref, place.human, success.human, bins.human, data)
    added = None
    if behind is not None:
        added = behind.column_variance()
        data = replace(data, se=np.sqrt(data.se**2 + added))
    selections = select(specs, ref.verdicts, paired=design.paired, pools=ref.pools)
    terms = all_terms(data, specs, selections)
    rule = interval_rule(
        data.clusters, paired=design.paired, participants=behind.participants if behind else None
    )
    scores = {name: score_terms(own, rule, behind) for name, own in terms.items()}
    reasons = _reasons(selections, terms, success, bins)
    alone = behind is not None and behind.participants < 2
    _drop_unbounded(terms, scores, reasons, data, place.unit_name, alone=alone)
    errors = perfect_errors(sim, human, data, added)
    chosen = select_style(specs, ref.verdicts, paired=design.paired)
    written = feature_terms(data, specs, {STYLE: chosen})
    styles = {name: score_terms(own, rule, behind) for name, own in written.items()}
    lacking = _reasons({STYLE: chosen}, written, success, bins)
    _drop_unbounded(written, styles, lacking, data, place.unit_name, alone=alone)
    style = Style(
        chosen,
        styles.get(STYLE),
        ceilings(errors, data, written, specs).get(STYLE),
        lacking.get(STYLE),
    )
    return Study(
        reference=ref,
        frame=rows,
        values=values,
        design=design,
        unit_name=place.unit_name,
        success=success,
        bins=bins,
        human=human,
        simulator=sim,
        selections=selections,
        data=data,
        terms=terms,
        scores=scores,
        ceiling=ceilings(errors, data, terms, specs),
        style=style,
        reasons=reasons,
        rule=rule,
        people=behind,
        seed=options.seed,
    )


def _people(
    ref: Reference, unit: NDArray[np.int64], success: Array, bins: Array, data: Contrast
) -> People | None:
    """Participants behind the human sessions compared, as effects on the columns."""
    inside = unit >= 0
    own = unit[inside]
    values = scored_values(ref.values[inside], ref.specs)
    blocks = []
    for k, spec in enumerate(ref.specs):
        grid = ref.grids.get(spec.name)
        weight = session_weights(~np.isnan(values[:, k]), own, data.human_share[:, k])
        cells = None if grid is None else (data.cells[spec.name].start, grid)
        blocks.append(Block(k, values[:, k], weight, cells))
    y, place = success[inside], bins[inside]
    for k in range(len(data.bins)):
        column = data.bin_columns.start + k
        known = ~np.isnan(y) & (place == k)
        blocks.append(Block(column, y, session_weights(known, own, data.human_share[:, column])))
    labels = ref.frame["participant"].filter(pl.Series(inside)).to_list()
    return people_of(labels, own, blocks, data.human)


def _bins(
    human: pl.DataFrame,
    simulator: pl.DataFrame,
    in_human: NDArray[np.bool_],
    in_simulator: NDArray[np.bool_],
    success: Array,
    design: Design,
    options: RobustOptions,
    pool: Pool | None,
) -> Bins:
    """Bins of the sessions in the design; all others are in none."""
    inner = assign_bins(
        human.filter(pl.Series(in_human)),
        simulator.filter(pl.Series(in_simulator)),
        success=success[in_human],
        unit=design.unit,
        paired=design.paired,
        pool=pool,
        strata=options.strata,
    )
    full = []
    for inside, own in ((in_human, inner.human), (in_simulator, inner.simulator)):
        index = np.full(len(inside), -1, dtype=np.int64)
        index[inside] = own
        full.append(index)
    return Bins(inner.source, inner.labels, full[0], full[1], inner.on_simulator, inner.note)


def _drop_unbounded(
    terms: dict[str, Terms],
    scores: dict[str, Score],
    reasons: dict[str, Reason],
    data: Contrast,
    unit_name: str,
    *,
    alone: bool,
) -> None:
    """Take out components that have no bounds: a score without them says nothing."""
    for name in list(scores):
        if alone:
            reasons[name] = ONE_PARTICIPANT()
        elif min(data.clusters) < 2:
            reasons[name] = ONE_UNIT(unit=unit_name)
        elif not (np.isfinite(scores[name].se) and np.isfinite(scores[name].maxbias)):
            reasons[name] = FEW_SESSIONS_SHOW()
        else:
            continue
        del scores[name], terms[name]


def _reasons(
    selections: Mapping[str, Selection], terms: Mapping[str, Terms], success: Success, bins: Bins
) -> dict[str, Reason]:
    result: dict[str, Reason] = {}
    for name, selection in selections.items():
        if name not in terms:
            result[name] = selection.reason or FEATURES_RARE()
    if "outcome" not in terms:
        if success.reason:
            result["outcome"] = success.reason
        elif bins.source == "none":
            result["outcome"] = TASKS_DIFFER()
        else:
            result["outcome"] = NO_COMMON_BIN()
    return result
