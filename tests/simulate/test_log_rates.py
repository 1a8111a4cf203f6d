"""Rates of scripted requesters from event logs: by hand, a phantom with known rates, end to end."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest
from command import usi
from helpers import shared

from usi.errors import UsageError
from usi.phantom.log_build import build_phantom_logs
from usi.phantom.log_spec import load_log_phantom
from usi.simulate.candidates import read_users
from usi.simulate.users.requester import Rates, rates_of_table, read_rates

AGENT, REQUESTER = "agent", "Requester"
BY_HAND: list[list[tuple[str, str]]] = [
    # asks while the desk works: a follow-up
    [("New", REQUESTER), ("Active", AGENT), ("Active", REQUESTER), ("Resolved", AGENT)],
    # sends more with the opening; answers a wait in two steps: none
    [("New", REQUESTER), ("Active", REQUESTER), ("Active", AGENT), ("Awaiting User Info", AGENT),
     ("Active", REQUESTER), ("Active", REQUESTER), ("Resolved", AGENT)],
    # withdraws: none
    [("New", AGENT), ("Active", AGENT), ("Canceled", REQUESTER)],
    # reopens: none
    [("New", REQUESTER), ("Active", AGENT), ("Resolved", AGENT), ("Active", REQUESTER),
     ("Closed", AGENT)],
    # asks twice while a vendor is waited for: a follow-up, one case
    [("New", REQUESTER), ("Awaiting Vendor", AGENT), ("Awaiting Vendor", REQUESTER),
     ("Active", AGENT), ("Active", REQUESTER), ("Resolved", AGENT)],
    # the actor is the requester by name: a follow-up
    [("New", "Bob"), ("Active", AGENT), ("Active", "Bob"), ("Resolved", AGENT)],
    # nothing, and still open
    [("New", REQUESTER), ("Active", AGENT)],
    [("New", AGENT), ("Resolved", AGENT)],
]  # fmt: skip


def table_of(
    folder: Path, cases: list[list[tuple[str, str]]], config: str = "", *, actor: bool = True
) -> Path:
    """Write a log and make its session table through the command line."""
    rows = ["number,incident_state,sys_updated_at,caller_id" + (",who" if actor else "")]
    for n, events in enumerate(cases):
        for h, (state, who) in enumerate(events):
            cells = [f"c{n}", state, f"{n + 1:02}-03-2024 {h + 8:02}:00", "Bob"]
            rows.append(",".join([*cells, *([who] if actor else [])]))
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    (folder / "log.toml").write_text(f'preset = "servicenow"\n[columns]\nactor = "who"\n{config}')
    table = folder / "log.sessions.parquet"
    done = usi("logs", "features", folder / "log.csv", "-c", folder / "log.toml",
               "--side", "human", "-o", table, "--force")  # fmt: skip
    assert done.code == 0, done.err
    return table


def candidate(folder: Path, rates: str) -> Path:
    file = folder / "desk.toml"
    file.write_text(f'kind = "requester"\n[rates]\ntable = "log.sessions.parquet"\n{rates}')
    return file


def test_rates_of_a_log_by_hand(tmp_path: Path) -> None:
    """Of eight cases one waits and three are followed up; of six resolved ones one comes back."""
    table = table_of(tmp_path, BY_HAND)
    assert read_rates(table) == Rates(waiting=1 / 8, reopening=1 / 6, follow_up=3 / 8)
    label, users = read_users(str(candidate(tmp_path, "waiting = 0.5\n")), domain="tiny")
    assert label == "desk"
    assert users.identity["rates"] == {"waiting": 0.5, "reopening": 1 / 6, "follow_up": 3 / 8}


def test_a_word_for_requesters_can_be_declared(tmp_path: Path) -> None:
    cases = [[("New", AGENT), ("Active", AGENT), ("Active", "Kunde"), ("Resolved", AGENT)]]
    assert "follow_up" in rates_of_table(table_of(tmp_path, cases)).unknown
    told = table_of(tmp_path, cases, '[features]\nrequester_actors = ["kunde"]\n')
    assert rates_of_table(told).shares["follow_up"] == 1.0


@pytest.mark.parametrize(
    ("cases", "actor", "why"),
    [
        (BY_HAND, False, "no column says who made an event"),
        ([BY_HAND[6], BY_HAND[7], BY_HAND[1][:4]], True, "no event after the opening"),
    ],
)
def test_what_a_log_cannot_tell_must_be_given(
    tmp_path: Path, cases: list[list[tuple[str, str]]], actor: bool, why: str
) -> None:
    table_of(tmp_path, cases, actor=actor)
    file = candidate(tmp_path, "")
    run = ("simulate", file, "--domain", "service_desk", "--agent", "oracle", "-o", tmp_path / "r")
    refused = usi(*run)
    assert refused.code == 2
    assert f"can't tell follow_up ({why}" in refused.err
    assert "[rates]" in refused.err
    candidate(tmp_path, "follow_up = 0.25\n")
    given = read_users(str(file), domain="tiny")[1].identity["rates"]
    assert given["follow_up"] == 0.25


def test_waiting_and_reopening_are_not_invented_either(tmp_path: Path) -> None:
    table = table_of(tmp_path, [BY_HAND[6]])
    assert set(rates_of_table(table).unknown) == {"reopening", "follow_up"}
    with pytest.raises(UsageError, match=r"reopening \(no case is resolved or closed\)"):
        read_rates(table)


def test_rates_of_a_phantom_come_back(tmp_path: Path) -> None:
    cases = 4000
    spec = load_log_phantom("human").changed(name="asking", follow_up=0.3)
    made = build_phantom_logs(tmp_path, cases=cases, simulators=[spec])
    table = tmp_path / "log.sessions.parquet"
    done = usi("logs", "features", made.simulators["asking"], "-c", made.config,
               "--side", "human", "-o", table)  # fmt: skip
    assert done.code == 0, done.err
    rates = read_rates(table)
    truth = {"waiting": 0.32, "reopening": 0.08, "follow_up": 0.3}
    for name, rate in truth.items():
        error = math.sqrt(rate * (1 - rate) / cases)
        assert abs(getattr(rates, name) - rate) < 4.5 * error, name
    # Its twin without follow-ups has no such column, and is the log that it always was.
    assert "actor" not in pl.read_csv(made.human, n_rows=1).columns


def test_requesters_of_a_log_ask_at_its_rate_end_to_end(tmp_path: Path) -> None:
    always = [BY_HAND[0]] * 2
    table_of(tmp_path, always)
    file = candidate(tmp_path, "waiting = 0\n[traits]\nimpatient = 0\n")
    run = usi("simulate", file, "--domain", "service_desk", "--agent", "oracle", "--tasks", "6",
              "-o", tmp_path / "runs", "--quiet")  # fmt: skip
    assert run.code == 0, run.err
    talks = [json.loads(line) for line in (tmp_path / "runs/desk.jsonl").read_text().splitlines()]
    news = ("Is there any news on this?", "Any update?", "What is the status of this?")
    assert len(talks) == 6
    for talk in talks:
        said = [m["content"] for m in talk["messages"] if m["role"] == "user"]
        assert sum(text in news for text in said) == 1


def test_the_anonymised_service_desk_does_not_tell(tmp_path: Path) -> None:
    """Callers and editors of that export bear unrelated pseudonyms: no event is a caller's."""
    log = shared("data/logs/servicenow/ServiceNow-Kaggle.csv.zip")
    (tmp_path / "log.toml").write_text(
        'preset = "servicenow"\n[columns]\nactor = "sys_updated_by"\n'
    )
    table = tmp_path / "log.sessions.parquet"
    done = usi("logs", "features", log, "-c", tmp_path / "log.toml", "--side", "human", "-o", table)
    assert done.code == 0, done.err
    rates = rates_of_table(table)
    assert rates.unknown == {"follow_up": "no event after the opening is the requester's"}
    assert rates.shares["waiting"] == pytest.approx(0.23, abs=0.01)
    assert rates.shares["reopening"] == pytest.approx(0.011, abs=0.001)
