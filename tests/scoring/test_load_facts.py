"""Errors of the simulated user and lossiness notes on the card, in both profiles."""

from __future__ import annotations

import json

import pytest

import usi
from usi.extraction.extract import extract_table
from usi.reasons import NOT_REVIEWED
from usi.records import Session, Turn
from usi.scoring.load_facts import is_user_error, user_errors


def table(*tags, status="ok"):
    sessions = [
        Session(session_id=f"s{i}", turns=(Turn("user", "hi"),), error_tags=own, status=status)
        for i, own in enumerate(tags)
    ]
    return extract_table(sessions, profile="robust", side="simulated")


def test_counts_and_share():
    counts, share = user_errors(
        table((), ("user_error", "user_error:a"), ("hallucination_retry",), None,
              ("termination:max_steps",), ("termination:user_error",))
    )  # fmt: skip
    assert counts == {
        "hallucination_retry": 1, "termination:max_steps": 1, "termination:user_error": 1,
        "user_error": 1, "user_error:a": 1,
    }  # fmt: skip
    assert (share.value, share.n) == (3 / 5, 5)


def test_nobody_reviewed():
    for tags in ((None, None), (("termination:max_steps",), None)):
        _, share = user_errors(table(*tags))
        assert (share.value, share.status, share.reason) == (None, "not_assessed", NOT_REVIEWED())


def test_broken_runs_are_counted_and_not_shared():
    counts, share = user_errors(table(("user_error",), status="infrastructure_error"))
    assert counts == {"user_error": 1}
    assert share.value is None


def test_which_tags_blame_the_user():
    assert is_user_error("user_error")
    assert is_user_error("hallucination_retry")
    assert is_user_error("termination:user_error")
    assert not is_user_error("termination:max_steps")


def run(task, trial, **more):
    words = f"please cancel my order {task} now, it is number {trial}"
    return {"task_id": str(task), "trial": trial,
            "reward_info": {"reward": task % 2},
            "termination_reason": "user_stop",
            "messages": [{"role": "assistant", "content": "Hi!"},
                         {"role": "user", "content": words},
                         {"role": "tool", "content": "{}"},
                         {"role": "user", "content": "what is the status?"}],
            **more}  # fmt: skip


def results(rows):
    return {
        "info": {"environment_info": {"domain_name": "retail"}},
        "tasks": [],
        "simulations": rows,
    }


@pytest.mark.parametrize("profile", ["robust", "tau-usi"])
def test_the_card_has_them(tmp_path, profile):
    looked = {"user_error": True, "has_errors": True, "errors": []}
    calm = {"user_error": False, "has_errors": False, "errors": []}
    people, sim = tmp_path / "people.json", tmp_path / "sim.json"
    people.write_text(json.dumps(results([run(t, k) for t in range(12) for k in (0, 1)])))
    rows = [
        run(t, k, user_only_review=looked if t == 3 else calm) for t in range(12) for k in (0, 1)
    ]
    sim.write_text(json.dumps(results(rows)))
    difficulty = "self" if profile == "tau-usi" else "none"
    card = usi.score(sim, people, profile=profile, difficulty=difficulty)
    (part,) = card.simulators
    assert part.user_errors == {"user_error": 2}
    assert part.user_error_share.value == pytest.approx(2 / 24)
    notes = [(note.kind, note.what, note.count) for note in part.load_notes]
    assert ("dropped", "message: tool result", 24) in notes
    assert ("dropped", "message: tool result", 24) in [
        (note.kind, note.what, note.count) for note in card.human.load_notes
    ]
    assert type(card).model_validate(json.loads(card.to_json())) == card
