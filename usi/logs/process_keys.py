"""The statistics of `usi.logs.process` of a simulated log, with what real logs show themselves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed
from usi.logs.distances import Traces
from usi.logs.process import (
    STATISTICS,
    Cases,
    Floats,
    Ints,
    Statistic,
    arrivals,
    as_cases,
    has_role,
    nearest,
    open_cases,
)
from usi.reasons import FEW_CASES, LOG_LACKS_ROLE, NO_EVENTS
from usi.scoring.robust.bounds import tidy

DRAWS = 20
MIN_CASES = 50
"""Cases of a half of the real log below which its own differences say too little."""
TAILS = ("", "_real", "_excess", "_periods")
WHOLE: dict[str, tuple[Statistic, str]] = {
    "arrivals": (arrivals, "activity"),
    "open_cases": (open_cases, "activity"),
}
"""Statistics of whole logs, not of equal samples."""
COPIES = ("twins", "near_twins", "self_copies")
UNITS = {"tails": "log ratio", "crew": "log ratio", "arrivals": "log ratio",
         "open_cases": "log ratio", "who_does_what": "relative"}  # fmt: skip
"""Units of those that are no shares."""


def process_names() -> tuple[str, ...]:
    """Names of all differences; each has ``NAME_real``, ``NAME_excess`` and ``NAME_periods``."""
    return (*STATISTICS, *WHOLE)


def process_differences(
    human: Traces | None,
    simulated: Traces | None,
    clusters: Mapping[str, str] | None,
    *,
    seed: int,
) -> dict[str, Estimate]:
    """Every statistic of a simulated log, and what real cases show among themselves.

    Parameters
    ----------
    human, simulated
        Samples of both logs; ``None`` where only a session table was given.
    clusters
        Case id -> cluster (of both sides): halves are made of whole clusters. ``None``: of cases.
    seed
        Of the draws.

    Returns
    -------
    dict
        ``NAME``: mean over `DRAWS` draws of the statistic between a random half of the real cases
        and as many simulated ones. ``NAME_real``: between the two halves. ``NAME_excess``: the
        difference. Bounds are mean -/+ 1.645 sd of the draws. ``NAME_periods``: what is above
        ``NAME_real`` between real cases of other clusters (95 % quantile of the draws) or in a
        period that follows (`of_next_period` of the earlier and the later half), whichever is
        more. ``twins``, ``near_twins`` and ``self_copies`` with their ``_real`` (see `copies`).
    """
    names = [f"{name}{tail}" for name in process_names()
             for tail in TAILS]  # fmt: skip
    names += [f"{name}{tail}" for name in COPIES for tail in ("", "_real")]
    if human is None or simulated is None:
        return {name: not_assessed(NO_EVENTS) for name in names}
    real, other = as_cases(human, simulated)
    if min(real.count // 2, other.count) < MIN_CASES:
        few = FEW_CASES(real=2 * MIN_CASES, simulated=MIN_CASES)
        return {name: not_assessed(few) for name in names}
    random = np.random.default_rng([seed, 0x5A1])
    size = min(real.count // 2, other.count)
    each = np.arange(real.count)
    draws = [_drawn(each, real, other, size, random) for _ in range(DRAWS)]
    codes = _codes(human, clusters)
    apart = [_drawn(codes, real, other, size, random)[:2] for _ in range(DRAWS)]
    order = np.argsort(real.start, kind="stable")
    half = real.count // 2
    periods = real.take(order[:half]), real.take(order[-half:])
    found: dict[str, Estimate] = {}
    for name, (statistic, role) in {**STATISTICS, **WHOLE}.items():
        if not has_role(real, role):
            lacks = not_assessed(LOG_LACKS_ROLE(role=role))
            found |= {f"{name}{tail}": lacks for tail in TAILS}
            continue
        real_rows = np.array([statistic(a, b) for a, b, _ in draws])
        if name in WHOLE:
            rows = statistic(real, other) + 0 * real_rows
            moved = statistic(*periods)
        else:
            rows = np.array([statistic(a, s) for a, _, s in draws])
            moved = statistic(*(_thinned(side, size) for side in periods))
        own = float(real_rows.mean())
        between = float(np.quantile([statistic(a, b) for a, b in apart], 0.95))
        unit = UNITS.get(name, "share")
        found[name] = _summary(rows, unit, size)
        found[f"{name}_real"] = _summary(real_rows, unit, size)
        found[f"{name}_excess"] = _summary(rows - real_rows, unit, size)
        reach = max(0.0, of_next_period(moved, own), between - own)
        found[f"{name}_periods"] = Estimate(value=tidy(reach), n=size, unit=unit)
    return found | copies(human, simulated, draws)


def of_next_period(moved: float, own: float) -> float:
    """What a period that follows exceeds random halves by, from what the log's halves in time do.

    A difference is made of drift d and chance `own`: moved = sqrt(d^2 + own^2). A period that
    follows is twice as far away: sqrt((2 d)^2 + own^2) - own.

    Examples
    --------
    >>> round(of_next_period(0.05, 0.03), 4), of_next_period(0.02, 0.03)
    (0.0554, 0.0)
    """
    drift = max(0.0, moved**2 - own**2)
    return float((4 * drift + own**2) ** 0.5 - own)


def _thinned(cases: Cases, size: int) -> Cases:
    """So many of the cases, evenly by their place in time."""
    return cases.take(np.linspace(0, cases.count - 1, min(size, cases.count)).astype(np.int64))


def _summary(values: Floats, unit: str, size: int) -> Estimate:
    mean, reach = float(values.mean()), 1.645 * float(values.std(ddof=1))
    return Estimate(
        value=tidy(mean), low=tidy(mean - reach), high=tidy(mean + reach), n=size, unit=unit
    )


def _codes(human: Traces, clusters: Mapping[str, str] | None) -> Ints:
    """Code of the cluster of every real case."""
    ids = human.frame["case_id"].unique(maintain_order=True)
    names = ids if clusters is None else pl.Series([clusters.get(i, i) for i in ids])
    return names.rank("dense").to_numpy().astype(np.int64) - 1


def _drawn(
    codes: Ints, real: Cases, other: Cases, size: int, random: np.random.Generator
) -> tuple[Cases, Cases, Cases]:
    """Two halves of the real cases, of whole clusters where they fit, and as many others."""
    place = random.permutation(int(codes.max()) + 1)
    order = np.lexsort((random.random(real.count), place[codes]))
    chosen = random.permutation(other.count)[:size]
    parts = order[:size], order[size : 2 * size]
    return (*(real.take(np.sort(part)) for part in parts), other.take(np.sort(chosen)))  # type: ignore[return-value]


def copies(
    human: Traces, simulated: Traces, draws: list[tuple[Cases, Cases, Cases]]
) -> dict[str, Estimate]:
    """Shares of cases that repeat a real case, nearly repeat one, or repeat each other.

    ``twins``: cases with the activities and gaps (in seconds) of a real case. ``near_twins``: cases
    of the path of a case in a real half, with every gap within 10 minutes and 5 % of its gaps
    (`usi.logs.process.nearest`). ``self_copies``: 1 - distinct / cases. ``_real``: the same of
    real halves.
    """
    ours, theirs = human.prints, simulated.prints
    if len(ours) < 2 or not len(theirs):
        few = not_assessed(FEW_CASES(real=2 * MIN_CASES, simulated=MIN_CASES))
        return {f"{name}{tail}": few for name in COPIES for tail in ("", "_real")}
    order = np.random.default_rng(0x7A1).permutation(len(ours))
    half, rest = ours[order[: len(ours) // 2]], ours[order[len(ours) // 2 :]]
    near = np.array(
        [[float((nearest(a, side) <= 1).mean()) for side in (s, b)] for a, b, s in draws[:3]]
    )
    shares = {
        "twins": float(np.isin(theirs, ours).mean()),
        "twins_real": float(np.isin(half, rest).mean()),
        "self_copies": _repeated(theirs),
        "self_copies_real": _repeated(ours),
        "near_twins": float(np.nan_to_num(near[:, 0]).mean()),
        "near_twins_real": float(np.nan_to_num(near[:, 1]).mean()),
    }
    return {
        name: Estimate(value=tidy(share), n=len(theirs), unit="share")
        for name, share in shares.items()
    }


def _repeated(prints: NDArray[np.uint64]) -> float:
    return 1.0 - len(np.unique(prints)) / len(prints)
