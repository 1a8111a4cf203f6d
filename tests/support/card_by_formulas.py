"""A paired card from the formulas of docs/statistics.md, in plain numpy: the independent check.

It shares no code with `usi.scoring.robust`. Values come in as one array a feature with a row a
task: shape (tasks, sessions of each side), no gaps; success likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.stats import false_discovery_control, fisher_exact, norm
from scipy.stats import t as student

ROOT = np.sqrt(2 / np.pi)


@dataclass
class Component:
    """What the page defines for one component, in points."""

    raw: float
    se: float
    maxbias: float
    ceiling: float
    corrected: float
    replicates: np.ndarray
    effects: np.ndarray


def cut_points(people, cells=48):
    x, n = np.unique(people, return_counts=True)
    if len(x) < 2:
        return x
    f = np.cumsum(n) / n.sum()
    noise = [sum((x[j + 1] - x[j]) * np.sqrt(f[j] * (1 - f[j])) for j in range(i))
             for i in range(len(x))]  # fmt: skip
    return np.unique(np.interp(np.arange(cells + 1) / cells * noise[-1], noise, x))


def filled(values, cuts):
    """What each value fills of each cell, in a new last dimension."""
    parts = [np.minimum(values, cuts[0])]
    for low, high in pairwise(cuts):
        parts.append(np.minimum(np.maximum(values - low, 0), high - low))
    return np.stack([*parts, np.maximum(values - cuts[-1], 0)], axis=-1)


def added(effects, participant):
    """max(0, V_p - V_pt) of numbers with these effects of people's sessions (tasks, sessions)."""
    if participant is None:
        return 0.0
    tasks = np.repeat(np.arange(participant.shape[0]), participant.shape[1])
    e = effects.reshape(len(tasks), -1)
    variance = []
    for keys in (list(participant.ravel()), list(zip(participant.ravel(), tasks, strict=True))):
        names = sorted(set(keys))
        sums = np.zeros((len(names), e.shape[1]))
        for k, own in zip(keys, e, strict=True):
            sums[names.index(k)] += own
        variance.append(len(names) / (len(names) - 1) * (sums**2).sum(axis=0))
    return np.maximum(0, variance[0] - variance[1])


def dimension(features, draws, participant=None):
    """A dimension out of (simulator, people) arrays of its features; draws: tasks by replicate."""
    loss = lost = bias = short = held = folded = psi = 0.0
    for s, h in features:
        cuts = cut_points(h)
        cs, ch = filled(s, cuts), filled(h, cuts)
        tasks, m, r = len(h), h.shape[1], s.shape[1]
        gap = cs.mean(axis=1) - ch.mean(axis=1)  # (tasks, cells)
        delta, amount = gap.mean(axis=0), s.mean() + h.mean()
        sign, w1 = np.where(delta < 0, -1, 1), np.abs(delta).sum()
        e = (ch - ch.mean(axis=(0, 1))) / (tasks * m)
        extra = added(e, participant)
        se = np.sqrt(tasks / (tasks - 1) * (((gap - delta) / tasks) ** 2).sum(axis=0) + extra)
        within = ch.var(axis=1, ddof=1).mean(axis=0)
        perfect = np.sqrt(within * (1 / m + 1 / r) / tasks + extra)
        loss += w1 / amount
        bias += se.sum() / amount
        short += min(perfect.sum() / (2 * h.mean()), 1 / ROOT)
        lost += np.sqrt(np.maximum(0, delta**2 - se**2)).sum() / amount
        own = np.array([gap[d].mean(axis=0) for d in draws])
        total = np.array([(s[d].mean() + h[d].mean()) for d in draws])
        held = held + (own @ sign) / total
        folded = folded + np.abs(own).sum(axis=1) / total
        psi = psi + e @ (sign / amount) + (h - h.mean()) / (tasks * m) * w1 / amount**2
    n = len(features)
    scores, effects = 100 * (1 - folded / n), 100 * psi / n
    spread = max(np.std(held, ddof=1), np.std(folded, ddof=1)) * 100 / n
    se = np.sqrt(spread**2 + added(effects, participant))
    return Component(
        100 * (1 - loss / n), float(np.squeeze(se)), 100 * ROOT * bias / n,
        100 * (1 - ROOT * short / n), 100 * (1 - lost / n), scores, effects,
    )  # fmt: skip


def outcome(simulator, people, draws, participant=None):
    """Outcome in one bin: 100 (1 - |g|)."""
    gap = simulator.mean(axis=1) - people.mean(axis=1)
    tasks, m, r = len(gap), people.shape[1], simulator.shape[1]
    g, sign = gap.mean(), -1 if gap.mean() < 0 else 1
    e = (people - people.mean()) / (tasks * m)
    extra = added(e, participant)
    se = np.sqrt(gap.var(ddof=1) / tasks + extra)
    perfect = np.sqrt(people.var(axis=1, ddof=1).mean() * (1 / m + 1 / r) / tasks + extra)
    own = np.array([gap[d].mean() for d in draws])
    spread = 100 * max(np.std(sign * own, ddof=1), np.std(np.abs(own), ddof=1))
    effects = 100 * sign * e
    return Component(
        100 * (1 - abs(g)), float(np.squeeze(np.sqrt(spread**2 + added(effects, participant)))),
        float(np.squeeze(100 * ROOT * se)), float(np.squeeze(100 * (1 - ROOT * perfect))),
        float(np.squeeze(100 * (1 - np.sqrt(max(0, g**2 - se**2))))), 100 * (1 - np.abs(own)),
        effects,
    )  # fmt: skip


def index(parts, participant=None):
    """USI-R: mean of the components."""
    draws = np.mean([p.replicates for p in parts], axis=0)
    effects = np.mean([p.effects for p in parts], axis=0)
    se = np.sqrt(np.std(draws, ddof=1) ** 2 + added(effects, participant))
    names = ("raw", "maxbias", "ceiling", "corrected")
    raw, bias, ceiling, corrected = (np.mean([getattr(p, n) for p in parts]) for n in names)
    return Component(raw, float(np.squeeze(se)), bias, ceiling, corrected, draws, effects)


def certain_gaps(features, participant_df=None):
    """Names of (simulator, people) arrays by feature whose gap is more than chance, in order.

    Without a participant effect: SE from tasks alone. With its t degrees of freedom else.
    """
    names, p_values, effects = [], [], []
    for name, (s, h) in features.items():
        gap = s.mean(axis=1) - h.mean(axis=1)
        g = gap.mean()
        se = np.sqrt(len(gap) / (len(gap) - 1) * (((gap - g) / len(gap)) ** 2).sum())
        law = norm if participant_df is None else student(participant_df)
        p = 2 * law.cdf(-abs(g) / se) if g else 1.0
        shown = [(int((side > 0).sum()), side.size) for side in (s, h)]
        if min(hits for hits, _ in shown) < 10:
            p = max(p, fisher_exact([[hits, n - hits] for hits, n in shown])[1])
        names.append(name)
        p_values.append(p)
        spread = np.sqrt((s.var() + h.var()) / 2)
        effects.append(abs(g) / spread if spread else np.inf)
    adjusted = false_discovery_control(p_values, method="bh")
    named = [(-e, name) for e, name, p in zip(effects, names, adjusted, strict=True) if p <= 0.05]
    return [(name, -e) for e, name in sorted(named)]


def bounds(part, quantile=1.6448536):
    """Lower and upper bound of a component."""
    reach = quantile * part.se
    return part.raw - reach, min(100.0, part.raw + part.maxbias + reach)
