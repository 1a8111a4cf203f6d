"""Survey agreement: kappa against scikit-learn, alpha against the published example, by hand."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from usi.records import SurveyAnswer
from usi.scoring.robust.agreement import (
    distances,
    krippendorff_alpha,
    median_without_one,
    weighted_kappa,
)
from usi.scoring.robust.bounds import interval_rule
from usi.scoring.robust.instrument import Item, answers_of, items_for, tau_survey
from usi.scoring.robust.perceived import perceived_success
from usi.scoring.robust.survey import (
    Pairs,
    among_humans,
    by_session,
    by_task,
    levels_of,
    survey_agreement,
)

# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, example C: 4 observers, 12 units
EXAMPLE = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def test_alpha_of_the_published_example():
    rows = [line.split() for line in EXAMPLE.strip().splitlines()]
    units = [[int(v) - 1 for v in column if v != "."] for column in zip(*rows, strict=True)]
    assert krippendorff_alpha(units, 5, metric="nominal") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(units, 5, metric="ordinal") == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(units, 5, metric="interval") == pytest.approx(0.849, abs=5e-4)


@pytest.mark.parametrize("nominal", [False, True])
def test_kappa_equals_scikit_learn(nominal):
    rng = np.random.default_rng(3)
    a = rng.integers(0, 4, 300)
    b = np.clip(a + rng.integers(-1, 2, 300), 0, 3)
    table = np.zeros((4, 4))
    np.add.at(table, (a, b), 1)
    expected = cohen_kappa_score(a, b, weights=None if nominal else "quadratic")
    assert weighted_kappa(table, distances(4, nominal=nominal)) == pytest.approx(expected)


def test_kappa_of_one_level_is_no_number():
    assert np.isnan(weighted_kappa(np.diag([5.0, 0.0, 0.0]), distances(3)))
    assert np.isnan(weighted_kappa(np.zeros((3, 3)), distances(3)))


def test_median_of_the_others():
    ratings = np.array([0, 0, 1, 3, 3, 3])
    found = median_without_one(np.bincount(ratings, minlength=4))
    for k, level in enumerate(ratings):
        assert found[level] == np.median(np.delete(ratings, k))
    assert np.isnan(found[2])


def test_instrument_scales():
    items = {item.name: item for item in tau_survey()}
    amount = items["question_amount_preference"]
    assert amount.scale == "unordered-middle"
    assert amount.level("Too many") == 0
    assert amount.level(" too FEW ") == 2
    success = items["task_success"]
    refusal = success.level("No - Due to a policy issue, which the agent clearly explained")
    assert (
        success.level("Partially - Some progress") < refusal < success.level("Yes - Task completed")
    )
    assert success.level("maybe") is None
    assert success.level(None) is None


def test_unknown_items_are_taken_where_they_are_whole_numbers():
    found = items_for([{"quality": "1", "note": "fine"}, {"quality": 4, "note": "7"}])
    assert [(item.name, item.size) for item in found] == [("quality", 4)]


def test_an_item_of_the_same_name_with_other_options_is_another_item():
    found = items_for([{"efficiency": "0"}, {"efficiency": "1"}])
    assert [(item.name, item.size) for item in found] == [("efficiency", 2)]
    published = items_for([{"efficiency": "About right"}, {"efficiency": "1"}])
    assert [item.size for item in published] == [4]


def test_survey_column_reads_both_shapes():
    assert answers_of(None) == {}
    assert answers_of('{"a": {"question": "?", "answer": "Yes"}, "b": "No"}') == {
        "a": "Yes",
        "b": "No",
    }


ITEM = Item("q", {str(k): k for k in range(5)}, ("0", "1", "2", "3", "4"))


def pairs(human, other):
    n = len(human)
    return Pairs(np.arange(n), np.array(human)[:, None], np.array(other)[:, None])


def agree(found, own=None, replicates=400, **more):
    n = len(found.unit)
    return survey_agreement(
        found,
        (ITEM,),
        units=n,
        cluster=np.arange(n),
        design="same-transcript",
        own=own,
        rule=interval_rule((100, 100), paired=True),
        replicates=replicates,
        seed=1,
        **more,
    )


def test_numbers_of_one_item_by_hand():
    human, other = [0, 1, 2, 3, 4, 4], [0, 2, 2, -1, 4, 0]
    result = agree(pairs(human, other))
    item = result.items[0]
    # errors 0, 1/4, 0, -, 0, 1 over five answered pairs
    assert item.mae.value == pytest.approx(1.25 / 5)
    assert item.bias.value == pytest.approx((0.25 - 1) / 5)
    assert result.component.value == pytest.approx(75.0)
    assert result.answered.value == pytest.approx(5 / 6)
    # the farthest answer from 3 is 0: error 3/4
    assert item.worst_case.value == pytest.approx((1.25 + 0.75) / 6)
    assert "INCONCLUSIVE" in result.warning.text
    there = [k for k, v in enumerate(other) if v >= 0]
    kappa = cohen_kappa_score(
        [human[k] for k in there], [other[k] for k in there], weights="quadratic", labels=range(5)
    )
    assert item.kappa.value == pytest.approx(kappa)
    constant = [abs(human[k] - np.median(np.delete(human, k))) / 4 for k in there]
    assert item.skill.value == pytest.approx(1 - 0.25 / np.mean(constant))
    assert result.component.maxbias == 0.0
    assert result.human_kappa.status == "not_assessed"


def test_agreement_of_people_has_bounds_of_the_task_bootstrap():
    rng = np.random.default_rng(4)
    first = rng.integers(0, 5, 80)
    second = np.clip(first + rng.integers(-2, 3, 80), 0, 4)
    own = pairs(first, second)
    result = agree(pairs(first, first), own, replicates=2000)
    kappas = []
    for _ in range(600):
        drawn = rng.integers(0, 80, 80)
        kappas.append(
            cohen_kappa_score(first[drawn], second[drawn], weights="quadratic", labels=range(5))
        )
    for found in (result.human_kappa, result.items[0].human_kappa):
        assert found.value == pytest.approx(
            cohen_kappa_score(first, second, weights="quadratic", labels=range(5))
        )
        assert found.low == pytest.approx(np.quantile(kappas, 0.05), abs=0.02)
        assert found.high == pytest.approx(np.quantile(kappas, 0.95), abs=0.02)
        assert found.n == 80


def test_no_answer_earns_nothing():
    result = agree(pairs([0, 1, 2], [-1, -1, -1]))
    assert result.component.status == "not_assessed"
    assert result.component.value is None
    assert result.answered.value == 0.0


def test_a_constant_rater_has_no_kappa_but_a_good_score():
    rng = np.random.default_rng(0)
    human = np.clip(rng.normal(3, 0.8, 300).round().astype(int), 0, 4)
    result = agree(pairs(human, np.full(300, 3)))
    assert result.component.value > 80
    assert result.kappa.value == pytest.approx(0.0, abs=1e-9)
    assert result.items[0].skill.value == pytest.approx(0.0, abs=0.01)


def test_bounds_hold_the_truth_of_a_known_rater():
    # "right with probability .7, else at random": kappa .7, MAE .3 times the mean distance (.4)
    rng, held, ratio = np.random.default_rng(5), [], []
    for _ in range(60):
        human = rng.integers(0, 5, 200)
        other = np.where(rng.random(200) < 0.7, human, rng.integers(0, 5, 200))
        result = agree(pairs(human, other), replicates=300)
        held.append(
            (
                result.kappa.low < 0.7 < result.kappa.high,
                result.component.low < 100 * (1 - 0.3 * 0.4) < result.component.high,
            )
        )
        ratio.append(result.component.se / (np.std(np.abs(human - other) / 4) / np.sqrt(2)))
    # nominal 90 % on both, 60 studies: 2.6 standard errors below
    assert np.mean(held, axis=0).min() >= 0.80
    assert np.mean(ratio) == pytest.approx(10.0, rel=0.05)  # 100 / sqrt(200) over 1 / sqrt(2)


def frame(batches):
    rows = [
        {"session_id": f"t{k}_{b}", "batch": b, "survey": json.dumps({"q": str(answer)})}
        for k, answers in enumerate(batches)
        for b, answer in enumerate(answers)
    ]
    return pl.DataFrame(rows)


def test_pairs_by_session_by_task_and_among_people():
    human = frame([[1, 2], [3, 4]])
    unit = np.array([0, 0, 1, 1])
    levels = levels_of([answers_of(s) for s in human["survey"]], (ITEM,))
    file = {
        "t1_0": (SurveyAnswer("q", "0"),),
        "t0_1": (SurveyAnswer("q", None),),
        "zzz": (SurveyAnswer("q", "4"),),
    }
    found = by_session(human, unit, levels, file, (ITEM,))
    assert found.unit.tolist() == [0, 1]
    assert found.human[:, 0].tolist() == [2, 3]
    assert found.other[:, 0].tolist() == [-1, 0]
    crossed = by_task(unit, levels, np.array([1, -1]), np.array([[0], [1]]))
    assert list(zip(crossed.human[:, 0], crossed.other[:, 0], strict=True)) == [(3, 0), (4, 0)]
    own = among_humans(unit, ["0", "1", "0", "1"], levels)
    assert sorted(zip(own.human[:, 0], own.other[:, 0], strict=True)) == [
        (1, 2), (2, 1), (3, 4), (4, 3),
    ]  # fmt: skip


def test_same_transcript_pairs_only_the_same_transcript():
    human = frame([[1, 2, 3]])
    unit, labels = np.zeros(3, dtype=int), ["x", "x", "y"]
    levels = levels_of([answers_of(s) for s in human["survey"]], (ITEM,))
    own = among_humans(unit, ["0", "1", "2"], levels, labels)
    assert sorted(zip(own.human[:, 0], own.other[:, 0], strict=True)) == [(1, 2), (2, 1)]
    crossed = by_task(unit, levels, np.zeros(1, dtype=int), np.array([[0]]), (labels, ["y"]))
    assert crossed.human[:, 0].tolist() == [3]


def test_reward_against_what_people_saw():
    yes, no = "Yes - Task completed", "No - Task failed"
    refusal = "No - Due to a policy issue, which the agent clearly explained"
    answers = [yes, yes, no, no, yes, refusal, refusal, None]
    table = pl.DataFrame({"survey": [json.dumps({"task_success": a}) for a in answers]})
    success = np.array([1, 1, 0, 1, 0, 1, 0, 1.0])
    found = perceived_success(table, success)
    assert (found.both, found.reward_only, found.perceived_only, found.neither) == (2, 2, 1, 2)
    expected = np.corrcoef([1, 1, 0, 1, 0, 1, 0], [1, 1, 0, 0, 1, 0, 0])[0, 1]
    assert found.phi.value == pytest.approx(expected)
    assert found.success_given_reward_0.value == pytest.approx(1 / 3)
    assert found.reward_1_given_correct_refusal.value == pytest.approx(0.5)
    assert perceived_success(table, np.full(8, np.nan)) is None
