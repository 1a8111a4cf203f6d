"""A feature that the real log has and the simulated one lacks scores 0, and stays in the mean."""

from __future__ import annotations

import pytest

from usi.audit.log_attacks import LOG_ATTACKS
from usi.audit.log_gauntlet import halves, read_material, side_of
from usi.logs import load_config
from usi.logs.scoring import study_tables
from usi.options import ScoreOptions
from usi.scoring.context import ScoreContext


@pytest.fixture(scope="module")
def sides(logs):
    material = read_material(logs.human, load_config(str(logs.config)))
    reference, other = halves(material, seed=2, most=800)
    attack = next(a for a in LOG_ATTACKS if a.name == "waits of zero")
    zero = attack.applied(reference, other, seed=2)
    human, _ = side_of(material, reference, "human", "")
    tables = {
        name: side_of(material, events, "simulated", name)[0]
        for name, events in (("honest", other), ("zero", zero))
    }
    options = ScoreOptions(replicates=200, c2st="off")
    card = study_tables(human, tables, surveys=None, options=options).card(ScoreContext())
    return {part.name: part for part in card.simulators}


def test_waits_that_take_no_time_score_0(sides):
    score = sides["zero"].features["wait_user_time"].score
    assert score.value == 0
    assert score.high == 0
    assert sides["honest"].features["wait_user_time"].score.value > 90


def test_the_component_counts_it(sides):
    honest, zero = (sides[name].components["clarification"] for name in ("honest", "zero"))
    names = [n for n, f in sides["zero"].features.items()
             if f.dimension == "clarification" and f.scored]  # fmt: skip
    assert "wait_user_time" in names
    mean = sum(sides["zero"].features[n].score.value for n in names) / len(names)
    assert zero.value == pytest.approx(mean)
    assert zero.high < honest.low
