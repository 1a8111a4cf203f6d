"""User latency: time from the agent's last message to the user's turn, where both have a stamp.

It says how fast a person types, or how fast a harness calls its model, so it is reported and
never scored (`usi.extraction.spec.FeatureSpec.harness`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

import numpy as np

from usi.extraction.kernel import Ints
from usi.records import Turn

LATENCY_UNIT = 1_000_000_000_000
"""A logarithm of seconds is kept as whole trillionths (rounded), so that sums are exact."""
LATENCY_COLUMNS: tuple[str, ...] = ("latency_log", "latency_units", "latency_unusable")
"""Sum of the natural logarithms of the seconds in trillionths, a trillion for each gap above 0, and
the gaps of 0 or below, which have no logarithm."""
_TIME = attrgetter("time")


@dataclass(frozen=True)
class Latencies:
    """Gaps by turn of the user, each of shape (turns,): see `LATENCY_COLUMNS`."""

    log: Ints
    units: Ints
    unusable: Ints


def latencies(
    turns: Sequence[Turn], agent_of: Sequence[int], agents: Sequence[Turn]
) -> Latencies | None:
    """Gaps before turns of the user; ``None`` where no turn of the user has a stamp.

    Parameters
    ----------
    turns
        Messages of the user.
    agent_of
        Index into ``agents`` of the last message of the agent before each of them, -1 where
        there is none.
    agents
        Messages of the agent.

    Notes
    -----
    A stamp with a zone and one without can't be compared: there is no gap between them, as there
    is none where either message has no stamp.
    """
    times: list[datetime | None] = list(map(_TIME, turns))
    if times.count(None) == len(times):
        return None
    log, units, unusable = (np.zeros(len(times), dtype=np.int64) for _ in range(3))
    for i, (said, agent) in enumerate(zip(times, agent_of, strict=True)):
        heard = agents[agent].time if agent >= 0 else None
        if said is None or heard is None or (said.tzinfo is None) is not (heard.tzinfo is None):
            continue
        seconds = (said - heard).total_seconds()
        if seconds > 0:
            log[i] = round(math.log(seconds) * LATENCY_UNIT)
            units[i] = LATENCY_UNIT
        else:
            unusable[i] = 1
    return Latencies(log, units, unusable)
