"""Time from the agent's last message to the user's turn."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from helpers import shared
from hypothesis import given
from hypothesis import strategies as st

from usi.extraction.extract import extract_table
from usi.loading import open_sessions
from usi.records import Session, Turn

START = datetime(2026, 8, 1, 10, tzinfo=UTC)
Said = tuple[str, str | None, float | None]


def conversation(*said: Said, start: datetime = START) -> Session:
    """Messages of a role with a text at so many seconds after the start; ``None``: no stamp."""
    turns = tuple(
        Turn(role, text, time=None if at is None else start + timedelta(seconds=at))
        for role, text, at in said
    )
    return Session(session_id="x", turns=turns)


def row(*said: Said, start: datetime = START) -> dict[str, Any]:
    """Columns and user's view of one conversation."""
    table = extract_table([conversation(*said, start=start)], profile="robust", side="human")
    return table.frame.row(0, named=True) | table.values().row(0, named=True)


def agent(at: float | None) -> Said:
    return "assistant", "How can I help you?", at


def user(at: float | None) -> Said:
    return "user", "I need a new lamp.", at


def test_the_geometric_mean_of_the_gaps() -> None:
    found = row(agent(0), user(10), agent(15), user(55))
    assert found["user_latency"] == pytest.approx(20.0, rel=1e-9)  # sqrt(10 x 40)
    assert found["latency_units"] == 2 * 10**12
    assert found["latency_log"] == pytest.approx(10**12 * math.log(400), abs=2)
    assert found["latency_unusable"] == 0


def test_a_gap_below_a_second_counts() -> None:
    assert row(agent(0), user(0.25))["user_latency"] == pytest.approx(0.25, rel=1e-9)


def test_every_turn_counts_from_the_last_message_of_the_agent() -> None:
    found = row(agent(0), agent(6), user(8), user(14))
    assert found["user_latency"] == pytest.approx(4.0, rel=1e-9)  # 2 and 8 seconds


def test_an_opening_turn_has_no_agent_to_answer() -> None:
    found = row(user(3), agent(5), user(12))
    assert found["user_latency"] == pytest.approx(7.0, rel=1e-9)


def test_actions_and_calls_without_words_are_no_messages() -> None:
    call = Turn("assistant", None, [{"name": "f"}], time=START + timedelta(seconds=9))
    stop = Turn("user", "###STOP###", time=START + timedelta(seconds=50))
    plain = conversation(agent(0), user(10))
    session = Session(session_id="x", turns=(plain.turns[0], call, plain.turns[1], stop))
    table = extract_table([session], profile="robust", side="simulated")
    assert table.values()["user_latency"][0] == pytest.approx(10.0, rel=1e-9)


def test_gaps_of_zero_or_below_are_counted_as_unusable() -> None:
    found = row(agent(10), user(10), agent(20), user(15), agent(30), user(36))
    assert found["user_latency"] == pytest.approx(6.0, rel=1e-9)
    assert found["latency_unusable"] == 2
    none = row(agent(10), user(10))
    assert none["user_latency"] is None
    assert (none["latency_log"], none["latency_units"], none["latency_unusable"]) == (0, 0, 1)


@pytest.mark.parametrize(
    "said",
    [
        (agent(None), user(None)),
        (agent(None), user(5)),
        (agent(5), user(None)),
        (user(5), user(9)),
        (agent(0), agent(None), user(5)),
    ],
)
def test_without_two_stamps_there_is_no_latency(said: tuple[Said, ...]) -> None:
    found = row(*said)
    assert found["user_latency"] is None
    assert (found["latency_units"], found["latency_unusable"]) == (0, 0)


def test_stamps_with_and_without_a_zone_are_not_compared() -> None:
    naive = Turn("user", "I need a new lamp.", time=datetime(2026, 8, 1, 10, 0, 5))
    session = Session(session_id="x", turns=(conversation(agent(0)).turns[0], naive))
    table = extract_table([session], profile="robust", side="human")
    assert table.values()["user_latency"][0] is None


def test_a_session_without_a_user_turn_has_nulls() -> None:
    found = row(agent(0))
    assert found["latency_units"] is None
    assert found["latency_unusable"] is None


SECONDS = st.integers(1, 10**10).map(lambda micros: micros / 10**6)


@given(
    st.lists(SECONDS, min_size=1, max_size=6),
    st.integers(-(10**9), 10**9),
    st.integers(2, 1000),
)
def test_shifts_change_nothing_and_scales_scale(gaps: list[float], shift: int, factor: int) -> None:
    def talk(times: int) -> list[Said]:
        said, at = [], 0.0
        for gap in gaps:
            said += [agent(at), user(round(at + times * gap, 6))]
            at += times * 20_000
        return said

    plain = row(*talk(1))["user_latency"]
    assert plain == pytest.approx(math.exp(sum(map(math.log, gaps)) / len(gaps)), rel=1e-9)
    moved = row(*talk(1), start=START + timedelta(seconds=shift))["user_latency"]
    assert moved == plain
    assert row(*talk(factor))["user_latency"] == pytest.approx(factor * plain, rel=1e-9)


def test_rows_do_not_depend_on_blocks_or_neighbours() -> None:
    stamped = conversation(agent(0), user(10), agent(15), user(55))
    plain = conversation(agent(None), user(None))
    sessions = [plain, stamped, plain, stamped, stamped]
    whole, small = (
        extract_table(sessions, profile="robust", side="human", block=block).frame
        for block in (1024, 2)
    )
    assert whole.equals(small)
    assert whole["latency_units"].to_list() == [0, 2 * 10**12, 0, 2 * 10**12, 2 * 10**12]


def test_the_table_survives_its_file(tmp_path: Path) -> None:
    from usi.extraction.table import SessionTable

    table = extract_table([conversation(agent(0), user(10))], profile="robust", side="human")
    table.write(tmp_path / "t.parquet")
    assert SessionTable.read(tmp_path / "t.parquet").frame.equals(table.frame)


def geometric_mean(path: str) -> tuple[float, int]:
    """Over the sessions of a file that have a latency, and how many these are."""
    table = extract_table(open_sessions(shared(path)), profile="robust", side="human")
    known = table.values()["user_latency"].drop_nulls().to_list()
    return (math.exp(sum(map(math.log, known)) / len(known)) if known else math.nan), len(known)


def test_simulators_answer_in_seconds() -> None:
    # A fast model and one that thinks: the harness, not the user.
    fast, n = geometric_mean("data/tau2/airline_user-grok-3_4x4.json")
    slow, m = geometric_mean("data/tau2/airline_user-grok-4_4x4.json")
    assert (n, m) == (16, 16)
    assert 1 < fast < 4
    assert 8 < slow < 20


def test_null_stamps_give_none() -> None:
    _, n = geometric_mean("data/tau2/airline_agent-toolorchestra_user-gpt-4.1_50x1_NOTASKID.json")
    assert n == 0
