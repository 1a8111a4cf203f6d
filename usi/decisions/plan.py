"""A plan: tasks for a power by number of runs, and what a given design can show.

How many tasks, batches and runs a study needs, from closed forms or a pilot.

The score of one part at n tasks, m human batches and R runs has the bias and standard error

    bias = k_b sqrt(x / n),   SE² = (t + k_s² x) / n,   x = 1/m + 1/R,

where t is the part of the variance that more batches and runs don't lower. A simulator of true
score U passes a minimum τ with power 1 - β where U - bias - z_α q SE - z_β SE >= τ; q is the ratio
of the bootstrap's standard error to the true one.

Noise of a study from a pilot: a scorecard with bounds, or human sessions alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from usi.decisions.bounds import ALPHA, bounded, quantile
from usi.decisions.criteria import GATED, Criteria
from usi.decisions.regression import mean_abs
from usi.decisions.task_sample import Picked
from usi.errors import NotScorable, UsageError
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
    """

    bias: float
    task: float
    session: float
    ratio: float = 1.0

    def at(self, x: float) -> tuple[float, float]:
        """(K_b, K_s): bias and SE times sqrt(tasks)."""
        return self.bias * math.sqrt(x), math.sqrt(self.task**2 + self.session**2 * x)


# Measured with people of STAR against other people of STAR, at 165 tasks with 3 batches and 3 runs
# (docs/gate.md); outcome simulated with the published difficulties.
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
    """One part of the criteria under one design."""

    part: str
    minimum: float
    expected: float
    power: float


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
    k_b, k_s = noise.at(1 / batches + 1 / runs)
    reach = (quantile(alpha) * noise.ratio + quantile(1 - power)) * k_s
    total = (k_b if near_ceiling else 0.0) + reach
    return math.ceil((total / (truth - minimum)) ** 2 - 1e-9)


def part_powers(
    criteria: Criteria, noises: Mapping[str, Noise], *, truth: float, tasks: int, batches: int,
    runs: int, variance: float = SUCCESS_VARIANCE,
) -> tuple[PartPower, ...]:  # fmt: skip
    """Chance of each part to pass, for a simulator whose every true score is `truth`.

    The gap of that simulator is taken as 0.
    """
    x, root = 1 / batches + 1 / runs, math.sqrt(tasks)
    alpha = ALPHA / criteria.family_size
    parts = []
    for name, minimum in criteria.minimum.items():
        noise = noises.get(name)
        if noise is None:
            continue
        k_b, k_s = noise.at(x)
        # Noise only lowers a score that is at the ceiling; far from it the bias fades.
        expected = truth - _bias_left(k_b / root, truth)
        se = k_s / root
        if se <= 0:
            power = float(expected >= minimum)
        else:
            power = _PHI((expected - minimum) / se - quantile(alpha) * noise.ratio)
        parts.append(PartPower(name, minimum, expected, power))
    limit = criteria.max_success_gap
    if limit is not None and limit < 1:
        se = math.sqrt(variance * x / tasks)
        power = max(0.0, 2 * _PHI(limit / se - quantile(alpha)) - 1)
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
    smaller chance of the two counts; the index follows its components.
    """
    chance = {part.part: part.power for part in parts}
    same = [chance.pop(name) for name in ("outcome", "success_gap") if name in chance]
    index = chance.pop("index", 1.0)
    return min(index, math.prod(chance.values()) * min(same, default=1.0))


def tasks_for_all(
    criteria: Criteria, noises: Mapping[str, Noise], *, truth: float, batches: int, runs: int,
    power: float = 0.8, variance: float = SUCCESS_VARIANCE,
) -> int | None:  # fmt: skip
    """Fewest tasks with which all parts pass together with the given power."""

    def enough(tasks: int) -> bool:
        parts = part_powers(
            criteria, noises, truth=truth, tasks=tasks, batches=batches, runs=runs,
            variance=variance,
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
    power: float = 0.8, variance: float = SUCCESS_VARIANCE, most: int = 50,
) -> int | None:  # fmt: skip
    """Fewest runs with which all parts pass together; ``None`` where up to `most` don't do."""
    for runs in range(1, most + 1):
        parts = part_powers(
            criteria, noises, truth=truth, tasks=tasks, batches=batches, runs=runs,
            variance=variance,
        )  # fmt: skip
        if joint_power(parts) >= power:
            return runs
    return None


ROOT = math.sqrt(2 / math.pi)
SPREAD = math.sqrt(1 - 2 / math.pi)
"""Standard deviation of |Z| for a standard normal Z."""


@dataclass(frozen=True)
class Pilot:
    """Noise of the parts, within-task variance of success, and a sentence on their source."""

    noises: dict[str, Noise]
    variance: float
    source: str


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
        se = (gap.high - gap.low) / (2 * 1.6448536269514722)
        variance = se**2 * root**2 / x
    return Pilot(noises, variance, f"the pilot scorecard ({simulator.name})")


def pilot_of_sessions(frame: pl.DataFrame, profile: str = "robust") -> Pilot:
    """Noise from human sessions alone, by the closed forms of independent sessions.

    A feature whose cells have standard deviations s_k within a task, and mean m, costs a perfect
    simulator ``100 Σ s_k / m sqrt(x / (2 π n))`` points; a dimension is the mean of its features.

    Parameters
    ----------
    frame
        Session table rows of people, with keys.

    Raises
    ------
    NotScorable
        Where no dimension can be scored.
    """
    from usi.extraction.profile import get_specs
    from usi.options import RobustOptions
    from usi.scoring.robust.distribution import cell_values
    from usi.scoring.robust.outcome import binary
    from usi.scoring.robust.reference import reference
    from usi.scoring.robust.scorable import scored_values, select

    ref = reference(frame, get_specs(profile))
    names = [spec.name for spec in ref.specs]
    values = scored_values(ref.values, ref.specs)
    tasks = [str(task) for task in ref.frame["task"].to_list()]
    noises = {}
    chosen_features = select(ref.specs, ref.verdicts, paired=True, pools=ref.pools)
    for dimension, chosen in chosen_features.items():
        if chosen.reason is not None:
            continue
        scales = []
        for name in chosen.scored:
            k = names.index(name)
            cells = cell_values(values[:, k], ref.grids[name]).T
            sd = sum(math.sqrt(within_variance(cell, tasks)) for cell in cells)
            # W1 / (a + b), or tanh of half of W1 of the logarithms
            ratio = ref.specs[k].scale == "ratio"
            scales.append(sd / 2 if ratio else sd / (2 * _mean(values[:, k])))
        bias = 100 * ROOT * float(np.mean(scales))
        session = 100 * SPREAD * math.sqrt(sum(s * s for s in scales)) / len(scales)
        noises[dimension] = Noise(bias=bias, task=0.0, session=session, ratio=1.2)
    if not noises:
        raise NotScorable("the pilot holds too few human sessions for any dimension")
    success = binary(ref.frame, RobustOptions().success_at or 1.0)
    known = bool((~np.isnan(success)).any())
    variance = within_variance(success, tasks) if known else SUCCESS_VARIANCE
    if known:
        factor = math.sqrt(variance / SUCCESS_VARIANCE)
        form = CLOSED_FORMS["outcome"]
        noises["outcome"] = Noise(
            form.bias * factor, form.task * factor, form.session * factor, form.ratio
        )
    noises["index"] = _index(noises)
    return Pilot(noises, variance, f"{ref.frame.height} sessions of the pilot's people")


def _mean(values: np.ndarray) -> float:
    return float(np.nanmean(values))


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


def _index(noises: Mapping[str, Noise]) -> Noise:
    """Noise of the mean of the parts, as if independent."""
    n = len(noises)
    return Noise(
        bias=sum(part.bias for part in noises.values()) / n,
        task=math.sqrt(sum(part.task**2 for part in noises.values())) / n,
        session=math.sqrt(sum(part.session**2 for part in noises.values())) / n,
        ratio=1.2,
    )


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
    tasks: int | None = None, runs: int | None = None, noises: Mapping[str, Noise] | None = None,
    variance: float = SUCCESS_VARIANCE, source: str = "closed forms of the published study",
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
    noises, variance, source
        Noise of the parts and within-task success variance, and where they come from.

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
    noises = CLOSED_FORMS if noises is None else noises
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
                criteria, noises, truth=truth, batches=m, runs=r, power=power, variance=variance
            )
            if need is not None and _has_c2st(criteria):
                need = max(need, math.ceil(SESSIONS_FOR_TIER_A / min(m, r)))
            every[m] = need
        lines.append(TradeLine(r, near, far, every[batches], every))
    parts = joint = None
    extra = []
    if tasks is not None and runs is None:
        runs = runs_for_all(
            criteria, noises, truth=truth, tasks=tasks, batches=batches, power=power,
            variance=variance,
        )  # fmt: skip
        extra = [
            f"{tasks} tasks x {batches} batches: {runs} runs do."
            if runs
            else f"{tasks} tasks x {batches} batches: no number of runs does; add batches or tasks."
        ]
    if tasks is not None and runs is not None:
        parts = part_powers(
            criteria, noises, truth=truth, tasks=tasks, batches=batches, runs=runs,
            variance=variance,
        )  # fmt: skip
        joint = joint_power(parts)
    return Plan(
        criteria=criteria.label,
        truth=truth,
        wanted=power,
        batches=batches,
        trade=tuple(lines),
        source=source,
        notes=(*extra, *_notes(criteria, source, noises, truth, tasks, runs)),
        tasks=tasks,
        runs=runs,
        power=parts,
        joint=joint,
        picked=tuple(picked),
    )


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
