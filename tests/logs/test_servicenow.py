"""A real service desk's log, checked by an independent computation in pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers import shared
from support.log_tables import extract_log_table

from usi.errors import InputError
from usi.logs import load_config
from usi.logs.config import LogConfig
from usi.logs.feature_options import options_of

ZIP = "data/logs/servicenow/ServiceNow-Kaggle.csv.zip"
CONFIG = load_config("servicenow")


@pytest.fixture(scope="module")
def raw():
    frame = pd.read_csv(shared(ZIP), dtype=str, na_values=["?"], keep_default_na=False)
    frame["time"] = pd.to_datetime(frame["sys_updated_at"], dayfirst=True, format="mixed")
    return frame.sort_values(["number", "time"], kind="stable").reset_index(drop=True)


@pytest.fixture(scope="module")
def log():
    return extract_log_table(shared(ZIP), CONFIG, side="human")


@pytest.fixture(scope="module")
def values(log):
    return log[0].values().to_pandas().set_index("session_id").sort_index()


def test_counts_of_the_log(log):
    _, notes = log
    assert (notes.events, notes.cases) == (119_998, 20_769)
    assert notes.activities["Awaiting User Info"] == 12_884
    assert notes.open_cases == 1
    assert notes.out_of_order == 1


def test_derived_reopenings_agree_with_the_system(raw, values):
    truth = raw.groupby("number")["reopen_count"].last().astype(int) > 0
    found = values["reopen"].reindex(truth.index) == 1
    both = int((truth & found).sum())
    assert int(truth.sum()) == 234
    assert both / int(found.sum()) >= 0.99  # precision
    assert both / int(truth.sum()) >= 0.99  # recall


def test_group_changes_correlate_with_reassignments(raw, values):
    truth = raw.groupby("number")["reassignment_count"].last().astype(int)
    as_value = np.corrcoef(values["group_changes"].reindex(truth.index), truth)[0, 1]
    assert as_value >= 0.98
    table, _ = extract_log_table(
        shared(ZIP), CONFIG, side="human", options=options_of(CONFIG, missing_group="drop")
    )
    dropped = table.values().to_pandas().set_index("session_id")["group_changes"]
    known = dropped.reindex(truth.index).dropna()
    assert np.corrcoef(known, truth[known.index])[0, 1] == pytest.approx(0.95, abs=0.01)


def test_features_equal_a_computation_in_pandas(raw, values):
    by = raw.groupby("number")
    n = by.size()
    same = raw["number"].eq(raw["number"].shift())
    waits = raw["incident_state"].eq("Awaiting User Info")
    step = (raw["time"].shift(-1) - raw["time"]).dt.total_seconds() / 3600
    step = step.where(raw["number"].eq(raw["number"].shift(-1)))
    loops = (same & raw["incident_state"].eq(raw["incident_state"].shift())).groupby(raw["number"])
    cycle = (by["time"].last() - by["time"].first()).dt.total_seconds() / 3600
    spent = step.where(waits, 0).fillna(0).groupby(raw["number"]).sum()
    trips = (waits & ~(same & waits.shift(fill_value=False))).groupby(raw["number"]).sum()
    runs = raw["assignment_group"].fillna("")
    runs = raw[["number"]].assign(group=runs)[~(same & runs.eq(runs.shift()))]
    back = runs["group"].eq(runs["group"].shift(2)) & runs["number"].eq(runs["number"].shift(2))
    local = raw["time"]
    off = ~(local.dt.day_of_week.lt(5) & local.dt.hour.ge(8) & local.dt.hour.lt(18))
    logs = np.log(step.where(step > 0)).groupby(raw["number"]).mean()
    known = raw["assigned_to"].notna() & raw["assigned_to"].shift().notna() & same
    moved = (known & raw["assigned_to"].ne(raw["assigned_to"].shift())).groupby(raw["number"]).sum()
    needed = raw[["category", "subcategory", "u_symptom", "assignment_group", "assigned_to"]]
    expected = {
        "events_per_case": n,
        "self_loop_rate": loops.sum() / (n - 1).where(n > 1),
        "repetition_rate": 1 - by["incident_state"].nunique() / n,
        "gap": np.exp(logs),
        "offhours_share": off.groupby(raw["number"]).mean(),
        "wait_user_case": waits.groupby(raw["number"]).max().astype(float),
        "wait_user_event_share": waits.groupby(raw["number"]).mean(),
        "wait_user_time_share": spent / cycle.where(cycle > 0),
        "wait_user_trips": trips,
        "group_changes": runs.groupby("number").size() - 1,
        "ping_pong": back.groupby(runs["number"]).max().astype(float),
        "handover_rate": moved / known.groupby(raw["number"]).sum().where(lambda s: s > 0),
        "opening_completeness": needed.notna().mean(axis=1).groupby(raw["number"]).first(),
        "never_complete": 1.0 - needed.notna().all(axis=1).groupby(raw["number"]).max(),
        "cycle_time": cycle,
    }
    for name, series in expected.items():
        np.testing.assert_allclose(
            values[name].to_numpy(), series.reindex(values.index).to_numpy(dtype=float),
            rtol=1e-9, atol=1e-12, err_msg=name,
        )  # fmt: skip


def test_outcome_is_the_flag_of_the_system(raw, log):
    frame = log[0].frame.to_pandas().set_index("session_id")
    met = raw.groupby("number")["made_sla"].last().map({"true": 1.0, "false": 0.0})
    known = frame["reward"].dropna()
    assert len(known) == 20_768  # one case is open
    assert (known == met[known.index]).all()


def test_a_class_map_with_one_activity_missing_is_refused_by_name():
    fewer = {name: kind for name, kind in CONFIG.classes.items() if name != "Awaiting Problem"}
    partial = LogConfig("partial", "1", CONFIG.layout, fewer)
    with pytest.raises(InputError, match=r"without a class: 'Awaiting Problem' \(400\)\. Add"):
        extract_log_table(shared(ZIP), partial, side="human")


def means(name):
    path = shared(f"data/logs/servicenow/{name}.csv")
    return (
        extract_log_table(path, CONFIG, side="simulated")[0]
        .values()
        .to_pandas()
        .mean(numeric_only=True)
    )


def test_play_out_is_near_on_rates_and_far_on_memory(values):
    human, markov = values.mean(numeric_only=True), means("simulated_markov1")
    for name, tolerance in (("wait_user_case", 0.02), ("reopen", 0.005), ("group_changes", 0.05)):
        assert markov[name] == pytest.approx(human[name], abs=tolerance)
    assert markov["ping_pong"] < 0.8 * human["ping_pong"]


def test_easy_mode_has_no_waits_and_no_reopenings(values):
    easy = means("simulated_easy_mode")
    assert easy["wait_user_case"] == easy["wait_user_trips"] == easy["reopen"] == 0
    assert values["wait_user_case"].mean() > 0.2


@pytest.mark.parametrize(
    ("name", "layout", "cases", "events"),
    [
        ("loanapp/test_preprocessed", {}, 200, None),
        ("loanapp/simulated_log_0", {}, 200, 1502),
        ("simod/validation_log", {}, 195, 1084),
        ("simod/simulated_log_0", {}, 195, None),
        ("tiny/test_event_log_1", {}, 4, 32),
        ("tiny/LoanApp_delays", {"timezone": "UTC"}, 100, 428),
    ],
)
def test_logs_with_starts_and_ends_load_without_classes(name, layout, cases, events):
    from usi.logs import LogFormat

    path = shared(f"data/logs/{name}.csv")
    raw = pd.read_csv(path)
    config = LogConfig("none", "1", LogFormat(**layout))
    table, notes = extract_log_table(path, config, side="human", without_classes=True)
    assert notes.cases == raw["case_id"].nunique() == cases
    assert notes.events == len(raw)
    assert events in (None, notes.events)
    assert table.values()["events_per_case"].sum() == len(raw)
    assert table.values()["wait_user_case"].null_count() == cases
