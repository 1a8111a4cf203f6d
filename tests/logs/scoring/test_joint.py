"""Conversations and log of one simulator: correlations by hand, and from the command line."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from command import usi
from scipy.stats import spearmanr

from usi.errors import NotScorable
from usi.extraction.table import SessionTable
from usi.logs.joint import joint
from usi.phantom import build_phantom
from usi.phantom.log_build import build_phantom_logs
from usi.pipeline import features


@pytest.fixture(scope="module")
def chat_files(tmp_path_factory):
    return build_phantom(tmp_path_factory.mktemp("chat"), seed=7)


@pytest.fixture(scope="module")
def chat(chat_files):
    return features(chat_files.simulators["copy"], side="simulated", profile="robust")


@pytest.fixture(scope="module")
def linked(scored, chat):
    """A log whose cases are those of the conversations: longer talks wait more often."""
    table = scored.simulators["copy"]
    n = min(len(chat), len(table))
    turns = chat.frame["user_turns"].head(n)
    frame = table.frame.head(n).with_columns(
        chat.frame["session_id"].head(n).alias("session_id"),
        (turns // 2).cast(pl.Int64).alias("wait_user_runs"),
    )
    return replace(table, frame=frame)


def test_correlations_case_by_case(chat, linked):
    found = joint(chat, linked)
    ids = set(chat.frame["session_id"]) & set(linked.frame["session_id"])
    assert found.both == len(ids)
    pairs = {(p.chat, p.log): p.correlation for p in found.pairs}
    own = pairs["turns_per_session", "wait_user_trips"]
    assert own.value > 0.9
    talk = chat.values().group_by("session_id").agg(pl.col("turns_per_session").mean())
    work = linked.values().sort("session_id")
    both = talk.join(work, on="session_id", how="inner").sort("session_id")
    by_hand = spearmanr(both["turns_per_session"], both["wait_user_trips"]).statistic
    assert own.value == pytest.approx(by_hand)
    reach = 1.959964 / np.sqrt(own.n - 3)
    assert own.low == pytest.approx(np.tanh(np.arctanh(by_hand) - reach), abs=1e-6)
    assert found.pairs[0].correlation.value is not None
    values = [abs(p.correlation.value or 0) for p in found.pairs]
    assert values == sorted(values, reverse=True)


def test_too_few_or_no_common_cases(chat, linked):
    few = replace(linked, frame=linked.frame.head(10))
    found = joint(chat, few)
    assert found.both == 10
    assert all(p.correlation.status == "not_assessed" for p in found.pairs)
    other = replace(linked, frame=linked.frame.with_columns(pl.lit("x").alias("session_id")))
    with pytest.raises(NotScorable, match="which column holds it"):
        joint(chat, other)


def test_from_the_command_line(chat_files, chat, tmp_path):
    made = build_phantom_logs(tmp_path, cases=400, simulators=["copy"])
    log = pl.read_csv(made.simulators["copy"], infer_schema_length=0)
    ids = log["case_id"].unique(maintain_order=True)
    new = dict(zip(ids.to_list(), chat.frame["session_id"].head(len(ids)), strict=True))
    log = log.with_columns(pl.col("case_id").replace(new))
    log.write_csv(made.simulators["copy"])
    quick = ("--c2st", "off", "--replicates", "100", "--print", "none")
    first = usi(
        "score", chat_files.simulators["copy"], "--human", chat_files.human, *quick,
        "-o", tmp_path / "chat.json", "-o", tmp_path / "chat.sessions.parquet",
    )  # fmt: skip
    assert first.code == 0, first.err
    second = usi(
        "score", made.simulators["copy"], "--human", made.human, "--log-config", made.config,
        *quick, "-o", tmp_path / "log.json", "-o", tmp_path / "log.sessions.parquet",
    )  # fmt: skip
    assert second.code == 0, second.err
    assert len(SessionTable.read(tmp_path / "log.sessions.parquet")) == 800
    done = usi("logs", "joint", tmp_path / "chat.json", tmp_path / "log.json",
               "-o", tmp_path / "joint.md", "-o", tmp_path / "joint.json")  # fmt: skip
    assert done.code == 0, done.err
    text = (tmp_path / "joint.md").read_text()
    assert "SYNTHETIC" in text
    assert "USI-R" in text
    assert "USI-log" in text
    assert "L3 clarification" in text
    assert "have no trace in a log" in text
    data = json.loads((tmp_path / "joint.json").read_text())
    assert data["cases"] == {"both": 400, "chat_only": data["cases"]["chat_only"], "log_only": 0}
    swapped = usi("logs", "joint", tmp_path / "log.json", tmp_path / "chat.json")
    assert swapped.code == 2
    assert "no scorecard of conversations" in swapped.err
    ranked = usi("rank", tmp_path / "chat.json", tmp_path / "log.json", "--print", "json")
    assert "never ranked with conversations" in ranked.out + ranked.err
    mixed = usi("compare", tmp_path / "chat.json", tmp_path / "log.json")
    assert mixed.code == 2
