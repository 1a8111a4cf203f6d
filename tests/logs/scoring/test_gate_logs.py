"""The gate over logs: means are not enough, tier B at most, never a table with conversations."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from command import usi
from logs.scoring.conftest import options
from support.scoring import score

from usi.decisions.criteria import resolve, tier
from usi.decisions.decide import gate_scorecard
from usi.estimate import not_assessed
from usi.logs.checks import RULES
from usi.reasons import NO_EVENTS, REAL_FEW_FEATURES


@pytest.fixture(scope="module")
def card(logs):
    names = ("copy", "memoryless", "no_ping_pong", "easy_mode")
    files = [logs.simulators[name] for name in names]
    return score(files, logs.human, options=options(logs.config, c2st="fast"))


def verdicts(card, name="B"):
    found = gate_scorecard(card, tier(name)).simulators
    return {part.name: part for part in found}


def states(part):
    return {check.id: check.state for check in part.checks}


def test_a_copy_passes_and_a_memoryless_play_out_does_not(card):
    found = verdicts(card)
    assert found["copy"].verdict == "PASS"
    assert found["memoryless"].verdict == "FAIL"
    own = states(found["memoryless"])
    # every mean passes at tier B ...
    for name in ("index", "conversation", "information", "clarification", "reaction", "outcome"):
        assert own[name] == "pass", name
    # ... and keys that see order and memory fail; session by session the two are hard to tell apart
    assert own["ngram3"] == own["history.ping_pong"] == "fail"
    assert own["two_sample"] == "fail"


def test_no_ping_pong_is_seen_by_the_history_features_alone(card):
    part = verdicts(card)["no_ping_pong"]
    assert part.verdict == "FAIL"
    assert part.decided_by == ("history.ping_pong",)


def test_easy_mode_fails_in_waiting_rework_and_success(card):
    part = verdicts(card)["easy_mode"]
    assert {"clarification", "reaction", "success_gap"} <= set(part.decided_by)


def test_tier_a_is_out_of_reach(card):
    part = verdicts(card, "A")["copy"]
    assert part.verdict == "INCONCLUSIVE"
    assert any("tier B at most" in reason.text for reason in part.reasons)
    assert any("transcripts" in need.text for need in part.needed)


def test_without_the_keys_nothing_passes(card):
    copy = next(part for part in card.simulators if part.name == "copy")
    for update in (
        {"two_sample": ()},
        {"log_distances": {}},
        {"log_distances": {"ngram3_excess": not_assessed(NO_EVENTS)}},
    ):
        bare = card.model_copy(update={"simulators": (copy.model_copy(update=update),)})
        assert gate_scorecard(bare, tier("B")).verdict == "INCONCLUSIVE"


def test_what_the_real_log_cant_show_is_not_asked(card):
    gone = card.human.components["information"].model_copy(
        update={"value": None, "status": "not_assessed", "reason": REAL_FEW_FEATURES()}
    )
    parts = {**card.human.components, "information": gone}
    human = card.human.model_copy(update={"components": parts})
    bare = card.model_copy(update={"human": human})
    asked = RULES.criteria(bare, tier("B"))
    assert "information" not in asked.require.components
    assert asked.minimum.information is None
    assert asked.profile == "log"
    own = resolve({"profile": "log", "minimum": {"information": 90}})
    assert RULES.criteria(bare, own) == own  # a file that says log says all


def test_from_the_command_line(logs, tmp_path):
    out = tmp_path / "card.json"
    done = usi(
        "score", logs.simulators["easy_mode"], "--human", logs.human, "--log-config", logs.config,
        "--gate", "B", "--replicates", "200", "-o", out, "-o", tmp_path / "card.html",
        "-o", tmp_path / "card.md", "-o", tmp_path / "card.junit.xml", "--print", "table",
    )  # fmt: skip
    assert done.code == 1, done.err
    assert "USI-log" in done.out + done.err
    assert "L3 clarification (waiting)" in (tmp_path / "card.md").read_text()
    page = (tmp_path / "card.html").read_text()
    assert "SYNTHETIC" in page
    assert "Do these simulated cases behave like real ones?" in page
    body = re.sub(r"<svg.*?</svg>|<[^>]+>", " ", page.partition("<main")[2], flags=re.DOTALL)
    for title in ("L1 interaction", "L2 information", "L3 clarification (waiting)",
                  "L4 rework and routing", "cases of the real log"):  # fmt: skip
        assert title in body
    assert not re.search(r"\bconversation\b(?!s)", body.partition("How the numbers were made")[0])
    assert f"--log-config {logs.config.name}" in body
    again = usi("gate", out, "--tier", "B", "--print", "json")
    assert again.code == 1
    assert json.loads(again.out)["profile"] == "log@1"
    ranked = usi("rank", out, "--print", "json")
    assert "never ranked with conversations" in ranked.out + ranked.err
    explained = usi("explain", json.loads(out.read_text())["signature"])
    assert json.loads(explained.out)["index"] == "USI-log"
    assert "mix:priority+category" in json.loads(explained.out)["logs"]


def test_mistakes_on_the_command_line(logs, tmp_path):
    base = ("score", logs.simulators["copy"], "--human", logs.human)
    for more, text in (
        (("--preset", "servicnow"), "did you mean 'servicenow'"),
        (("--preset", "servicenow", "--log-config", logs.config), "name one of them"),
        (("--preset", "servicenow", "--profile", "robust"), "the profile is robust"),
        (("--profile", "log"), "usi logs suggest"),
        (("--log-config", logs.config, "--horizon", "0"), "above 0"),
    ):
        done = usi(*base, *more)
        assert done.code == 2, (more, done.err)
        assert text in done.err, (more, done.err)
    fewer = tmp_path / "fewer.toml"
    kept = [line for line in logs.config.read_text().splitlines() if "Awaiting Vendor" not in line]
    fewer.write_text("\n".join(kept))
    done = usi(*base, "--log-config", fewer)
    assert done.code == 2
    assert "'Awaiting Vendor'" in done.err
    copied = tmp_path / "copy.csv"
    shutil.copy(logs.simulators["copy"], copied)
    twice = usi(*base, copied, "--log-config", logs.config)
    assert twice.code == 2
    assert "two inputs give the simulator name 'copy'" in twice.err
