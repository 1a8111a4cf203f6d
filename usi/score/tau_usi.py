"""The profile `tau-usi`: the published User-Sim Index, within 1e-9 and with its oddities.

The definition is that of arXiv 2603.11245 as its authors' public scorer computes it. It differs
in one place, on purpose: what the public scorer lets pass as a missing value that counts as
perfect is refused here (`NotScorable`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from usi._version import __version__
from usi.errors import UsageError
from usi.estimate import Estimate
from usi.features.registry import get_specs
from usi.features.spec import FeatureSpec
from usi.features.table import SessionTable
from usi.run.signature import build
from usi.score.calibration import Difficulty, frozen, read_difficulty, self_pooled
from usi.score.ceiling import human_card
from usi.score.options import ScoreContext, ScoreOptions, Surveys
from usi.score.profiles import Profile
from usi.score.scorecard import Component, Scorecard, SimulatorCard, Sizes, Warning_
from usi.score.survey import SEED
from usi.score.tau_usi_card import (
    dimension_components,
    feature_scores,
    index_over_batches,
    left_out,
    missing,
    outcome_component,
    over_batches,
)
from usi.score.tau_usi_data import SideData, read_side
from usi.score.tau_usi_score import behaviour, outcome_gaps, survey_scores

NAME = "tau-usi"
BEHIND_AUTO = "auto"


def score_tables(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    surveys: Surveys | None,
    options: ScoreOptions,
    context: ScoreContext,
) -> Scorecard:
    """Score every simulator against the reference by the published definition.

    Parameters
    ----------
    human, simulators
        Session tables of this profile whose keys are assigned.
    surveys
        Label -> id -> answers; ``None`` for the five-term index.
    options, context
        See their classes.

    Returns
    -------
    Scorecard
        Simulators by falling index, ties by name.

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
    specs = get_specs(NAME)
    people = read_side(human, specs, side="human", name="reference", run_ids=options.run_ids)
    sides = [
        read_side(table, specs, side="simulated", name=label, run_ids=options.run_ids)
        for label, table in sorted(simulators.items())
    ]
    difficulty = _difficulty(options.difficulty, sides)
    common = {
        "profile": NAME,
        "corpus": f"{context.corpus_name}@{context.corpus_digest[:4] or 'none'}",
        "source": context.source,
        "batches": len(people.groups),
        "ids": None if options.run_ids == BEHIND_AUTO else options.run_ids,
        "lex": human.lexicon,
        "bins": difficulty.name,
        "v": __version__,
    }
    cards = [
        _simulator_card(people, side, specs, difficulty, surveys, common, context) for side in sides
    ]
    cards.sort(key=lambda card: (-(card.index.value if card.index.ok else -1.0), card.name))  # type: ignore[operator]
    ceiling = human_card(people, specs, difficulty, surveys, context)
    return Scorecard(
        usi_version=__version__,
        profile=NAME,
        signature=_signature_of_all(cards, common),
        synthetic=context.synthetic,
        difficulty=difficulty.name,
        settings={"run_ids": options.run_ids, "human_source": context.source},
        human=ceiling,
        simulators=tuple(cards),
        inputs=context.inputs,
        warnings=_warnings(context, [ceiling.index.terms, *(c.index.terms for c in cards)]),
    )


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
    dropped["session: the reference has no session of this task (behaviour)"] = unmatched
    dropped["survey: no valid answer, drawn at random as published"] = imputed
    reference_tasks = people.task_set()
    signature = build(
        "USI",
        {
            **common,
            "terms": index.terms or None,
            "runs": len(found.runs),
            "tasks": len(found.tasks),
            "seed": SEED if survey.ok else None,
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
        warnings=_side_warnings(side),
        signature=str(signature),
        coverage=Estimate(
            value=len(found.tasks) / len(reference_tasks), n=len(reference_tasks), unit="share"
        ),
    )


def _gaps(
    people: SideData, side: SideData, difficulty: Difficulty
) -> tuple[list[float | None], str]:
    """Outcome gaps by batch, and the reason for the case that there is none."""
    for data in (people, side):
        if data.all_rewards_null:
            who = "the reference" if data is people else "the simulator"
            return [None] * len(people.groups), f"no session of {who} has a reward"
    return outcome_gaps(people, side, difficulty.rates), difficulty.missing


def _outcome_tasks(people: SideData, side: SideData, difficulty: Difficulty) -> set[str]:
    humans = {task for own in people.outcomes.values() for task in own}
    own = {task for run in side.outcomes.values() for task in run}
    return humans & own & difficulty.rates.keys()


def _survey(people: SideData, label: str, surveys: Surveys | None) -> tuple[Component, int]:
    """Survey component, and how many answers were drawn."""
    if surveys is None:
        return missing("no survey files given (--surveys DIR)"), 0
    if label not in surveys:
        return missing(f"there is no survey_comparable_{label}.json among the surveys"), 0
    result = survey_scores(people, surveys[label])
    reason = "people answered no item of a conversation that the survey file names"
    return over_batches(result.means, result.tasks, reason), result.imputed


def _signature_of_all(cards: Sequence[SimulatorCard], common: Mapping[str, object]) -> str:
    """One signature for the card: fields that differ between simulators list their values."""
    from usi.run.signature import parse

    each = [parse(card.signature).fields for card in cards]
    own: dict[str, object] = {}
    for name in ("terms", "runs", "tasks", "seed"):
        values = sorted({fields[name] for fields in each if name in fields}, key=int)
        own[name] = "+".join(values) or None
    return str(build("USI", {**common, **own}))


def _side_warnings(side: SideData) -> tuple[Warning_, ...]:
    if not side.several_per_task:
        return ()
    text = "several sessions share a task and a run; each counts in the means"
    return (Warning_(code="several_sessions_per_task", message=text),)


def _warnings(context: ScoreContext, terms: Sequence[int]) -> tuple[Warning_, ...]:
    found = [Warning_(code=code, message=message) for code, message in context.warnings]
    if len({count for count in terms if count}) > 1:
        found.append(
            Warning_(
                code="mixed_terms",
                message=(
                    "some indices have six terms (with the survey) and some have five: USI(5) "
                    "and USI(6) are not comparable"
                ),
            )
        )
    return tuple(found)


PROFILE = Profile(
    name=NAME,
    tag=NAME,
    index="USI",
    description="the published User-Sim Index (arXiv 2603.11245), with its oddities",
    score_tables=score_tables,
)
