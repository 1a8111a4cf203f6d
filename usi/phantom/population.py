"""From population means to intercepts, and back to exact expectations.

A rate of a session is ``sigma(a + task T + person (l Z + sqrt(1 - l^2) E))`` with standard normal
task effect T, shared person factor Z and own person effect E. Given Z all rates of a person are
independent, so every expectation is a sum over Gauss-Hermite nodes of Z of products of
one-dimensional Gauss-Hermite integrals. Turn counts are independent of all rates.

The first turn of a session is always long; a later turn is short with chance s, else a stock
sentence with chance k, else long; marks stand in long turns only. With m = E[1/N] a mark of
conditional rate p has the expected session share ``E_Z[(m + (1 - m)(1 - s)(1 - k)) p]``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from usi.errors import UsageError
from usi.phantom.spec import MARK_NAMES, PhantomSpec, Rate
from usi.phantom.tasks import published_difficulty

FloatArray = NDArray[np.float64]
NODES = 41
"""Gauss-Hermite nodes a dimension: exact to well under 1e-6 for spreads below 2 logits."""
_GRID = 4001
_BISECTIONS = 60


@lru_cache(maxsize=4)
def hermite(nodes: int = NODES) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights (sum 1) of the expectation over a standard normal variable."""
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    return np.asarray(x, dtype=np.float64), np.asarray(w / w.sum(), dtype=np.float64)


def sigmoid(x: FloatArray) -> FloatArray:
    """Logistic function."""
    return np.asarray(1.0 / (1.0 + np.exp(-x)), dtype=np.float64)


def success_offset(difficulty: FloatArray) -> FloatArray:
    """Logit of a task's difficulty (its success rate in the frozen pool)."""
    d = np.clip(difficulty, 0.02, 0.98)
    return np.asarray(np.log(d / (1 - d)), dtype=np.float64)


class Population:
    """A spec with its intercepts; every array over Z has shape (NODES,)."""

    def __init__(self, spec: PhantomSpec) -> None:
        self.spec = spec
        self.z, self.z_weights = hermite()

    # -- sizes ------------------------------------------------------------------------------
    @cached_property
    def turns_pmf(self) -> FloatArray:
        """(maximum + 1,) probabilities of the number of user turns."""
        lengths = self.spec.turns
        from scipy.special import ndtri

        levels = (np.arange(_GRID) + 0.5) / _GRID
        x = np.exp(lengths.log_mean + lengths.sd * ndtri(levels))
        x = np.minimum(x, lengths.maximum - lengths.minimum)
        low = np.floor(x).astype(int)
        pmf = np.zeros(lengths.maximum + 2)
        np.add.at(pmf, lengths.minimum + low, 1 - (x - low))
        np.add.at(pmf, lengths.minimum + low + 1, x - low)
        return pmf[: lengths.maximum + 1] / _GRID

    @cached_property
    def mean_turns(self) -> float:
        """E[N]."""
        return float((self.turns_pmf * np.arange(len(self.turns_pmf))).sum())

    @cached_property
    def first_share(self) -> float:
        """m = E[1/N], the expected share of first turns."""
        n = np.arange(1, len(self.turns_pmf))
        return float((self.turns_pmf[1:] / n).sum())

    def filler_mean(self, factor: float) -> FloatArray:
        """E[filler words of a long turn | Z], `factor` on the mean (first turns: `opening`)."""
        from scipy.special import ndtr

        words = self.spec.words
        mu = words.log_mean + math.log(factor) + words.person * words.loading * self.z
        sd = math.sqrt(max(words.sd**2 - (words.person * words.loading) ** 2, 0.0))
        top = float(words.maximum - words.minimum)
        if sd == 0:
            return np.asarray(words.minimum + np.minimum(np.exp(mu), top), dtype=np.float64)
        # E[min(X, top)] of a log-normal X; rounding at random keeps it.
        edge = (math.log(top) - mu) / sd
        mean = np.exp(mu + sd * sd / 2) * ndtr(edge - sd) + top * ndtr(-edge)
        return np.asarray(words.minimum + mean, dtype=np.float64)

    # -- rates ------------------------------------------------------------------------------
    def conditional(self, rate: Rate, intercept: float) -> FloatArray:
        """(NODES over Z, NODES over the rest) rates of a person and task."""
        x, _ = hermite()
        rest = math.sqrt(
            (rate.person**2) * (1 - rate.loading**2) + rate.task**2 + self.spec.batch**2
        )
        logit = intercept + rate.person * rate.loading * self.z[:, None] + rest * x[None, :]
        return sigmoid(logit)

    def given_z(self, name: str) -> FloatArray:
        """E[rate of a turn on which it can occur | Z]."""
        intercept = self.intercepts[name]
        if intercept == -math.inf:
            return np.zeros(NODES)
        return np.asarray(self.conditional(self.spec.rate(name), intercept) @ hermite()[1])

    def expect(self, values: FloatArray) -> float:
        """E over Z."""
        return float(values @ self.z_weights)

    @cached_property
    def long_later(self) -> FloatArray:
        """P(a later turn is long | Z)."""
        return np.asarray((1 - self.given_z("short")) * (1 - self.given_z("stock")))

    @cached_property
    def long_share(self) -> FloatArray:
        """E[share of long turns in a session | Z]."""
        return np.asarray(self.first_share + (1 - self.first_share) * self.long_later)

    @cached_property
    def intercepts(self) -> dict[str, float]:
        """Intercept of every rate (logits), found by bisection; ``-inf`` for a mean of 0."""
        found: dict[str, float] = {}
        self.__dict__["intercepts"] = found  # given_z reads those that are already there
        later = 1 - self.first_share
        ones = np.ones(NODES)
        found["short"] = self._solve("short", later * ones)
        short = self.given_z("short")
        found["ack"] = self._solve("ack", later * short)
        found["stock"] = self._solve("stock", later * (1 - short))
        free = self.long_share
        for name in MARK_NAMES:
            found[name] = self._solve(name, free)
            if name in ("pushback", "clarify"):  # precedence: pushback, clarify, info
                free = free * (1 - self.given_z(name))
            elif name == "info":
                free = self.long_share
        # Stock sentences are casual by themselves.
        stock = later * (1 - short) * self.given_z("stock")
        found["casual"] = self._solve("casual", 1 - stock, self.expect(stock))
        found["repeat"] = self._solve("repeat", ones)
        found["success"] = self._solve_success()
        return found

    def _solve(self, name: str, weight: FloatArray, already: float = 0.0) -> float:
        """Intercept with ``E_Z[weight * rate] + already = mean``."""
        rate = self.spec.rate(name)
        if rate.mean == 0:
            return -math.inf
        reach = self.expect(weight) + already
        if not already <= rate.mean < reach:
            raise UsageError(
                f"phantom {self.spec.name!r}: a mean of {rate.mean:g} for {name!r} is out of "
                f"reach ({already:.3g} to {reach:.3g}): change it or the rates that make room"
            )
        inner = hermite()[1]

        def value(intercept: float) -> float:
            return self.expect(weight * (self.conditional(rate, intercept) @ inner)) + already

        return _bisect(value, rate.mean)

    def success_by_difficulty(self, difficulty: FloatArray, intercept: float) -> FloatArray:
        """(n,) expected success of tasks of these difficulties, over task and person effects."""
        rate = self.spec.rate("success")
        x, w = hermite()
        sd = math.sqrt(rate.person**2 + rate.task**2 + self.spec.batch**2)
        logit = intercept + self.spec.difficulty * success_offset(difficulty)
        return np.asarray(sigmoid(logit[:, None] + sd * x[None, :]) @ w)

    def _solve_success(self) -> float:
        pool = np.array([value for _, value in published_difficulty()])
        return _bisect(
            lambda a: float(self.success_by_difficulty(pool, a).mean()),
            self.spec.rate("success").mean,
        )


def _bisect(value: Callable[[float], float], target: float) -> float:
    low, high = -30.0, 30.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if value(middle) < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@lru_cache(maxsize=256)
def resolve(spec: PhantomSpec) -> Population:
    """The population of a spec (cached: specs are values)."""
    population = Population(spec)
    _ = population.intercepts
    return population
