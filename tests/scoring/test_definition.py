"""Rows, batches, runs and marks of the published score on files small enough to do by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scoring.small import answered, entry, people, reasons, scored, words

from usi.errors import NotScorable
from usi.reasons import FROZEN_MAP, NO_REWARD, POOL_SMALL

WORDS = "user_words_per_turn"


def test_rows_are_means_over_conversations_not_over_turns(tmp_path: Path) -> None:
    human = {"retail_0": entry("please"), "retail_1": entry(*["w"] * 9)}
    card = scored(tmp_path, human, {"s": human})
    feature = card.simulators[0].features["politeness_rate"]
    assert feature.human.value == feature.simulator.value == 0.5
    assert feature.score.value == 100
    assert feature.human_hits == 1
    assert feature.human.n == 2


def test_the_model_row_is_the_mean_of_run_rows(tmp_path: Path) -> None:
    human = people("retail_0", "retail_1", batches=1, turn="please w w w")
    simulator = {
        f"retail_{task}_{run}": entry("please w w w" if run == 1 else words(4))
        for task in (0, 1)
        for run in (1, 2)
    }
    card = scored(tmp_path, human, {"s": simulator}, run_ids="suffix")
    side = card.simulators[0]
    feature = side.features["politeness_rate"]
    assert (feature.human.value, feature.simulator.value) == (1.0, 0.5)
    assert feature.score.value == pytest.approx(200 / 3)
    assert side.components["conversation"].value == pytest.approx(100 * (6 + 2 / 3) / 7)
    assert (side.n.runs, side.n.batches, side.n.tasks, side.n.sessions) == (2, 1, 2, 4)


def test_runs_weigh_the_same_whatever_they_cover(tmp_path: Path) -> None:
    human = {"retail_0": entry(words(4)), "retail_1": entry(words(8)), "retail_2": entry(words(99))}
    simulator = {
        "retail_0_1": entry(words(4)),
        "retail_0_2": entry(words(4)),
        "retail_1_2": entry(words(8)),
    }
    card = scored(tmp_path, human, {"s": simulator}, run_ids="suffix")
    feature = card.simulators[0].features[WORDS]
    # people: the union of tasks 0 and 1; runs: 4 and 6
    assert feature.human.value == 6
    assert feature.simulator.value == 5
    assert feature.score.value == pytest.approx(1000 / 11)
    assert card.simulators[0].coverage is not None
    assert card.simulators[0].coverage.value == pytest.approx(2 / 3)


def test_mean_and_population_sd_over_batches(tmp_path: Path) -> None:
    human = {
        "retail_0": entry(words(4)),
        "retail_0_ann2": entry(words(8)),
        "retail_0_ann3": entry(words(12)),
    }
    card = scored(tmp_path, human, {"s": {"retail_0": entry(words(4))}})
    part = card.simulators[0].components["information"]
    # words and opening words: 1, 2/3, 1/2; front-load and identifiers: equal
    want = [100.0, 100 * (2 + 4 / 3) / 4, 100 * 3 / 4]
    assert part.per_batch == pytest.approx(want)
    assert part.value == pytest.approx(sum(want) / 3)
    mean = sum(want) / 3
    assert part.sd == pytest.approx((sum((x - mean) ** 2 for x in want) / 3) ** 0.5)


def test_a_batch_that_shares_no_task_gives_no_value(tmp_path: Path) -> None:
    human = {"retail_0": entry(words(4)), "retail_1_ann2": entry(words(4))}
    card = scored(tmp_path, human, {"s": {"retail_0": entry(words(4))}})
    side = card.simulators[0]
    assert side.components["conversation"].per_batch == (100.0, None)
    assert side.index.per_batch == (100.0, None)
    assert (side.index.value, side.index.sd, side.n.batches) == (100.0, 0.0, 1)


@pytest.mark.parametrize(
    ("keep", "behaves", "counts"),
    [
        (True, True, True),
        (1, True, True),
        ("no", True, True),
        (False, False, False),
        (None, False, True),
        (0, False, True),
        ("", False, True),
    ],
)
def test_marks_of_a_simulator(tmp_path: Path, keep: Any, behaves: bool, counts: bool) -> None:
    """Behaviour asks whether the mark is true, the outcome only drops an exact ``false``."""
    human = people("retail_0", "retail_1")
    simulator = {
        "retail_0": entry(words(4), reward=1.0),
        "retail_1": entry(words(40), reward=0.0, keep=keep),
    }
    side = scored(tmp_path, human, {"s": simulator}).simulators[0]
    assert side.features[WORDS].simulator.value == (22 if behaves else 4)
    assert side.components["outcome"].detail["ece"].value == (0.5 if counts else 0.0)
    assert reasons(side).get("session: keep mark is not true", 0) == (0 if behaves else 1)


@pytest.mark.parametrize("keep", [False, None, 0])
def test_marks_of_people_count_alike_everywhere(tmp_path: Path, keep: Any) -> None:
    yes = answered(human_like="Yes")
    human = {
        "retail_0": entry(words(4), survey=yes),
        "retail_1": entry(words(40), reward=0.0, keep=keep, survey=answered(human_like="No")),
    }
    simulator = {"retail_0": entry(words(4)), "retail_1": entry(words(40))}
    surveys = {"s": {"retail_0": {"survey": yes}, "retail_1": {"survey": yes}}}
    side = scored(tmp_path, human, {"s": simulator}, surveys).simulators[0]
    assert side.features[WORDS].human.value == 4
    assert side.features[WORDS].simulator.value == 4
    assert side.components["outcome"].detail["ece"].value == 0.0
    assert side.components["survey"].value == 100.0
    assert side.components["survey"].n == 1


def test_sessions_without_a_user_turn_count_in_the_outcome_alone(tmp_path: Path) -> None:
    human = people("retail_0", "retail_1")
    simulator = {"retail_0": entry(words(4)), "retail_1": entry("###STOP###", reward=0.0)}
    side = scored(tmp_path, human, {"s": simulator}).simulators[0]
    assert side.features[WORDS].simulator.value == 4
    assert side.components["outcome"].detail["ece"].value == 0.5
    assert reasons(side) == {"session: no user turn (its outcome counts, behaviour can't)": 1}


def test_failed_runs_take_part_in_nothing(tmp_path: Path) -> None:
    human = people("retail_0", "retail_1")
    simulator = {
        "retail_0": entry(words(4)),
        "retail_1": {"conversation": None, "reward": 0.0},
    }
    side = scored(tmp_path, human, {"s": simulator}).simulators[0]
    assert side.components["outcome"].detail["ece"].value == 0.0
    assert side.index.value == 100.0
    assert reasons(side) == {"session: failed run (no conversation)": 1}


def test_a_null_reward_counts_as_0_and_is_listed(tmp_path: Path) -> None:
    human = people("retail_0", "retail_1")
    simulator = {"retail_0": entry("w"), "retail_1": entry("w", reward=None)}
    card = scored(tmp_path, human, {"s": simulator})
    assert card.simulators[0].components["outcome"].detail["ece"].value == 0.5
    assert reasons(card.simulators[0]) == {"outcome: null reward, counted as 0": 1}
    assert reasons(card.human) == {}


def test_a_partial_reward_needs_a_threshold(tmp_path: Path) -> None:
    human = people("retail_0")
    with pytest.raises(NotScorable, match=r"other than 0 and 1 \(such as 0.01\)"):
        scored(tmp_path, human, {"s": {"retail_0": entry("w", reward=0.01)}})


def test_no_reward_at_all_is_not_assessed(tmp_path: Path) -> None:
    human = people("retail_0")
    card = scored(tmp_path, human, {"s": {"retail_0": entry("w", reward=None)}})
    outcome = card.simulators[0].components["outcome"]
    assert (outcome.status, outcome.value) == ("not_assessed", None)
    assert outcome.reason == NO_REWARD(who="the simulator")
    assert card.simulators[0].index.status == "not_assessed"


def test_runs_four_and_five_count_in_the_outcome_alone(tmp_path: Path) -> None:
    tasks = [f"retail_{k}" for k in range(60)]
    human = people(*tasks, batches=1)
    simulator = {
        f"{task}_{run}": entry(words(4 if run < 4 else 50), reward=float(run < 4))
        for task in tasks
        for run in (1, 2, 3, 4, 5)
    }
    side = scored(tmp_path, human, {"s": simulator}).simulators[0]
    assert side.features[WORDS].simulator.value == 4
    assert side.n.runs == 3
    # three runs without a gap, two with a gap of 1
    assert side.components["outcome"].detail["ece"].value == pytest.approx(2 / 5)
    key = "session: the reference has no session of this task (behaviour)"
    assert reasons(side) == {key: 120}


def test_one_batch_has_no_human_row(tmp_path: Path) -> None:
    human = people("retail_0", "retail_1", batches=1)
    card = scored(tmp_path, human, {"s": {"retail_0": entry("w w w w")}})
    for part in (*card.human.components.values(), card.human.index):
        assert part.status == "not_assessed"
        assert part.reason
    assert card.human.index.terms == 0
    assert card.human.features[WORDS].human.value == 4
    assert card.simulators[0].index.value == 100.0
    assert card.simulators[0].index.sd == 0.0


def test_the_human_row_goes_over_pairs_and_their_own_overlap(tmp_path: Path) -> None:
    human = {
        "retail_0": entry(words(4), reward=1.0),
        "retail_1": entry(words(100), reward=1.0),
        "retail_0_ann2": entry(words(8), reward=0.0),
        "retail_0_ann3": entry(words(12), reward=1.0),
    }
    card = scored(tmp_path, human, {"s": {"retail_0": entry("w")}})
    part = card.human.components["information"]
    dice = [2 * 4 / 12, 2 * 4 / 16, 2 * 8 / 20]
    want = [100 * (2 + 2 * d) / 4 for d in dice]
    assert part.per_batch == pytest.approx(want)
    assert card.human.components["outcome"].detail["ece"].value == pytest.approx(2 / 3)


def test_the_human_survey_is_another_rating_of_batch_one(tmp_path: Path) -> None:
    human = {
        "retail_0": entry("w", survey=answered(human_like="Yes", reuse="Maybe")),
        "retail_1": entry("w", survey=answered(human_like="Yes")),
        "retail_2": entry("w", survey=answered(human_like="Yes"), keep=None),
        "retail_3": entry("w", survey=None),
        "retail_0_ann2": entry("w", survey=answered(human_like="No")),
    }
    second = {
        "retail_1": {"survey": answered(human_like="Yes")},
        "retail_0": {"survey": answered(human_like="Partially", reuse="Maybe")},
        "retail_2": {"survey": answered(human_like="No")},
        "retail_3": {"survey": answered(human_like="No")},
        "retail_9": {"survey": answered(human_like="No")},
    }
    card = scored(tmp_path, human, {"s": {"retail_0": entry("w")}}, {"human-eval-100": second})
    part = card.human.components["survey"]
    assert part.value == pytest.approx((100 + 75) / 2)
    assert part.sd == pytest.approx(12.5)
    assert part.n == 2
    assert card.human.index.terms == 6
    assert card.simulators[0].components["survey"].status == "not_assessed"
    assert card.simulators[0].index.terms == 5
    assert "mixed_terms" in [warning.code for warning in card.warnings]


def test_the_survey_inside_a_result_file_is_ignored(tmp_path: Path) -> None:
    human = {"retail_0": entry("w", survey=answered(human_like="Yes"))}
    simulator = {"retail_0": entry("w", survey=answered(human_like="No"))}
    card = scored(tmp_path, human, {"s": simulator})
    assert card.simulators[0].components["survey"].status == "not_assessed"
    given = {"s": {"retail_0": {"survey": answered(human_like="Yes")}}}
    card = scored(tmp_path, human, {"s": simulator}, given)
    assert card.simulators[0].components["survey"].value == 100.0


def test_unanswered_surveys_are_drawn_and_listed(tmp_path: Path) -> None:
    human = {f"retail_{k}": entry("w", survey=answered(human_like="No")) for k in range(30)}
    simulator = {f"retail_{k}": entry("w") for k in range(30)}
    given = {"s": {f"retail_{k}": {"survey": None} for k in range(30)}}
    card = scored(tmp_path, human, {"s": simulator}, given)
    side = card.simulators[0]
    assert reasons(side)["survey: no valid answer, drawn at random as published"] == 30
    # 0, 50 or 100 points with the same chance: 50 on average, sd of the mean 7.5
    assert 25 < (side.components["survey"].value or 0) < 75
    assert side.index.terms == 6


def test_a_batch_without_an_outcome_gives_no_index(tmp_path: Path) -> None:
    human = {"retail_0": entry(words(4)), "shop_1_ann2": entry(words(4))}
    simulator = {"retail_0": entry(words(4)), "shop_1": entry(words(8))}
    side = scored(tmp_path, human, {"s": simulator}).simulators[0]
    assert side.components["outcome"].per_batch == (100.0, None)
    assert side.index.per_batch == (100.0, None)
    assert side.components["information"].per_batch[1] is not None


def test_a_domain_without_difficulty_keeps_its_behaviour(tmp_path: Path) -> None:
    human = people("shop_1", "shop_2")
    simulator = {"shop_1": entry(words(4)), "shop_2": entry(words(4))}
    card = scored(tmp_path, human, {"s": simulator})
    side = card.simulators[0]
    assert side.components["conversation"].value == 100.0
    assert side.components["outcome"].status == "not_assessed"
    assert side.components["outcome"].reason == FROZEN_MAP()
    assert side.index.status == "not_assessed"
    assert side.index.reason.root == FROZEN_MAP()
    assert side.index.terms == 0
    assert card.human.index.status == "not_assessed"
    with_self = scored(tmp_path, human, {"s": simulator}, difficulty="self").simulators[0]
    assert with_self.components["outcome"].reason == POOL_SMALL(least=10)
