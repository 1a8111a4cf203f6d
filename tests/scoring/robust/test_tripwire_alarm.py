"""A tripwire alarm needs more than a rare accident."""

from __future__ import annotations

import pytest

from usi.extraction.profile import get_specs
from usi.scoring.robust.tripwire import tripwires

DASH = tuple(spec for spec in get_specs("robust") if spec.name == "dash")


@pytest.mark.parametrize(("hits", "alarm"), [(1, False), (2, False), (3, True), (10, True)])
def test_one_or_two_sessions_are_no_alarm_against_thousands_of_people(
    hits: int, alarm: bool
) -> None:
    (wire,) = tripwires(DASH, {"dash": (0, 3086, hits, 50)})
    # P(one hit falls on the simulator) = 50 / 3136; two or more are rarer still
    assert wire.p_value <= 50 / 3136 + 1e-9
    assert wire.alarm is alarm


def test_people_who_show_it_as_often_are_no_alarm() -> None:
    (wire,) = tripwires(DASH, {"dash": (30, 300, 30, 300)})
    assert not wire.alarm
