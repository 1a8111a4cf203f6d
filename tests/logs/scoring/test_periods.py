"""Drift of the real log is not a fault of the simulator, and a fault is not taken for drift."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from usi.audit.log_attacks import renumbered
from usi.audit.log_gauntlet import read_material, side_of
from usi.decisions import gate_scorecard, tier
from usi.extraction.table import SessionTable
from usi.logs import load_config
from usi.logs.diagnostics import diagnose_logs
from usi.logs.periods import halves_in_time, paired_gap
from usi.logs.scoring import study_tables
from usi.options import ScoreOptions
from usi.scoring.context import ScoreContext


@pytest.fixture(scope="module")
def material(logs):
    return read_material(logs.human, load_config(str(logs.config)))


def slower(events, by):
    """Gaps multiplied by exp(by x place of the case in time, 0 to 1)."""
    start = pl.col("timestamp").min().over("case")
    place = start.to_physical().rank("dense").cast(pl.Float64) / pl.col("case").n_unique()
    factor = (by * place).exp() if isinstance(by, float) else pl.lit(float(by))
    since = (pl.col("timestamp") - start).dt.total_microseconds()
    moved = start + pl.duration(microseconds=(since * factor).round().cast(pl.Int64))
    return events.with_columns(moved.alias("timestamp"))


def cut(events):
    """The earlier two thirds of the cases, and the rest under ids of their own."""
    starts = events.group_by("case").agg(pl.col("timestamp").min()).sort("timestamp", "case")
    early = starts["case"].head(2 * starts.height // 3).to_list()
    first = events.filter(pl.col("case").is_in(early))
    return first, renumbered(events.filter(~pl.col("case").is_in(early)))


def verdict(material, reference, simulated, letter="C"):
    options = ScoreOptions(replicates=200, c2st="off")
    human, own = side_of(material, reference, "human", "")
    table, traces = side_of(material, simulated, "simulated", "later")
    studies = study_tables(human, {"later": table}, surveys=None, options=options)
    found = diagnose_logs(human, {"later": table}, {"": own, "later": traces}, options)
    card = studies.card(ScoreContext(), found)
    return gate_scorecard(card, tier(letter)).simulators[0]


def statement(part):
    return next(why for why in part.context if why.code.endswith("worse_than_periods"))


def test_a_real_later_period_of_a_drifting_log_does_not_fail(material):
    drifting = slower(material.events, 0.9)
    part = verdict(material, *cut(drifting))
    assert part.verdict != "FAIL", part.reasons
    assert statement(part).code == "no_worse_than_periods"
    assert any("differ by as much" in str(check.notes) for check in part.checks)


def test_a_later_period_of_a_steady_log_is_as_the_log_and_a_slow_simulator_is_worse(material):
    first, later = cut(material.events)
    steady = verdict(material, first, later)
    assert statement(steady).code == "no_worse_than_periods"
    assert steady.verdict != "FAIL"
    slow = verdict(material, first, slower(later, 2))
    assert slow.verdict == "FAIL"
    told = statement(slow)
    assert told.code == "worse_than_periods"
    assert "time in its state" in told.text


def table(days, success):
    frame = pl.DataFrame(
        {
            "task": [f"d{day}" for day in days],
            "reward": [float(value) for value in success],
            "outcome_label": [None] * len(days),
        }
    )
    return SessionTable(frame, "log@1", "none")


def test_gaps_of_the_same_days_are_compared_in_pairs():
    random = np.random.default_rng(4)
    good = random.random(60)  # what each day was like
    days = np.repeat(np.arange(60), 30)
    sides = [random.random(len(days)) < good[days] for _ in range(2)]
    gap = paired_gap(table(days, sides[0]), table(days, sides[1]))
    assert gap.value == pytest.approx(sides[1].mean() - sides[0].mean())
    # by hand: the effect of each day on the difference of the two means
    n = len(days)
    effects = [
        (
            (sides[1][days == d] - sides[1].mean()).sum()
            - (sides[0][days == d] - sides[0].mean()).sum()
        )
        / n
        for d in range(60)
    ]
    se = np.sqrt(60 / 59 * np.square(effects).sum())
    assert gap.high - gap.value == pytest.approx(1.645 * se, rel=1e-3)
    others = paired_gap(table(days, sides[0]), table(days + 60, sides[1]))
    assert others is None


def test_the_earlier_half_is_by_start():
    frame = pl.DataFrame({"start_us": [5, 1, 4, 2, 3]})
    assert halves_in_time(frame).tolist() == [False, True, False, True, False]
