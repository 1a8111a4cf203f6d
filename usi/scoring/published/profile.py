"""The profile `tau-usi`: the published User-Sim Index, within 1e-9 and with its oddities.

The definition is that of arXiv 2603.11245 as its authors' public scorer computes it. It differs
in one place, on purpose: what the public scorer lets pass as a missing value that counts as
perfect is refused here (`NotScorable`).

From the numbers of the published score to cards that say what they are and what is missing.

The human row: how the batches of people score against each other (arXiv 2603.11245).

Every pair of batches is scored as if the first were a simulator; mean and population standard
deviation are over pairs. The survey of that row is another estimand: other people answered for
the conversations of batch 1 (``survey_comparable_human-eval-100.json``), and its ± is over tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from usi._version import __version__
from usi.errors import NotScorable, UsageError
from usi.estimate import Estimate, not_assessed
from usi.extraction.profile import get_specs
from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.extraction.table import SessionTable
from usi.options import ScoreOptions
from usi.provenance.signature import build
from usi.reasons import (
    ANSWER_DRAWN,
    INDEX_LACKS,
    MIXED_TERMS,
    NO_COMMON_ITEM,
    NO_FIRST_BATCH,
    NO_REFERENCE_SESSION,
    NO_REWARD,
    NO_SHARED_TASK,
    NO_SHARED_TASK_PAIRS,
    NO_SURVEY_FILES,
    ONE_BATCH_PUBLISHED,
    REWARDS_NOT_BINARY,
    SEVERAL_PER_TASK,
    SURVEY_FILE_MISSING,
    Reason,
    by_text,
)
from usi.scoring.context import HUMAN_EVAL, ScoreContext, Surveys
from usi.scoring.parts import NO_FACTS, Diagnosis
from usi.scoring.profiles import Profile
from usi.scoring.published.calibration import Difficulty, frozen, read_difficulty, self_pooled
from usi.scoring.published.data import SideData, read_side
from usi.scoring.published.score import (
    TERMS_WITH_SURVEY,
    TERMS_WITHOUT_SURVEY,
    BatchScore,
    HumanPairs,
    behaviour,
    human_eval_scores,
    human_pairs,
    index_of_batch,
    mean_sd,
    outcome_gaps,
    survey_scores,
)
from usi.scoring.published.survey import SEED
from usi.scoring.published.task_sums import task_sums
from usi.scoring.refused import refused_part, require_one, told_refused
from usi.scoring.scorecard import (
    Component,
    FeatureScore,
    HumanCard,
    Index,
    LeftOut,
    Scorecard,
    SimulatorCard,
    Sizes,
)


def missing(reason: Reason) -> Component:
    """A component whose data are not there."""
    return Component(value=None, status="not_assessed", reason=reason)


def over_batches(per_batch: Sequence[float | None], n: int, reason: Reason) -> Component:
    """Mean and population standard deviation over the batches that have a value (points)."""
    known = [value for value in per_batch if value is not None]
    if not known:
        return missing(reason)
    mean, sd = mean_sd(known)
    return Component(value=mean, sd=sd, per_batch=tuple(per_batch), n=n)


def dimension_components(batches: Sequence[BatchScore | None], n: int) -> dict[str, Component]:
    """The four dimensions; `n` = sessions that they rest on."""
    return {
        dimension: over_batches(
            [None if batch is None else batch.dimensions[dimension] for batch in batches],
            n,
            NO_SHARED_TASK(),
        )
        for dimension in DIMENSIONS
    }


def outcome_component(gaps: Sequence[float | None], n: int, reason: Reason) -> Component:
    """The outcome, 100 (1 - ECE) points; the ECE itself (0 to 1) stands in its details."""
    known = [gap for gap in gaps if gap is not None]
    if not known:
        return missing(reason)
    points = over_batches([None if gap is None else (1 - gap) * 100 for gap in gaps], n, reason)
    mean, sd = mean_sd(known)
    detail = {
        "ece": Estimate(value=mean, n=n, unit="share"),
        "ece_sd": Estimate(value=sd, n=len(known), unit="share"),
    }
    return points.model_copy(update={"detail": detail})


def index_over_batches(
    behaviour: Sequence[BatchScore | None],
    gaps: Sequence[float | None],
    survey: float | None,
    outcome_reason: Reason,
) -> Index:
    """The index: mean of its batches; a batch without an outcome gives none.

    Five terms are never silently averaged as six: `terms` says how many there are.
    """
    per_batch = [
        None
        if batch is None or gap is None
        else index_of_batch([batch.dimensions[d] for d in DIMENSIONS], gap, survey)
        for batch, gap in zip(behaviour, gaps, strict=True)
    ]
    known = [value for value in per_batch if value is not None]
    if not known:
        why = INDEX_LACKS(cause=outcome_reason)
        return Index(value=None, status="not_assessed", reason=why, terms=0)
    mean, sd = mean_sd(known)
    terms = TERMS_WITHOUT_SURVEY if survey is None else TERMS_WITH_SURVEY
    return Index(value=mean, sd=sd, per_batch=tuple(per_batch), terms=terms, n=len(known))


def feature_scores(
    batches: Sequence[BatchScore],
    specs: Sequence[FeatureSpec],
    human: SideData,
    human_rows: set[int],
    simulator: SideData,
    simulator_rows: set[int],
) -> dict[str, FeatureScore]:
    """Every feature: raw values of both sides and Dice score, each the mean over batches.

    The human value is the mean over batches of the batch's row; the simulator's value is the mean
    over batches of the mean row of its runs. Both are raw (rates from 0 to 1), as in the session
    table, although the published rows multiply rates by 100.
    """
    scores: dict[str, FeatureScore] = {}
    for k, spec in enumerate(specs):
        scale = float(human.scale[k])
        people = mean_sd([float(batch.human[k]) for batch in batches])[0] / scale
        model = mean_sd([float(batch.simulator[k]) for batch in batches])[0] / scale
        likeness = mean_sd([batch.features[spec.name] * 100 for batch in batches])[0]
        scores[spec.name] = FeatureScore(
            dimension=spec.dimension,
            unit=spec.unit,
            scored=spec.scored,
            human=Estimate(value=people, n=len(human_rows), unit=spec.unit),
            simulator=Estimate(value=model, n=len(simulator_rows), unit=spec.unit),
            score=Estimate(value=likeness, n=len(batches)),
            human_hits=_hits(human, human_rows, k),
            simulator_hits=_hits(simulator, simulator_rows, k),
        )
    return scores


def _hits(side: SideData, rows: set[int], k: int) -> int:
    return int((side.values[sorted(rows), k] > 0).sum())


def feature_without_score(
    spec: FeatureSpec, value: float, n: int, hits: int, reason: Reason
) -> FeatureScore:
    """A feature of people alone."""
    none = not_assessed(reason, unit=spec.unit)
    return FeatureScore(
        dimension=spec.dimension,
        unit=spec.unit,
        scored=spec.scored,
        human=Estimate(value=value, n=n, unit=spec.unit),
        simulator=none,
        score=not_assessed(reason),
        human_hits=hits,
    )


def left_out(*sources: Mapping[Reason, int]) -> tuple[LeftOut, ...]:
    """Reasons with their counts, sorted by text; equal reasons add up."""
    total: Counter[Reason] = Counter()
    for source in sources:
        total.update(source)
    return tuple(LeftOut(reason=r, count=c) for r, c in by_text(total))


def human_card(
    people: SideData,
    specs: Sequence[FeatureSpec],
    difficulty: Difficulty,
    surveys: Surveys | None,
    context: ScoreContext,
) -> HumanCard:
    """What is said about the reference, with its own row of components."""
    pairs = human_pairs(people, difficulty.rates, specs)
    gaps = [] if people.all_rewards_null else pairs.gaps
    reason = (
        ONE_BATCH_PUBLISHED()
        if len(people.groups) < 2
        else NO_REWARD(who="the reference")
        if people.all_rewards_null
        else difficulty.missing
    )
    parts = dimension_components(pairs.behaviour, len(pairs.rows))
    if not pairs.behaviour:
        none = ONE_BATCH_PUBLISHED() if len(people.groups) < 2 else NO_SHARED_TASK_PAIRS()
        parts = {name: missing(none) for name in parts}
    tasks = {task for own in people.outcomes.values() for task in own} & difficulty.rates.keys()
    parts["outcome"] = outcome_component(gaps, len(tasks), reason)
    parts["survey"] = survey = _survey_of_people(people, surveys)
    # As published: the k-th outcome gap meets the k-th pair, also where a pair before has none.
    n = min(len(gaps), len(pairs.behaviour))
    index = index_over_batches(pairs.behaviour[:n], gaps[:n], survey.value, reason)
    rows = {i for own in people.kept.values() for some in own.values() for i in some}
    spoken = {i for i in rows if people.spoke[i]}
    return HumanCard(
        name=context.human_name,
        n=Sizes(tasks=len(people.task_set()), sessions=len(spoken), batches=len(people.groups)),
        components=parts,
        index=index,
        features=_features(people, pairs, specs, spoken),
        left_out=left_out(people.left_out, context.left_out.get("", {})),
        is_human=context.is_human,
        synthetic=context.synthetic,
        licence=context.licence,
        research_only=context.research_only,
        redistribute=context.redistribute,
        terms=context.terms,
        expires=context.expires,
        load_notes=context.load_notes,
    )


def _survey_of_people(people: SideData, surveys: Surveys | None) -> Component:
    if surveys is None:
        return missing(NO_SURVEY_FILES())
    if HUMAN_EVAL not in surveys:
        return missing(SURVEY_FILE_MISSING(label=HUMAN_EVAL))
    scores = human_eval_scores(people, surveys[HUMAN_EVAL])
    if not scores:
        return missing(NO_FIRST_BATCH(label=HUMAN_EVAL))
    mean, sd = mean_sd(scores)
    return Component(value=mean, sd=sd, n=len(scores))


def _features(
    people: SideData, pairs: HumanPairs, specs: Sequence[FeatureSpec], spoken: set[int]
) -> dict[str, FeatureScore]:
    """Features of the human row: first batch of every pair against the second."""
    if pairs.behaviour:
        return feature_scores(pairs.behaviour, specs, people, pairs.rows, people, pairs.rows)
    found: dict[str, FeatureScore] = {}
    batches = [people.pooled(batch, people.kept[batch]) for batch in people.groups]
    rows = [row for row in batches if row is not None]
    for k, spec in enumerate(specs):
        if not rows:
            break
        value = mean_sd([float(row[k]) for row in rows])[0] / float(people.scale[k])
        hits = int((people.values[sorted(spoken), k] > 0).sum())
        found[spec.name] = feature_without_score(
            spec, value, len(spoken), hits, ONE_BATCH_PUBLISHED()
        )
    return found


NAME = "tau-usi"
BEHIND_AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class PublishedStudies:
    """Both sides as the published definition reads them; sums and card are made from it.

    Attributes
    ----------
    human, simulators
        Session tables with keys, simulators by label.
    people, sides
        The numbers in them.
    difficulty
        Task -> success rate.
    surveys, options
        As they were given.
    refused
        Label -> why a simulator can't be read by this definition.
    """

    human: SessionTable
    simulators: Mapping[str, SessionTable]
    people: SideData
    sides: tuple[SideData, ...]
    difficulty: Difficulty
    surveys: Surveys | None
    options: ScoreOptions
    refused: Mapping[str, Reason] = field(default_factory=dict)

    def sums(self) -> pl.DataFrame:
        """Sums by side, simulator, task and batch or run, see `usi.scoring.published.task_sums`."""
        return task_sums([self.human, *self.simulators.values()], self.difficulty.rates)

    def card(
        self, context: ScoreContext, diagnoses: Mapping[str, Diagnosis] | None = None
    ) -> Scorecard:
        """The scorecard: simulators by falling index, ties by name; there is no diagnosis."""
        specs = get_specs(NAME)
        common = {
            "profile": NAME,
            "corpus": f"{context.corpus_name}@{context.corpus_digest[:4] or 'none'}",
            "source": context.source,
            "batches": len(self.people.groups),
            "ids": None if self.options.run_ids == BEHIND_AUTO else self.options.run_ids,
            "lex": self.human.lexicon,
            "bins": self.difficulty.name,
            "reward": None if self.options.success_at is None else f"{self.options.success_at:g}",
            "v": __version__,
        }
        cards, refused = list[SimulatorCard](), dict(self.refused)
        for side in self.sides:
            try:
                cards.append(
                    _simulator_card(
                        self.people, side, specs, self.difficulty, self.surveys, common, context
                    )
                )
            except NotScorable as error:
                refused[side.name] = error.reason
        require_one(cards, refused)
        cards.sort(key=lambda card: (-(card.index.value if card.index.ok else -1.0), card.name))  # type: ignore[operator]
        ceiling = human_card(self.people, specs, self.difficulty, self.surveys, context)
        settings: dict[str, str] = {
            "run_ids": self.options.run_ids,
            "human_source": context.source,
        }
        if context.surveys is not None:
            settings["surveys"] = context.surveys
        return Scorecard(
            usi_version=__version__,
            profile=NAME,
            signature=_signature_of_all(cards, common),
            synthetic=context.synthetic,
            difficulty=self.difficulty.name,
            settings=settings,
            human=ceiling,
            simulators=tuple(cards),
            refused=refused_part(refused),
            inputs=context.inputs,
            warnings=(
                *_warnings(context, [ceiling.index.terms, *(c.index.terms for c in cards)]),
                *told_refused(refused),
            ),
            tasks_sha256=context.tasks_sha256,
        )


def study_tables(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    surveys: Surveys | None,
    options: ScoreOptions,
) -> PublishedStudies:
    """Read both sides by the published definition.

    Parameters
    ----------
    human, simulators
        Session tables of this profile whose keys are assigned.
    surveys
        Label -> id -> answers; ``None`` for the five-term index.
    options
        See its class.

    Raises
    ------
    NotScorable
        Where the public scorer would take missing behaviour for perfect behaviour.
    UsageError
        Where a table is of another profile, or there is no simulator.
    """
    if not simulators:
        raise UsageError("there is no simulator to score")
    for table in (human, *simulators.values()):
        if table.profile != NAME:
            raise UsageError(
                f"a session table of the profile {table.profile!r} can't be scored with "
                f"{NAME!r}: make it again with: usi features FILES --profile {NAME}"
            )
    human = _with_outcomes(human, options.success_at)
    graded: dict[str, SessionTable] = {}
    refused: dict[str, Reason] = {}
    for label, table in sorted(simulators.items()):
        try:
            graded[label] = _with_outcomes(table, options.success_at)
        except NotScorable as error:
            refused[label] = error.reason
    require_one(graded, refused)
    specs = get_specs(NAME)
    people = read_side(human, specs, side="human", name="reference", run_ids=options.run_ids)
    sides = tuple(
        read_side(table, specs, side="simulated", name=label, run_ids=options.run_ids)
        for label, table in graded.items()
    )
    return PublishedStudies(
        human=human,
        simulators=graded,
        people=people,
        sides=sides,
        difficulty=_difficulty(options.difficulty, sides),
        surveys=surveys,
        options=options,
        refused=refused,
    )


def _with_outcomes(table: SessionTable, threshold: float | None) -> SessionTable:
    """The table with rewards of 0 and 1 alone, by the threshold that was declared.

    Raises
    ------
    NotScorable
        For other rewards, where no threshold was declared: the public scorer takes every reward
        above 0 for a success.
    """
    reward = table.frame["reward"]
    if threshold is not None:
        return replace(
            table,
            frame=table.frame.with_columns((pl.col("reward") >= threshold).cast(pl.Float64)),
        )
    strange = reward.drop_nulls().filter(~reward.drop_nulls().is_in([0.0, 1.0])).sort()
    if len(strange):
        raise NotScorable(REWARDS_NOT_BINARY(example=strange[0]))
    return table


def _difficulty(option: str, sides: Sequence[SideData]) -> Difficulty:
    if option == "frozen":
        return frozen()
    if option == "self":
        return self_pooled(run for side in sides for run in side.outcomes.values())
    return read_difficulty(option)


def _simulator_card(
    people: SideData,
    side: SideData,
    specs: Sequence[FeatureSpec],
    difficulty: Difficulty,
    surveys: Surveys | None,
    common: Mapping[str, object],
    context: ScoreContext,
) -> SimulatorCard:
    found = behaviour(people, side, specs)
    gaps, reason = _gaps(people, side, difficulty)
    parts = dimension_components(found.batches, len(found.rows))
    tasks = _outcome_tasks(people, side, difficulty)
    parts["outcome"] = outcome_component(gaps, len(tasks), reason)
    survey, imputed = _survey(people, side.name, surveys)
    parts["survey"] = survey
    index = index_over_batches(found.batches, gaps, survey.value, reason)
    dropped = dict(side.left_out)
    kept = {i for own in side.kept.values() for rows in own.values() for i in rows}
    unmatched = sum(1 for i in kept if side.spoke[i] and i not in found.rows)
    dropped[NO_REFERENCE_SESSION()] = unmatched
    dropped[ANSWER_DRAWN()] = imputed
    reference_tasks = people.task_set()
    facts = context.facts.get(side.name, NO_FACTS)
    signature = build(
        "USI",
        {
            **common,
            "terms": index.terms or None,
            "runs": len(found.runs),
            "tasks": len(found.tasks),
            "seed": SEED if survey.ok else None,
            "sim": facts.mark,
        },
    )
    return SimulatorCard(
        name=side.name,
        n=Sizes(
            tasks=len(found.tasks),
            sessions=len(found.rows),
            runs=len(found.runs),
            batches=len(found.scored),
        ),
        components=parts,
        index=index,
        features=feature_scores(found.scored, specs, people, found.human_rows, side, found.rows),
        left_out=left_out(dropped, context.left_out.get(side.name, {})),
        warnings=(SEVERAL_PER_TASK(),) if side.several_per_task else (),
        signature=str(signature),
        coverage=Estimate(
            value=len(found.tasks) / len(reference_tasks), n=len(reference_tasks), unit="share"
        ),
        **facts.card_fields(),
    )


def _gaps(
    people: SideData, side: SideData, difficulty: Difficulty
) -> tuple[list[float | None], Reason]:
    """Outcome gaps by batch, and the reason for the case that there is none."""
    for data in (people, side):
        if data.all_rewards_null:
            who = "the reference" if data is people else "the simulator"
            return [None] * len(people.groups), NO_REWARD(who=who)
    return outcome_gaps(people, side, difficulty.rates), difficulty.missing


def _outcome_tasks(people: SideData, side: SideData, difficulty: Difficulty) -> set[str]:
    humans = {task for own in people.outcomes.values() for task in own}
    own = {task for run in side.outcomes.values() for task in run}
    return humans & own & difficulty.rates.keys()


def _survey(people: SideData, label: str, surveys: Surveys | None) -> tuple[Component, int]:
    """Survey component, and how many answers were drawn."""
    if surveys is None:
        return missing(NO_SURVEY_FILES()), 0
    if label not in surveys:
        return missing(SURVEY_FILE_MISSING(label=label)), 0
    result = survey_scores(people, surveys[label])
    return over_batches(result.means, result.tasks, NO_COMMON_ITEM()), result.imputed


def _signature_of_all(cards: Sequence[SimulatorCard], common: Mapping[str, object]) -> str:
    """One signature for the card: fields that differ between simulators list their values."""
    from usi.provenance.signature import parse

    each = [parse(card.signature).fields for card in cards]
    own: dict[str, object] = {}
    for name in ("terms", "runs", "tasks", "seed"):
        values = sorted({fields[name] for fields in each if name in fields}, key=int)
        own[name] = "+".join(values) or None
    own["sim"] = "+".join(sorted({f["sim"] for f in each if "sim" in f})) or None
    return str(build("USI", {**common, **own}))


def _warnings(context: ScoreContext, terms: Sequence[int]) -> tuple[Reason, ...]:
    mixed = len({count for count in terms if count}) > 1
    return (*context.warnings, *([MIXED_TERMS()] if mixed else []))


PROFILE = Profile(
    name=NAME,
    tag=NAME,
    index="USI",
    description="the published User-Sim Index (arXiv 2603.11245), with its oddities",
    study=study_tables,
)
