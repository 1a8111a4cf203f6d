"""Agreement on the survey, without imputation: an answer that is not there does not count.

The score is 100 (1 - MAE) on ranks / (K - 1). A constant answer reaches what published
simulators reach, so kappa and alpha stand beside it, with the people's own in the same design.

What the scorecard says of one survey item.

Who is compared with whom in a survey: pairs of answers by task, in a declared design.

From session tables and survey files to one simulator's survey result.

Survey items added up by task, and their numbers for any weights of the tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed
from usi.options import RobustOptions, SurveyDesign
from usi.reasons import (
    AGGREGATE_BY_SESSION,
    ANSWERS_CONSTANT,
    ANSWERS_UNPAIRED,
    CONSTANT_IS_RIGHT,
    NO_ANSWER,
    NO_ITEM_ANSWERED,
    NO_ORDINAL_ITEM,
    NO_SAME_TRANSCRIPT,
    NO_SECOND_BATCH,
    NO_SECOND_RATER,
    NO_SURVEY,
    NO_SURVEY_FILES,
    NO_VALID_ANSWER,
    ONE_TASK,
    SURVEY_FILE_MISSING,
    SURVEY_OF_OTHERS,
    SURVEY_UNANSWERED,
    Code,
    Reason,
)
from usi.records import SurveyAnswer
from usi.scoring.context import HUMAN_EVAL
from usi.scoring.robust.agreement import alpha_of, distances, median_without_one, weighted_kappa
from usi.scoring.robust.bootstrap import weight_chunks
from usi.scoring.robust.bounds import Interval, maybe, spread, tidy
from usi.scoring.robust.design import unit_index
from usi.scoring.robust.instrument import Item, answers_of, items_for
from usi.scoring.robust.study import Study
from usi.scoring.robust.thresholds import MIN_ANSWERED, Z
from usi.scoring.scorecard import Component, SurveyItem

if TYPE_CHECKING:
    from usi.scoring.context import Surveys


Index = NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """Pairs of one person's and one respondent's answers.

    Attributes
    ----------
    unit
        Index of the task of each pair, shape (pairs,).
    human, other
        Level of every item, -1 = no valid answer, shape (pairs, items).
    """

    unit: Index
    human: Index
    other: Index


def levels_of(answers: Sequence[Mapping[str, object]], items: Sequence[Item]) -> Index:
    """Levels of all items for a list of answer sheets, -1 where there is no valid answer."""
    result = np.full((len(answers), len(items)), -1, dtype=np.int64)
    for row, own in enumerate(answers):
        for column, item in enumerate(items):
            level = item.level(own.get(item.name))
            if level is not None:
                result[row, column] = level
    return result


def sheets(frame: pl.DataFrame) -> list[dict[str, object]]:
    """Answer sheets of the sessions of a table, empty where there is no survey."""
    return [answers_of(text) for text in frame["survey"].to_list()]


def _sheet(answers: Sequence[SurveyAnswer] | None) -> dict[str, object]:
    return {answer.item: answer.answer for answer in answers or ()}


def by_session(
    frame: pl.DataFrame,
    unit: Index,
    human: Index,
    answers: Mapping[str, Sequence[SurveyAnswer] | None],
    items: Sequence[Item],
) -> Pairs:
    """Pairs by the id of the human session that a survey file names.

    A session that the file does not name has no pair; one that it names without answers has an
    unanswered pair.
    """
    ids = frame["session_id"].to_list()
    rows = np.array([k for k, i in enumerate(ids) if i in answers and unit[k] >= 0], dtype=np.int64)
    other = levels_of([_sheet(answers[ids[k]]) for k in rows], items)
    return Pairs(unit[rows], human[rows], other)


def by_task(
    unit_h: Index,
    human: Index,
    unit_s: Index,
    other: Index,
    transcripts: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Pairs:
    """All pairs of a human session and a simulator session of the same task.

    With `transcripts` (one label a session, of both sides) only those of the same transcript.
    """
    left, right = _matches(unit_h, unit_s)
    if transcripts is not None:
        left, right = _equal(left, right, *transcripts)
    return Pairs(unit_h[left], human[left], other[right])


def among_humans(
    unit: Index, batch: Sequence[str], human: Index, transcripts: Sequence[str] | None = None
) -> Pairs:
    """All ordered pairs of sessions of one task from different batches.

    With `transcripts` only pairs of people who rated the same transcript.
    """
    left, right = _matches(unit, unit)
    labels = np.array([str(b) for b in batch], dtype=object)
    keep = np.array(labels[left] != labels[right], dtype=bool)
    left, right = left[keep], right[keep]
    if transcripts is not None:
        left, right = _equal(left, right, transcripts, transcripts)
    return Pairs(unit[left], human[left], human[right])


def transcript_labels(frame: pl.DataFrame) -> list[str]:
    """A label that two sessions share where their user turns have the same counts of words."""
    names = ("user_turns", "words", "words_sq", "words_first", "words_first_two", "n_turns")
    columns = [pl.col(name).cast(pl.String).fill_null("") for name in names]
    return frame.select(pl.concat_str(columns, separator="/").alias("label"))["label"].to_list()


def _equal(left: Index, right: Index, a: Sequence[str], b: Sequence[str]) -> tuple[Index, Index]:
    one, other = np.array(a, dtype=object)[left], np.array(b, dtype=object)[right]
    keep = np.array(one == other, dtype=bool)
    return left[keep], right[keep]


def _matches(a: Index, b: Index) -> tuple[Index, Index]:
    """Rows of `a` and `b` with the same unit (0 or more), in canonical order."""
    frames = [
        pl.DataFrame({"unit": side, name: np.arange(len(side))})
        for side, name in ((a, "left"), (b, "right"))
    ]
    joined = frames[0].filter(pl.col("unit") >= 0).join(frames[1], on="unit", how="inner")
    joined = joined.sort("unit", "left", "right")
    return joined["left"].to_numpy().astype(np.int64), joined["right"].to_numpy().astype(np.int64)


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


def percentiles(point: float, draws: Array, *, unit: str, n: int, reason: Code) -> Estimate:
    """A number with its 5th and 95th bootstrap percentile."""
    if not np.isfinite(point):
        return not_assessed(reason, unit=unit, n=n)
    known = draws[~np.isnan(draws)]
    low, high = (None, None)
    if len(known) > 1:
        low, high = (tidy(float(v)) for v in np.quantile(known, [0.05, 0.95]))
    return Estimate(value=tidy(point), low=low, high=high, n=n, unit=unit)


def _alpha(tables: ItemTables) -> Estimate:
    k = tables.item.size
    joint = tables.table.sum(axis=0).reshape(k, k)
    # every task weighs 1; scale back to the number of pairs for the small-sample factor
    joint = joint * (tables.pairs / max(joint.sum(), 1e-300))
    metric = "nominal" if tables.item.scale == "nominal" else "ordinal"
    value = alpha_of(joint + joint.T, metric=metric)  # type: ignore[arg-type]
    if not np.isfinite(value):
        return not_assessed(ANSWERS_CONSTANT, unit="alpha", n=tables.pairs)
    return Estimate(value=tidy(value), n=tables.pairs, unit="alpha")


def _skill(numbers: ItemNumbers, n: int) -> Estimate:
    mae, constant = float(numbers.mae[0]), float(numbers.constant[0])
    if not (np.isfinite(mae) and np.isfinite(constant)) or constant <= 0:
        return not_assessed(CONSTANT_IS_RIGHT, unit="skill", n=n)
    return Estimate(value=tidy(1 - mae / constant), n=n, unit="skill")


def item_card(
    tables: ItemTables,
    point: ItemNumbers,
    draws: Mapping[str, Array],
    own: ItemTables | None,
    own_point: ItemNumbers | None,
    own_draws: Array,
) -> SurveyItem:
    """Put an item together; `own` are two people in the same design, `own_draws` their kappas."""
    n, item = tables.pairs, tables.item
    human_kappa = human_skill = None
    if own is not None and own_point is not None and own.pairs:
        value = float(own_point.kappa[0])
        human_kappa = percentiles(
            value, own_draws, unit="kappa", n=own.pairs, reason=ANSWERS_CONSTANT
        )
        human_skill = _skill(own_point, own.pairs)
    mae_se = spread(draws["mae"])
    mae = float(point.mae[0])
    reach = Z * mae_se
    wasserstein = float(
        np.abs(
            np.cumsum(tables.marginal / tables.marginal.sum() - tables.humans / tables.humans.sum())
        )[:-1].sum()
    ) / max(1, item.size - 1)
    return SurveyItem(
        item=item.name,
        mae=Estimate(
            value=tidy(mae),
            low=maybe(max(0.0, mae - reach)),
            high=maybe(min(1.0, mae + reach)),
            n=n,
            unit="share",
        ),
        bias=percentiles(float(point.bias[0]), draws["bias"], unit="share", n=n, reason=NO_ANSWER),
        kappa=percentiles(
            float(point.kappa[0]), draws["kappa"], unit="kappa", n=n, reason=ANSWERS_CONSTANT
        ),
        alpha=_alpha(tables),
        human_kappa=human_kappa,
        skill=_skill(point, n),
        human_skill=human_skill,
        answered=Estimate(value=tidy(float(point.answered[0])), n=n, unit="share"),
        worst_case=Estimate(value=tidy(float(point.worst[0])), n=n, unit="share"),
        wasserstein=Estimate(value=tidy(wasserstein), n=n, unit="share"),
        human_distribution=dict(zip(item.texts, map(int, tables.humans), strict=True)),
        simulator_distribution=dict(zip(item.texts, map(int, tables.marginal), strict=True)),
    )


@dataclass(frozen=True)
class SurveyResult:
    """What the scorecard says about the survey."""

    component: Component
    items: tuple[SurveyItem, ...]
    kappa: Estimate
    human_kappa: Estimate
    bias: Estimate
    answered: Estimate
    design: SurveyDesign
    warning: Reason | None = None


def survey_agreement(
    pairs: Pairs,
    items: Sequence[Item],
    *,
    units: int,
    cluster: NDArray[np.int64],
    design: SurveyDesign,
    own: Pairs | None,
    rule: Interval,
    replicates: int,
    seed: int,
) -> SurveyResult:
    """Score a respondent's answers against the people's.

    Parameters
    ----------
    pairs
        Pairs of a person's and the respondent's answers.
    items
        Items that people answered.
    units, cluster
        Number of tasks, and the cluster of each: the same draws as for the components.
    design
        ``"same-transcript"`` or ``"same-task"``.
    own
        Pairs of two people in the same design, ``None`` where there are none.
    rule
        How the standard error becomes bounds.
    replicates, seed
        Bootstrap.
    """
    tables = item_tables(pairs, items, units)
    theirs = item_tables(own, items, units) if own is not None and len(own.unit) else None
    used = [k for k, t in enumerate(tables) if t.pairs]
    clusters = int(cluster.max()) + 1 if len(cluster) else 0
    one = np.ones((1, units))
    points = {k: item_numbers(tables[k], one) for k in used}
    human_points = {k: item_numbers(theirs[k], one) for k in used} if theirs else {}
    draws: dict[int, list[ItemNumbers]] = {k: [] for k in used}
    human_draws: dict[int, list[ItemNumbers]] = {k: [] for k in used}
    if clusters >= 2:
        for _, weights in weight_chunks(clusters, replicates, seed=seed):
            own_weights = weights if clusters == units else weights[:, cluster]
            for k in used:
                draws[k].append(item_numbers(tables[k], own_weights))
                if theirs:
                    human_draws[k].append(item_numbers(theirs[k], own_weights))
    replicated = {k: _fields(draws[k], ("mae", "bias", "kappa")) for k in used}
    human_replicated = {k: _fields(human_draws[k], ("kappa",)) for k in used}
    cards = tuple(
        item_card(
            tables[k],
            points[k],
            replicated[k],
            theirs[k] if theirs else None,
            human_points.get(k),
            human_replicated[k]["kappa"],
        )
        for k in used
    )
    asked = [k for k, t in enumerate(tables) if t.asked.any()]
    n = int((np.bincount(pairs.unit, minlength=units) > 0).sum()) if len(pairs.unit) else 0
    answered = not_assessed(NO_ITEM_ANSWERED, unit="share", n=n)
    if asked:
        shares = [float(item_numbers(tables[k], one).answered[0]) for k in asked]
        answered = Estimate(value=tidy(float(np.mean(shares))), n=n, unit="share")
    empty = not_assessed(NO_VALID_ANSWER, unit="kappa", n=n)
    if not used or clusters < 2:
        reason = NO_VALID_ANSWER() if not used else ONE_TASK()
        return SurveyResult(
            Component(value=None, status="not_assessed", reason=reason),
            cards,
            empty,
            empty,
            not_assessed(reason, unit="share"),
            answered,
            design,
        )
    mae = float(mean_of_items([points[k].mae for k in used])[0])
    mae_draws = mean_of_items([replicated[k]["mae"] for k in used])
    se = spread(mae_draws) * 100 * rule.inflate
    ceiling = None
    if human_points:
        ceiling = maybe(100 * (1 - float(mean_of_items([p.mae for p in human_points.values()])[0])))
    worst = float(mean_of_items([points[k].worst for k in used])[0])
    raw = 100 * (1 - mae)
    component = Component(
        value=tidy(raw),
        low=maybe(max(0.0, raw - rule.quantile * se)),
        high=maybe(min(100.0, raw + rule.quantile * se)),
        corrected=tidy(raw),
        se=maybe(se),
        maxbias=0.0,
        df=rule.df,
        ceiling_at_n=ceiling,
        n=n,
        detail={"worst_case": Estimate(value=tidy(100 * (1 - worst)), n=n)},
    )
    rated = [k for k in used if np.isfinite(points[k].kappa[0])]
    kappa = _overall(rated, points, replicated, "kappa", n, ANSWERS_CONSTANT)
    signed = [k for k in used if items[k].scale == "ordinal"]
    bias = _overall(signed, points, replicated, "bias", n, NO_ORDINAL_ITEM, unit="share")
    missing_own = NO_SECOND_RATER if design == "same-transcript" else NO_SECOND_BATCH
    human_kappa = not_assessed(missing_own, unit="kappa")
    common = [k for k in rated if k in human_points and np.isfinite(human_points[k].kappa[0])]
    if common and own is not None:
        n_own = len(np.unique(own.unit))
        human_kappa = _overall(common, human_points, human_replicated, "kappa", n_own, missing_own)
    warning = None
    if answered.value is not None and answered.value < MIN_ANSWERED:
        warning = SURVEY_UNANSWERED(share=answered.value, least=MIN_ANSWERED)
    return SurveyResult(component, cards, kappa, human_kappa, bias, answered, design, warning)


def _fields(draws: Sequence[ItemNumbers], names: Sequence[str]) -> dict[str, Array]:
    """Replicates of some numbers of one item, each of shape (replicates,)."""
    return {
        name: np.concatenate([getattr(d, name) for d in draws]) if draws else np.empty(0)
        for name in names
    }


def _overall(
    keys: Sequence[int],
    points: Mapping[int, ItemNumbers],
    replicated: Mapping[int, Mapping[str, Array]],
    field: str,
    n: int,
    reason: Code,
    unit: str = "kappa",
) -> Estimate:
    if not keys:
        return not_assessed(reason, unit=unit, n=n)
    point = float(mean_of_items([getattr(points[k], field) for k in keys])[0])
    return percentiles(
        point, mean_of_items([replicated[k][field] for k in keys]), unit=unit, n=n, reason=reason
    )


@dataclass(frozen=True)
class SurveySide:
    """A simulator's answers beside the people's, or the reason why there are none."""

    reason: Reason | None
    pairs: Pairs | None = None
    own: Pairs | None = None
    items: tuple[Item, ...] = ()
    design: SurveyDesign = "same-task"


def _units(frame: pl.DataFrame, result: Study) -> NDArray[np.int64]:
    return unit_index(frame[result.design.unit], result.human.units)


def survey_side(
    result: Study, name: str, surveys: Surveys | None, options: RobustOptions
) -> SurveySide:
    """Find what is compared with what.

    A survey file names human sessions and is paired with them; without one, the simulator's own
    answers are paired with the people's on the task, or (same transcript) with those sessions of
    the task whose turns are the same. Two people are paired in the same design.
    """
    if not result.design.paired:
        return SurveySide(ANSWERS_UNPAIRED())
    human = result.reference.frame
    theirs = sheets(human)
    items = items_for(theirs)
    if not items:
        return SurveySide(NO_SURVEY())
    unit, levels = _units(human, result), levels_of(theirs, items)
    file = surveys.get(name) if surveys is not None else None
    # What a corpus declares holds for its survey files, not for the answers of a simulator's runs.
    declared = options.survey_files if file is not None else None
    design: SurveyDesign = options.survey_design or declared or "same-task"
    if result.reference.aggregated and (file is not None or design == "same-transcript"):
        return SurveySide(AGGREGATE_BY_SESSION())
    same = design == "same-transcript"
    label = transcript_labels(human) if same else None
    if file is not None:
        pairs = by_session(human, unit, levels, file, items)
    else:
        sim = sheets(result.frame)
        if not any(sim):
            return SurveySide(
                NO_SURVEY_FILES() if surveys is None else SURVEY_FILE_MISSING(label=name)
            )
        both = (label, transcript_labels(result.frame)) if label is not None else None
        other = levels_of(sim, items)
        pairs = by_task(unit, levels, _units(result.frame, result), other, both)
    if not len(pairs.unit):
        return SurveySide(NO_SAME_TRANSCRIPT() if same and file is None else SURVEY_OF_OTHERS())
    second = surveys.get(HUMAN_EVAL) if surveys is not None else None
    if same and second is not None:
        own: Pairs | None = by_session(human, unit, levels, second, items)
    else:
        batches = human["batch"].cast(pl.String).fill_null("1").to_list()
        own = among_humans(unit, batches, levels, label)
    return SurveySide(None, pairs, own, items, design)


def survey_result(side: SurveySide, result: Study, options: RobustOptions) -> SurveyResult | None:
    """Score the answers; ``None`` where `side` says why there are none."""
    if side.pairs is None:
        return None
    return survey_agreement(
        side.pairs,
        side.items,
        units=len(result.human.units),
        cluster=result.human.cluster,
        design=side.design,
        own=side.own,
        rule=result.rule,
        replicates=options.replicates,
        seed=options.seed,
    )


def survey_frame(side: SurveySide, result: Study, simulator: str) -> pl.DataFrame | None:
    """Joint distributions of answers by task, as rows of the per-task sums (side ``survey``)."""
    if side.pairs is None:
        return None
    units = result.human.units
    data: dict[str, Sequence[object] | NDArray[np.float64]] = {
        "side": ["survey"] * len(units),
        "simulator": [simulator] * len(units),
        "unit": list(units),
        "cluster": result.human.cluster.astype(np.float64),
    }
    columns: Mapping[str, NDArray[np.float64]] = {
        f"survey.{t.item.name}.{h}.{s}": t.table[:, h * t.item.size + s]
        for t in item_tables(side.pairs, side.items, len(units))
        for h in range(t.item.size)
        for s in range(t.item.size)
    }
    frame = pl.DataFrame({**data, **columns})
    return frame.with_columns(pl.col("cluster").cast(pl.Int64))
