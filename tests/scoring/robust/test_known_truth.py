"""Scores and bounds on populations whose truth is known.

Small, seeded versions of the validation study: orders of magnitude, Monte-Carlo error allowed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scoring.robust.population import SPECS, difficulty, draw

from usi.options import RobustOptions
from usi.scoring.robust.bounds import lower_upper, mean_score
from usi.scoring.robust.card_parts import outcome_numbers
from usi.scoring.robust.difficulty import Pool
from usi.scoring.robust.reference import reference
from usi.scoring.robust.study import study
from usi.scoring.robust.terms import PARTS

MODERATE = {
    "shift": {
        "politeness": 0.6, "short": -0.7, "ack": -0.5, "uncertainty": 0.5, "certainty": -0.6,
        "info": 0.5, "emotion": -0.8, "accusation": -0.6, "pivot": 0.6, "pushback": 0.5,
        "clarify": -0.5,
    },
    "success_logit": 0.7,
    "words": 1.2,
}  # fmt: skip


def one(n, batches, runs, number, replicates=200, **defects):
    """One study with tasks of its own."""
    level = difficulty(n, seed=1000 + number)
    pool = Pool("t", {f"retail_{1000 * number + k}": d for k, d in enumerate(level)})
    keys = {"first": 1000 * number, "level": level}
    human = draw(n, batches, seed=100 + number, **keys)
    sim = draw(n, runs, seed=50_000 + number, side="simulated", **keys, **defects)
    ref = reference(human, SPECS)
    return study(ref, sim, RobustOptions(replicates=replicates), pool=pool)


def index_of(result):
    return mean_score(result.scores, PARTS, result.rule)


@pytest.fixture(scope="module")
def perfect():
    return [one(165, 3, 3, k) for k in range(16)]


def test_a_perfect_simulator_stands_at_its_ceiling(perfect):
    # about 95 at 165 tasks, 3 batches and 3 runs, with an ECE of .045 (pooled)
    raw = [index_of(result).raw for result in perfect]
    assert np.mean(raw) == pytest.approx(95.5, abs=1.0)
    ece = [1 - result.scores["outcome"].raw / 100 for result in perfect]
    assert np.mean(ece) == pytest.approx(0.045, abs=0.008)
    for name in PARTS:
        ceiling = np.mean([result.ceiling[name] for result in perfect])
        mean = np.mean([result.scores[name].raw for result in perfect])
        assert ceiling == pytest.approx(mean, abs=1.5), name
    assert np.mean([index_of(r).corrected for r in perfect]) > np.mean(raw) + 1


def test_the_bootstrap_error_is_about_the_true_one(perfect):
    true = np.std([index_of(result).raw for result in perfect], ddof=1)
    mean = np.mean([index_of(result).se for result in perfect])
    assert 0.7 < mean / true < 1.6


def test_the_ceiling_falls_with_fewer_tasks_and_runs():
    small = np.mean([np.mean(list(one(100, 1, 1, k, 100).ceiling.values())) for k in range(3)])
    large = np.mean([np.mean(list(one(300, 3, 3, k, 100).ceiling.values())) for k in range(3)])
    assert small < 93
    assert large > 96


def success_gap(logit):
    """True success gap of a simulator with that shift, over the tasks of the population."""
    level = difficulty(400_000, seed=1)
    odds = np.log(level / (1 - level))
    return float(np.mean(1 / (1 + np.exp(-(odds + logit)))) - np.mean(level))


def test_easy_mode_moves_the_outcome_alone(perfect):
    easy = [one(165, 3, 3, k, success_logit=1.0) for k in range(6)]
    for name in PARTS[:4]:
        assert easy[0].scores[name].raw == pytest.approx(perfect[0].scores[name].raw)
    gaps = [outcome_numbers(result) for result in easy]
    true = success_gap(1.0)
    assert np.mean([g.gap.value for g in gaps]) == pytest.approx(true, abs=0.02)
    assert all(g.gap.low > 0 for g in gaps)
    assert all(g.offset.value < 0.03 for g in gaps)


def test_false_pass_at_the_boundary():
    tasks, studies = 165, 60
    level = difficulty(20_000, seed=5)
    pool = Pool("t", {f"retail_{k}": d for k, d in enumerate(level)})
    small = one(tasks, 3, 3, 0)
    frozen = reference(draw(len(level), 1, seed=1, level=level), SPECS, like=small.reference)
    large = draw(len(level), 1, seed=2, side="simulated", level=level, **MODERATE)
    truth = study(frozen, large, RobustOptions(replicates=100), pool=pool)
    true = {name: score.raw for name, score in truth.scores.items()}
    # one shift for all tasks: the gap has one sign in every bin, so the ECE is its size
    true["outcome"] = 100 * (1 - success_gap(MODERATE["success_logit"]))
    true["index"] = float(np.mean([true[name] for name in PARTS]))
    above = {name: [] for name in (*PARTS, "index")}
    beyond = {name: [] for name in above}
    for number in range(studies):
        result = one(tasks, 3, 3, number, **MODERATE)
        if set(result.selections["conversation"].scored) != set(
            truth.selections["conversation"].scored
        ):
            continue  # another set of features has another truth
        scores = {**result.scores, "index": index_of(result)}
        for name, score in scores.items():
            low, high = lower_upper(score, result.rule)
            above[name].append(low > true[name])
            beyond[name].append(high < true[name])
    assert len(above["index"]) >= 40
    error = 2.6 * np.sqrt(0.05 * 0.95 / len(above["index"]))
    assert np.mean(above["index"]) <= 0.05 + error
    assert np.mean(beyond["index"]) <= 0.01
    for name in PARTS:
        assert np.mean(above[name]) <= 0.08 + error, name
        assert np.mean(beyond[name]) <= 0.05, name


def test_signed_gaps_cover_the_truth():
    # politeness and success gaps of a simulator with a known shift; nominal 90 %
    inside, true = [], success_gap(0.7)
    for number in range(40):
        gap = outcome_numbers(one(100, 3, 3, number, success_logit=0.7)).gap
        inside.append(gap.low < true < gap.high)
    assert np.mean(inside) > 0.90 - 2.6 * np.sqrt(0.09 / 40)


def test_unpaired_perfect_simulators_stand_at_their_ceiling():
    # 100 tasks of 3 sessions a side, other tasks on the two sides
    raw, ceiling = [], []
    for number in range(20):
        human = draw(100, 3, seed=100 + number, first=1000 * (number + 1))
        other = {"first": 500_000 + 1000 * number, "side": "simulated"}
        sim = draw(100, 3, seed=9000 + number, **other)
        result = study(reference(human, SPECS), sim, RobustOptions(replicates=100))
        assert not result.design.paired
        raw.append(np.mean([result.scores[name].raw for name in PARTS[:4]]))
        ceiling.append(np.mean([result.ceiling[name] for name in PARTS[:4]]))
    assert np.mean(raw) == pytest.approx(np.mean(ceiling), abs=1.0)
    assert 91.5 < np.mean(raw) < 94.8  # 94.8 by means alone; distributions cost their noise
