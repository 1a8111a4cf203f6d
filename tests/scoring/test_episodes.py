"""What runs recorded beside the reward, by hand, in the card and on the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import usi
from report.html.walk import at, read

from usi.records import Outcome, Session
from usi.scoring.episodes import EpisodeTally

RULES = ["confirmation", "step_order"]


def session(
    reward: float, rules: list[str] | None, kinds: list[str], cost: Any = None, **more: Any
) -> Session:
    meta: dict[str, Any] = {"triage": [{"kind": kind, "detail": "x"} for kind in kinds]}
    if rules is not None:
        meta["violations"] = [{"check": rule, "detail": "x"} for rule in rules]
    if cost is not None:
        meta["cost_usd"] = cost
    return Session(session_id="s", outcome=Outcome(reward=reward), meta=meta, **more)


SESSIONS = [
    session(1.0, ["confirmation", "confirmation"], [], 0.5),
    session(1.0, [], [], 0.25),
    session(1.0, ["step_order"], []),
    session(1.0, [], []),
    session(0.0, ["confirmation"], ["missing_write", "missing_write", "extra_write"]),
    session(0.0, [], ["missing_write"], "much"),
    session(0.0, None, []),
    session(0.0, ["step_order"], ["missing_write"], 1.0, status="infrastructure_error"),
]


def test_episodes_by_hand() -> None:
    """Six of eight were checked; of four with reward 1 one skipped a yes and one another rule."""
    tally = EpisodeTally()
    for one in SESSIONS:
        tally.see(one)
    found = tally.card()
    assert found is not None
    assert found.checked == 6
    assert [(b.rule, b.sessions, b.rewarded) for b in found.broken] == [
        ("confirmation", 2, 1), ("step_order", 1, 1),
    ]  # fmt: skip
    assert (found.hidden.value, found.hidden.n) == (0.5, 4)
    assert (found.unconfirmed.value, found.unconfirmed.n) == (0.25, 4)
    assert found.failed == 2
    assert [(f.kind, f.sessions) for f in found.findings] == [
        ("missing_write", 2), ("extra_write", 1),
    ]  # fmt: skip
    assert (found.priced, found.cost_usd) == (3, 1.75)  # a fault has its price, too


def test_order_changes_nothing() -> None:
    one, other = EpisodeTally(), EpisodeTally()
    for session_ in SESSIONS:
        one.see(session_)
    for session_ in reversed(SESSIONS):
        other.see(session_)
    assert one.card() == other.card()


def test_nothing_recorded_is_nothing_told() -> None:
    tally = EpisodeTally()
    tally.see(Session(session_id="s", outcome=Outcome(reward=1.0)))
    tally.see(Session(session_id="s", meta={"violations": "many", "triage": [5]}))
    assert tally.card() is None
    tally.see(session(0.0, [], []))
    found = tally.card()
    assert found is not None
    assert (found.hidden.value, found.hidden.status) == (None, "not_assessed")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty tasks with people, a simulator that records, and one that does not."""
    folder = tmp_path_factory.mktemp("episodes")
    talk = [
        {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "please help me"},
        {"role": "assistant", "content": "Which one?"}, {"role": "user", "content": "the second"},
    ]  # fmt: skip
    rows = [{"id": f"t{n}", "task_id": f"t{n}", "domain": "d", "trial": 1, "reward": n % 2,
             "messages": talk} for n in range(20)]  # fmt: skip
    recorded = [
        {**row, "metadata": {
            "violations": [{"check": "<b>yes</b>"}] if n < 5 else [],
            "triage": [] if n % 2 else [{"kind": "missing_write"}], "cost_usd": 0.5}}
        for n, row in enumerate(rows)
    ]  # fmt: skip
    for name, lines in (("people", rows), ("plain", rows), ("recorded", recorded)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text)
    done = usi("score", "recorded.jsonl", "plain.jsonl", "--human", "people.jsonl", "--profile",
               "robust", "--difficulty", "none", "--replicates", "200", "--print", "none",
               "-o", "card.json", "-o", "card.md", "-o", "card.html", cwd=folder)  # fmt: skip
    assert done.code == 0, done.err
    return folder


def test_the_card_holds_them(scored: Path) -> None:
    card = json.loads((scored / "card.json").read_text())
    sims = {sim["name"]: sim["episodes"] for sim in card["simulators"]}
    assert sims["plain"] is None
    own = sims["recorded"]
    assert own["broken"] == [{"rule": "<b>yes</b>", "sessions": 5, "rewarded": 2}]  # 1 and 3
    assert own["hidden"]["value"] == 0.2
    assert own["findings"] == [{"kind": "missing_write", "sessions": 10}]
    assert own["cost_usd"] == 10.0
    text = (scored / "card.md").read_text()
    assert "recorded: reward 1 hides that 20.0% of 10 sessions broke a rule" in text
    assert "cost $10.0000, $0.50000 a session" in text
    assert "<b>yes" not in text
    named = usi("score", "recorded.jsonl", "--name", "mine", "--human", "people.jsonl",
                "--profile", "tau-usi", "--difficulty", "self", cwd=scored).json()  # fmt: skip
    assert named["simulators"][0]["episodes"] == own


def test_the_page_shows_them_as_the_json_has_them(scored: Path) -> None:
    html = (scored / "card.html").read_text(encoding="utf-8")
    card = {"c": json.loads((scored / "card.json").read_text())}
    assert html.count("What happened on the way") == 1
    assert "<b>yes" not in html
    found = {place: (code, text) for code, place, text in read(html).claims if "episodes" in place}
    assert any(place.endswith("/broken/0/sessions") for place in found)
    for place, (code, text) in found.items():
        if code in ("i", "s"):
            assert text.replace("\N{WORD JOINER}", "") == str(at(card, place)), place
    (hidden,) = (
        text for place, (_, text) in found.items() if "/hidden" in place and "/n" not in place
    )
    assert hidden.startswith("20.0 %")
