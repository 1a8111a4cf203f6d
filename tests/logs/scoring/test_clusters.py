"""Cases of one week share conditions: what is resampled decides what an interval is worth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from phantom_truth.log_values import true_log_values

from usi.extraction.spec import FeatureSpec
from usi.phantom.log_draw import log_frames
from usi.phantom.log_spec import load_log_phantom
from usi.scoring.robust.sums import side_sums
from usi.scoring.robust.terms import contrast

SPEC = load_log_phantom("human").changed(weekly=0.25)
STUDIES, CASES = 150, 1200
GAP = FeatureSpec("gap", "conversation", "value", "gap", "", scale="ratio")


def logs_and_weeks(seed):
    """Mean logarithm of the gaps of every case, and the week that it began in, by polars alone."""
    frame = pl.concat(list(log_frames(SPEC, CASES, seed=seed))).sort("case_id", "timestamp")
    step = pl.col("timestamp").diff().over("case_id").dt.total_microseconds() / 3.6e9
    cases = frame.group_by("case_id", maintain_order=True).agg(
        pl.col("timestamp").first().dt.strftime("%G-W%V").alias("week"), step.alias("step")
    )
    gap = pl.col("step").list.drop_nulls().list.eval(pl.element().log()).list.mean()
    found = cases.select("week", gap.alias("gap")).drop_nulls()
    return found["gap"].to_numpy(), found["week"].to_numpy()


def sums(values, labels):
    units, unit = np.unique(labels, return_inverse=True)
    n = len(values)
    return side_sums(
        unit=unit, units=[str(u) for u in units], split=["1"] * n,
        bin_index=np.full(n, -1), bins=(), features=("gap",), values=values[:, None],
        hits=np.zeros((n, 1)), success=np.full(n, np.nan), labels=np.full((n, 5), np.nan),
    )  # fmt: skip


def covered(seed):
    """Whether the 90 % interval of the mean holds the truth, by week and by case."""
    values, weeks = logs_and_weeks(seed)
    truth = np.log(true_log_values(SPEC)["gap"])
    found = []
    for labels in (weeks, np.arange(len(values))):
        side = sums(values, labels)
        data = contrast(side, side, paired=False)
        found.append(abs(data.human[0] - truth) <= 1.645 * data.human_se[0])
    return found


@pytest.fixture(scope="module")
def coverage():
    return np.mean([covered(1000 + k) for k in range(STUDIES)], axis=0)


def test_by_week_an_interval_covers_what_it_says(coverage):
    # 90 % nominal; 150 studies have a standard error of 2.4 points
    assert 0.82 <= coverage[0] <= 0.97


def test_by_case_it_covers_about_half(coverage):
    assert coverage[1] < 0.65


def test_a_weekly_effect_leaves_the_truth_and_the_bytes_of_a_log_without_it():
    plain = load_log_phantom("human")
    assert true_log_values(plain) == true_log_values(SPEC)
    same = [pl.concat(list(log_frames(s, 50))) for s in (plain, plain.changed(weekly=0.0))]
    assert same[0].equals(same[1])
    moved = pl.concat(list(log_frames(SPEC, 50)))
    assert moved["activity"].equals(same[0]["activity"])
    assert not moved["timestamp"].equals(same[0]["timestamp"])
