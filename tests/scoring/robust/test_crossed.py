"""Few people behind many sessions: two-way variance by hand and on populations with known truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student
from scoring.robust.population import SPECS, draw

from usi.options import RobustOptions
from usi.scoring.robust.bounds import interval_rule, lower_upper, mean_score
from usi.scoring.robust.crossed import Block, Effects, people_of, session_weights
from usi.scoring.robust.reference import reference
from usi.scoring.robust.study import study
from usi.scoring.robust.terms import PARTS

QUICK = RobustOptions(replicates=200)


def test_variance_by_hand():
    # two people with two sessions each, in four tasks of one session
    values = np.array([1.0, 3.0, 5.0, 7.0])
    unit = np.arange(4)
    weight = session_weights(np.ones(4, bool), unit, np.full(4, 0.25))
    found = people_of(["a", "a", "b", "b"], unit, [Block(0, values, weight)], np.array([4.0]))
    # effects of people: (-3 - 1) / 4 and (1 + 3) / 4; of sessions -3/4, -1/4, 1/4, 3/4
    by_person, by_session = 2 / 1 * (1 + 1), 4 / 3 * (9 + 1 + 1 + 9) / 16
    assert found.column_variance() == pytest.approx([by_person - by_session])
    slopes = np.array([[2.0]])
    assert found.effects(slopes).added_variance() == pytest.approx([4 * (by_person - by_session)])


def test_sessions_of_a_task_share_its_part():
    known = np.array([True, True, False, True])
    unit = np.array([0, 0, 0, 1])
    found = session_weights(known, unit, np.array([0.5, 0.5]))
    assert found.tolist() == [0.25, 0.25, 0.0, 0.5]


def test_people_with_one_session_each_add_nothing():
    blocks = [Block(0, np.arange(3.0), np.full(3, 1 / 3))]
    assert people_of(["a", "b", "c"], np.arange(3), blocks, np.ones(1)) is None
    assert people_of([None, None, None], np.arange(3), blocks, np.ones(1)) is None
    assert Effects(np.ones((2, 1)), np.ones((2, 1))).added_variance() == 0


def test_few_participants_take_the_t_quantile():
    rule = interval_rule((165, 165), paired=True, participants=6)
    assert rule.quantile == pytest.approx(student.ppf(0.95, 5))
    assert not rule.signed_percentile
    many = interval_rule((165, 165), paired=True, participants=40)
    assert many.quantile == pytest.approx(1.6449, abs=1e-4)


def crossed(number, people, tasks=60):
    """People with habits of their own, every one in every task; the simulator has all habits."""
    rng = np.random.default_rng(number)
    human = draw(tasks, 3, seed=10 + number, first=1000 * number)
    sim = draw(tasks, 3, seed=7000 + number, first=1000 * number, side="simulated")
    who = rng.integers(0, people, human.height)
    habits, own = rng.normal(0, 1.2, people), rng.normal(0, 1.2, sim.height)
    sides = []
    for frame, habit in ((human, habits[who]), (sim, own)):
        turns = frame["user_turns"].to_numpy()
        odds = np.exp(-1.7 + habit)
        sides.append(
            frame.with_columns(politeness=pl.Series(rng.binomial(turns, odds / (1 + odds))))
        )
    label = pl.Series([f"p{k}" for k in who])
    return sides[0].with_columns(participant=label), sides[1]


@pytest.mark.parametrize("people", [3, 6, 12])
def test_the_upper_bound_of_a_perfect_simulator_is_100_with_few_people(people):
    specs = tuple(s for s in SPECS if s.name in ("politeness", "words_per_turn"))
    specs = tuple(replace(s, dimension="conversation") for s in specs)
    wrong, naive, raw, ceiling = [], [], [], []
    for number in range(30):
        human, sim = crossed(number, people)
        result = study(reference(human, specs), sim, QUICK)
        bounds = lower_upper(result.scores["conversation"], result.rule)
        wrong.append(bounds[1] < 100)
        raw.append(result.scores["conversation"].raw)
        ceiling.append(result.ceiling["conversation"])
        unknown = human.with_columns(participant=pl.lit(None, dtype=pl.String))
        result = study(reference(unknown, specs), sim, QUICK)
        naive.append(lower_upper(result.scores["conversation"], result.rule)[1] < 100)
    assert np.mean(wrong) <= 0.1
    assert np.mean(wrong) < np.mean(naive)
    # two terms of which one knows its people: the ceiling falls with the raw score
    assert np.mean(ceiling) == pytest.approx(np.mean(raw), abs=3.0)


def test_everybody_in_every_task_has_bounds():
    human, sim = crossed(1, 4)
    plain = study(reference(human, SPECS), sim, QUICK)
    named = study(reference(human, SPECS), sim, replace(QUICK, cluster="participant"))
    assert plain.people.participants == 4
    score, again = (mean_score(r.scores, PARTS, r.rule) for r in (plain, named))
    assert score.se == again.se
    assert np.isfinite(score.se)
    assert plain.data.clusters == (60, 60)


def test_one_person_alone_has_no_bounds():
    human, sim = crossed(1, 1)
    result = study(reference(human, SPECS), sim, QUICK)
    assert not result.scores
    assert {reason.code for reason in result.reasons.values()} == {"one_participant"}
