"""Event logs load: columns, times, encodings, order; what is broken is said in one message."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import polars as pl
import pytest

from usi.errors import InputError, InputErrors, UsageError
from usi.logs import CaseStore, Column, LogFormat, load_config, open_log, preset_names
from usi.logs.records import record_blocks
from usi.logs.suggest import guess_class, suggest

UTC_CLOCK = LogFormat(timezone="UTC")


def write(tmp_path, text, name="log.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def events(path, layout=UTC_CLOCK):
    return pl.concat(list(open_log(path, layout)))


def times(path, layout=UTC_CLOCK):
    return events(path, layout)["timestamp"].to_list()


def at(*parts):
    return datetime(*parts, tzinfo=UTC)


# -- times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "layout", "expected"),
    [
        ("2016-03-01 00:46:51", UTC_CLOCK, at(2016, 3, 1, 0, 46, 51)),
        ("2016-03-01T00:46", UTC_CLOCK, at(2016, 3, 1, 0, 46)),
        ("2016-03-01", UTC_CLOCK, at(2016, 3, 1)),
        ("2016-03-01 00:46:51.25", UTC_CLOCK, at(2016, 3, 1, 0, 46, 51, 250000)),
        ("2016-03-01 02:46:51+02:00", LogFormat(), at(2016, 3, 1, 0, 46, 51)),
        ("2016-03-01T00:46:51Z", LogFormat(), at(2016, 3, 1, 0, 46, 51)),
        ("2016-03-01T02:46:51.123456789+0200", LogFormat(), at(2016, 3, 1, 0, 46, 51, 123456)),
        ("2016-03-01 02:46:51 +02", LogFormat(), at(2016, 3, 1, 0, 46, 51)),
        ("3/4/2016 9:05", LogFormat(timezone="UTC", date_order="day-first"), at(2016, 4, 3, 9, 5)),
        ("3/4/2016 9:05", LogFormat(timezone="UTC", date_order="month-first"),
         at(2016, 3, 4, 9, 5)),
        ("03.04.2016 09:05:07", LogFormat(timezone="UTC", date_order="day-first"),
         at(2016, 4, 3, 9, 5, 7)),
        ("3/4/2016 9:05:00 PM", LogFormat(timezone="UTC", date_order="month-first"),
         at(2016, 3, 4, 21, 5)),
        ("22/Jun/26 8:42 AM", LogFormat(timezone="UTC"), at(2026, 6, 22, 8, 42)),
        ("22/Jun/26 08:42 PM", LogFormat(timezone="UTC"), at(2026, 6, 22, 20, 42)),
        ("22-Jun-2026 08:42", LogFormat(timezone="UTC"), at(2026, 6, 22, 8, 42)),
        ("22 June 2026 08:42:07", LogFormat(timezone="UTC"), at(2026, 6, 22, 8, 42, 7)),
        ("22.Jun.26 08:42", LogFormat(timezone="UTC"), at(2026, 6, 22, 8, 42)),
        ('"Jun 22, 2026 8:42 AM"', LogFormat(timezone="UTC"), at(2026, 6, 22, 8, 42)),
        ('"June 2, 2026"', LogFormat(timezone="UTC"), at(2026, 6, 2)),
        ("22/06/26 08:42", LogFormat(timezone="UTC", date_order="day-first"),
         at(2026, 6, 22, 8, 42)),
        ("1456793211", LogFormat(epoch="s"), at(2016, 3, 1, 0, 46, 51)),
        ("1456793211500", LogFormat(epoch="ms"), at(2016, 3, 1, 0, 46, 51, 500000)),
        ("1 Mar 2016 00h46", LogFormat(timezone="UTC", timestamp_pattern="%d %b %Y %Hh%M"),
         at(2016, 3, 1, 0, 46)),
        ("2016-07-01 12:00:00", LogFormat(timezone="Europe/Paris"), at(2016, 7, 1, 10)),
    ],
)  # fmt: skip
def test_times_of_every_spelling(tmp_path, cell, layout, expected):
    path = write(tmp_path, f"case_id,activity,timestamp\n1,a,{cell}\n")
    assert times(path, layout) == [expected]


def test_a_zone_is_never_guessed(tmp_path):
    path = write(tmp_path, "case_id,activity,timestamp\n1,a,2016-03-01 00:46:51\n")
    with pytest.raises(InputError, match="no zone, and none is declared"):
        times(path, LogFormat())
    with pytest.raises(UsageError, match="unknown time zone 'Mars/Olympus'"):
        open_log(path, LogFormat(timezone="Mars/Olympus"))


def test_summer_time_is_counted(tmp_path):
    rows = ["2016-03-27 02:30:00", "2016-10-30 02:30:00", "2016-10-30 12:00:00"]
    text = "case_id,activity,timestamp\n" + "".join(f"1,a,{row}\n" for row in rows)
    stream = open_log(write(tmp_path, text), LogFormat(timezone="Europe/Paris"))
    found = pl.concat(list(stream))["timestamp"].to_list()
    # 02:30 was skipped in March (moved on to 03:30 summer time); in October the first is taken.
    assert found == [at(2016, 3, 27, 1, 30), at(2016, 10, 30, 0, 30), at(2016, 10, 30, 11)]
    assert (stream.notes.clock_gaps, stream.notes.clock_repeats) == (1, 1)


def test_dates_that_can_be_read_in_two_ways_are_refused(tmp_path):
    path = write(tmp_path, "case_id,activity,timestamp\n1,a,3/4/2016 9:05\n")
    with pytest.raises(InputError, match="date_order"):
        times(path)


def test_day_first_refuses_the_other_order_by_row(tmp_path):
    text = "case_id,activity,timestamp\n1,a,29/2/2016 01:16\n1,b,2/29/2016 01:16\n"
    with pytest.raises(InputError, match="row 3, field timestamp: '2/29/2016 01:16' is not a time"):
        times(write(tmp_path, text), LogFormat(timezone="UTC", date_order="day-first"))


# -- broken logs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("activity,timestamp\na,2016-03-01\n", "no column for the case id.*activity, timestamp"),
        ("case_id,activity,timestamp,activity\n1,a,2016-03-01,b\n",
         "row 1: the header names 'activity' more than once"),
        ("case_id,activity,timestamp\n1,a,2016-03-01\n1,b,soon\n", "row 3.*'soon' is not a time"),
        ("case_id,activity,timestamp\n1,a,2016-03-01\n,b,2016-03-01\n",
         "row 3, field case_id: there is no case id"),
        ("case_id,activity,timestamp\n1,a,2016-03-01 10:00\n1,b,2016-03-01 10:00:00+01:00\n",
         "row 3.*mixed zones: the time of row 3 has one, that of row 2 has none"),
        ("case_id,activity,timestamp\n1,a,2016-03-01\n1,b\n",
         "row 3: has 2 cells, the header has 3"),
        ("case_id,activity,timestamp\n1,a,1456793211\n", "is not a time"),
        ("case_id,activity,timestamp\n", "holds no event"),
        ("", "the file is empty"),
        ("case_id,activity,timestamp\n1,a,0016-03-01\n", "is not a time"),
    ],
)  # fmt: skip
def test_broken_logs_get_one_clear_message(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        events(write(tmp_path, text))


def test_all_bad_rows_are_told_together(tmp_path):
    rows = ["1,a,2016-03-01", "1,b,never", "1,c,2016-03-02", "2,d,x", ",e,2016-03-03"]
    with pytest.raises(InputErrors) as caught:
        events(write(tmp_path, "case_id,activity,timestamp\n" + "\n".join(rows) + "\n"))
    assert sorted(problem.row for problem in caught.value.problems) == [3, 5, 6]


def test_rows_keep_their_number_in_later_blocks(tmp_path):
    good = "case,act,2016-03-01 00:00:00," + "x" * 90 + "\n"
    count = 100_000  # more than one block of 8 MB
    text = "case_id,activity,timestamp,note\n" + good * count + "1,b,oops,\n"
    with pytest.raises(InputError, match=rf"row {count + 2}, field timestamp"):
        events(write(tmp_path, text))


def test_wrong_encoding_says_so(tmp_path):
    text = "case_id,activity,timestamp\n1,Müller,2016-03-01\n".encode("cp1252")
    path = write(tmp_path, text)
    with pytest.raises(InputError, match="encoding"):
        events(path)
    read = events(path, LogFormat(timezone="UTC", encoding="cp1252"))
    assert read["activity"].to_list() == ["Müller"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(tmp_path, encoding):
    text = "case_id;activity;timestamp\n1;Rückfrage;2016-03-01\n".encode(encoding)
    assert events(write(tmp_path, text))["activity"].to_list() == ["Rückfrage"]


def test_quoted_cells_with_delimiters_newlines_and_missing_marks(tmp_path):
    text = (
        "case_id\tactivity\ttimestamp\tassigned_to\n"
        '1\t"a\t""b""\nc"\t2016-03-01\t?\n'
        "1\td\t2016-03-02\tAnn\n"
    )
    stream = open_log(write(tmp_path, text), LogFormat(timezone="UTC", missing=("?",)))
    frame = pl.concat(list(stream))
    assert frame["activity"].to_list() == ['a\t"b"\nc', "d"]
    assert frame["resource"].to_list() == [None, "Ann"]


def test_records_are_never_cut_in_quotes():
    text = b'a,"x\ny"\nb,"z"\nc,"1\n2\n3"\nd,e\n'
    for size in range(1, len(text) + 1):
        pieces = (text[k : k + 3] for k in range(0, len(text), 3))
        blocks = list(record_blocks(pieces, '"', size=size))
        assert b"".join(blocks) == text
        if size >= 8:  # the longest record fits
            assert all(block.count(b'"') % 2 == 0 for block in blocks)


# -- layouts -------------------------------------------------------------------------------------


def test_parquet_gz_and_csv_give_the_same_events(tmp_path):
    text = (
        "case_id,activity,timestamp,assignment_group\n"
        "1,New,2016-03-01 10:00:00,?\n1,Closed,2016-03-01 11:00:00,G\n"
    )
    layout = LogFormat(timezone="UTC", missing=("?",))
    plain = events(write(tmp_path, text), layout)
    packed = tmp_path / "log.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert events(packed, layout).equals(plain)
    table = pl.read_csv(text.encode()).with_columns(pl.col("timestamp").str.to_datetime())
    table.write_parquet(tmp_path / "log.parquet")
    assert events(tmp_path / "log.parquet", layout).equals(plain)


XES = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0"><extension name="Time" prefix="time" uri="http://x"/>
<global scope="event"><string key="concept:name" value="__INVALID__"/></global>
<trace><string key="concept:name" value="c1"/><string key="impact" value="High"/>
 <event><string key="concept:name" value="A &amp; B"/><string key="org:group" value="G"/>
  <list key="x"><values><string key="concept:name" value="inner"/></values></list>
  <date key="time:timestamp" value="2012-05-01T10:00:00.500+02:00"/></event>
 <event><string key="concept:name" value="C"/>
  <date key="time:timestamp" value="2012-05-01T11:00:00+02:00"/></event></trace>
<trace><string key="concept:name" value="c2"/></trace>
</log>"""


def test_xes_is_streamed(tmp_path):
    path = tmp_path / "log.xes.gz"
    path.write_bytes(gzip.compress(XES.encode()))
    with CaseStore(open_log(path)) as store:
        frame = pl.concat(list(store.frames()))
        assert store.roles == ("case_id", "activity", "timestamp", "group")
    assert frame["case_id"].to_list() == ["c1", "c1"]
    assert frame["activity"].to_list() == ["A & B", "C"]
    assert frame["group"].to_list() == ["G", None]
    assert frame["timestamp"].to_list() == [at(2012, 5, 1, 8, 0, 0, 500000), at(2012, 5, 1, 9)]


def test_broken_or_hostile_xes(tmp_path):
    with pytest.raises(InputError, match="broken XML at line"):
        events(write(tmp_path, XES[:-200], "cut.xes"), LogFormat())
    bomb = XES.replace("<log ", '<!DOCTYPE x [<!ENTITY a "b">]><log ', 1)
    with pytest.raises(InputError, match="document type"):
        events(write(tmp_path, bomb, "bomb.xes"), LogFormat())


def ocel(tmp_path):
    def link(*ids):
        return [{"objectId": i, "qualifier": "of"} for i in ids]

    log = {
        "objectTypes": [], "eventTypes": [],
        "objects": [
            {"id": "T1", "type": "ticket", "attributes": [
                {"name": "priority", "time": "1970-01-01T00:00:00Z", "value": "3"},
                {"name": "priority", "time": "2020-01-02T00:00:00Z", "value": "1"}]},
            {"id": "T2", "type": "ticket"}, {"id": "P", "type": "person"},
        ],
        "events": [
            {"id": "e1", "type": "open", "time": "2020-01-01T00:00:00Z",
             "attributes": [{"name": "resource", "value": "Ann"}],
             "relationships": link("T1", "P")},
            {"id": "e2", "type": "merge", "time": "2020-01-02T00:00:00Z",
             "relationships": link("T1", "T2")},
            {"id": "e3", "type": "lunch", "time": "2020-01-03T00:00:00Z",
             "relationships": link("P")},
        ],
    }  # fmt: skip
    return write(tmp_path, json.dumps(log), "log.json")


def test_ocel_is_flattened_on_one_object_type(tmp_path):
    path = ocel(tmp_path)
    stream = open_log(path, LogFormat(object_type="ticket"))
    frame = pl.concat(list(stream))
    assert frame.select("case_id", "activity", "priority", "resource").rows() == [
        ("T1", "open", "3", "Ann"),
        ("T1", "merge", "1", None),  # the value as it stood then
        ("T2", "merge", None, None),
    ]
    assert (stream.notes.flattened_duplicates, stream.notes.flattened_drops) == (1, 1)
    with pytest.raises(InputError, match=r"person \(1\), ticket \(2\)"):
        events(path, LogFormat())
    with pytest.raises(UsageError, match="did you mean 'ticket'"):
        events(path, LogFormat(object_type="tickt"))


# -- order and memory ----------------------------------------------------------------------------


def test_order_is_by_time_then_file_and_spilling_changes_nothing(tmp_path):
    rows = [
        ("b", "1", "2016-03-01 10:00:00"), ("a", "2", "2016-03-01 09:00:00"),
        ("b", "3", "2016-03-01 09:00:00"), ("b", "4", "2016-03-01 10:00:00"),
        ("a", "5", "2016-03-01 08:00:00"),
    ]  # fmt: skip
    text = "case_id,activity,timestamp\n" + "".join(",".join(row) + "\n" for row in rows)
    path = write(tmp_path, text)
    with CaseStore(open_log(path, UTC_CLOCK)) as store:
        assert not store.spilled
        held = pl.concat(list(store.frames()))
    assert held["activity"].to_list() == ["3", "1", "4", "5", "2"]
    with CaseStore(open_log(path, UTC_CLOCK), in_memory=1, parts=3) as store:
        assert store.spilled
        spilled = pl.concat(list(store.frames())).sort("case", maintain_order=True)
    assert spilled.equals(held)


# -- configuration -------------------------------------------------------------------------------


def test_presets_load():
    assert preset_names() == (
        "bpic2013", "github-issues", "jira", "servicenow", "uci-incident", "zendesk",
    )  # fmt: skip
    for name in preset_names():
        assert load_config(name).classes


def test_bpic2013_columns(tmp_path):
    text = (
        "SR Number;Change Date+Time;Status;Sub Status;Involved ST Function Div;"
        "Involved Org line 3;Involved ST;SR Latest Impact;Product;Country;Owner Country;"
        "Owner First Name\n"
        "1-364;2010-03-31T15:59:42+01:00;Accepted;In Progress;A2_4;Org line A2;V30;Medium;PROD5;"
        "fr;France;Frederic\n"
        "1-364;2010-03-31T16:00:56+01:00;Queued;Awaiting Assignment;A2_5;Org line A2;V5 3rd;"
        "Medium;PROD5;fr;France;Frederic\n"
    )
    frame = events(write(tmp_path, text), load_config("bpic2013").layout)
    assert frame["level"].to_list() == ["1st", "3rd"]
    assert frame["group"].to_list() == ["V30", "V5 3rd"]
    assert frame["activity"].to_list() == ["In Progress", "Awaiting Assignment"]


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('presett = "x"', "unknown key of a log configuration 'presett'; did you mean 'preset'"),
        ('preset = "servicenoww"', "did you mean 'servicenow'"),
        ('[columns]\ncaseid = "x"', "unknown role of a column 'caseid'; did you mean 'case_id'"),
        ('[read]\ndate_order = "dayfirst"', "did you mean 'day-first'"),
        ("[read]\nmissing = 1", "must be a list of texts"),
        ("[read", "can't be read as TOML"),
        ('[columns]\nlevel = {names = "x", pattern = "("}', "is no pattern"),
    ],
)
def test_configuration_errors_teach(tmp_path, toml, message):
    with pytest.raises((InputError, UsageError), match=message):
        load_config(write(tmp_path, toml, "my.toml"))


def test_a_file_may_stand_on_a_preset(tmp_path):
    text = 'preset = "servicenow"\n[classes]\n"Escalated" = "queue"\n[columns]\ngroup = "team"\n'
    config = load_config(write(tmp_path, text, "mine.toml"))
    assert config.classes["Escalated"] == "queue"
    assert config.classes["Active"] == "work"
    assert config.layout.columns["group"] == Column(("team",))
    assert config.layout.date_order == "day-first"


def test_suggest_drafts_what_loads(tmp_path):
    text = (
        "Number,State,Change,When,sys_updated_at,Assignment Group\n"
        '1,New,a,b,13/2/2016 10:00,?\n1,"Awaiting ""Caller""",a,b,14/2/2016 10:00,G\n'
        "1,Closed,a,b,15/2/2016 10:00,G\n"
    )
    path = write(tmp_path, text)
    draft = suggest(path)
    assert "the time zone" in draft.unsure
    mended = draft.text.replace('# timezone = "Europe/Paris"', 'timezone = "Europe/Paris"')
    config = load_config(write(tmp_path, mended, "draft.toml"))
    assert config.layout.date_order == "day-first"
    assert config.layout.missing == ("?",)
    assert config.classes == {"New": "queue", 'Awaiting "Caller"': "wait_user", "Closed": "closed"}
    assert len(events(path, config.layout)) == 3


@pytest.mark.parametrize(
    ("activity", "kind"),
    [
        ("Awaiting User Info", "wait_user"), ("Pending Customer", "wait_user"),
        ("Wait - Vendor", "wait_other"), ("On Hold", "wait_other"), ("New", "queue"),
        ("Queued", "queue"), ("In Progress", "work"), ("Resolved", "resolved"),
        ("Completed", "resolved"), ("Closed", "closed"), ("Cancelled", "cancelled"),
    ],
)  # fmt: skip
def test_classes_are_guessed_by_words(activity, kind):
    assert guess_class(activity) == kind
