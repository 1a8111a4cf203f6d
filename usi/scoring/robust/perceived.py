"""Reward against the success that people saw: where the grader and the person disagree."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.estimate import Estimate, not_assessed
from usi.reasons import NO_FAILURES, NO_REFUSALS, SUCCESS_CONSTANT, Code
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.instrument import tau_survey
from usi.scoring.robust.survey import sheets
from usi.scoring.robust.thresholds import Z
from usi.scoring.scorecard import PerceivedSuccess

ITEM = "task_success"
Array = NDArray[np.float64]


def perceived_success(frame: pl.DataFrame, success: Array) -> PerceivedSuccess | None:
    """Two by two table of reward and perceived success over the human sessions.

    Parameters
    ----------
    frame
        Human sessions, with their surveys.
    success
        Success by the reward threshold, NaN where there is none.

    Returns
    -------
    PerceivedSuccess or None
        ``None`` where no session has both a reward and an answer about success. A refusal that
        was well explained counts as not perceived as success, and has its own share: reward 1
        given such an answer.
    """
    item = next(item for item in tau_survey() if item.name == ITEM)
    levels = [item.level(own.get(ITEM)) for own in sheets(frame)]
    known = np.array([v is not None for v in levels], dtype=bool) & ~np.isnan(success)
    if not known.any():
        return None
    reward = success[known] == 1
    level = np.array([-1 if v is None else v for v in levels])[known]
    seen = np.isin(level, item.success)
    refused = np.isin(level, item.refusal)
    both, reward_only = int((reward & seen).sum()), int((reward & ~seen).sum())
    seen_only, neither = int((~reward & seen).sum()), int((~reward & ~seen).sum())
    sides = (both + reward_only, seen_only + neither, both + seen_only, reward_only + neither)
    n = len(reward)
    if min(sides):
        bottom = float(np.sqrt(np.prod(np.array(sides, dtype=float))))
        value = (both * neither - reward_only * seen_only) / bottom
        phi = Estimate(value=tidy(value), n=n, unit="correlation")
    else:
        phi = not_assessed(SUCCESS_CONSTANT, unit="correlation", n=n)
    return PerceivedSuccess(
        both=both,
        reward_only=reward_only,
        perceived_only=seen_only,
        neither=neither,
        phi=phi,
        success_given_reward_0=_share(seen[~reward], NO_FAILURES),
        reward_1_given_correct_refusal=_share(reward[refused], NO_REFUSALS),
    )


def _share(hits: NDArray[np.bool_], reason: Code) -> Estimate:
    n = len(hits)
    if not n:
        return not_assessed(reason, unit="share", n=0)
    low, high = wilson(int(hits.sum()), n)
    return Estimate(
        value=tidy(float(hits.mean())), low=tidy(low), high=tidy(high), n=n, unit="share"
    )


def wilson(hits: int, n: int, z: float = Z) -> tuple[float, float]:
    """Wilson score interval of a share (two-sided 90 %), within 0 to 1.

    Examples
    --------
    >>> [round(v, 3) for v in wilson(0, 10)]
    [0.0, 0.213]
    """
    p, z2 = hits / n, z * z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * float(np.sqrt(p * (1 - p) / n + z2 / (4 * n * n)))
    return max(0.0, centre - half), min(1.0, centre + half)
