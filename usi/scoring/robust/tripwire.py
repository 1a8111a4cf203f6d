"""Tripwires: marks that people do not make and models do, tested beside the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from usi.extraction.spec import FeatureSpec
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.scorable import Scorable
from usi.scoring.scorecard import Tripwire

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
    """
    from scipy.stats import hypergeom

    hits, total = human_hits + simulator_hits, human_n + simulator_n
    return float(hypergeom.sf(simulator_hits - 1, total, hits, simulator_n))


def alarm_power(
    *, rate: float, human_hits: int, human_n: int, simulator_n: int, threshold: float
) -> float:
    """Probability of an alarm where a share `rate` of the simulator's sessions shows the mark."""
    import numpy as np
    from scipy.stats import binom, hypergeom

    x = np.arange(simulator_n + 1)
    p = hypergeom.sf(x - 1, human_n + simulator_n, human_hits + x, simulator_n)
    alarm = (p <= threshold) & (x >= MIN_HITS)
    return float(binom.pmf(x, simulator_n, rate)[alarm].sum())


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
) -> tuple[Tripwire, ...]:
    """Test every tripwire at 0.05 / k, k = how many there are.

    Parameters
    ----------
    wires
        The list, from `tripwire_list`.
    counts
        Feature -> (human hits, human sessions, simulator hits, simulator sessions).
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
            note = (
                f"at this size a mark in {100 * POWER_RATE:.0f} % of the simulator's sessions "
                f"would raise the alarm in {100 * power:.0f} % of studies"
            )
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
                power_note=note,
            )
        )
    return tuple(result)
