"""What tau2-bench says the simulated user did wrong becomes tags of the session.

Fixtures follow tau2-bench's data model (UserOnlyReview, Review, hallucination_retries_used).
"""

from __future__ import annotations

import pytest

from usi.errors import InputError
from usi.loading import open_sessions, validate, write_sessions

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]


def review(*errors, **more):
    return {"summary": "", "user_error": bool(errors), "critical_user_error": False,
            "has_errors": bool(errors), "errors": list(errors), **more}  # fmt: skip


def error(*tags, **more):
    return {"error_type": "content_error", "error_tags": list(tags), "reasoning": "r", **more}


def results(*rows):
    simulations = [
        {"task_id": i, "trial": 0, "reward_info": None, "messages": TALK,
         "termination_reason": "user_stop", **row}
        for i, row in enumerate(rows)
    ]  # fmt: skip
    return {"info": {"environment_info": {"domain_name": "airline"}}, "tasks": [],
            "simulations": simulations}  # fmt: skip


def tags(write, **row):
    (session,) = open_sessions(write("x.json", results(row)))
    return session.error_tags


def test_nobody_looked(write):
    assert tags(write) is None
    assert tags(write, user_only_review=None, hallucination_retries_used=None) is None


def test_somebody_looked_and_found_nothing(write):
    assert tags(write, user_only_review=review()) == ()
    assert tags(write, hallucination_retries_used=0) == ()


def test_reviews(write):
    found = tags(
        write,
        user_only_review=review(error("made_up, info", "wrong_goal"), critical_user_error=True),
        hallucination_retries_used=2,
        termination_reason="max_steps",
    )
    assert found == (
        "user_error", "critical_user_error", "user_error:made_up info", "user_error:wrong_goal",
        "hallucination_retry", "termination:max_steps",
    )  # fmt: skip


def test_errors_of_the_agent_are_not_the_users(write):
    both = review(error("x", source="agent"), error("y", source="user"), agent_error=True)
    assert tags(write, review=both) == ("user_error", "user_error:y")
    assert tags(write, review=review(error("x", source="agent"), user_error=False)) == ()


def test_ends_alone(write):
    assert tags(write, termination_reason="user_error") == ("termination:user_error",)
    assert tags(write, termination_reason="agent_stop") is None


@pytest.mark.parametrize(
    ("row", "field"),
    [({"user_only_review": 3}, "user_only_review"), ({"review": {"errors": [3]}}, "review.errors"),
     ({"hallucination_retries_used": "x"}, "hallucination_retries_used")],
)  # fmt: skip
def test_bad_fields(write, row, field):
    with pytest.raises(InputError) as caught:
        tags(write, **row)
    assert caught.value.field == field


def test_they_are_counted_and_survive_a_conversion(write, tmp_path):
    path = write(
        "x.json",
        results({"user_only_review": review(error("a"))}, {"user_only_review": review()}, {}),
    )
    assert validate(path).error_tags == {"user_error": 1, "user_error:a": 1}
    write_sessions(open_sessions(path), tmp_path / "y.jsonl")
    assert [s.error_tags for s in open_sessions(tmp_path / "y.jsonl")] == [
        ("user_error", "user_error:a"), (), None,
    ]  # fmt: skip
