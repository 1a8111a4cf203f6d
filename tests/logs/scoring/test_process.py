"""Differences of two logs as processes: values by hand, and every attack against its own key."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.audit.log_attacks import LOG_ATTACKS
from usi.logs import load_config
from usi.logs.checks import COPY_KEYS, PROCESS_MAX, cases_needed
from usi.logs.clusters import chosen_cluster, effective_clusters
from usi.logs.distances import Traces, TraceSample, case_prints
from usi.logs.process import (
    arrivals,
    as_cases,
    calendar,
    case_mix,
    crew,
    cycle_times,
    handovers,
    nearest,
    open_cases,
    tails,
    time_in_state,
    who_does_what,
)
from usi.logs.process_keys import process_differences

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def log(*cases, start=MONDAY, apart=24.0, who="ann", team="one"):
    """Cases as lists of (activity, hours to the next event)."""
    rows = []
    for number, case in enumerate(cases):
        at = start + timedelta(hours=apart * number)
        for activity, hours in case:
            rows.append((f"c{number:05d}", activity, at, who, team))
            at += timedelta(hours=hours)
    names = ["case_id", "activity", "timestamp", "resource", "group"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    time = pl.col("timestamp").cast(pl.Datetime("us", "UTC"))
    return frame.with_columns(time, time.alias("start"))


def both(real, other):
    return as_cases(Traces(real), Traces(other))


SHORT = [("new", 1.0), ("work", 3.0), ("done", 0.0)]
LONG = [("new", 1.0), ("work", 30.0), ("done", 0.0)]


def test_time_in_state_is_the_mean_over_states_of_their_largest_difference():
    real, other = log(*[SHORT] * 40), log(*[LONG] * 20, *[SHORT] * 20)
    # of 80 gaps half are after "new", where all agree; after "work" half of the cases differ
    assert time_in_state(*both(real, other)) == pytest.approx(0.5 * 0 + 0.5 * 0.5)
    zero = [("new", 1.0), ("work", 0.0), ("done", 0.0)]
    assert time_in_state(*both(real, log(*[zero] * 40))) == pytest.approx(0.5)
    gone = [("new", 1.0), ("done", 0.0)]
    assert time_in_state(*both(real, log(*[gone] * 40))) == pytest.approx(0.5)


def test_tails_take_the_quantile_that_is_furthest_off():
    real, other = log(*[SHORT] * 100), log(*[SHORT] * 97, *[LONG] * 3)
    # 3 of 200 gaps are 30 h in place of 3: the 99 % quantile alone moves
    assert tails(*both(real, other)) == pytest.approx(np.log(10), abs=0.01)


def test_the_calendar_sees_a_moved_clock():
    real = log(*[[("new", 0.0)]] * 14)
    assert calendar(*both(real, real)) == 0
    later = log(*[[("new", 0.0)]] * 14, start=MONDAY + timedelta(hours=12))
    assert calendar(*both(real, later)) == pytest.approx(1)
    week = log(*[[("new", 0.0)]] * 14, start=MONDAY + timedelta(days=7))
    assert calendar(*both(real, week)) == 0


def test_cycle_times_and_the_mix_of_cases():
    real, other = log(*[SHORT] * 4), log(*[SHORT] * 3, LONG)
    assert cycle_times(*both(real, other)) == 0.25
    assert case_mix(*both(real, other)) == 0
    assert case_mix(*both(real, log(*[SHORT] * 3, [("new", 1.0), ("lost", 0.0)]))) == 0.25


def test_arrivals_may_differ_in_pace_or_in_window_and_not_in_both():
    real = log(*[SHORT] * 200)
    half_the_time = log(*[SHORT] * 100)
    a_sample = log(*[SHORT] * 100, apart=48.0)
    squeezed = log(*[SHORT] * 200, apart=4.0)
    assert arrivals(*both(real, half_the_time)) == pytest.approx(0, abs=0.02)
    assert arrivals(*both(real, a_sample)) == pytest.approx(0, abs=0.02)
    assert arrivals(*both(real, squeezed)) == pytest.approx(np.log(6), abs=0.01)
    assert open_cases(*both(real, squeezed)) == pytest.approx(np.log(6), abs=0.05)
    assert open_cases(*both(real, half_the_time)) == pytest.approx(0, abs=0.02)


def staffed(random, *, by_skill=True, people=("ann", "bob")):
    frame = log(*[SHORT] * 300)
    skilled = (
        pl.when(pl.col("activity") == "work").then(pl.lit(people[0])).otherwise(pl.lit(people[-1]))
    )
    by_chance = pl.Series("resource", random.choice(people, frame.height))
    return frame.with_columns(skilled.alias("resource") if by_skill else by_chance)


def test_who_does_what_and_how_many_share_it():
    random = np.random.default_rng(1)
    real, chance = staffed(random), staffed(random, by_skill=False)
    assert who_does_what(*both(real, real)) == 0
    assert who_does_what(*both(real, chance)) == pytest.approx(1, abs=0.02)
    renamed = real.with_columns(("x" + pl.col("resource")).alias("resource"))
    assert who_does_what(*both(real, renamed)) == 0
    alone = real.with_columns(pl.lit("ann").alias("resource"))
    # shares 1/3 and 2/3 are worth 1 / (1/9 + 4/9) people
    assert crew(*both(real, alone)) == pytest.approx(np.log(9 / 5))


def test_handovers_are_pairs_of_groups():
    real = log(*[SHORT] * 10)
    moved = real.with_columns(
        pl.when(pl.col("activity") == "done").then(pl.lit("two")).otherwise("group").alias("group")
    )
    assert handovers(*both(real, moved)) == 0.5


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "b", "c"]), min_size=2, max_size=6), min_size=2,
                max_size=12), st.integers(0, 100))  # fmt: skip
def test_every_difference_is_at_least_0_and_0_of_a_log_with_itself(paths, seed):
    random = np.random.default_rng(seed)
    made = log(*[[(a, float(random.integers(0, 50))) for a in path] for path in paths])
    same = both(made, made)
    for statistic in (time_in_state, tails, calendar, cycle_times, case_mix, arrivals, open_cases):
        assert statistic(*same) == pytest.approx(0)
    backwards = both(made, log(*[[(a, 1.0) for a in path[::-1]] for path in paths]))
    for statistic in (time_in_state, calendar, cycle_times, case_mix):
        assert 0 <= statistic(*backwards) <= 1


def test_twins_are_found_under_other_ids_and_at_other_times():
    path = [("new", 1.0), ("work", 2.5), ("wait", 7.25), ("done", 0.0)]
    first = log(path, path[1:], [*path[:3], ("done", 1.0), ("new", 0.0)])
    later = first.with_columns(
        ("x" + pl.col("case_id")).alias("case_id"), pl.col("timestamp") + timedelta(days=9)
    )
    assert len(case_prints(first)) == 2  # the case of three events has too few gaps
    assert set(case_prints(first)) == set(case_prints(later))
    other = [("new", 1.0), ("work", 2.5), ("wait", 7.26), ("done", 0.0)]
    assert not set(case_prints(log(other))) & set(case_prints(first))
    near = nearest(*both(log(path), log(other)))
    assert near.shape == (1,)
    assert near[0] < 0.1
    far = [("new", 1.0), ("work", 2.5), ("wait", 30.0), ("done", 0.0)]
    assert nearest(*both(log(path), log(far)))[0] > 1
    assert nearest(*both(log(path), log([*path, ("new", 0.0)])))[0] == np.inf


def test_clusters_of_unequal_size_are_worth_fewer():
    assert effective_clusters(pl.Series(["a", "b", "c"])) == 3
    assert effective_clusters(pl.Series(["a"] * 9 + ["b"])) == pytest.approx(100 / 82)
    assert effective_clusters(pl.Series([None, None, "b"], dtype=pl.String)) == 3
    days = [f"d{k % 60}" for k in range(600)]
    one_week = pl.DataFrame({"session_id": [str(k) for k in range(600)], "week": ["w"] * 600,
                             "day": days, "team": ["t"] * 600})  # fmt: skip
    column, why = chosen_cluster([one_week, one_week])
    assert column == "day"
    assert why is not None
    assert "worth 60" in why.text
    even = one_week.with_columns(pl.col("day").alias("week"))
    assert chosen_cluster([even]) == ("week", None)
    few = one_week.with_columns(pl.lit("d").alias("day"))
    column, why = chosen_cluster([few])
    assert column == "session_id"
    assert "too narrow" in why.text
    assert chosen_cluster([few.head(20)]) == ("week", None)


def test_cases_needed_grow_as_the_interval_widens():
    # by hand: se = 10 / 1.645 = 6.08; ((1.645 + 2.326) * 6.08 / 25)^2 = 0.932
    assert cases_needed(90.0, 80.0, 75.0, 1000) == pytest.approx(933, abs=3)
    assert cases_needed(90.0, 70.0, 75.0, 1000) == pytest.approx(4 * 933, abs=12)


ATTACKED = 700
SEES = {
    "copy": "copies.twins",
    "jittered copy": "copies.near_twins",
    "scaled copy": "copies.near_twins",
    "replay 100": "copies.self_copies",
    "one copied case": "copies.self_copies",
    "waits of zero": "time_in_state",
    "clock moved 12 h": "calendar",
    "clock moved 4 h": "calendar",
    "starts at any hour": "calendar",
    "durations x 1.3": "time_in_state",
    "gaps permuted": "time_in_state",
    "exponential gaps": "time_in_state",
    "median gaps": "tails",
    "tails stretched": "tails",
    "arrivals squeezed": "arrivals",
    "arrivals spread": "arrivals",
    "eight people": "crew",
    "resources permuted": "handovers",
    "one team": "handovers",
    "cases cut": "case_mix",
    "one variant": "case_mix",
}


@pytest.fixture(scope="module")
def parts(logs):
    """Two halves of the phantom's real log; its cases begin between 9 and 11 o'clock."""
    from usi.audit.log_gauntlet import halves, read_material

    material = read_material(logs.human, load_config(str(logs.config)))
    hour = pl.col("timestamp").first().over("case").dt.hour().cast(pl.Float64)
    back = (22 * hour / 24 - 9) * 3.6e9
    moved = pl.col("timestamp") - pl.duration(microseconds=back.cast(pl.Int64))
    events = material.events.with_columns(moved)
    return halves(replace(material, events=events), seed=3, most=ATTACKED)


def traces(frame):
    sample = TraceSample(zone="UTC")
    sample.see(frame)
    return sample.traces()


def beyond(found, name):
    """Whether a difference is beyond the limit of tier B, or a share of copies above its own."""
    if name.startswith("copies."):
        key = name.removeprefix("copies.")
        return found[key].value - found[f"{key}_real"].value > COPY_KEYS[key][2]
    return found[f"{name}_excess"].low > PROCESS_MAX[name][1]


def test_the_other_half_is_within_every_limit(parts):
    found = process_differences(traces(parts[0]), traces(parts[1]), None, seed=1)
    for name, (_, strict, _) in PROCESS_MAX.items():
        assert abs(found[f"{name}_excess"].value) < strict, name
    assert not any(beyond(found, f"copies.{name}") for name in COPY_KEYS)


@pytest.mark.parametrize("name", sorted(SEES))
def test_each_attack_is_seen_by_its_key(parts, name):
    attack = next(a for a in LOG_ATTACKS if a.name == name)
    made = attack.applied(*parts, seed=5)
    assert made is not None
    found = process_differences(traces(parts[0]), traces(made), None, seed=1)
    assert beyond(found, SEES[name]), found


def test_an_attack_gives_whole_cases_in_order_and_the_same_for_the_same_seed(parts):
    for attack in LOG_ATTACKS:
        made = attack.applied(*parts, seed=2)
        again = attack.applied(*parts, seed=2)
        assert made is not None
        assert made.equals(again), attack.name
        step = pl.col("timestamp").diff().over("case")
        assert made.select((step >= timedelta(0)).all()).item(), attack.name
        assert made["case"].is_sorted()
        assert not set(made["case_id"]) & set(parts[0]["case_id"])
