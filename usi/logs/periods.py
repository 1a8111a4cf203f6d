"""How far a real log moves by itself: its earlier cases against its later ones.

A real desk is another one half a year later. What a simulator is off by says something of the
simulator only beyond that.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.diagnose.diagnosis import diagnose, scored_sessions
from usi.estimate import Estimate
from usi.extraction.spec import FeatureSpec
from usi.extraction.table import SessionTable
from usi.logs.features import HISTORY_FEATURES, SPECS
from usi.logs.outcome import ruled
from usi.options import TwoSampleMode
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.scorable import session_values
from usi.scoring.robust.thresholds import Z

TWICE = 2.0
"""A period that follows is twice as far from the whole as its halves are from each other."""
LEAST_SHARED = 0.8
"""Share of each side's cases in clusters of both, from which on clusters are compared in pairs."""


def halves_in_time(frame: pl.DataFrame) -> NDArray[np.bool_]:
    """Which cases are the earlier half, by the time of their first event."""
    order = np.argsort(frame["start_us"].to_numpy(), kind="stable")
    earlier = np.zeros(frame.height, dtype=bool)
    earlier[order[: frame.height // 2]] = True
    return earlier


def period_differences(
    human: SessionTable, *, mode: TwoSampleMode, seed: int
) -> dict[str, Estimate]:
    """What keys of the gate would find between the real log and a period of it that follows.

    Parameters
    ----------
    human
        The real log's cases, with clusters in ``task``.
    mode, seed
        Of the two-sample test.

    Returns
    -------
    dict
        Each from the earlier against the later half, its distance from agreement doubled:
        ``two_sample_periods`` (AUC), ``success_gap_periods`` (share), ``history.NAME_periods``
        (points of the score). What can't be computed is absent.
    """
    earlier = halves_in_time(human.frame)
    parts = [human.frame.filter(pl.Series(mask)) for mask in (earlier, ~earlier)]
    found: dict[str, Estimate] = {}
    if min(part.height for part in parts) == 0:
        return found
    tests = diagnose(
        scored_sessions(parts[0]),
        scored_sessions(parts[1]),
        profile=human.profile,
        design="unpaired",
        mode=mode,
        seed=seed,
    ).two_sample
    for test in tests:
        if test.classifier == "trees" and test.auc.value is not None:
            auc = min(1.0, 0.5 + TWICE * abs(test.auc.value - 0.5))
            found["two_sample_periods"] = Estimate(value=tidy(auc), unit="AUC")
    success = [_success(part) for part in _ruled(human, parts)]
    if all(len(side) for side in success):
        gap = TWICE * abs(float(success[0].mean() - success[1].mean()))
        found["success_gap_periods"] = Estimate(value=tidy(min(1.0, gap)), unit="share")
    specs = [spec for spec in SPECS if spec.name in HISTORY_FEATURES]
    values = [session_values(part, specs) for part in parts]
    for k, spec in enumerate(specs):
        score = _dice(spec, *(side[:, k] for side in values))
        if score is not None:
            floor = Estimate(value=tidy(max(0.0, 100 - TWICE * (100 - score))))
            found[f"history.{spec.name}_periods"] = floor
    return found


def _ruled(human: SessionTable, parts: list[pl.DataFrame]) -> list[pl.DataFrame]:
    by = ruled(*(replace(human, frame=part) for part in parts))
    return [by.human.frame, by.simulator.frame]


def _success(frame: pl.DataFrame) -> NDArray[np.float64]:
    return frame["reward"].drop_nulls().cast(pl.Float64).to_numpy()


def _dice(spec: FeatureSpec, one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    sides = [side[~np.isnan(side)] for side in (one, other)]
    if not all(len(side) for side in sides):
        return None
    a, b = (float(side.mean()) for side in sides)
    return None if a + b <= 0 else 100 * 2 * min(a, b) / (a + b)


def paired_gap(human: SessionTable, simulated: SessionTable) -> Estimate | None:
    """Success gap with the bounds of clusters in pairs, where both sides have the same ones.

    Two logs of the same days share what those days were like, so the difference is known better
    than each side: se^2 = C / (C - 1) sum over clusters c of (e_sc - e_hc)^2, with
    e_c = sum over its cases of (success - mean) / cases. ``None`` where under `LEAST_SHARED` of a
    side's cases lie in clusters of both, or a side has no outcome.

    Parameters
    ----------
    human, simulated
        Cases, with clusters in ``task``.
    """
    by = ruled(human, simulated)
    frames = [
        side.frame.select("task", pl.col("reward").cast(pl.Float64)).drop_nulls()
        for side in (by.human, by.simulator)
    ]
    if any(frame.height == 0 for frame in frames):
        return None
    common = set(frames[0]["task"]) & set(frames[1]["task"])
    shared = [float(frame["task"].is_in(list(common)).mean() or 0.0) for frame in frames]  # type: ignore[arg-type]
    if min(shared) < LEAST_SHARED or len(common) < 2:
        return None
    effects: dict[str, float] = {}
    means = []
    for frame, sign in zip(frames, (-1, 1), strict=True):
        mean = float(frame["reward"].mean() or 0.0)  # type: ignore[arg-type]
        means.append(mean)
        sums = frame.group_by("task").agg((pl.col("reward") - mean).sum() / frame.height)
        for name, value in sums.iter_rows():
            effects[name] = effects.get(name, 0.0) + sign * value
    each = np.array(list(effects.values()))
    reach = Z * float(np.sqrt(len(each) / (len(each) - 1) * np.square(each).sum()))
    gap = means[1] - means[0]
    return Estimate(
        value=tidy(gap), low=tidy(gap - reach), high=tidy(gap + reach), n=len(each), unit="share"
    )
