"""How many tasks, batches and runs a study needs, from closed forms or a pilot.

The score of one part at n tasks, m human batches and R runs has the bias and standard error

    bias = k_b sqrt(x / n),   SE² = (t + k_s² x) / n,   x = 1/m + 1/R,

where t is the part of the variance that more batches and runs don't lower. A simulator of true
score U passes a minimum τ with power 1 - β where U - bias - z_α q SE - z_β SE >= τ; q is the ratio
of the bootstrap's standard error to the true one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from usi.gate.bounds import ALPHA, quantile
from usi.gate.criteria import Criteria
from usi.gate.regression import mean_abs

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
        q, the ratio of the bootstrap's standard error to the true one (1.0 to 1.35 observed).
    """

    bias: float
    task: float
    session: float
    ratio: float = 1.0

    def at(self, x: float) -> tuple[float, float]:
        """(K_b, K_s): bias and SE times sqrt(tasks)."""
        return self.bias * math.sqrt(x), math.sqrt(self.task**2 + self.session**2 * x)


# Anchors, simulated with the published means (165 tasks; see docs/gate.md): the index has
# K_b 57 and K_s 16 at 3 x 3, 100 and 22.6 at 1 x 1; single components from the ceilings of one
# batch against one run.
CLOSED_FORMS: dict[str, Noise] = {
    "index": Noise(bias=70.3, task=11.34, session=13.82),
    "conversation": Noise(bias=123.5, task=0.0, session=52.7),
    "information": Noise(bias=24.5, task=0.0, session=10.0),
    "clarification": Noise(bias=97.2, task=0.0, session=34.5),
    "reaction": Noise(bias=81.7, task=0.0, session=36.3),
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


def tasks_for_gap(
    bound: float, *, batches: int, runs: int, power: float = 0.8,
    variance: float = SUCCESS_VARIANCE, alpha: float = ALPHA,
) -> int:  # fmt: skip
    """Tasks for the success gap of a perfect simulator to lie within ± `bound`.

    ``n = V (1/m + 1/R) ((z_alpha + z_{beta/2}) / bound)²``: two one-sided tests.
    """
    z = quantile(alpha) + quantile((1 - power) / 2)
    return math.ceil(variance * (1 / batches + 1 / runs) * (z / bound) ** 2 - 1e-9)


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
