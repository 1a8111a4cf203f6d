"""Features of logs: against a plain oracle, by hand, and what happens where a column is missing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_log import case_features
from support.log_tables import extract_log_table

from usi.errors import InputError, NotScorable, UsageError
from usi.extraction.profile import LOG_PROFILES, PROFILES, get_feature_profile, get_specs
from usi.extraction.spec import DIMENSIONS
from usi.extraction.table import SessionTable
from usi.logs import CaseStore, LogConfig, LogFormat, open_log
from usi.logs.behaviour import sla_limits, with_sla_limits
from usi.logs.calendar import Calendar, read_calendar
from usi.logs.config import parse_config
from usi.logs.extract import run_log
from usi.logs.feature_options import ClassMap, TraceOptions, options_of
from usi.logs.features import SPECS

CLASSES = {"N": "queue", "W": "work", "U": "wait_user", "V": "wait_other", "R": "resolved",
           "C": "closed", "X": "cancelled"}  # fmt: skip
START = datetime(2016, 3, 7, 6, tzinfo=UTC)  # a Monday


def config(**read):
    table = {
        "name": "t",
        "read": {"timezone": "UTC", "rows": "update", **read},
        "fields": {"tracked": ["field"], "required": ["field"]},
        "classes": CLASSES,
        "features": {"reclassified": ["field"]},
    }
    return parse_config(table, "t.toml")


def write(tmp_path, cases, name="log.csv", extra=()):
    """CSV of cases: lists of (activity, hours, group, resource, level, field, *extra)."""
    rows = [",".join(("case_id,activity,timestamp,group,resource,level,field", *extra))]
    for number, events in enumerate(cases):
        for activity, hours, *rest in events:
            time = (START + timedelta(hours=hours)).isoformat()
            cells = [f"c{number}", activity, time, *("" if c is None else str(c) for c in rest)]
            rows.append(",".join(cells))
    path = tmp_path / name
    path.write_text("\n".join(rows) + "\n")
    return path


def table_of(path, chosen=None, **keywords):
    return extract_log_table(path, chosen or config(), side="human", **keywords)[0]


event = st.tuples(
    st.sampled_from("NWUVRCX"),
    st.integers(0, 400).map(lambda quarter: quarter / 4),
    st.sampled_from(["G1", "G2", "G3", None]),
    st.sampled_from(["r1", "r2", None]),
    st.sampled_from([1, 2, 3, None]),
    st.sampled_from(["x", "y", None]),
)


@pytest.mark.parametrize(
    ("blank", "pattern"), [("drop", "aba"), ("value", "abab"), ("drop", "revisit")]
)
def test_features_equal_a_plain_oracle(tmp_path_factory, blank, pattern):
    folder = tmp_path_factory.mktemp("oracle")
    names = ("activity", "hours", "group", "resource", "level", "field")

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(st.lists(st.lists(event, min_size=1, max_size=9), min_size=1, max_size=6))
    def check(cases):
        ordered = [sorted(events, key=lambda e: e[1]) for events in cases]
        filled = {
            name: any(e[k] is not None for c in cases for e in c) for k, name in enumerate(names)
        }
        options = TraceOptions(
            missing_group=blank, ping_pong_pattern=pattern, reclassified=("field",)
        )
        values = table_of(write(folder, cases), options=options).values()
        for row, events in zip(values.to_dicts(), ordered, strict=True):
            expected = case_features(
                [dict(zip(names, e, strict=True)) for e in events],
                CLASSES,
                blank=blank,
                pattern=pattern,
            )
            if not filled["group"]:
                expected |= {"group_changes": None, "ping_pong": None}
            for name, value in expected.items():
                if value is None:
                    assert row[name] is None, name
                else:
                    assert row[name] == pytest.approx(value, abs=1e-9), name

    check()


CASE = [
    # activity, hours after Monday 06:00, group, resource, level, field
    ("N", 0, "A", "p", 1, None),
    ("W", 3, "A", "p", 1, "x"),
    ("U", 5, "B", "q", 2, "x"),
    ("U", 6, "B", "q", 2, "y"),
    ("W", 26, "A", "p", 1, "y"),
    ("R", 27, None, None, 1, "y"),
    ("W", 28, "A", "p", 1, "y"),
    ("C", 30, "A", "r", 1, "y"),
]


def test_a_case_by_hand(tmp_path):
    (row,) = table_of(write(tmp_path, [CASE])).values().to_dicts()
    assert row["events_per_case"] == 8
    assert row["self_loop_rate"] == pytest.approx(1 / 7)  # U U
    assert row["repetition_rate"] == pytest.approx(1 - 5 / 8)
    assert row["gap"] == pytest.approx((3 * 2 * 1 * 20 * 1 * 1 * 2) ** (1 / 7))
    # 06:00 is before 08:00; Tuesday 08:00, 09:00, 10:00, 12:00 are inside
    assert row["offhours_share"] == pytest.approx(1 / 8)
    assert row["opening_completeness"] == 0
    assert row["time_to_full_info"] == pytest.approx(3)
    assert row["field_updates"] == 2
    assert row["reclassified"] == 1
    assert row["front_load"] == pytest.approx(4 / 8)  # until 7.5 hours
    assert row["wait_user_time"] == pytest.approx(21)
    assert row["wait_user_time_share"] == pytest.approx(21 / 30)
    assert row["wait_user_trips"] == 1
    assert row["reopen"] == 1
    assert row["handover_rate"] == pytest.approx(3 / 5)  # p-p p-q q-q q-p . . p-r
    assert row["group_changes"] == 2
    assert row["ping_pong"] == 1
    assert (row["escalate"], row["deescalate"]) == (1, 1)
    assert row["cycle_time"] == 30


def test_working_hours(tmp_path):
    options = TraceOptions(clock="business", reclassified=("field",))
    (row,) = table_of(write(tmp_path, [CASE]), options=options).values().to_dicts()
    # 11:00 Monday to 08:00 Tuesday are 7 working hours; the case begins at 06:00, ends at 12:00
    assert row["wait_user_time"] == pytest.approx(7)
    assert row["cycle_time"] == pytest.approx(10 + 4)
    assert row["wait_user_time_share"] == pytest.approx(7 / 14)


def test_calendar_by_hand():
    calendar = read_calendar({"days": ["Mon", "tue"], "start": "09:00", "end": "17:30",
                              "holidays": ["2016-03-08"]})  # fmt: skip

    def wall(*parts):
        return np.array([int(datetime(*parts, tzinfo=UTC).timestamp() * 1e6)])

    def worked(a, b):
        return float((calendar.worked(b) - calendar.worked(a))[0]) / 3.6e9

    assert worked(wall(2016, 3, 7, 10), wall(2016, 3, 7, 11)) == 1
    assert worked(wall(2016, 3, 7, 16), wall(2016, 3, 9, 12)) == 1.5  # Tuesday is free
    assert worked(wall(2016, 3, 7, 16), wall(2016, 3, 14, 10)) == 2.5
    assert worked(wall(2016, 3, 14, 8), wall(2016, 3, 16, 8)) == 17
    assert bool(calendar.is_open(wall(2016, 3, 14, 9))[0])
    assert not bool(calendar.is_open(wall(2016, 3, 14, 17, 30))[0])
    assert not bool(calendar.is_open(wall(2016, 3, 8, 10))[0])
    for bad in ({"days": ["moonday"]}, {"start": "18:00", "end": "08:00"}, {"start": "8"},
                {"holidays": ["soon"]}, {"shift": 1}):  # fmt: skip
        with pytest.raises(UsageError):
            read_calendar(bad)


def test_horizon_cuts_and_leaves_out_and_says_so(tmp_path):
    late = [("N", 25, "A", "p", 1, "x"), ("C", 26, "A", "p", 1, "x")]
    path = write(tmp_path, [CASE, late])
    table, notes = extract_log_table(
        path, config(), side="human", options=options_of(config(), horizon=10)
    )
    assert table.values()["events_per_case"].to_list() == [4]
    assert (notes.too_young, notes.cut_events, notes.cases) == (1, 4, 1)
    assert "horizon:10h" in table.settings
    with pytest.raises(NotScorable, match="shorter horizon"):
        extract_log_table(path, config(), side="human", options=TraceOptions(horizon=1000))


def test_ties_order_repetitions_and_open_cases_are_counted(tmp_path):
    cases = [
        [("N", 1, *"Ap1x"), ("W", 0, *"Ap1x"), ("W", 2, *"Ap1x"), ("W", 2, *"Ap1x")],
        [("N", 0, *"Ap1x"), ("R", 0, *"Ap1x")],
    ]
    path = write(tmp_path, cases)
    table, notes = extract_log_table(path, config(), side="human")
    assert (notes.ties, notes.out_of_order, notes.duplicates, notes.open_cases) == (2, 1, 1, 1)
    assert "group" in notes.constant
    dropped = table_of(path, options=TraceOptions(duplicates="drop"))
    assert dropped.values()["events_per_case"].to_list() == [3, 2]
    assert table.values()["events_per_case"].to_list() == [4, 2]


# -- missing columns -----------------------------------------------------------------------------


def _nulls(table):
    values = table.values()
    return {spec.name for spec in SPECS if values[spec.name].null_count() == values.height}


def test_what_a_log_lacks_is_undefined_not_zero(tmp_path):
    text = "case_id,activity,timestamp\n1,N,2016-03-07 06:00\n1,W,2016-03-07 09:00\n"
    path = tmp_path / "bare.csv"
    path.write_text(text)
    lacks = _nulls(table_of(path))
    assert {"opening_completeness", "field_updates", "time_to_full_info", "never_complete",
            "reclassified", "handover_rate", "group_changes", "ping_pong", "escalate",
            "deescalate", "ping_pong_resource"} < lacks  # fmt: skip
    # the states exist in the class map and are not used: 0
    values = table_of(path).values().to_dicts()[0]
    assert (values["wait_user_case"], values["wait_other_case"], values["reopen"]) == (0, 0, 0)
    bare = {k: v for k, v in CLASSES.items() if k in "NW"}
    small = parse_config({"read": {"timezone": "UTC"}, "classes": bare}, "t.toml")
    assert {"wait_user_case", "wait_user_time_share", "wait_other_case", "reopen"} < _nulls(
        table_of(path, small)
    )
    assert {"wait_user_case", "reopen"} < _nulls(table_of(path, without_classes=True))


def test_off_hours_need_a_declared_zone(tmp_path):
    path = tmp_path / "zoned.csv"
    path.write_text("case_id,activity,timestamp\n1,N,2016-03-07T06:00:00+01:00\n")
    undeclared = parse_config({"classes": CLASSES}, "t.toml")
    assert "offhours_share" in _nulls(table_of(path, undeclared))
    declared = parse_config({"classes": CLASSES, "read": {"timezone": "Asia/Tokyo"}}, "t.toml")
    assert table_of(path, declared).values()["offhours_share"].to_list() == [0.0]  # 14:00 there


def test_ping_pong_falls_back_on_resources_under_another_name(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"1,W,2016-03-07 0{k}:00,{who}" for k, who in enumerate("aba")]
    path.write_text("case_id,activity,timestamp,resource\n" + "\n".join(rows) + "\n")
    values = table_of(path).values().to_dicts()[0]
    assert (values["ping_pong"], values["ping_pong_resource"]) == (None, 1)


def test_reopen_flag_and_priority_stand_in(tmp_path):
    path = tmp_path / "flag.csv"
    path.write_text(
        "case_id,activity,timestamp,reopen_flag,priority\n"
        "1,N,2016-03-07 06:00,false,3 - Low\n1,W,2016-03-07 07:00,true,1 - High\n"
    )
    small = parse_config(
        {"read": {"timezone": "UTC"}, "classes": {"N": "queue", "W": "work"}}, "t.toml"
    )
    values = table_of(path, small).values().to_dicts()[0]
    assert (values["reopen"], values["escalate"], values["deescalate"]) == (1, 1, None)


def test_rows_of_events_keep_fields_that_are_not_mentioned(tmp_path):
    cases = [[("N", 0, "A", "p", 1, "x"), ("W", 1, "A", "p", 1, None), ("W", 2, "A", "p", 1, "x")]]
    path = write(tmp_path, cases)
    assert table_of(path).values()["field_updates"].to_list() == [2]
    assert table_of(path, config(rows="event")).values()["field_updates"].to_list() == [0]


# -- classes, options, tables --------------------------------------------------------------------


def test_an_unmapped_activity_is_refused_by_name(tmp_path):
    path = write(tmp_path, [[("N", 0, *"Ap1x"), ("Lost", 1, *"Ap1x"), ("Lost", 2, *"Ap1x")]])
    with pytest.raises(InputError, match=r"without a class: 'Lost' \(2\)"):
        table_of(path)
    with pytest.raises(UsageError, match="usi logs suggest"):
        run_log(path, LogConfig("x", "1", LogFormat(timezone="UTC")), side="human")
    with pytest.raises(UsageError, match="did you mean 'wait_user'"):
        ClassMap.of({"N": "wait_usr"})


def test_choices_stand_in_the_settings_and_typos_are_told():
    first, second = TraceOptions(), TraceOptions(ping_pong_pattern="abab", missing_group="value")
    assert first.signature() != second.signature()
    assert second.signature()["pingpong"] == "abab@group"
    assert second.signature()["blank"] == "value"
    for bad in ({"missing_group": "dropp"}, {"clock": "x"}, {"horizon": -1.0}):
        with pytest.raises(UsageError):
            TraceOptions(**bad)
    with pytest.raises(UsageError, match="did you mean 'horizon'"):
        options_of(LogConfig("x", "1", LogFormat(), features={"horizn": 1}))


def test_tables_keep_their_settings_on_disk(tmp_path):
    table = table_of(write(tmp_path, [CASE]))
    table.write(tmp_path / "t.sessions.parquet")
    again = SessionTable.read(tmp_path / "t.sessions.parquet")
    assert again.settings == table.settings
    assert again.frame.equals(table.frame)
    other = table_of(write(tmp_path, [CASE]), options=TraceOptions(missing_group="value"))
    with pytest.raises(UsageError, match="different settings"):
        SessionTable.concat([table, other])


def test_a_spilled_log_gives_the_same_table(tmp_path):
    rng = np.random.default_rng(3)
    cases = [
        [(str(rng.choice(list("NWUVRC"))), float(rng.integers(0, 99)), str(rng.choice(["A", "B"])),
          "p", 1, "x") for _ in range(rng.integers(1, 7))]
        for _ in range(200)
    ]  # fmt: skip
    path = write(tmp_path, cases)
    whole = table_of(path)
    run = run_log(path, config(), side="human")
    run.store.close()
    run.store = CaseStore(open_log(path, config().layout), in_memory=10, parts=5)
    blocks = pl.concat(list(run.blocks()))
    assert blocks.equals(whole.frame)


def test_outcome_and_satisfaction(tmp_path):
    path = tmp_path / "sla.csv"
    rows = [
        "1,N,2016-03-07 06:00,true,,3,2", "1,C,2016-03-07 07:00,true,,3,2",
        "2,N,2016-03-07 06:00,true,,3,2", "2,C,2016-03-07 07:00,false,,3,2",
        "3,N,2016-03-07 06:00,true,,3,2", "3,X,2016-03-07 07:00,true,,3,2",
        "4,N,2016-03-07 06:00,false,,3,2",
        "5,R,2016-03-07 06:00,true,,3,2", "5,W,2016-03-07 07:00,true,,3,2",
        "5,C,2016-03-07 08:00,true,so-so,3,2",
    ]  # fmt: skip
    path.write_text(
        "case_id,activity,timestamp,sla_met,csat,priority,impact\n" + "\n".join(rows) + "\n"
    )
    frame = table_of(path).frame
    assert frame["reward"].to_list() == [1.0, 0.0, None, None, 1.0]
    assert frame["outcome_label"].to_list() == [
        "resolved_first_time", "sla_missed", "cancelled", None, "reopened",
    ]  # fmt: skip
    assert frame["survey"].to_list() == [None, None, None, None, '{"csat":"so-so"}']
    assert set(frame["bin"]) == {"3 | 2"}
    assert set(frame["week"]) == {"2016-W10"}


def test_due_times_and_limits_of_the_reference(tmp_path):
    text = "case_id,activity,timestamp,due_at,resolved_at\n"
    text += "1,N,2016-03-07 06:00,2016-03-07 08:00,2016-03-07 07:00\n1,C,2016-03-07 09:00,,\n"
    text += "2,N,2016-03-07 06:00,2016-03-07 08:00,\n2,R,2016-03-07 09:00,2016-03-07 08:00,\n"
    path = tmp_path / "due.csv"
    path.write_text(text)
    assert table_of(path).frame["reward"].to_list() == [1.0, 0.0]

    cases = [[("N", 0, *"Ap1x"), ("C", hours, *"Ap1x")] for hours in range(1, 21)]
    reference = table_of(write(tmp_path, cases))
    assert reference.frame["reward"].null_count() == 20
    limits = sla_limits(reference)
    assert limits == {"": int(15.25 * 3.6e9)}  # third quartile of 1 to 20
    with_limits = with_sla_limits(reference, limits).frame
    assert with_limits["reward"].sum() == 15
    assert set(with_limits["outcome_label"]) == {"resolved_first_time", "sla_missed"}


def test_the_profile_is_registered_beside_those_of_chat():
    assert LOG_PROFILES == ("log",)
    assert "log" not in PROFILES
    assert get_feature_profile("log@1").titles["reaction"] == "L4 rework and routing"
    assert get_specs("log") is SPECS
    names = [spec.name for spec in SPECS]
    assert len(set(names)) == len(names)
    for dimension in DIMENSIONS:
        assert sum(spec.scored for spec in SPECS if spec.dimension == dimension) >= 6
    assert Calendar().tag == "mon-tue-wed-thu-fri@08.00-18.00"
