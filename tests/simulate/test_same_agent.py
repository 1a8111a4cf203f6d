"""Scores made with different agents are refused a comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command import refused, usi
from simulate.tiny import TinyDomain, setting

from usi import features, score
from usi.errors import NotScorable
from usi.scoring.agents import fingerprints, require_same_agent
from usi.simulate.agents.agent import fingerprint
from usi.simulate.agents.oracle import OracleAgents
from usi.simulate.calls import Runtime
from usi.simulate.runner import Run, RunPlan, make_cells
from usi.simulate.users.scripted import ScriptedUsers


def made(folder: Path, label: str, agent: OracleAgents, seed: int = 0) -> Path:
    domain = TinyDomain(count=24)
    fixed = replace(setting(domain, agent), agent_name=fingerprint(agent, domain))
    cells = make_cells(domain.tasks, runs=2)
    plan = RunPlan(label, ScriptedUsers(None, seed), cells, fixed, folder)
    with Run(plan) as running:
        running.go(Runtime())
    return plan.output


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {
        "people": made(folder, "people", OracleAgents(), 1),
        "same": made(folder, "same", OracleAgents(), 2),
        "other": made(folder, "other", OracleAgents(miss=0.2), 3),
    }


@pytest.mark.parametrize(("profile", "difficulty"), [("tau-usi", "self"), ("robust", "none")])
def test_another_agent_is_not_scorable(
    runs: dict[str, Path], profile: str, difficulty: str
) -> None:
    card = score(runs["same"], runs["people"], profile=profile, difficulty=difficulty)
    agent = card.simulators[0].identity["agent"]
    assert agent == fingerprint(OracleAgents(), TinyDomain())
    with pytest.raises(NotScorable, match=r"different agents.*--other-agent") as caught:
        score(runs["other"], runs["people"], profile=profile, difficulty=difficulty)
    assert agent in str(caught.value)


def test_sides_that_name_no_fingerprint_are_taken_at_their_word(runs: dict[str, Path]) -> None:
    import polars as pl

    people = features(runs["people"], side="human", profile="tau-usi")
    other = features(runs["other"], side="simulated", profile="tau-usi")
    for name in (None, "gpt-4o"):
        plain = replace(people, frame=people.frame.with_columns(agent=pl.lit(name, pl.String)))
        assert fingerprints(plain) == ()
        require_same_agent(plain, {"other": other})
    require_same_agent(people, {"other": other}, allowed=True)


def test_cards_of_different_agents_are_not_compared(runs: dict[str, Path], tmp_path: Path) -> None:
    cards = []
    for name in ("same", "other"):
        card = tmp_path / f"{name}.json"
        done = usi(
            "score", runs[name], "--human", runs["people"], "--profile", "robust",
            "--other-agent", "-o", card, "--quiet",
        )  # fmt: skip
        assert done.code == 0, done.err
        cards.append(card)
    refused(usi("compare", *cards), "agent: oracle@", "can't be compared")
