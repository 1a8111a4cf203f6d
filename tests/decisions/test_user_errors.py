"""The criteria key max_user_errors."""

from __future__ import annotations

import pytest

from usi.decisions.checks import check_user_errors
from usi.decisions.criteria import resolve, tier
from usi.errors import InputErrors
from usi.estimate import Estimate
from usi.reasons import NO_USER_REVIEW, NOT_ASSESSED
from usi.scoring.scorecard import Index, SimulatorCard, Sizes

BASE = {"minimum": {"index": 80}}


def simulator(value, n=40, **counts):
    status = "ok" if value is not None else "not_assessed"
    reason = None if value is not None else NO_USER_REVIEW()
    share = Estimate(value=value, n=n, status=status, reason=reason)
    return SimulatorCard(
        name="s",
        n=Sizes(tasks=1, sessions=1),
        components={},
        index=Index(value=None, status="not_assessed", reason=NOT_ASSESSED()),
        features={},
        user_errors=counts,
        user_error_share=share,
    )


def test_not_asked():
    assert check_user_errors(simulator(0.9), resolve(BASE)) == []


@pytest.mark.parametrize(("value", "state"), [(0.0, "pass"), (0.05, "pass"), (0.075, "fail")])
def test_within_and_above(value, state):
    (check,) = check_user_errors(
        simulator(value, user_error=2), resolve(BASE | {"max_user_errors": 0.05})
    )
    assert check.state == state
    assert (check.value, check.threshold) == (value, 0.05)
    assert "of 40 reviewed sessions" in check.message
    assert "user_error 2" in check.message


def test_without_a_review_it_is_inconclusive():
    asked = resolve(BASE | {"max_user_errors": 0.05})
    (check,) = check_user_errors(simulator(None), asked)
    assert (check.state, check.reason) == ("inconclusive", NO_USER_REVIEW())
    bare = simulator(None).model_copy(update={"user_error_share": None})
    assert check_user_errors(bare, asked)[0].state == "inconclusive"


def test_the_key_counts_as_tightening_and_leaves_other_fingerprints_alone():
    asked = resolve({"tier": "B", "max_user_errors": 0.1})
    assert asked.changes() == ([], ["max_user_errors"])
    assert asked.fingerprint != tier("B").fingerprint
    with pytest.raises(InputErrors):
        resolve(BASE | {"max_user_errors": 5})
