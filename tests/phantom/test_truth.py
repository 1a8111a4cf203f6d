"""True values against the parameters, against large draws, and against sums by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from phantom_truth.counts import count_frame
from phantom_truth.crossed import draw_crossed, true_pass_k
from phantom_truth.rates import exact_values, true_rates
from phantom_truth.scores import true_outcome, true_scores
from phantom_truth.tasks import sample_tasks
from scipy.integrate import quad
from scipy.stats import norm

from usi.errors import NotScorable, UsageError
from usi.extraction.profile import get_feature_profile
from usi.extraction.table import derive
from usi.phantom import Rate, blend, default_tasks, draw, get_simulator, load_spec
from usi.phantom.population import resolve
from usi.phantom.tasks import published_difficulty

HUMAN = load_spec("human")
POOLS = {"rare_reaction": ("emotion", "accusation")}
BY_PARAMETER = {
    "politeness_rate": "politeness",
    "short_msg_rate": "short",
    "formality_rate": "dash",
    "ack_only_rate": "ack",
    "repeat_rate": "repeat",
    "certainty_rate": "certainty",
    "pushback_q_rate": "pushback",
    "clarify_q_rate": "clarify",
    "info_q_rate": "info",
    "emotion_rate": "emotion",
    "accusation_rate": "accusation",
    "pivot_rate": "pivot",
}


@pytest.mark.parametrize("name", ["human", "polite", "collapsed", "defect-questions"])
def test_the_parameters_are_the_true_rates(name):
    spec = HUMAN if name == "human" else get_simulator(name)
    rates = true_rates(spec)
    for feature, parameter in BY_PARAMETER.items():
        assert rates[feature] == pytest.approx(spec.rate(parameter).mean, abs=1e-9)


def test_the_people_have_the_published_rates():
    rates = true_rates(HUMAN)
    assert rates["politeness_rate"] == pytest.approx(0.153, abs=1e-9)
    assert rates["short_msg_rate"] == pytest.approx(0.29, abs=1e-9)
    assert rates["uncertainty_rate"] == pytest.approx(0.073, abs=5e-4)
    assert rates["pivot_rate"] == pytest.approx(0.084, abs=1e-9)
    assert exact_values(HUMAN)["success"] == pytest.approx(0.636, abs=1e-9)


def _large_draw(spec, profile, blocks=8, size=10_000):
    profile = get_feature_profile(profile)
    frames = []
    for block in range(blocks):
        tasks = sample_tasks(size, seed=700 + block)
        frame = count_frame(
            draw(spec, tasks, replicates=1, seed=(77, block)), profile.name, side="human"
        )
        values = derive(frame, profile.specs, without_denominator=profile.without_denominator)
        frames.append(values.with_columns(success=frame["reward"]))
    return pl.concat(frames)


@pytest.mark.parametrize("profile", ["tau-usi", "robust"])
@pytest.mark.parametrize(
    "spec",
    [
        HUMAN,
        get_simulator("polite"),
        get_simulator("collapsed"),
        HUMAN.with_rates(politeness=0.4, stock=0.05, role=Rate(0.05, person=1.0), lack=0.2),
    ],
    ids=["human", "polite", "collapsed", "heavy"],
)
def test_a_very_large_draw_lands_on_the_true_values(spec, profile):
    sample = _large_draw(spec, profile)
    truth = true_rates(spec, profile) | {"success": exact_values(spec)["success"]}
    for name, value in truth.items():
        column = sample[name]
        error = float(column.std()) / math.sqrt(len(column))
        assert float(column.mean()) == pytest.approx(value, abs=4.5 * error + 1e-9), name


def test_success_by_difficulty_agrees_with_numerical_integration():
    population = resolve(HUMAN)
    intercept, rate = population.intercepts["success"], HUMAN.rate("success")
    sd = math.hypot(rate.task, rate.person)
    for d in (0.2, 0.65, 0.9):
        centre = intercept + math.log(d / (1 - d))
        by_quad = quad(lambda x, c=centre: norm.pdf(x) / (1 + math.exp(-(c + sd * x))), -9, 9)[0]
        got = population.success_by_difficulty(np.array([d]), intercept)[0]
        assert got == pytest.approx(by_quad, abs=1e-9)


def test_turn_count_and_filler_words_have_the_means_asked_for():
    population = resolve(HUMAN)
    assert population.turns_pmf.sum() == pytest.approx(1.0)
    assert population.mean_turns == pytest.approx(8.0, abs=0.01)
    assert population.expect(population.filler_mean(1.0)) == pytest.approx(10.0, abs=0.01)


def test_a_copy_has_a_perfect_true_score_and_defects_the_expected_dice():
    assert true_scores(get_simulator("copy"), HUMAN).index == 100.0
    scores = true_scores(get_simulator("defect-pivot"), HUMAN)
    assert scores.features["pivot_rate"] == pytest.approx(2 * 0.084 / (0.084 + 0.25))
    scores = true_scores(HUMAN.with_rates(dash=0.036), HUMAN)
    assert scores.features["formality_rate"] == pytest.approx(0.5)
    assert scores.components["conversation"] == pytest.approx(100 - 50 / 7, abs=1e-6)


def test_the_true_score_of_robust_sees_lost_variety() -> None:
    truth = true_scores(get_simulator("copy"), HUMAN, "robust", pools=POOLS)
    assert set(truth.features.values()) == {1.0}
    # all sessions near the mean: means are nearly those of people, distributions are not
    collapsed = true_scores(get_simulator("collapsed"), HUMAN, "robust", pools=POOLS)
    means = true_scores(get_simulator("collapsed"), HUMAN)
    assert means.features["politeness_rate"] > 0.999
    assert collapsed.features["politeness"] < 0.7
    assert collapsed.components["conversation"] < means.components["conversation"] - 10


def test_the_true_score_of_an_ordered_feature_is_that_of_its_means() -> None:
    # with the same random numbers every session has at least as many pivots: D is Dice of the means
    truth = true_scores(get_simulator("defect-pivot"), HUMAN, "robust")
    assert truth.features["pivot"] == pytest.approx(2 * 0.084 / (0.084 + 0.25), abs=0.002)


def test_a_pool_is_the_sum_of_its_members() -> None:
    calm = get_simulator("defect-calm")
    truth = true_scores(calm, HUMAN, "robust", pools=POOLS)
    # emotion .034 -> .001 and accusation .030 -> .001: (.064 - .002) / (.064 + .002)
    assert truth.features["rare_reaction"] == pytest.approx(1 - 0.062 / 0.066, abs=0.005)


def test_outcome_defect_is_one_logit_and_moves_outcome_alone():
    worse = get_simulator("defect-outcome")
    shift = resolve(worse).intercepts["success"] - resolve(HUMAN).intercepts["success"]
    assert shift == pytest.approx(1.0, abs=0.01)
    scores = true_scores(worse, HUMAN)
    assert scores.signed_gap == pytest.approx(0.793 - 0.636, abs=1e-9)
    assert scores.components["outcome"] == pytest.approx(100 * (1 - scores.signed_gap))
    assert scores.components["conversation"] == 100


def test_one_bin_of_all_tasks_gives_the_overall_gap_and_opposite_gaps_do_not_cancel():
    pool = [value for _, value in published_difficulty()]
    ece, signed = true_outcome(get_simulator("polite"), HUMAN, [pool])
    assert ece == pytest.approx(signed)
    assert signed == pytest.approx(0.78 - 0.636, abs=1e-9)

    ece, signed = true_outcome(replace(HUMAN, name="flat", difficulty=0.0), HUMAN)
    assert abs(signed) < 1e-9
    assert ece > 0.05


def test_only_scored_features_enter_and_an_empty_dimension_is_refused():
    polite = get_simulator("polite")
    only = ["politeness_rate", "id_density", "certainty_rate", "pivot_rate"]
    scores = true_scores(polite, HUMAN, scored=only)
    assert set(scores.features) == set(only)
    assert scores.components["reaction"] == pytest.approx(100 * 2 * 0.084 / (0.084 + 0.19))
    with pytest.raises(NotScorable, match="information"):
        true_scores(polite, HUMAN, scored=["politeness_rate"])


def test_strength_orders_the_true_index():
    path = [blend(HUMAN, load_spec("polite"), s) for s in (0, 0.2, 0.6, 1)]
    index = [true_scores(spec, HUMAN).index for spec in path]
    assert index[0] == 100.0
    assert all(a > b for a, b in pairwise(index))


def test_batch_effects_leave_the_true_means():

    spread = replace(HUMAN, name="batches", batch=0.4)
    assert true_rates(spread)["politeness_rate"] == pytest.approx(0.153, abs=1e-9)


def test_crossed_outcomes_land_on_their_true_pass_k():
    tasks = default_tasks(165, seed=5)
    same, cross = true_pass_k(HUMAN, tasks, 2)
    frame = draw_crossed(HUMAN, tasks, users=60, agents=60, seed=1)
    cube = frame["reward"].to_numpy().reshape(165, 60, 60)
    c = cube.sum(axis=2)
    assert (c * (c - 1) / (60 * 59)).mean() == pytest.approx(same, abs=0.01)
    p = c.mean(axis=1) / 60
    assert (p**2).mean() == pytest.approx(cross, abs=0.01)
    assert same > cross
    one_same, one_cross = true_pass_k(HUMAN, tasks, 1)
    assert one_same == pytest.approx(one_cross)


def test_means_out_of_reach_are_refused_with_the_reason():
    with pytest.raises(UsageError, match="out of reach"):
        resolve(HUMAN.with_rates(ack=0.6))
