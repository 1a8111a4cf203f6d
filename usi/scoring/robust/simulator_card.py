"""One simulator's card, put together from its study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from usi.estimate import Estimate, not_assessed
from usi.extraction.language_packs import languages_in, without_lists
from usi.extraction.spec import DIMENSIONS
from usi.options import RobustOptions
from usi.reasons import COVERAGE_UNPAIRED, SURVEY_ABSENT
from usi.scoring.context import ScoreContext
from usi.scoring.parts import NO_DIAGNOSIS, NO_FACTS, Diagnosis
from usi.scoring.robust.batches import batch_ranges, versus_humans
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.card_parts import Extras, components, features, index_of, outcome_numbers
from usi.scoring.robust.difficulty import Pool
from usi.scoring.robust.floors import CONSTANT, ECHO, behaviour_mean
from usi.scoring.robust.left_out import (
    language_counts,
    merged,
    outcome_counts,
    repair_counts,
    session_reasons,
    stamp_counts,
)
from usi.scoring.robust.outcome import label_counts
from usi.scoring.robust.perceived import perceived_success
from usi.scoring.robust.study import Study
from usi.scoring.robust.subgroups import subgroups
from usi.scoring.robust.survey import SurveySide, survey_result
from usi.scoring.robust.thresholds import MIN_CLUSTERS
from usi.scoring.robust.tripwire import tripwire_list, tripwires
from usi.scoring.scorecard import Component, SimulatorCard, Sizes, Tripwire, Warning_

TASK_MIX = (
    "tasks differ or are unknown on the two sides: part of every gap is the task mix, not the user"
)


@dataclass(frozen=True)
class Anchors:
    """Floors that hold for every simulator of a scorecard.

    Attributes
    ----------
    scores
        Anchor -> score of the degenerate user in each component.
    values
        Anchor -> mean of the four dimensions, or why there is none.
    """

    scores: Mapping[str, Mapping[str, float]]
    values: Mapping[str, Estimate]

    def best(self) -> str | None:
        """The degenerate user with the best mean of the dimensions; ``None`` without any."""
        known = [
            (value.value, name)
            for name, value in self.values.items()
            if name in self.scores and value.value is not None
        ]
        return max(known)[1] if known else None

    @staticmethod
    def of(studies: Iterable[tuple[str, Study | None]], others: Mapping[str, Estimate]) -> Anchors:
        """Anchors with the mean of their dimensions; each study is let go before the next."""
        scores: dict[str, dict[str, float]] = {}
        values: dict[str, Estimate] = {}
        for name, result in studies:
            if result is not None:
                scores[name] = {part: score.raw for part, score in result.scores.items()}
                values[name] = behaviour_mean(result)
        return Anchors(scores, {**values, **others})


def wires_of(result: Study) -> tuple[Tripwire, ...]:
    """Tripwires, over all human sessions and the simulator's sessions of the design."""
    ref, side = result.reference, result.simulator
    place = {spec.name: k for k, spec in enumerate(ref.specs)}
    hits, sessions = side.hits.sum(axis=0), side.counts.sum(axis=0)
    wires = tripwire_list(ref.specs, ref.verdicts)
    counts = {
        spec.name: (
            ref.verdicts[spec.name].hits,
            ref.verdicts[spec.name].sessions,
            int(hits[place[spec.name]]),
            int(sessions[place[spec.name]]),
        )
        for spec in wires
    }
    return tripwires(wires, counts)


def warnings_of(result: Study, survey_warning: str | None) -> tuple[Warning_, ...]:
    """What a reader of this card must know, in a fixed order."""
    found: list[tuple[str, str]] = []
    design, data = result.design, result.data
    if not design.paired:
        found.append(("task_mix", TASK_MIX))
        found.append(
            (
                "script",
                "clarification and reaction follow the task script and never decide FAIL here",
            )
        )
    if min(data.clusters) < MIN_CLUSTERS:
        found.append(("few_clusters", few_clusters(result)))
    unread = sorted({*without_lists(result.reference.frame), *without_lists(result.frame)})
    if unread:
        found.append(
            (
                "language",
                f"no word lists for {', '.join(unread)}: features of words are not assessed there, "
                "and do not count as 0",
            )
        )
    if _tongues(result.reference.frame) != _tongues(result.frame):
        found.append(
            (
                "languages_differ",
                f"people write {_tongues(result.reference.frame)}, the simulator "
                f"{_tongues(result.frame)}: words of different languages are compared",
            )
        )
    if design.paired and len(result.human.splits) < 2:
        found.append(
            (
                "one_batch",
                "one human batch: the ceiling takes sessions as independent and assumes no batch "
                "effect",
            )
        )
    if design.paired and (design.human_only or design.simulator_only):
        found.append(
            (
                "partial_overlap",
                f"{design.human_only} units of the reference and {design.simulator_only} of the "
                "simulator have no counterpart and are not compared",
            )
        )
    if result.bins.note:
        found.append(("difficulty", f"{result.bins.note}: bins come from {result.bins.source}"))
    if result.success.missing and "outcome" in result.terms:
        found.append(("no_outcome", f"{result.success.missing} simulator sessions have no outcome"))
    if result.success.one_sided and "outcome" in result.terms:
        found.append(
            (
                "labels_one_side",
                f"outcome labels on one side alone: its {result.success.one_sided} correct "
                "refusals are graded by their rewards, as the other side's are",
            )
        )
    if identical(result):
        found.append(
            (
                "identical_sides",
                "both sides have the same values in every task: is the simulator's file the "
                "reference itself?",
            )
        )
    if survey_warning:
        found.append(("survey_unanswered", survey_warning))
    return tuple(Warning_(code=code, message=message) for code, message in found)


USERS = {
    CONSTANT: "a user who always says the same word",
    ECHO: "a user who repeats the agent's last message",
}


def floor_warnings(result: Study, anchors: Anchors) -> tuple[Warning_, ...]:
    """What degenerate users would score as well, component by component."""
    found = []
    for name in DIMENSIONS:
        if name not in result.scores:
            continue
        raw, ceiling = result.scores[name].raw, result.ceiling.get(name)
        above = [
            (USERS[user], own[name])
            for user, own in anchors.scores.items()
            if name in own and own[name] > raw
        ]
        if above:
            told = " and ".join(f"{who} ({score:.1f})" for who, score in above)
            found.append(Warning_(code="below_floor", message=f"{name} {raw:.1f}: below {told}"))
        blind = [
            USERS[user]
            for user, own in anchors.scores.items()
            if ceiling is not None and name in own and own[name] >= ceiling
        ]
        if blind:
            found.append(
                Warning_(
                    code="blind_component",
                    message=f"{name}: {' and '.join(blind)} would score as well as people do at "
                    f"this size (ceiling {ceiling:.1f}), so this component alone says little",
                )
            )
    return tuple(found)


def _tongues(frame: pl.DataFrame) -> str:
    """Languages of a side, for a sentence."""
    others = languages_in(frame)
    english = frame.height > sum(others.values())
    return " and ".join([*(["en"] if english else []), *others])


def _clusters(result: Study) -> str:
    n = min(result.data.clusters)
    return f"{n} cluster" if n == 1 else f"{n} clusters"


def few_clusters(result: Study) -> str:
    """The sentence about too few clusters."""
    return (
        f"{_clusters(result)} ({result.unit_name}) on the smaller side; under "
        f"{MIN_CLUSTERS} every verdict is INCONCLUSIVE"
    )


def identical(result: Study) -> bool:
    """Whether the sides agree to the last bit in every unit (then nothing was compared)."""
    a, b = result.simulator, result.human
    if not result.design.paired:
        return False
    harness = {spec.name for spec in result.reference.specs if spec.harness}
    told = np.array([name not in harness for name in a.features], dtype=bool)
    return all(
        np.array_equal(a.per_unit(ours[:, told]), b.per_unit(theirs[:, told]))
        for ours, theirs in ((a.sums, b.sums), (a.counts, b.counts))
    )


def simulator_card(
    name: str,
    result: Study,
    table: pl.DataFrame,
    *,
    survey: SurveySide,
    anchors: Anchors,
    options: RobustOptions,
    pool: Pool | None,
    context: ScoreContext,
    signature: str,
    diagnosis: Diagnosis = NO_DIAGNOSIS,
) -> SimulatorCard:
    """Put the card together."""
    best = anchors.best()
    extras = Extras(batch_ranges(result), anchors.scores[best] if best else {}, best)
    parts = components(result, extras)
    answers = survey_result(survey, result, options)
    parts["survey"] = (
        answers.component
        if answers is not None
        else Component(value=None, status="not_assessed", reason=survey.reason or SURVEY_ABSENT())
    )
    outcome = outcome_numbers(result)
    success_icc = {**parts["outcome"].detail, "icc": outcome.icc}
    parts["outcome"] = parts["outcome"].model_copy(update={"detail": success_icc})
    own = features(result, diagnosis.distances)
    design = result.design
    human_in = result.reference.frame.filter(pl.Series(_inside(result)))
    labels = {"human": label_counts(human_in), "simulator": label_counts(result.frame)}
    missing = survey.reason or SURVEY_ABSENT()
    return SimulatorCard(
        name=name,
        n=Sizes(
            tasks=len(result.simulator.units),
            sessions=int(result.simulator.sessions.sum()),
            runs=len(result.simulator.splits),
            batches=len(result.human.splits),
            clusters=min(result.data.clusters),
            turns=int(result.frame["user_turns"].sum()),
        ),
        components=parts,
        index=index_of(result, extras),
        features={k: f for k, f in own.items() if f.dimension != "style"},
        style={k: f for k, f in own.items() if f.dimension == "style"},
        left_out=merged(
            session_reasons(table, design),
            repair_counts(table),
            stamp_counts(table),
            language_counts(table),
            outcome_counts(result.success, human=False),
            context.left_out.get(name, {}),
        ),
        warnings=(
            *warnings_of(result, answers.warning if answers else None),
            *floor_warnings(result, anchors),
            *diagnosis.warnings,
        ),
        signature=signature,
        design="paired" if design.paired else "unpaired",
        design_reason=design.reason,
        coverage=(
            Estimate(value=tidy(design.coverage), n=len(design.common), unit="share")
            if design.coverage is not None
            else not_assessed(COVERAGE_UNPAIRED, unit="share")
        ),
        success_gap=outcome.gap,
        human_success=outcome.human,
        simulator_success=outcome.simulator,
        outcome_offset=outcome.offset,
        outcome_bins=outcome.bins,
        outcome_labels=labels if any(labels.values()) else {},
        perceived=(
            None
            if result.reference.aggregated
            else perceived_success(result.reference.frame, result.success.human)
        ),
        survey_items=answers.items if answers else (),
        survey_design=answers.design if answers else None,
        survey_kappa=answers.kappa if answers else not_assessed(missing, unit="kappa"),
        human_kappa=answers.human_kappa if answers else not_assessed(missing, unit="kappa"),
        survey_bias=answers.bias if answers else not_assessed(missing, unit="share"),
        survey_answered=answers.answered if answers else not_assessed(missing, unit="share"),
        tripwires=wires_of(result),
        subgroups=subgroups(result, options, pool),
        floors=dict(anchors.values),
        difficulty=result.bins.source,
        reward_threshold=result.success.threshold,
        tier_limit=None if design.paired else "C",
        inconclusive=((few_clusters(result),) if min(result.data.clusters) < MIN_CLUSTERS else ()),
        versus_humans=versus_humans(result).difference,
        **context.facts.get(name, NO_FACTS).card_fields(),
        **diagnosis.card_fields(),
    )


def _inside(result: Study) -> np.ndarray:
    """Human sessions that are in the design."""
    if not result.design.paired:
        return np.ones(result.reference.frame.height, dtype=bool)
    unit = result.reference.frame[result.design.unit].cast(pl.String)
    return unit.is_in(list(result.design.common)).fill_null(False).to_numpy()
