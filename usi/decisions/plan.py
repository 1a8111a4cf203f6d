"""A plan: tasks for a power by number of runs, and what a given design can show.

How many tasks, batches and runs a study needs, from closed forms or a pilot.

The score of one part at n tasks, m human batches and R runs has the bias and standard error

    bias = k_b sqrt(x / n),   SE² = (t + k_s² x) / n,   x = 1/m + 1/R,

where t is the part of the variance that more batches and runs don't lower. A simulator of true
score U passes a minimum τ with power 1 - β where U - bias - z_α q SE - z_β SE >= τ; q is the ratio
of the bootstrap's standard error to the true one.

Where people did several sessions each, 1/m is multiplied by the design effect 1 + (k - 1) ρ of k
sessions a person (Kish 1965), ρ the correlation of two sessions of one person.

Noise of a study from a pilot: a scorecard with bounds, or human sessions alone. Sessions also tell
how often a dimension can't be assessed, since too few of the people show its features: the pilot's
sessions are drawn anew at the size of the design and judged as a reference is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from usi.decisions.bounds import ALPHA, bounded, quantile
from usi.decisions.criteria import GATED, Criteria
from usi.decisions.regression import mean_abs
from usi.decisions.task_sample import Picked
from usi.errors import NotScorable, UsageError
from usi.extraction.spec import FeatureSpec
from usi.scoring.robust.thresholds import Z
from usi.scoring.scorecard import Scorecard, SimulatorCard

if TYPE_CHECKING:
    import polars as pl


SUCCESS_VARIANCE = 0.183
"""Mean variance of success within a task, over the 165 tasks of the published study."""
MOST_TASKS = 100_000
_PHI = NormalDist().cdf


@dataclass(frozen=True)
class Noise:
    """Noise of one part in points; see the module.

    Attributes
    ----------
    bias
        k_b.
    task
        sqrt(t).
    session
        k_s.
    ratio
        q, the ratio of the bootstrap's standard error to the true one (1.0 to 1.7 observed, the
        largest near the ceiling).
    alike, person
        Correlation ρ of two sessions of one person, and the share of all sessions that one person
        does (the sum of the squared shares); as many people are planned with as the pilot has.
    """

    bias: float
    task: float
    session: float
    ratio: float = 1.0
    alike: float = 0.0
    person: float = 0.0

    def x(self, tasks: int, batches: int, runs: int) -> float:
        """1/m + 1/R, the first times the design effect of people with several sessions."""
        effect = 1 + max(0.0, tasks * batches * self.person - 1) * self.alike
        return effect / batches + 1 / runs

    def at(self, tasks: int, batches: int, runs: int) -> tuple[float, float]:
        """(K_b, K_s): bias and SE times sqrt(tasks)."""
        x = self.x(tasks, batches, runs)
        return self.bias * math.sqrt(x), math.sqrt(self.task**2 + self.session**2 * x)


# Measured with people of STAR against other people of STAR, at 165 tasks with 3 batches and 3 runs
# (docs/gate.md); outcome simulated with the published difficulties.
_PLAIN = Noise(0.0, 0.0, 0.0)
CLOSED_FORMS: dict[str, Noise] = {
    "index": Noise(bias=85.0, task=0.0, session=12.9, ratio=1.4),
    "conversation": Noise(bias=42.6, task=0.0, session=11.6, ratio=1.5),
    "information": Noise(bias=64.9, task=0.0, session=16.0, ratio=1.55),
    "clarification": Noise(bias=122.6, task=0.0, session=30.0, ratio=1.7),
    "reaction": Noise(bias=148.0, task=0.0, session=47.0, ratio=1.65),
    "outcome": Noise(bias=69.4, task=0.0, session=26.0, ratio=1.35),
}


@dataclass(frozen=True)
class PartPower:
    """One part of the criteria under one design.

    Attributes
    ----------
    part, minimum, expected
        What is asked, in points, and the score to expect.
    power
        Chance to pass where the part is assessed.
    assessed
        Chance that it is.
    """

    part: str
    minimum: float
    expected: float
    power: float
    assessed: float = 1.0

    @property
    def chance(self) -> float:
        """Chance to pass, those studies counted in which the part can't be assessed."""
        return self.power * self.assessed


def tasks_for_score(
    noise: Noise, *, truth: float, minimum: float, batches: int, runs: int, power: float = 0.8,
    near_ceiling: bool = True, alpha: float = ALPHA,
) -> int | None:  # fmt: skip
    """Tasks for a lower bound to reach a minimum with a given power.

    ``n = ((K_b + (z_alpha + z_beta) K_s) / (truth - minimum))²``; far from the ceiling K_b is 0.

    Returns
    -------
    int or None
        ``None`` where the truth does not lie above the minimum.
    """
    if truth <= minimum:
        return None
    tasks = 2
    for _ in range(50):  # the noise of few people depends on how many tasks they share
        k_b, k_s = noise.at(tasks, batches, runs)
        reach = (quantile(alpha) * noise.ratio + quantile(1 - power)) * k_s
        total = (k_b if near_ceiling else 0.0) + reach
        need = math.ceil((total / (truth - minimum)) ** 2 - 1e-9)
        if need == tasks:
            break
        tasks = need
        if tasks > MOST_TASKS:
            return None
    return tasks


def part_powers(
    criteria: Criteria, noises: Mapping[str, Noise], *, truth: float, tasks: int, batches: int,
    runs: int, variance: float = SUCCESS_VARIANCE, assessed: Assessed | None = None,
) -> tuple[PartPower, ...]:  # fmt: skip
    """Chance of each part to pass, for a simulator whose every true score is `truth`.

    The gap of that simulator is taken as 0.
    """
    root = math.sqrt(tasks)
    x = noises.get("outcome", _PLAIN).x(tasks, batches, runs)
    there = {} if assessed is None else assessed.chances(tasks, batches)
    alpha = ALPHA / criteria.family_size
    parts = []
    for name, minimum in criteria.minimum.items():
        noise = noises.get(name)
        if noise is None:
            continue
        k_b, k_s = noise.at(tasks, batches, runs)
        # Noise only lowers a score that is at the ceiling; far from it the bias fades.
        expected = truth - _bias_left(k_b / root, truth)
        se = k_s / root
        if se <= 0:
            power = float(expected >= minimum)
        else:
            power = _PHI((expected - minimum) / se - quantile(alpha) * noise.ratio)
        parts.append(PartPower(name, minimum, expected, power, there.get(name, 1.0)))
    limit = criteria.max_success_gap
    if limit is not None and limit < 1:
        se = math.sqrt(variance * x / tasks)
        # A pilot in which both sides always succeed alike has no noise at all.
        reach = limit / se if se > 0 else math.inf
        power = max(0.0, 2 * _PHI(reach - quantile(alpha)) - 1)
        parts.append(PartPower("success_gap", limit, 0.0, power))
    return tuple(parts)


def _bias_left(bias: float, truth: float) -> float:
    """Bias of a mean of |x + noise| where the true |x| adds up to 100 - truth points."""
    if bias <= 0:
        return 0.0
    scale = bias / mean_abs(0.0)
    distance = 100.0 - truth
    return max(0.0, scale * mean_abs(distance / scale) - distance)


def joint_power(parts: Sequence[PartPower]) -> float:
    """Chance that all parts pass, about.

    Dimensions as if independent; outcome and success gap rest on the same outcomes, so the
    smaller chance of the two counts; the index follows its components. It is assessed where all of
    them are, which its own chance to be assessed says.
    """
    together = {part.part: part.assessed for part in parts}
    least = min(together.values(), default=1.0)
    return together.get("index", least) * _joint(parts)


def _joint(parts: Sequence[PartPower]) -> float:
    chance = {part.part: part.power for part in parts}
    same = [chance.pop(name) for name in ("outcome", "success_gap") if name in chance]
    index = chance.pop("index", 1.0)
    return min(index, math.prod(chance.values()) * min(same, default=1.0))


def tasks_for_all(
    criteria: Criteria, noises: Mapping[str, Noise], *, truth: float, batches: int, runs: int,
    power: float = 0.8, variance: float = SUCCESS_VARIANCE, assessed: Assessed | None = None,
) -> int | None:  # fmt: skip
    """Fewest tasks with which all parts pass together with the given power."""

    def enough(tasks: int) -> bool:
        parts = part_powers(
            criteria, noises, truth=truth, tasks=tasks, batches=batches, runs=runs,
            variance=variance, assessed=assessed,
        )  # fmt: skip
        return joint_power(parts) >= power

    low, high = 1, criteria.min_tasks or 2
    while not enough(high):
        low, high = high, high * 2
        if high > MOST_TASKS:
            return None
    if enough(low):
        return max(low, criteria.min_tasks or 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return max(high, criteria.min_tasks or 1)


def runs_for_all(
    criteria: Criteria, noises: Mapping[str, Noise], *, truth: float, tasks: int, batches: int,
    power: float = 0.8, variance: float = SUCCESS_VARIANCE, assessed: Assessed | None = None,
    most: int = 50,
) -> int | None:  # fmt: skip
    """Fewest runs with which all parts pass together; ``None`` where up to `most` don't do."""
    for runs in range(1, most + 1):
        parts = part_powers(
            criteria, noises, truth=truth, tasks=tasks, batches=batches, runs=runs,
            variance=variance, assessed=assessed,
        )  # fmt: skip
        if joint_power(parts) >= power:
            return runs
    return None


DRAWS = 100
"""Studies drawn from a pilot to see what can be assessed."""
STEP = math.log(1.1)
MOST_DRAWN = 3000
"""Sessions of a drawn study: what so many people don't show is not found in more."""


@dataclass(frozen=True)
class Assessed:
    """How often each part can be assessed in a study of a size, by drawing a pilot anew.

    Attributes
    ----------
    values, specs
        Natural values of the pilot's sessions, shape (sessions, features), and the features.
    known
        Chances by size that were drawn already.
    """

    values: NDArray[np.float64]
    specs: tuple[FeatureSpec, ...]
    known: dict[int, dict[str, float]] = field(default_factory=dict)

    def chances(self, tasks: int, batches: int) -> dict[str, float]:
        """Chance of each dimension, and of all together (``index``), to be assessed.

        They depend on the number of sessions alone, which is rounded to steps of a tenth.
        """
        step = round(math.log(max(1, tasks * batches)) / STEP)
        if step not in self.known:
            self.known[step] = self._drawn(round(math.exp(STEP * step)))
        return self.known[step]

    def _drawn(self, sessions: int) -> dict[str, float]:
        from usi.scoring.robust.scorable import (
            pooled_verdicts,
            pools_of,
            scorability,
            select,
            with_pool_specs,
            with_pools,
        )

        rng = np.random.default_rng([7, sessions])
        counts: Counter[str] = Counter()
        for _ in range(DRAWS):
            values = self.values[rng.integers(0, len(self.values), size=min(sessions, MOST_DRAWN))]
            verdicts = scorability(values, self.specs)
            pools = pools_of(values, self.specs, verdicts)
            if pools:
                specs = with_pool_specs("robust", pools)
                values = with_pools(values, self.specs, pools)
                verdicts = pooled_verdicts(values, specs, verdicts, pools)
            else:
                specs = self.specs
            found = select(specs, verdicts, paired=True, pools=pools)
            there = [name for name, own in found.items() if own.reason is None]
            counts.update(there)
            counts["index"] += len(there) == len(found)
        return {name: counts[name] / DRAWS for name in (*found, "index")}


@dataclass(frozen=True)
class Pilot:
    """What a pilot tells of the noise of a study.

    Attributes
    ----------
    noises, variance
        Noise of the parts, and within-task variance of success.
    source
        Where they come from, in words.
    assessed
        Chances that parts can be assessed; ``None`` where the pilot holds no sessions.
    tasks, batches
        Size of the pilot.
    """

    noises: Mapping[str, Noise]
    variance: float
    source: str
    assessed: Assessed | None = None
    tasks: int | None = None
    batches: int | None = None


def pilot_of_card(card: Scorecard, simulator: SimulatorCard) -> Pilot:
    """Noise from a scorecard: ceilings give the biases, bounds the standard errors.

    The share of the variance that runs don't lower is not on a scorecard; it is taken as that of
    the closed forms.

    Raises
    ------
    UsageError
        Where the scorecard has no bounds.
    """
    x = 1 / max(1, card.human.n.batches or 1) + 1 / max(1, simulator.n.runs or 1)
    root = math.sqrt(max(1, simulator.n.tasks))
    noises = {}
    for name in ("index", *GATED):
        part = simulator.index if name == "index" else simulator.components.get(name)
        bound = bounded(part) if part is not None else None
        if part is None or bound is None:
            continue
        ceiling = 100.0 - part.ceiling_at_n if part.ceiling_at_n is not None else bound.maxbias
        form = CLOSED_FORMS[name]
        whole = math.sqrt(form.task**2 + form.session**2 * x)
        scale = bound.se * root / whole
        noises[name] = Noise(
            bias=max(0.0, ceiling) * root / math.sqrt(x),
            task=form.task * scale,
            session=form.session * scale,
        )
    if not noises:
        raise UsageError("the pilot scorecard has no bounds: score it with --profile robust")
    gap, variance = simulator.success_gap, SUCCESS_VARIANCE
    if gap is not None and gap.low is not None and gap.high is not None:
        se = (gap.high - gap.low) / (2 * Z)
        variance = se**2 * root**2 / x
    return Pilot(
        noises, variance, f"the pilot scorecard ({simulator.name})",
        tasks=simulator.n.tasks, batches=card.human.n.batches,
    )  # fmt: skip


STUDIES = 30
"""Studies that are drawn from a pilot of sessions to measure their noise."""
REPLICATES = 200
"""Bootstrap replicates in each of them."""
LEAST_STUDIES = 10
"""Drawn studies that must have a component for its noise to be known."""


def pilot_of_sessions(
    frame: pl.DataFrame,
    profile: str = "robust",
    *,
    tasks: int | None = None,
    batches: int | None = None,
    runs: int | None = None,
) -> Pilot:
    """Noise from human sessions alone: studies of people against people are drawn from them.

    Each drawn study takes sessions of the pilot as people and others as the simulator, and is
    scored as any study. For every part, with the score S and its lower bound L over the studies,

        bias = 100 - mean S,   SE = sd L,   q = (mean S - mean L) / (1.645 sd L),

    which hold at the size that was drawn, and by the square root of it at others.

    Parameters
    ----------
    frame
        Session table rows of people, with keys.
    tasks, batches, runs
        Size of the design that is planned; ``None``: the pilot's own tasks and batches, and as many
        runs as batches.

    Raises
    ------
    NotScorable
        Where no dimension can be scored.
    """
    from usi.extraction.profile import get_specs
    from usi.options import RobustOptions
    from usi.scoring.robust.outcome import binary
    from usi.scoring.robust.reference import reference
    from usi.scoring.robust.scorable import scored_values

    specs = tuple(get_specs(profile))
    whole = reference(frame, specs)
    labels = [str(task) for task in whole.frame["task"].to_list()]
    participants = whole.frame["participant"].to_list()
    person = one_person(participants)
    own_tasks = len(set(labels))
    own_batches = whole.frame["batch"].drop_nulls().n_unique() or 1
    m = batches or own_batches
    size = (tasks or own_tasks, m, runs or m)
    values = scored_values(whole.values[:, : len(specs)], specs)
    success = binary(whole.frame, RobustOptions().success_at or 1.0)
    alike: dict[str, float] = {
        name: float(
            np.mean([same_person(values[:, k], labels, participants)
                     for k, spec in enumerate(specs) if spec.dimension == name])
        )
        for name in dict.fromkeys(spec.dimension for spec in specs)
    }  # fmt: skip
    alike["outcome"] = same_person(success, labels, participants)
    alike["index"] = float(np.mean([alike.get(name, 0.0) for name in GATED]))
    noises = {
        name: _measured(scores, size, alike.get(name, 0.0), person)
        for name, scores in _drawn_scores(whole.frame, specs, size).items()
        if len(scores) >= LEAST_STUDIES
    }
    if not noises:
        raise NotScorable("the pilot holds too few human sessions for any dimension")
    known = bool((~np.isnan(success)).any())
    return Pilot(
        noises,
        within_variance(success, labels) if known else SUCCESS_VARIANCE,
        f"{whole.frame.height} sessions of the pilot's people",
        Assessed(whole.values[:, : len(specs)], specs),
        tasks=own_tasks,
        batches=own_batches,
    )


def _measured(
    scores: Sequence[tuple[float, float]],
    size: tuple[int, int, int],
    alike: float,
    person: float,
) -> Noise:
    """Noise from (score, lower bound) of drawn studies of that size."""
    score, low = np.array(scores).T
    spread = float(np.std(low, ddof=1))
    reach = float(np.mean(score - low))
    tasks, batches, runs = size
    plain = Noise(0.0, 0.0, 0.0, alike=alike, person=person)
    scale = math.sqrt(tasks / plain.x(tasks, batches, runs))
    return Noise(
        bias=max(0.0, 100.0 - float(np.mean(score))) * scale,
        task=0.0,
        session=spread * scale,
        ratio=reach / (quantile(ALPHA) * spread) if spread > 0 else 1.0,
        alike=alike,
        person=person,
    )


def _drawn_scores(
    frame: pl.DataFrame, specs: tuple[FeatureSpec, ...], size: tuple[int, int, int]
) -> dict[str, list[tuple[float, float]]]:
    """Score and lower bound of each part in studies of people against people."""
    from usi.options import RobustOptions
    from usi.scoring.robust.bounds import lower_upper, mean_score
    from usi.scoring.robust.reference import reference
    from usi.scoring.robust.study import study
    from usi.scoring.robust.terms import PARTS

    options = RobustOptions(replicates=REPLICATES, tasks="common")
    found: dict[str, list[tuple[float, float]]] = {}
    rng = np.random.default_rng([7, *size])
    for _ in range(STUDIES):
        human, simulator, narrow = _two_sides(frame, size, rng)
        try:
            result = study(reference(human, specs), simulator, options)
        except NotScorable:
            continue
        scores = dict(result.scores)
        if all(part in scores for part in PARTS):
            scores["index"] = mean_score(scores, PARTS, result.rule)
        for name, own in scores.items():
            bounds = lower_upper(own, result.rule)
            if bounds is not None:
                # Sessions drawn again and again vary less than new ones would.
                short, reach = (100 - own.raw) / narrow, (own.raw - bounds[0]) / narrow
                found.setdefault(name, []).append((100 - short, 100 - short - reach))
    return found


def _two_sides(
    frame: pl.DataFrame, size: tuple[int, int, int], rng: np.random.Generator
) -> tuple[pl.DataFrame, pl.DataFrame, float]:
    """People and a simulator of a drawn study; no session is on both sides where there are enough.

    A task with fewer sessions than a study needs is drawn from with replacement, and tasks come
    again, as others, where there are too few. Returned with the two sides is the root of
    (k - 1) / k, averaged over the drawn tasks: k sessions drawn with replacement have that part of
    their variance. Where most tasks have one session, sessions are drawn whatever their task.
    """
    import polars as pl

    tasks, batches, runs = size
    labels = frame["task"].cast(pl.String).fill_null("").to_numpy()
    _, place = np.unique(labels, return_inverse=True)
    own = [np.flatnonzero(place == k) for k in range(int(place.max()) + 1)]
    if np.median([len(rows) for rows in own]) < 2:
        own = [np.arange(frame.height)]
    own = [rows for rows in own if len(rows) > 1]
    need = batches + runs
    queues = [rng.permutation(rows) for rows in own]
    used = [0] * len(own)
    chosen: list[np.ndarray] = []
    parts, names = [], []
    for n in range(tasks):
        if n % len(own) == 0:
            order = rng.permutation(len(own))
        at = int(order[n % len(own)])
        if used[at] + need <= len(own[at]):
            chosen.append(queues[at][used[at] : used[at] + need])
            used[at] += need
            parts.append(1.0)
        else:
            chosen.append(rng.choice(own[at], size=need))
            parts.append((len(own[at]) - 1) / len(own[at]))
        again = n // len(own)
        name = str(labels[own[at][0]]) if len(own) > 1 else "task"
        names.append(f"{name} ({n})" if again or len(own) == 1 else name)
    rows = np.stack(chosen)

    def side(columns: np.ndarray, *, human: bool) -> pl.DataFrame:
        count = columns.shape[1]
        split = np.tile(np.arange(1, count + 1), tasks)
        keys = {
            "task": pl.Series([name for name in names for _ in range(count)]),
            "session_id": pl.Series([f"s{k}" for k in range(tasks * count)]),
            "batch": pl.Series(split if human else [None] * len(split), dtype=pl.Int64),
            "run": pl.Series([None] * len(split) if human else split.astype(str), dtype=pl.String),
        }
        return frame[columns.ravel()].with_columns(**keys)

    people, simulator = side(rows[:, :batches], human=True), side(rows[:, batches:], human=False)
    return people, simulator, math.sqrt(float(np.mean(parts)))


def one_person(participants: Sequence[str | None]) -> float:
    """Share of the sessions that one person does: the sum of squared shares; 0 if unknown."""
    known = [who for who in participants if who is not None]
    if not known:
        return 0.0
    return float(sum((n / len(known)) ** 2 for n in Counter(known).values()))


def same_person(
    values: NDArray[np.float64], tasks: Sequence[str], participants: Sequence[str | None]
) -> float:
    """Correlation of two sessions of one person, 0 to 1.

    The mean product of the deviations of two sessions of a person from their tasks' means, over the
    variance of these. 0 where participants are unknown or did one session each.
    """
    known = ~np.isnan(values) & np.array([who is not None for who in participants])
    if not known.any():
        return 0.0
    people = np.array([str(who) for who in participants], dtype=object)[known]
    own = np.array([str(task) for task in tasks], dtype=object)[known]
    _, person, sizes = np.unique(people, return_inverse=True, return_counts=True)
    pairs = float((sizes * (sizes - 1)).sum())
    if not pairs:
        return 0.0
    _, task, many = np.unique(own, return_inverse=True, return_counts=True)
    kept = values[known]
    rest = kept - (np.bincount(task, kept) / many)[task]
    variance = float(rest @ rest) / max(1, len(rest) - len(many))
    shared = float((np.bincount(person, rest) ** 2).sum() - rest @ rest) / pairs
    return min(1.0, max(0.0, shared / variance)) if variance > 0 else 0.0


def within_variance(values: np.ndarray, groups: list[str]) -> float:
    """Mean within-group variance; over all values where no group has two of them."""
    known = ~np.isnan(values)
    own: dict[str, list[float]] = {}
    for value, group, there in zip(values.tolist(), groups, known.tolist(), strict=True):
        if there:
            own.setdefault(group, []).append(value)
    total = sum((len(v) - 1) * float(np.var(v, ddof=1)) for v in own.values() if len(v) > 1)
    df = sum(len(v) - 1 for v in own.values())
    if df > 0:
        return total / df
    kept = values[known]
    return float(np.var(kept, ddof=1)) if len(kept) > 1 else 0.0


RUNS: tuple[int, ...] = (1, 2, 3, 5, 10, 20)
BATCHES: tuple[int, ...] = (1, 3)
SESSIONS_FOR_TIER_A = 300


@dataclass(frozen=True)
class TradeLine:
    """Tasks that are needed with this many runs; ``None`` = no number of tasks does.

    Attributes
    ----------
    runs
        Runs of the simulator.
    index_near, index_far
        For the index alone, near the ceiling and far from it.
    all_parts
        For all parts of the criteria together.
    by_batches
        The same for other numbers of human batches.
    """

    runs: int
    index_near: int | None
    index_far: int | None
    all_parts: int | None
    by_batches: dict[int, int | None]


@dataclass(frozen=True, repr=False)
class Plan:
    """A plan for one criteria.

    Attributes
    ----------
    criteria, truth, wanted, batches
        What was asked.
    trade
        Tasks by number of runs.
    tasks, runs, power, joint
        A given design and its power, where one was given.
    picked
        Tasks to check with people first.
    """

    criteria: str
    truth: float
    wanted: float
    batches: int
    trade: tuple[TradeLine, ...]
    source: str
    notes: tuple[str, ...]
    tasks: int | None = None
    runs: int | None = None
    power: tuple[PartPower, ...] | None = None
    joint: float | None = None
    picked: tuple[Picked, ...] = ()

    def __repr__(self) -> str:
        """Say in a line what was asked and how many lines the trade has."""
        design = f", {self.tasks} tasks" if self.tasks is not None else ""
        joint = f", power {self.joint:.2f}" if self.joint is not None else ""
        return (
            f"<Plan for {self.criteria}: wanted power {self.wanted:g} at truth {self.truth:g}"
            f"{design}{joint}; .trade has {len(self.trade)} numbers of runs>"
        )


def _has_c2st(criteria: Criteria) -> bool:
    return criteria.c2st_max is not None and criteria.c2st_max < 1


def make_plan(
    criteria: Criteria, *, truth: float = 100.0, power: float = 0.8, batches: int = 3,
    tasks: int | None = None, runs: int | None = None, pilot: Pilot | None = None,
    picked: Sequence[Picked] = (),
) -> Plan:  # fmt: skip
    """Plan a study for criteria.

    Parameters
    ----------
    truth
        True score of the simulator in every part, in points.
    power
        Wanted chance of PASS.
    batches
        Human batches at hand.
    tasks, runs
        A design to judge; tasks alone: how many runs they need is said.
    pilot
        Where the noise comes from; ``None``: closed forms of the published study.

    Raises
    ------
    UsageError
        For values out of range, or a design given by half.
    """
    if not 0 < truth <= 100:
        raise UsageError("--truth is a score in points, above 0 and at most 100")
    if not 0.5 <= power < 1:
        raise UsageError("--power lies between 0.5 and 1, such as 0.8")
    if runs is not None and tasks is None:
        raise UsageError("--runs judges a design: give --tasks as well")
    own = pilot or Pilot(CLOSED_FORMS, SUCCESS_VARIANCE, "closed forms of the published study")
    noises, variance, assessed = own.noises, own.variance, own.assessed
    minimum = criteria.minimum.index
    lines = []
    for r in RUNS:
        near = far = None
        if minimum is not None and "index" in noises:
            near, far = (
                tasks_for_score(
                    noises["index"], truth=truth, minimum=minimum, batches=batches, runs=r,
                    power=power, near_ceiling=ceiling, alpha=ALPHA / criteria.family_size,
                )
                for ceiling in (True, False)
            )  # fmt: skip
        every = {}
        for m in sorted({*BATCHES, batches}):
            need = tasks_for_all(
                criteria, noises, truth=truth, batches=m, runs=r, power=power, variance=variance,
                assessed=assessed,
            )  # fmt: skip
            if need is not None and _has_c2st(criteria):
                need = max(need, math.ceil(SESSIONS_FOR_TIER_A / min(m, r)))
            every[m] = need
        lines.append(TradeLine(r, near, far, every[batches], every))
    parts = joint = None
    extra = []
    if tasks is not None and runs is None:
        runs = runs_for_all(
            criteria, noises, truth=truth, tasks=tasks, batches=batches, power=power,
            variance=variance, assessed=assessed,
        )  # fmt: skip
        extra = [
            f"{tasks} tasks x {batches} batches: {runs} runs do."
            if runs
            else f"{tasks} tasks x {batches} batches: no number of runs does; add batches or tasks."
        ]
    if tasks is not None and runs is not None:
        parts = part_powers(
            criteria, noises, truth=truth, tasks=tasks, batches=batches, runs=runs,
            variance=variance, assessed=assessed,
        )  # fmt: skip
        joint = joint_power(parts)
    if pilot is not None and pilot.tasks and pilot.batches:
        extra.append(_collect(criteria, pilot, truth, power, runs or 3))
    return Plan(
        criteria=criteria.label,
        truth=truth,
        wanted=power,
        batches=batches,
        trade=tuple(lines),
        source=own.source,
        notes=(*extra, *_notes(criteria, own.source, noises, truth, tasks, runs)),
        tasks=tasks,
        runs=runs,
        power=parts,
        joint=joint,
        picked=tuple(picked),
    )


MOST_TIMES = 10
"""More than so many times the pilot is called out of reach."""


def _collect(criteria: Criteria, pilot: Pilot, truth: float, power: float, runs: int) -> str:
    """What to collect beyond the pilot, in words: batches on its tasks, or else tasks."""
    tasks, batches = pilot.tasks or 1, pilot.batches or 1

    def enough(n: int, m: int) -> bool:
        parts = part_powers(
            criteria, pilot.noises, truth=truth, tasks=n, batches=m, runs=max(runs, m),
            variance=pilot.variance, assessed=pilot.assessed,
        )  # fmt: skip
        return joint_power(parts) >= power

    asked = f"{power:.0%} power with as many runs as batches, {max(runs, batches)} at least"
    if enough(tasks, batches):
        return f"The pilot's {tasks} tasks x {batches} batches are enough for {asked}."
    for m in range(batches + 1, MOST_TIMES * batches + 1):
        if enough(tasks, m):
            more = m - batches
            word = "batch" if more == 1 else "batches"
            return (
                f"To collect for {asked}: {more} more {word} of people on the same {tasks} tasks."
            )
    low, high = tasks, MOST_TIMES * tasks
    if not enough(high, batches):
        return (
            f"Out of reach: {MOST_TIMES} times the tasks or batches of the pilot give no {asked}."
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle, batches) else (middle, high)
    word = "batch" if batches == 1 else "batches"
    return f"To collect for {asked}: {high - tasks} more tasks with {batches} {word} of people."


def regression_margins(sessions: int) -> tuple[float, float]:
    """(smallest margin, margin for 80 % power) of the regression gate at tasks x runs sessions.

    1.45 S with S about 115 / sqrt(tasks x runs), and about 165 / sqrt(tasks x runs).
    """
    return 1.45 * 115 / math.sqrt(sessions), 165 / math.sqrt(sessions)


def _notes(
    criteria: Criteria, source: str, noises: Mapping[str, Noise], truth: float,
    tasks: int | None, runs: int | None,
) -> tuple[str, ...]:  # fmt: skip
    notes = [f"Noise from {source}; an approximation: trust the order of magnitude."]
    left = [name for name, _ in criteria.minimum.items() if name not in noises]
    if left:
        notes.append(f"No noise is known for {', '.join(left)}: not planned for.")
    if _has_c2st(criteria):
        notes.append(
            f"The two-sample key asks for {SESSIONS_FOR_TIER_A} sessions a side (tasks x runs, and "
            "tasks x batches), and in effect for a true score of about 95."
        )
    if truth >= 100:
        notes.append(
            "A perfect simulator, which is the least that a study must be able to pass; for a "
            "simulator of true score 95, add --truth 95."
        )
    if tasks is not None and runs is not None:
        least, good = regression_margins(tasks * runs)
        notes.append(
            f"Regression gate at {tasks} x {runs} sessions: smallest margin about {least:.1f} "
            f"points; 80 % power when nothing changed at about {max(least, good):.1f}, too."
        )
    return tuple(notes)
