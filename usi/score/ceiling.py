"""The human row: how the batches of people score against each other (arXiv 2603.11245).

Every pair of batches is scored as if the first were a simulator; mean and population standard
deviation are over pairs. The survey of that row is another estimand: other people answered for
the conversations of batch 1 (``survey_comparable_human-eval-100.json``), and its ± is over tasks.
"""

from __future__ import annotations

from collections.abc import Sequence

from usi.features.spec import FeatureSpec
from usi.score.calibration import Difficulty
from usi.score.index import mean_sd
from usi.score.options import HUMAN_EVAL, ScoreContext, Surveys
from usi.score.scorecard import Component, FeatureScore, HumanCard, Sizes
from usi.score.tau_usi_card import (
    dimension_components,
    feature_scores,
    feature_without_score,
    index_over_batches,
    left_out,
    missing,
    outcome_component,
)
from usi.score.tau_usi_data import SideData
from usi.score.tau_usi_score import HumanPairs, human_eval_scores, human_pairs

ONE_BATCH = "the human row compares batches of people with each other, and the reference has one"


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
        ONE_BATCH
        if len(people.groups) < 2
        else "no session of the reference has a reward"
        if people.all_rewards_null
        else difficulty.missing
    )
    parts = dimension_components(pairs.behaviour, len(pairs.rows))
    if not pairs.behaviour:
        none = ONE_BATCH if len(people.groups) < 2 else "no two batches share a task"
        parts = {name: missing(none) for name in parts}
    tasks = {task for own in people.outcomes.values() for task in own} & difficulty.rates.keys()
    parts["outcome"] = outcome_component(gaps, len(tasks), reason)
    parts["survey"] = survey = _survey(people, surveys)
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
    )


def _survey(people: SideData, surveys: Surveys | None) -> Component:
    if surveys is None:
        return missing("no survey files given (--surveys DIR)")
    if HUMAN_EVAL not in surveys:
        return missing(f"there is no survey_comparable_{HUMAN_EVAL}.json among the surveys")
    scores = human_eval_scores(people, surveys[HUMAN_EVAL])
    if not scores:
        return missing(f"{HUMAN_EVAL} names no conversation of batch 1 with an answered survey")
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
        found[spec.name] = feature_without_score(spec, value, len(spoken), hits, ONE_BATCH)
    return found
