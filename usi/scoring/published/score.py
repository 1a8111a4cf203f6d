"""The components of the published index, batch by batch (arXiv 2603.11245 and its scorer).

Dice score of two non-negative numbers, and the mean of several as a dimension score.

The published index: the mean of its six terms, or of five where there is no survey.

Index of one batch = (D1 + D2 + D3 + D4 [+ Eval] + 100 (1 - ECE)) / 6 [or 5], Eval being the one
number that is already averaged over batches (arXiv 2603.11245).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from usi.errors import NotScorable, UsiError
from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.reasons import by_text
from usi.records import SurveyAnswer
from usi.scoring.keys import split_any_run, split_batch
from usi.scoring.published.calibration import binned_gap
from usi.scoring.published.data import Row, SideData
from usi.scoring.published.survey import (
    Imputed,
    agreement,
    answers_of,
    batch_agreement,
    published_rng,
)


def dice(human: float, simulator: float) -> float:
    """Likeness of two magnitudes: ``2 min(h, m) / (h + m)`` on absolute values.

    Parameters
    ----------
    human, simulator
        Finite values in the same unit; only the ratio matters.

    Returns
    -------
    float
        In [0, 1]; 1 where both are equal, and by convention where both are zero.

    Raises
    ------
    UsiError
        Where a value is not finite. (The public scorer lets NaN pass as 1.0; this is the one
        place where usi differs from it on purpose.)

    References
    ----------
    arXiv 2603.11245, the User-Sim Index.

    Examples
    --------
    >>> dice(1.0, 3.0), dice(0.0, 0.0), dice(0.0, 0.2)
    (0.5, 1.0, 0.0)
    """
    if not (math.isfinite(human) and math.isfinite(simulator)):
        raise UsiError("a feature without a finite value can't be compared")
    h, m = abs(human), abs(simulator)
    total = h + m
    return 2 * min(h, m) / total if total > 0 else 1.0


TERMS_WITH_SURVEY = 6
TERMS_WITHOUT_SURVEY = 5


def index_of_batch(dimensions: Sequence[float], ece: float, survey: float | None) -> float:
    """Index of one batch, in points.

    Parameters
    ----------
    dimensions
        The four dimension scores of the batch, in points.
    ece
        Outcome gap of the batch, 0 to 1.
    survey
        Survey agreement in points, or ``None`` for the five-term index.

    Examples
    --------
    >>> index_of_batch([80.0, 80.0, 80.0, 80.0], 0.1, None)
    82.0
    >>> index_of_batch([80.0, 80.0, 80.0, 80.0], 0.1, 70.0)
    80.0
    """
    outcome = (1 - ece) * 100
    if survey is None:
        return (sum(dimensions) + outcome) / TERMS_WITHOUT_SURVEY
    return (sum(dimensions) + survey + outcome) / TERMS_WITH_SURVEY


def mean_sd(values: Sequence[float]) -> tuple[float, float]:
    """Mean and population standard deviation (ddof 0), as the published tables print them.

    >>> mean_sd([1.0, 3.0])
    (2.0, 1.0)
    """
    return float(np.mean(values)), float(np.std(values))


@dataclass(frozen=True)
class BatchScore:
    """Behaviour of one batch (or one pair of batches): rows, Dice scores, dimensions."""

    human: Row
    simulator: Row
    features: dict[str, float]
    dimensions: dict[str, float]


@dataclass
class Behaviour:
    """Behaviour over all batches; ``None`` where a batch shares no task with any run."""

    batches: list[BatchScore | None] = field(default_factory=list)
    tasks: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)
    rows: set[int] = field(default_factory=set)
    human_rows: set[int] = field(default_factory=set)

    @property
    def scored(self) -> list[BatchScore]:
        """The batches that have a score."""
        return [batch for batch in self.batches if batch is not None]


def compare_rows(human: Row, simulator: Row, specs: Sequence[FeatureSpec]) -> BatchScore:
    """Dice score of every feature (0 to 1) and of the four dimensions (points)."""
    features = {
        spec.name: dice(float(h), float(m))
        for spec, h, m in zip(specs, human, simulator, strict=True)
    }
    dimensions = {
        dimension: float(np.mean([features[s.name] for s in specs if s.dimension == dimension]))
        * 100
        for dimension in DIMENSIONS
    }
    return BatchScore(human, simulator, features, dimensions)


def behaviour(human: SideData, simulator: SideData, specs: Sequence[FeatureSpec]) -> Behaviour:
    """Score the runs of a simulator against each batch of people.

    Every run is pooled over the tasks that it shares with the batch; the rows of the runs are
    averaged with equal weight; the batch is pooled over the union of the shared tasks.

    Raises
    ------
    NotScorable
        Where the public scorer would take a missing value for perfect: a run (or the batch)
        whose shared sessions have no user turn, or no shared task at all.
    """
    result = Behaviour()
    for batch in human.groups:
        rows: list[Row] = []
        union: set[str] = set()
        for run in simulator.groups:
            shared = simulator.kept[run].keys() & human.kept[batch].keys()
            if not shared:
                continue
            row = simulator.pooled(run, shared)
            if row is None:
                raise NotScorable(_silent_run(simulator.name, run, batch, len(shared)))
            rows.append(row)
            union |= shared
            result.runs.add(run)
            result.rows.update(simulator.rows_of(run, shared))
        if not rows:
            result.batches.append(None)
            continue
        people = human.pooled(batch, union)
        if people is None:
            raise NotScorable(_silent_batch(simulator.name, batch, len(union)))
        model = (
            rows[0]
            if len(rows) == 1
            else np.array([np.mean(column) for column in zip(*rows, strict=True)])
        )
        result.batches.append(compare_rows(people, model, specs))
        result.tasks |= union
        result.human_rows.update(human.rows_of(batch, union))
    if not result.scored:
        raise NotScorable(_no_overlap(human, simulator))
    return result


def _silent_run(name: str, run: str, batch: str, n: int) -> str:
    return (
        f"{name}: run {run} has no user turn in any of the {n} sessions that it shares with batch "
        f"{batch}, so its behaviour can't be compared (the published scorer would call it "
        "perfect). Look at the roles of the messages with: usi validate FILE; the user's must be "
        'exactly "user". Or score without this run.'
    )


def _silent_batch(name: str, batch: str, n: int) -> str:
    return (
        f"{name}: batch {batch} of the reference has no user turn in any of the {n} sessions that "
        "it shares with the simulator, so there is nothing to compare with (the published scorer "
        "would call it perfect). Look at the reference with: usi validate CORPUS, and at "
        "--human-source: the cleaning for people drops other messages than that for simulators."
    )


def _no_overlap(human: SideData, simulator: SideData) -> str:
    tasks, known = sorted(simulator.task_set()), sorted(human.task_set())
    for data, found in ((simulator, tasks), (human, known)):
        if not found:
            reasons = "; ".join(f"{reason}: {n}" for reason, n in by_text(data.left_out))
            return (
                f"{data.name}: none of its sessions can be scored ({reasons or 'it has none'}). "
                "This profile compares sessions of the same task that were kept and did not "
                "fail; look at them with: usi validate FILE"
            )

    def some(names: list[str]) -> str:
        return ", ".join(repr(name[:60]) for name in names[:3])

    hint = "Where only the domain is missing or wrong: --domain."
    if any(split_any_run(task)[0] in human.task_set() for task in tasks):
        hint = (
            "The ids end with the number of the run, which the published rule reads only in files "
            "of more than 170 entries: give --run-ids suffix."
        )
    return (
        f"{simulator.name}: no session shares its task with the reference (runs: "
        f"{', '.join(simulator.groups[:5])}; batches: {', '.join(human.groups[:5])}), so there is "
        f"nothing to score. Tasks of the simulator: {some(tasks)}; of the reference: "
        f"{some(known)}. {hint}"
    )


def outcome_gaps(
    human: SideData, simulator: SideData, rates: Mapping[str, float]
) -> list[float | None]:
    """Outcome gap of every batch, 0 to 1: mean over runs; ``None`` where no run has one."""
    gaps: list[float | None] = []
    for batch in human.groups:
        people = human.outcomes.get(batch, {})
        found = [binned_gap(run, people, rates) for run in simulator.outcomes.values()]
        known = [gap for gap in found if gap is not None]
        gaps.append(float(np.mean(known)) if known else None)
    return gaps


@dataclass(frozen=True)
class SurveyScore:
    """Survey agreement: per batch (or per task, for the human row), and what was drawn."""

    means: list[float | None]
    tasks: int
    imputed: int


def survey_scores(
    human: SideData, surveys: Mapping[str, tuple[SurveyAnswer, ...] | None]
) -> SurveyScore:
    """Agreement of a simulator's surveys with people; one stream of draws through all batches."""
    by_batch: dict[str, dict[str, tuple[SurveyAnswer, ...] | None]] = {}
    for session_id, answers in surveys.items():
        base, number = split_batch(session_id)
        by_batch.setdefault(str(number), {})[base] = answers
    rng, imputed = published_rng(), Imputed()
    means: list[float | None] = []
    tasks = 0
    for batch in human.groups:
        people = human.surveys[batch]
        own = by_batch.get(batch, {})
        ids = sorted(people.keys() & own.keys())
        given = {i: answers_of(own[i]) for i in ids}
        scores = batch_agreement(people, given, ids, rng, imputed)
        means.append(float(np.mean(scores)) if scores else None)
        tasks += len(scores)
    return SurveyScore(means, tasks, imputed.answers)


def human_eval_scores(
    human: SideData, surveys: Mapping[str, tuple[SurveyAnswer, ...] | None]
) -> list[float]:
    """Agreement of another person's survey with that of batch 1, by sorted task.

    Answers that are missing are drawn in the order of the file, as published.
    """
    people = human.surveys.get("1", {})
    rng = published_rng()
    scores = {
        session_id: agreement(people[session_id], answers_of(answers), rng)
        for session_id, answers in surveys.items()
        if session_id in people
    }
    return [score for _, score in sorted(scores.items()) if score is not None]


@dataclass
class HumanPairs:
    """How the batches of people score against each other, pair by pair."""

    behaviour: list[BatchScore] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    tasks: set[str] = field(default_factory=set)
    rows: set[int] = field(default_factory=set)


def human_pairs(
    human: SideData, rates: Mapping[str, float], specs: Sequence[FeatureSpec]
) -> HumanPairs:
    """Score every pair of batches (i < j), batch i in the place of the simulator for outcomes.

    Raises
    ------
    NotScorable
        Where a batch of a pair has no user turn in the tasks that they share.
    """
    pairs = HumanPairs()
    for k, one in enumerate(human.groups):
        for other in human.groups[k + 1 :]:
            shared = human.kept[one].keys() & human.kept[other].keys()
            if shared:
                first, second = human.pooled(one, shared), human.pooled(other, shared)
                if first is None or second is None:
                    silent = one if first is None else other
                    raise NotScorable(_silent_batch("reference", silent, len(shared)))
                pairs.behaviour.append(compare_rows(first, second, specs))
                pairs.tasks |= shared
                pairs.rows.update(human.rows_of(one, shared), human.rows_of(other, shared))
            gap = binned_gap(human.outcomes.get(one, {}), human.outcomes.get(other, {}), rates)
            if gap is not None:
                pairs.gaps.append(gap)
    return pairs
