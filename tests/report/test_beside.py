"""What stands beside a score tells of outcomes that success alone leaves out."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any

from usi.estimate import Estimate
from usi.report.card_text import _outcomes


def side(gap: Estimate | None, perceived: Any = None) -> Any:
    detail = {} if gap is None else {"correct_refusal_gap": gap}
    return Made(components={"outcome": Made(detail=detail)}, perceived=perceived)


def test_lost_correct_refusals_and_perceived_success_are_said() -> None:
    gap = Estimate(value=-0.206, low=-0.233, high=-0.175, n=495, unit="share")
    seen = Made(both=234, reward_only=85, perceived_only=48, neither=128)
    assert list(_outcomes(side(gap, seen))) == [
        "correct refusals -21 [-23, -18] percentage points against the reference",
        "reward against success as people saw it: both 234, reward alone 85, people alone 48, "
        "neither 128",
    ]
    assert list(_outcomes(side(None))) == []
