"""OCEL 2.0 as JSON, XML and SQLite: the same log from each, and what is wrong is named."""

from __future__ import annotations

import json
import sqlite3

import polars as pl
import pytest

from tests.command import usi
from usi.errors import InputError
from usi.logs import LogFormat, open_log
from usi.logs.suggest import suggest

OBJECTS = [("T1", "ticket", [("priority", "1970-01-01T00:00:00Z", "Low"),
                             ("priority", "2026-01-03T11:00:00Z", "High")]),
           ("T2", "ticket", []), ("W1", "worker", [])]  # fmt: skip
EVENTS = [("e1", "Open", "2026-01-03T10:00:00Z", ["T1", "W1"]),
          ("e2", "Closed", "2026-01-03T12:00:00Z", ["T1", "T2"]),
          ("e3", "Break", "2026-01-03T13:00:00Z", ["W1"])]  # fmt: skip


def as_json(path):
    path.write_text(json.dumps({
        "objectTypes": [], "eventTypes": [],
        "objects": [{"id": o, "type": k, "attributes": [
            {"name": n, "time": t, "value": v} for n, t, v in values]} for o, k, values in OBJECTS],
        "events": [{"id": e, "type": k, "time": t, "relationships": [
            {"objectId": o, "qualifier": "q"} for o in objects]} for e, k, t, objects in EVENTS],
    }))  # fmt: skip
    return path


def as_xml(path):
    things = "".join(
        f'<object id="{o}" type="{k}"><attributes>'
        + "".join(f'<attribute name="{n}" time="{t}">{v}</attribute>' for n, t, v in values)
        + '</attributes><objects><relationship object-id="W1" qualifier="o2o"/></objects></object>'
        for o, k, values in OBJECTS
    )
    happened = "".join(
        f'<event id="{e}" type="{k}" time="{t}"><attributes/><objects>'
        + "".join(f'<relationship object-id="{o}" qualifier="q"/>' for o in objects)
        + "</objects></event>"
        for e, k, t, objects in EVENTS
    )
    path.write_text(
        '<?xml version="1.0"?><log><object-types/><event-types/>'
        f"<objects>{things}</objects><events>{happened}</events></log>"
    )
    return path


def as_sqlite(path):
    base = sqlite3.connect(path)
    base.executescript(
        """
        CREATE TABLE event (ocel_id TEXT, ocel_type TEXT);
        CREATE TABLE object (ocel_id TEXT, ocel_type TEXT);
        CREATE TABLE event_object (ocel_event_id TEXT, ocel_object_id TEXT, ocel_qualifier TEXT);
        CREATE TABLE event_map_type (ocel_type TEXT, ocel_type_map TEXT);
        CREATE TABLE object_map_type (ocel_type TEXT, ocel_type_map TEXT);
        CREATE TABLE object_ticket (ocel_id TEXT, ocel_time TEXT, ocel_changed_field TEXT,
                                    priority TEXT);
        CREATE TABLE object_worker (ocel_id TEXT, ocel_time TEXT, ocel_changed_field TEXT);
        """
    )
    for own, kind, values in OBJECTS:
        base.execute("INSERT INTO object VALUES (?, ?)", (own, kind))
        for i, (_, time, value) in enumerate(values):
            changed = "priority" if i else None
            base.execute(
                "INSERT INTO object_ticket VALUES (?, ?, ?, ?)", (own, time, changed, value)
            )
    base.executemany("INSERT INTO object_map_type VALUES (?, ?)",
                     [("ticket", "ticket"), ("worker", "worker")])  # fmt: skip
    for own, kind, time, objects in EVENTS:
        table = f'"event_{kind}"'
        base.execute(f"CREATE TABLE {table} (ocel_id TEXT, ocel_time TEXT)")
        base.execute(f"INSERT INTO {table} VALUES (?, ?)", (own, time))
        base.execute("INSERT INTO event VALUES (?, ?)", (own, kind))
        base.execute("INSERT INTO event_map_type VALUES (?, ?)", (kind, kind))
        base.executemany("INSERT INTO event_object VALUES (?, ?, 'q')", [(own, o) for o in objects])
    base.commit()
    base.close()
    return path


FILES = {f.__name__: f for f in (as_json, as_xml, as_sqlite)}
every_file = pytest.mark.parametrize("kind", FILES)


@every_file
def test_the_same_log_from_every_file(tmp_path, kind):
    layout = LogFormat(object_type="ticket", tracked=("priority",))
    stream = open_log(FILES[kind](tmp_path / "log"), layout)
    frame = pl.concat(list(stream))
    assert frame.select("case_id", "activity", "field:priority").rows() == [
        ("T1", "Open", "Low"), ("T1", "Closed", "High"), ("T2", "Closed", None),
    ]  # fmt: skip
    assert frame["timestamp"][0].isoformat() == "2026-01-03T10:00:00+00:00"
    assert (stream.notes.flattened_drops, stream.notes.flattened_duplicates) == (1, 1)
    assert stream.notes.files[0].layout == f"ocel2-{kind.removeprefix('as_')}"


@every_file
def test_suggest_takes_the_object_type(tmp_path, kind):
    path = FILES[kind](tmp_path / "log")
    with pytest.raises(InputError, match=r"several object types: ticket \(2\).*--object-type"):
        suggest(path)
    draft = suggest(path, object_type="ticket").text
    assert 'object_type = "ticket"' in draft
    assert '"Closed"' in draft
    assert '"Break"' not in draft


def test_suggest_on_the_command_line(tmp_path):
    path = as_xml(tmp_path / "log.xml")
    done = usi("logs", "suggest", path, "--object-type", "ticket")
    assert done.code == 0, done.err
    assert 'object_type = "ticket"' in done.out
    assert usi("logs", "suggest", path, "--object-type", "tickets").code == 2


def test_broken_files_are_named(tmp_path):
    layout = LogFormat(object_type="ticket")
    path = tmp_path / "log"
    whole = as_xml(path).read_text()
    for text, word in [
        (whole[:-20], "broken XML"),
        (whole.replace(' time="2026-01-03T10:00:00Z"', "", 1), "number 1 has no time"),
        (whole.replace("<log>", "<!DOCTYPE x><log>"), "document type"),
    ]:
        path.write_text(text)
        with pytest.raises(InputError, match=word):
            list(open_log(path, layout))
    path.write_bytes(as_sqlite(tmp_path / "base").read_bytes()[:3000])
    with pytest.raises(InputError, match=r"is not OCEL 2\.0 SQLite"):
        list(open_log(path, layout))
