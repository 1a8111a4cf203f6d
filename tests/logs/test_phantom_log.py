"""The phantom log: known rates come back, each defect shows where it should, all is marked."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
from command import usi
from phantom_truth.log_values import NOT_KNOWN, true_log_values
from support.log_tables import extract_log_table

from usi.errors import UsageError
from usi.extraction.profile import get_specs
from usi.extraction.table import SessionTable
from usi.logs import load_config
from usi.phantom.log_build import build_phantom_logs
from usi.phantom.log_spec import ACTIVITIES, load_log_phantom, log_preset_names, plans

CASES = 12_000
SPECS = {spec.name: spec for spec in get_specs("log")}
EXACT = ("human", "copy", "easy_mode", "wrong_waiting", "no_ping_pong")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return build_phantom_logs(tmp_path_factory.mktemp("phantom"), cases=CASES)


@pytest.fixture(scope="module")
def tables(files):
    config = load_config(files.config)
    paths = {"human": files.human, **files.simulators}
    return {
        name: extract_log_table(path, config, side="human" if name == "human" else "simulated")[0]
        for name, path in paths.items()
    }


def mean_and_error(table, name):
    column = table.frame["reward"] if name == "within_sla" else table.values()[name]
    array = column.drop_nulls().to_numpy().astype(float)
    if name in SPECS and SPECS[name].scale == "ratio":
        array = np.log(array[array > 0])
        return float(np.exp(array.mean())), float(array.std() / math.sqrt(len(array)))
    return float(array.mean()), float(array.std() / math.sqrt(len(array)))


@pytest.mark.parametrize("name", EXACT)
def test_true_values_come_back(tables, name):
    truth = true_log_values(load_log_phantom(name))
    assert set(truth) - {"within_sla"} <= set(SPECS)
    for feature, value in truth.items():
        mean, error = mean_and_error(tables[name], feature)
        if feature in SPECS and SPECS[feature].scale == "ratio":
            off = math.log(mean) - math.log(value)
        else:
            off = mean - value
        assert abs(off) <= 4.5 * error + 1e-9, (feature, mean, value)


def test_true_values_by_hand():
    spec = load_log_phantom("human").changed(
        work=(1.0, 0.0, 0.0), waits=(0.0, 1.0, 0.0), wait_other=0.0, reopen=0.0, escalate=0.0,
        routing=(0.0, 0.0, 1.0, 0.0), keep_resource=1.0,
    )  # fmt: skip
    (plan,) = plans(spec)
    assert plan.activities == ("New", "Active", "Active", "Active", "Awaiting User Info",
                               "Active", "Resolved", "Closed")  # fmt: skip
    assert plan.places == (0, 0, 1, 0, 0, 0, 0, 0)
    truth = true_log_values(spec)
    assert truth["self_loop_rate"] == pytest.approx(2 / 7)
    assert truth["repetition_rate"] == pytest.approx(3 / 8)
    assert truth["handover_rate"] == pytest.approx(2 / 7)
    assert truth["wait_user_event_share"] == pytest.approx(1 / 8)
    assert truth["gap"] == pytest.approx((2 * 5**4 * 30 * 72) ** (1 / 7))


def test_defects_show_where_they_should(tables):
    human = {name: mean_and_error(tables["human"], name)[0] for name in SPECS
             if tables["human"].values()[name].null_count() < CASES}  # fmt: skip

    def of(simulator, name):
        return mean_and_error(tables[simulator], name)[0]

    for name in ("wait_user_case", "reopen", "ping_pong"):
        assert of("easy_mode", name) == 0
    assert of("wrong_waiting", "wait_user_time") < 0.15 * human["wait_user_time"]
    assert of("wrong_waiting", "wait_user_case") == pytest.approx(human["wait_user_case"], abs=0.02)
    assert of("no_ping_pong", "ping_pong") == 0
    assert of("no_ping_pong", "group_changes") == pytest.approx(human["group_changes"], abs=0.03)
    # the play-out is near in rates and forgets who had the case
    for name in ("wait_user_case", "reopen", "group_changes", "events_per_case"):
        assert of("memoryless", name) == pytest.approx(human[name], rel=0.15)
    assert of("memoryless", "ping_pong") < 0.4 * human["ping_pong"]


def test_same_seed_same_bytes_and_a_longer_log_begins_alike(tmp_path):
    one = build_phantom_logs(tmp_path / "one", cases=300, simulators=["memoryless"])
    two = build_phantom_logs(tmp_path / "two", cases=300, simulators=["memoryless"])
    other = build_phantom_logs(tmp_path / "other", cases=300, simulators=[], seed=8)
    assert one.human.read_bytes() == two.human.read_bytes()
    assert one.simulators["memoryless"].read_bytes() == two.simulators["memoryless"].read_bytes()
    assert one.human.read_bytes() != other.human.read_bytes()


def test_everything_says_that_it_is_synthetic(files, tables):
    assert "SYNTHETIC" in files.config.read_text()
    for path in (files.human, *files.simulators.values()):
        with path.open() as file:
            assert file.readline().rstrip().endswith("synthetic")
            assert file.readline().startswith("phantom-")
    assert all(table.synthetic for table in tables.values())


def test_every_feature_has_a_true_value_or_is_listed():
    known = set(true_log_values(load_log_phantom("human"))) - {"within_sla"}
    assert known | set(NOT_KNOWN) == set(SPECS)
    assert not known & set(NOT_KNOWN)


def test_specs_refuse_nonsense():
    human = load_log_phantom("human")
    assert log_preset_names()[0] == "human"
    assert set(ACTIVITIES.values()) >= {"wait_user", "wait_other", "resolved"}
    assert math.fsum(plan.share for plan in plans(human)) == pytest.approx(1)
    for bad in ({"work": (1.0, 1.0, 0.0)}, {"reopen": 2.0}, {"hours": (0.0, 1, 1, 1, 1)}):
        with pytest.raises(UsageError):
            human.changed(**bad)
    with pytest.raises(UsageError, match="did you mean"):
        human.changed(reopened=0.1)
    with pytest.raises(UsageError, match="did you mean 'easy_mode'"):
        load_log_phantom("easymode")
    with pytest.raises(UsageError, match="memoryless"):
        true_log_values(load_log_phantom("memoryless"))
    assert len(fields(human)) > 10


def test_the_command_line_walks_from_files_to_tables(tmp_path):
    made = build_phantom_logs(tmp_path, cases=200, simulators=["easy_mode"])
    table = tmp_path / "people.sessions.parquet"
    done = usi("logs", "features", made.human, "--config", made.config, "--side", "human",
               "-o", table, "-o", tmp_path / "people.csv")  # fmt: skip
    assert done.code == 0, done.err
    read = SessionTable.read(table)
    assert len(read) == 200
    assert read.synthetic
    assert "map:phantom-log@1#" in read.settings
    header = (tmp_path / "people.csv").read_text().splitlines()[0]
    assert header.startswith("session_id,side,simulator")
    checked = usi("logs", "validate", made.human, "--config", made.config, "--print", "json")
    assert checked.code == 0
    assert '"cases": 200' in checked.out
    draft = usi("logs", "suggest", made.human)
    assert '"Awaiting User Info" = "wait_user"' in draft.out
    bare = usi("logs", "features", made.human, "--side", "human")
    assert bare.code == 2
    assert "usi logs suggest" in bare.err
    broken = tmp_path / "broken.csv"
    broken.write_text("activity,timestamp\na,2016-01-01\n")
    refused = usi("logs", "validate", broken, "--no-classes", "--print", "json")
    assert refused.code == 2
    assert "no column for the case id" in refused.err
