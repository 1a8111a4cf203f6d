"""Tripwires: marks that people do not make and models do, tested beside the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from usi.extraction.spec import FeatureSpec
from usi.reasons import (
    WEAK_ALARM,
)
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.scorable import Scorable
from usi.scoring.scorecard import Tripwire

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ALPHA = 0.05
MIN_HITS = 3
"""Simulator sessions that must show a mark for an alarm: against thousands of people one
session is rare enough for any test, and one or two hits are what a word list finds wrongly."""
POWER_RATE = 0.05
"""Share of a simulator's sessions that the power note speaks of."""


def fisher_above(human_hits: int, human_n: int, simulator_hits: int, simulator_n: int) -> float:
    """One-sided Fisher exact test, simulator above humans.

    P(at least `simulator_hits` of all hits fall on the simulator) under the hypergeometric
    distribution.

    >>> round(fisher_above(0, 3086, 1, 50), 4)  # 50 / 3136
    0.0159
    """
    return float(_above(human_hits, human_n, np.array([simulator_hits]), simulator_n)[0])


def _above(human_hits: int, human_n: int, hits: Ints, simulator_n: int) -> Floats:
    """`fisher_above` for every number of the simulator's hits, shape (numbers,).

    That at least so many of all hits fall on the simulator means that at most `human_hits` fall
    on people, which are few terms where the mark is rare: with K hits in N sessions,
    P = sum over i of C(n_h, i) C(n_s, K - i) / C(N, K).
    """
    i, total = np.arange(human_hits + 1), human_hits + hits[:, None]
    fits = (i <= human_n) & (total - i <= simulator_n)
    rest = np.where(fits, total - i, 0)
    log_p = (
        _log_choose(human_n, i) + _log_choose(simulator_n, rest)
        - _log_choose(human_n + simulator_n, total)
    )  # fmt: skip
    chance: Floats = np.where(fits, np.exp(log_p), 0.0).sum(axis=1)
    return np.minimum(1.0, chance)


def _log_choose(n: int, k: Ints) -> Floats:
    from scipy.special import gammaln

    found: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return found


def alarm_power(
    *, rate: float, human_hits: int, human_n: int, simulator_n: int, threshold: float
) -> float:
    """Probability of an alarm where a share `rate` of the simulator's sessions shows the mark."""
    from scipy.special import xlog1py, xlogy

    x = np.arange(simulator_n + 1)
    p = _above(human_hits, human_n, x, simulator_n)
    alarm = (p <= threshold) & (x >= MIN_HITS)
    log_share = _log_choose(simulator_n, x) + xlogy(x, rate) + xlog1py(simulator_n - x, -rate)
    return float(np.exp(log_share)[alarm].sum())


def tripwire_list(
    specs: Sequence[FeatureSpec], verdicts: Mapping[str, Scorable]
) -> tuple[FeatureSpec, ...]:
    """Tripwires of this corpus: marked so in the profile, and rare among its people.

    A mark that these people do make (often enough to be scored) is scored like any feature.
    """
    return tuple(s for s in specs if s.tripwire and not s.harness and verdicts[s.name].rare)


def tripwires(
    wires: Sequence[FeatureSpec],
    counts: Mapping[str, tuple[int, int, int, int]],
    shown: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> tuple[Tripwire, ...]:
    """Test every tripwire at 0.05 / k, k = how many there are.

    Parameters
    ----------
    wires
        The list, from `tripwire_list`.
    counts
        Feature -> (human hits, human sessions, simulator hits, simulator sessions).
    shown
        Feature -> ids of the first sessions of the simulator that show it.
    """
    threshold = ALPHA / len(wires) if wires else ALPHA
    result = []
    for spec in wires:
        h, n_h, s, n_s = counts[spec.name]
        p = fisher_above(h, n_h, s, n_s)
        power = alarm_power(
            rate=POWER_RATE, human_hits=h, human_n=n_h, simulator_n=n_s, threshold=threshold
        )
        note = None
        if power < 0.8:
            note = WEAK_ALARM(rate=POWER_RATE, power=tidy(power))
        result.append(
            Tripwire(
                feature=spec.name,
                human_sessions=n_h,
                human_hits=h,
                simulator_sessions=n_s,
                simulator_hits=s,
                p_value=tidy(min(1.0, p)),
                threshold=threshold,
                alarm=p <= threshold and s >= MIN_HITS,
                session_ids=shown.get(spec.name, ()),
                power_note=note,
            )
        )
    return tuple(result)
