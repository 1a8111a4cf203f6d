"""Distances of logs: by hand, and beside log-distance-measures 2.2.0.

`log_distance_measures.json` holds what that package (Apache-2.0) says of the pairs: n-grams of
orders 1 to 3, relative events and case arrivals by the hour, cycle times in bins of an hour,
circadian events (starts and ends), all by the Wasserstein distance, times in UTC.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from helpers import shared
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.logs import CaseStore, LogFormat, open_log
from usi.logs.diagnostics import distances
from usi.logs.distances import (
    Traces,
    TraceSample,
    arrival_distance,
    circadian_distance,
    cycle_time_distance,
    ngram_distance,
    relative_event_distance,
)
from usi.reasons import FEW_CASES

FOUND = json.loads(Path(__file__).with_name("log_distance_measures.json").read_text())
START = datetime(2015, 1, 5, 9, tzinfo=UTC)  # a Monday
MEASURES = {
    "ngram1": lambda a, b: ngram_distance(a, b, 1),
    "ngram2": lambda a, b: ngram_distance(a, b, 2),
    "ngram3": lambda a, b: ngram_distance(a, b, 3),
    "relative_event": relative_event_distance,
    "cycle_time": cycle_time_distance,
    "case_arrival": arrival_distance,
    "circadian": circadian_distance,
}


def read(name, **more):
    sample = TraceSample(zone="UTC", **more)
    stream = open_log(shared(f"data/logs/{name}.csv"), LogFormat(timezone="UTC"))
    with CaseStore(stream) as store:
        for frame in store.frames():
            sample.see(frame)
    return sample.traces()


def made(*cases, hours=1.0, start=START):
    rows = [
        (f"c{k:05d}", activity, start + timedelta(hours=at * hours))
        for k, case in enumerate(cases)
        for at, activity in enumerate(case)
    ]
    frame = pl.DataFrame(rows, schema=["case_id", "activity", "timestamp"], orient="row")
    return Traces(frame.with_columns(pl.col("timestamp").alias("start")), "UTC")


@pytest.mark.parametrize("pair", FOUND)
def test_agrees_with_the_package(pair):
    one, other = (read(name) for name in pair.split("|"))
    for name, value in FOUND[pair].items():
        assert MEASURES[name](one, other) == pytest.approx(value, abs=1e-9), name


def test_ngrams_of_the_tiny_logs_by_hand():
    # two of the four cases have B D C E where the other log has B C D E. Of 9 bigrams a case 3
    # differ on each side: 2 (3 + 3) / (2 * 4 * 9); of 10 trigrams 4: 2 (4 + 4) / (2 * 4 * 10)
    one, other = read("tiny/test_event_log_1"), read("tiny/test_event_log_3")
    assert ngram_distance(one, other, 2) == pytest.approx(12 / 72, abs=1e-12)
    assert ngram_distance(one, other, 3) == pytest.approx(16 / 80, abs=1e-12)


def test_ngrams_by_hand():
    one, other = made("abc"), made("abd")
    # _a ab bc c_ | _a ab bd d_, and __a _ab abc bc_ c__ | __a _ab abd bd_ d__
    assert ngram_distance(one, other, 1) == pytest.approx(2 / 6)
    assert ngram_distance(one, other, 2) == pytest.approx(4 / 8)
    assert ngram_distance(one, other, 3) == pytest.approx(6 / 10)
    assert ngram_distance(made("abc", "a"), made("a", "abc"), 3) == 0
    # an activity that is blank, or looks like two, is none of the pads
    assert ngram_distance(made(["", "a"]), made(["a"]), 2) > 0
    assert ngram_distance(made(["a,b", "c"]), made(["a", "b,c"]), 2) == 1


def test_times_by_hand():
    slow, fast = made("abc", hours=2), made("abc", hours=1)
    # hours since the start: 0 2 4 | 0 1 2, of starts and ends alike
    assert relative_event_distance(slow, fast) == pytest.approx(1)
    assert cycle_time_distance(slow, fast) == pytest.approx(2)
    assert cycle_time_distance(slow, fast, bin_hours=2) == pytest.approx(1)
    later = made("abc", start=START + timedelta(hours=30))
    assert arrival_distance(fast, later) == pytest.approx(30)
    # Monday 9, 10, 11 h against Tuesday 15, 16, 17 h: two days of seven at the largest distance
    assert circadian_distance(fast, later) == pytest.approx(2 * 23 / 7)
    two = made("abc", start=START + timedelta(hours=2))
    assert circadian_distance(fast, two) == pytest.approx(2 / 7)


def test_the_circadian_distance_reads_the_clock_of_the_log():
    one = made("abc")
    there = Traces(one.frame, "America/New_York")  # 4, 5, 6 in the morning
    assert circadian_distance(one, there) == pytest.approx(5 / 7)


LOGS = st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(LOGS, LOGS, st.integers(1, 3))
def test_laws(one, other, n):
    a, b = made(*one), made(*other)
    far = ngram_distance(a, b, n)
    assert 0 <= far <= 1
    assert far == pytest.approx(ngram_distance(b, a, n))
    assert ngram_distance(a, made(*reversed(one)), n) == 0  # names and order of cases tell nothing
    for measure in (relative_event_distance, cycle_time_distance, circadian_distance):
        assert measure(a, a) == 0
        assert measure(a, b) == pytest.approx(measure(b, a))


def test_larger_logs_stand_in_a_sensible_order():
    """Two simulations of one process are nearer to each other than either to the real log."""
    real = read("simod/validation_log")
    runs = [read(f"simod/simulated_log_{k}") for k in (0, 1)]
    other = read("loanapp/test_preprocessed")
    for name in ("ngram2", "ngram3"):
        measure = MEASURES[name]
        assert measure(*runs) <= measure(real, runs[0]) < measure(real, other) == 1


def test_equal_numbers_of_cases_and_the_real_log_from_itself():
    real, runs = read("loanapp/train_preprocessed"), read("loanapp/simulated_log_0")
    found = distances(real, runs, seed=7)
    again = distances(real, runs, seed=7)
    assert found == again
    assert found["ngram3"].n == 200  # cases of the smaller side
    assert 0 < found["ngram3_real"].value < 0.2
    excess = found["ngram3"].value - found["ngram3_real"].value
    assert found["ngram3_excess"].value == pytest.approx(excess)
    assert found["relative_event"].unit == "hours"


def test_what_is_missing_is_not_assessed():
    assert distances(None, made("ab"), seed=7)["ngram3"].status == "not_assessed"
    few = distances(made("ab", "a"), made("ab"), seed=7)["ngram3_excess"]
    assert few.reason == FEW_CASES(real=100, simulated=50)


def test_a_sample_keeps_whole_cases_whatever_the_order_of_frames():
    cases = [f"case {k}" for k in range(300)]
    frame = pl.DataFrame({"case_id": [c for c in cases for _ in range(3)]}).with_columns(
        pl.lit("a").alias("activity"), pl.lit(START).alias("timestamp")
    )
    halves = [frame.head(450), frame.tail(450)]
    seen = []
    for order in (halves, halves[::-1], [frame]):
        sample = TraceSample(most=50)
        for part in order:
            sample.see(part)
        seen.append(sample.traces().frame)
    assert seen[0].equals(seen[1])
    assert seen[0].equals(seen[2])
    assert seen[0]["case_id"].n_unique() == 50
    assert seen[0].height == 150
