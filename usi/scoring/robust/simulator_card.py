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
from usi.reasons import (
    BELOW_FLOOR,
    BLIND_COMPONENT,
    COVERAGE_UNPAIRED,
    DIFFICULTY_ELSEWHERE,
    FEW_CLUSTERS,
    IDENTICAL_SIDES,
    LABELS_ONE_SIDE,
    LANGUAGE,
    LANGUAGES_DIFFER,
    NO_OUTCOME,
    ONE_BATCH_CEILING,
    PARTIAL_OVERLAP,
    SCRIPT,
    SURVEY_ABSENT,
    TASK_MIX,
    Reason,
)
from usi.scoring.context import ScoreContext
from usi.scoring.parts import NO_DIAGNOSIS, NO_FACTS, Diagnosis
from usi.scoring.robust.batches import batch_ranges, versus_humans
from usi.scoring.robust.bounds import maybe, tidy
from usi.scoring.robust.card_parts import (
    Extras,
    components,
    features,
    index_of,
    outcome_numbers,
    style_score,
)
from usi.scoring.robust.difficulty import Pool
from usi.scoring.robust.floors import CONSTANT, ECHO, behaviour_mean
from usi.scoring.robust.gaps import certain_gaps
from usi.scoring.robust.left_out import (
    absent_counts,
    language_counts,
    merged,
    outcome_counts,
    repair_counts,
    session_reasons,
    silent_counts,
    stamp_counts,
)
from usi.scoring.robust.outcome import label_counts
from usi.scoring.robust.perceived import perceived_success
from usi.scoring.robust.study import Study
from usi.scoring.robust.subgroups import subgroups
from usi.scoring.robust.survey import SurveySide, survey_result
from usi.scoring.robust.thresholds import MIN_CLUSTERS
from usi.scoring.robust.tripwire import tripwire_list, tripwires
from usi.scoring.scorecard import Component, SimulatorCard, Sizes, Tripwire


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


MOST_IDS = 5
"""Sessions that a tripwire names."""


def wires_of(result: Study) -> tuple[Tripwire, ...]:
    """Tripwires, over all human sessions and the simulator's sessions of the design."""
    ref, side = result.reference, result.simulator
    place = {spec.name: k for k, spec in enumerate(ref.specs)}
    hits, sessions = side.hits.sum(axis=0), side.counts.sum(axis=0)
    wires = tripwire_list(ref.specs, ref.verdicts)
    ids = result.frame["session_id"].to_list()
    shown = {
        spec.name: tuple(
            str(ids[k])
            for k in np.flatnonzero(result.values[:, place[spec.name]] > 0)[:MOST_IDS].tolist()
        )
        for spec in wires
    }
    counts = {
        spec.name: (
            ref.verdicts[spec.name].hits,
            ref.verdicts[spec.name].sessions,
            int(hits[place[spec.name]]),
            int(sessions[place[spec.name]]),
        )
        for spec in wires
    }
    return tripwires(wires, counts, shown)


def warnings_of(result: Study, survey_warning: Reason | None) -> tuple[Reason, ...]:
    """What a reader of this card must know, in a fixed order."""
    found: list[Reason] = []
    design, data, success = result.design, result.data, result.success
    if not design.paired:
        found += [TASK_MIX(), SCRIPT()]
    if min(data.clusters) < MIN_CLUSTERS:
        found.append(few_clusters(result))
    unread = sorted({*without_lists(result.reference.frame), *without_lists(result.frame)})
    if unread:
        found.append(LANGUAGE(languages=", ".join(unread)))
    people, simulator = _tongues(result.reference.frame), _tongues(result.frame)
    if people != simulator:
        found.append(LANGUAGES_DIFFER(people=people, simulator=simulator))
    if design.paired and len(result.human.splits) < 2:
        found.append(ONE_BATCH_CEILING())
    if design.paired and (design.human_only or design.simulator_only):
        found.append(PARTIAL_OVERLAP(human=design.human_only, simulator=design.simulator_only))
    if result.bins.note:
        found.append(DIFFICULTY_ELSEWHERE(cause=result.bins.note, source=result.bins.source))
    if success.missing and "outcome" in result.terms:
        found.append(NO_OUTCOME(sessions=success.missing))
    if success.one_sided and "outcome" in result.terms:
        found.append(LABELS_ONE_SIDE(refusals=success.one_sided))
    if identical(result):
        found.append(IDENTICAL_SIDES())
    if survey_warning:
        found.append(survey_warning)
    return tuple(found)


USERS = {
    CONSTANT: "a user who always says the same word",
    ECHO: "a user who repeats the agent's last message",
}


def floor_warnings(result: Study, anchors: Anchors) -> tuple[Reason, ...]:
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
            found.append(BELOW_FLOOR(component=name, score=tidy(raw), users=told))
        blind = [
            USERS[user]
            for user, own in anchors.scores.items()
            if ceiling is not None and name in own and own[name] >= ceiling
        ]
        if blind:
            users = " and ".join(blind)
            found.append(BLIND_COMPONENT(component=name, users=users, ceiling=maybe(ceiling)))
    return tuple(found)


def _tongues(frame: pl.DataFrame) -> str:
    """Languages of a side, for a sentence."""
    others = languages_in(frame)
    english = frame.height > sum(others.values())
    return " and ".join([*(["en"] if english else []), *others])


def _clusters(result: Study) -> str:
    n = min(result.data.clusters)
    return f"{n} cluster" if n == 1 else f"{n} clusters"


def few_clusters(result: Study) -> Reason:
    """That there are too few clusters."""
    return FEW_CLUSTERS(clusters=_clusters(result), unit=result.unit_name, least=MIN_CLUSTERS)


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
    gaps, gaps_tested = certain_gaps(result, {k: f.gap for k, f in own.items()})
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
        style_score=style_score(result, extras),
        left_out=merged(
            session_reasons(table, design),
            repair_counts(table),
            stamp_counts(table),
            silent_counts(table),
            absent_counts(result.frame, design),
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
        certain_gaps=gaps,
        gaps_tested=gaps_tested,
        tripwires=wires_of(result),
        subgroups=subgroups(result, options, pool),
        floors=dict(anchors.values),
        difficulty=result.bins.source,
        reward_threshold=result.success.threshold,
        tier_limit=None if design.paired else "C",
        inconclusive=((few_clusters(result),) if min(result.data.clusters) < MIN_CLUSTERS else ()),
        versus_humans=versus_humans(result).difference,
        **context.facts.get(name, NO_FACTS).card_fields(),
        **diagnosis.card_fields() | _withheld(diagnosis, context),
    )


def _withheld(diagnosis: Diagnosis, context: ScoreContext) -> dict[str, tuple[()]]:
    """Empty fields in place of words that people said and that must not be shown."""
    if context.show_words:
        return {}
    copied = diagnosis.copies is not None and diagnosis.copies.alarm
    return {"unsaid": (), **({"telltales": ()} if copied else {})}


def _inside(result: Study) -> np.ndarray:
    """Human sessions that are in the design."""
    if not result.design.paired:
        return np.ones(result.reference.frame.height, dtype=bool)
    unit = result.reference.frame[result.design.unit].cast(pl.String)
    return unit.is_in(list(result.design.common)).fill_null(False).to_numpy()
