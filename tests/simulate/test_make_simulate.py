"""`make simulate`: the whole road offline, and candidates differ where they should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT

from usi.loading import open_sessions

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the recipe of the target, in this environment, into a folder of the test."""
    folder = tmp_path_factory.mktemp("simulate") / "out"
    shown = subprocess.run(
        ["make", "-n", "simulate", f"SIM={folder}", "BIN=BIN"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.replace("\\\n", " ")  # fmt: skip
    lines = [line for line in shown.splitlines() if line.startswith("BIN/usi ")]
    assert len(lines) == 6
    for line in lines:
        command = line.replace("BIN/usi", f"{sys.executable} -m usi", 1)
        done = subprocess.run(
            command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    return folder


def test_the_whole_desk_runs_three_times(made: Path) -> None:
    for name in ("varied", "over-compliant", "impatient"):
        sessions = list(open_sessions(made / "runs" / f"{name}.jsonl"))
        assert len({s.task_id for s in sessions}) == 32
        assert len(sessions) == 96
        assert all(s.status == "ok" for s in sessions)
        assert all(s.outcome.termination == "user_stop" for s in sessions)
    for name in ("card.html", "card.md", "verdict.json", "results.md", "results.json"):
        assert (made / name).stat().st_size > 100
    assert json.loads((made / "card.json").read_text())["synthetic"] is True


def rate(simulator: dict[str, Any], feature: str) -> float:
    value: float = simulator["features"][feature]["simulator"]["value"]
    return value


def test_candidates_differ_in_the_components_where_they_should(made: Path) -> None:
    card = json.loads((made / "card.json").read_text())
    sims = {sim["name"]: sim for sim in card["simulators"]}
    score = {
        name: {part: value["value"] for part, value in sim["components"].items()}
        for name, sim in sims.items()
    }
    # Another draw of the reference's population comes out best, and wherever a candidate departs.
    for part in ("reaction", "clarification", "conversation"):
        assert score["varied"][part] > score["over-compliant"][part] + 5
    assert score["varied"]["reaction"] > score["impatient"]["reaction"] + 5
    # Who agrees to everything shows no feeling; who is impatient shows more than people.
    for feature in ("emotion", "accusation"):
        people = sims["varied"]["features"][feature]["human"]["value"]
        assert rate(sims["over-compliant"], feature) < people < rate(sims["impatient"], feature)
    polite = {name: rate(sim, "politeness") for name, sim in sims.items()}
    assert polite["over-compliant"] > 2 * polite["impatient"]
    # Both succeed less often: one accepts what it should decline, the other leaves.
    success = {name: sim["simulator_success"]["value"] for name, sim in sims.items()}
    assert success["over-compliant"] < success["varied"]
    assert success["impatient"] < success["varied"]


def test_outcome_is_assessed_by_the_a_priori_difficulty_of_the_desk(made: Path) -> None:
    card = json.loads((made / "card.json").read_text())
    assert "|bins:file@" in card["signature"]
    for sim in card["simulators"]:
        assert sim["components"]["outcome"]["status"] == "ok"
        hard, easy = sim["outcome_bins"]  # correct refusals are in neither
        assert hard["human"]["value"] < easy["human"]["value"]
        refused = next(
            o["count"] for o in sim["left_out"] if o["reason"]["code"] == "refused_rightly"
        )
        assert hard["simulator"]["n"] + easy["simulator"]["n"] == 96 - refused
    results = json.loads((made / "results.json").read_text())["simulators"]
    for one in results:
        easy, hard = (one["by_difficulty"][level]["value"] for level in ("easy", "hard"))
        assert easy > hard
        assert set(one["pass_k"]["values"]) == {"1", "2", "3"}


def test_the_owner_learns_that_reward_1_hides_skipped_confirmations(made: Path) -> None:
    for one in json.loads((made / "results.json").read_text())["simulators"]:
        hidden = one["way"]["unconfirmed"]
        assert 0 < hidden["low"] < hidden["value"] < 0.5
        assert one["way"]["broken"]["confirmation"][1] == round(hidden["value"] * hidden["n"])


def test_the_scorecard_has_what_the_results_have(made: Path) -> None:
    card = json.loads((made / "card.json").read_text())
    cards = {sim["name"]: sim["episodes"] for sim in card["simulators"]}
    for one in json.loads((made / "results.json").read_text())["simulators"]:
        own, way = cards[one["simulator"]], one["way"]
        assert own["checked"] == way["checked"] == 96
        assert {b["rule"]: [b["sessions"], b["rewarded"]] for b in own["broken"]} == way["broken"]
        assert {f["kind"]: f["sessions"] for f in own["findings"]} == one["triage"]
        for name in ("hidden", "unconfirmed"):
            assert own[name]["value"] == pytest.approx(way[name]["value"])


def test_the_gate_has_decided(made: Path) -> None:
    verdict = json.loads((made / "verdict.json").read_text())
    assert verdict["verdict"] == "PASS"
