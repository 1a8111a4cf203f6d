"""One simulator against one human reference, from session tables to scored components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.errors import NotScorable, UsageError
from usi.features.spec import FeatureSpec
from usi.score.robust.bounds import Interval, Score, interval_rule, score_terms
from usi.score.robust.ceiling import ceilings, perfect_errors
from usi.score.robust.contrast import Contrast, contrast
from usi.score.robust.design import (
    Design,
    detect_design,
    joined_clusters,
    own_clusters,
    require_column,
)
from usi.score.robust.difficulty import Bins, Pool, assign_bins
from usi.score.robust.options import RobustOptions
from usi.score.robust.outcomes import Success, label_indicators, successes
from usi.score.robust.scorable import Scorable, Selection, scorability, select
from usi.score.robust.sums import SideSums, side_sums
from usi.score.robust.terms import Terms, all_terms
from usi.score.robust.values import scored_values, session_values

Array = NDArray[np.float64]


def canonical(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in an order that does not depend on files: by keys, then by every other column.

    Rows that agree in all of these give the same numbers in any order. `seq` is left out.
    """
    keys = [c for c in ("task", "run", "batch", "session_id", "trial") if c in frame.columns]
    rest = sorted(c for c in frame.columns if c not in (*keys, "seq"))
    return frame.sort([*keys, *rest], nulls_last=True, maintain_order=True)


def scorable_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Sessions that count: status ok, a user turn, kept; in canonical order."""
    kept = pl.col("keep").fill_null(True)
    return canonical(frame.filter((pl.col("status") == "ok") & kept))


def only_runs(frame: pl.DataFrame, column: str, labels: Sequence[str], flag: str) -> pl.DataFrame:
    """Rows of the named batches or runs.

    Raises
    ------
    UsageError
        Where a label does not occur.
    """
    if not labels:
        return frame
    have = set(frame[column].cast(pl.String).drop_nulls()) | set(frame["trial"].drop_nulls())
    missing = [label for label in labels if label not in have]
    if missing:
        raise UsageError(
            f"{flag}: no run {', '.join(missing)}; there are {', '.join(sorted(have))}"
        )
    wanted = list(labels)
    by_trial = pl.col("trial").is_in(wanted)
    by_key = pl.col(column).cast(pl.String).is_in(wanted)
    named = frame["trial"].null_count() < frame.height
    return frame.filter((by_trial if named else by_key).fill_null(False))


@dataclass(frozen=True)
class Reference:
    """What the humans alone decide: their sessions, and which features are scored.

    Attributes
    ----------
    frame
        Their sessions that count, in canonical order.
    values
        Natural feature values, shape (sessions, features), NaN = undefined.
    specs
        Features of the profile.
    verdicts
        Feature -> whether it can be scored.
    """

    frame: pl.DataFrame
    values: Array
    specs: tuple[FeatureSpec, ...]
    verdicts: dict[str, Scorable]


def reference(frame: pl.DataFrame, specs: Sequence[FeatureSpec]) -> Reference:
    """Prepare the human side.

    Parameters
    ----------
    frame
        Session table with keys.
    specs
        Features of the profile.

    Raises
    ------
    NotScorable
        Where no human session counts.
    """
    rows = scorable_rows(frame)
    if not rows.height:
        raise NotScorable("no human session has a user turn and is kept: there is no reference")
    values = session_values(rows, specs)
    return Reference(rows, values, tuple(specs), scorability(values, specs))


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
        See `usi.score.robust.difficulty.Bins`.
    selections
        Features scored in each dimension.
    data
        Means, errors, replicates.
    terms, scores, ceiling
        By component; a component that can't be assessed is absent, `reasons` says why.
    rule
        How standard errors become bounds.
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
    reasons: dict[str, str]
    rule: Interval

    @property
    def on_simulator(self) -> bool:
        """Whether the simulator's sessions have bins of their own."""
        return self.bins.on_simulator or not self.design.paired


def _unit_index(frame: pl.DataFrame, column: str, units: Sequence[str]) -> NDArray[np.int64]:
    place = {unit: k for k, unit in enumerate(units)}
    labels = frame[column].cast(pl.String).to_list()
    return np.array([place.get(v, -1) if v is not None else -1 for v in labels], dtype=np.int64)


def _splits(frame: pl.DataFrame, column: str) -> list[str]:
    return [str(value) for value in frame[column].cast(pl.String).fill_null("1").to_list()]


def study(
    ref: Reference,
    simulator: pl.DataFrame,
    options: RobustOptions,
    *,
    pool: Pool | None = None,
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

    Raises
    ------
    NotScorable
        Where no session counts, or the design can't be scored; the message names the way out.
    """
    rows = scorable_rows(simulator)
    if not rows.height:
        raise NotScorable("no session of this simulator has a user turn: nothing can be scored")
    specs = ref.specs
    design = detect_design(ref.frame, rows, options)
    if design.paired:
        units = design.common
        index_h = _unit_index(ref.frame, design.unit, units)
        index_s = _unit_index(rows, design.unit, units)
        cluster_h = cluster_s = None
        unit_name = design.unit
        if options.cluster not in ("task", design.unit):
            for side in (ref.frame, rows):
                require_column(side, options.cluster, "--cluster")
            keep_h, keep_s = index_h >= 0, index_s >= 0
            cluster_h = cluster_s = joined_clusters(
                [index_h[keep_h], index_s[keep_s]],
                [
                    ref.frame[options.cluster].filter(pl.Series(keep_h)),
                    rows[options.cluster].filter(pl.Series(keep_s)),
                ],
            )
            unit_name = f"{design.unit} joined with {options.cluster}"
        units_h = units_s = units
    else:
        name_h, labels_h = own_clusters(ref.frame, options.cluster)
        name_s, labels_s = own_clusters(rows, options.cluster)
        units_h, units_s = (tuple(sorted(set(c))) for c in (labels_h, labels_s))
        index_h = _unit_index(labels_h.to_frame(), "cluster", units_h)
        index_s = _unit_index(labels_s.to_frame(), "cluster", units_s)
        cluster_h = cluster_s = None
        unit_name = name_h if name_h == name_s else f"{name_h} (people), {name_s} (simulator)"
    if options.strata is not None:
        for side in (ref.frame, rows):
            require_column(side, options.strata, "--strata")
    success = successes(ref.frame, rows, options.reward_threshold)
    bins = _bins(ref.frame, rows, index_h >= 0, index_s >= 0, success.human, design, options, pool)
    names = tuple(spec.name for spec in specs)
    values = session_values(rows, specs)
    sides = []
    for frame, index, units_own, natural, y, bin_index, cluster, split in (
        (ref.frame, index_h, units_h, ref.values, success.human, bins.human, cluster_h, "batch"),
        (rows, index_s, units_s, values, success.simulator, bins.simulator, cluster_s, "run"),
    ):
        sides.append(
            side_sums(
                unit=index,
                units=units_own,
                split=_splits(frame, split),
                bin_index=bin_index,
                bins=bins.labels,
                features=names,
                values=scored_values(natural, specs),
                hits=(natural > 0).astype(float),
                success=y,
                labels=label_indicators(frame),
                cluster=cluster,
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
    selections = select(specs, ref.verdicts, paired=design.paired)
    terms = all_terms(data, specs, selections)
    rule = interval_rule(data.clusters, paired=design.paired)
    scores = {name: score_terms(own, rule) for name, own in terms.items()}
    reasons = _reasons(selections, terms, success, bins)
    for name in list(scores):
        if min(data.clusters) < 2:
            reasons[name] = f"one {unit_name} alone: nothing to resample, so no bounds"
        elif not (np.isfinite(scores[name].se) and np.isfinite(scores[name].maxbias)):
            reasons[name] = "too few sessions show it for a bound"
        else:
            continue
        del scores[name], terms[name]
    errors = perfect_errors(sim, human, data)
    return Study(
        reference=ref,
        frame=rows,
        values=values,
        design=design,
        unit_name=unit_name,
        success=success,
        bins=bins,
        human=human,
        simulator=sim,
        selections=selections,
        data=data,
        terms=terms,
        scores=scores,
        ceiling=ceilings(errors, data, terms, specs),
        reasons=reasons,
        rule=rule,
    )


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


def _reasons(
    selections: Mapping[str, Selection], terms: Mapping[str, Terms], success: Success, bins: Bins
) -> dict[str, str]:
    result = {}
    for name, selection in selections.items():
        if name not in terms:
            result[name] = selection.reason or "too few of its features occur in what is compared"
    if "outcome" not in terms:
        if success.reason:
            result["outcome"] = success.reason
        elif bins.source == "none":
            result["outcome"] = (
                "tasks differ: success is compared only within declared strata (--strata COLUMN)"
            )
        else:
            result["outcome"] = "no bin has outcomes on both sides"
    return result
