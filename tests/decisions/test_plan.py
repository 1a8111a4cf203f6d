"""Plans against published operating characteristics, and picking tasks."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring.robust import population

from usi.decisions.criteria import resolve, tier
from usi.decisions.plan import (
    CLOSED_FORMS,
    Assessed,
    Noise,
    Pilot,
    joint_power,
    make_plan,
    one_person,
    part_powers,
    pilot_of_sessions,
    regression_margins,
    runs_for_all,
    same_person,
    tasks_for_all,
    tasks_for_score,
    within_variance,
)
from usi.decisions.task_sample import pick_tasks
from usi.errors import UsageError
from usi.extraction.profile import get_specs
from usi.options import RobustOptions
from usi.scoring.robust.bounds import lower_upper
from usi.scoring.robust.reference import reference
from usi.scoring.robust.study import study

INDEX = Noise(bias=70.3, task=11.34, session=13.82)


@pytest.mark.parametrize(
    ("truth", "minimum", "rounds", "near", "expected"),
    [
        # simulated operating characteristics of the index bound, 80 % power
        (100, 90, 3, True, 94),
        (100, 85, 3, True, 42),
        (95, 90, 3, True, 373),
        (100, 90, 1, True, 244),
        (100, 85, 1, True, 109),
        (95, 90, 1, True, 975),
        (90, 85, 3, False, 64),
        (90, 85, 1, False, 126),
    ],
)
def test_tasks_for_the_index(
    truth: float, minimum: float, rounds: int, near: bool, expected: int
) -> None:
    found = tasks_for_score(
        INDEX, truth=truth, minimum=minimum, batches=rounds, runs=rounds, near_ceiling=near
    )
    assert found == pytest.approx(expected, rel=0.02, abs=1)


@pytest.mark.parametrize(
    ("bound", "at_80", "at_90"),
    [(0.05, 418, 528), (0.07, 213, 270), (0.10, 104, 132), (0.15, 46, 59)],
)
def test_tasks_for_the_success_gap(bound: float, at_80: int, at_90: int) -> None:
    asked = tier("C").model_copy(update={"max_success_gap": bound})
    for tasks, power in ((at_80, 0.8), (at_90, 0.9)):
        *_, gap = part_powers(asked, {}, truth=100.0, tasks=tasks, batches=3, runs=3)
        assert gap.power == pytest.approx(power, abs=0.01)  # a task more or less at 46 tasks


@pytest.mark.parametrize(
    ("name", "tasks", "batches", "runs", "simulated"),
    [
        # people of STAR against other people of STAR, 25 studies a design, times the chance that
        # the success gap passes at the published variance
        ("B", 165, 3, 3, 0.92 * 0.96),
        ("C", 165, 3, 3, 1.00),
        ("B", 100, 3, 3, 0.80 * 0.78),
        ("C", 100, 3, 3, 0.99),
        ("C", 50, 3, 3, 0.96 * 0.84),
        ("C", 165, 1, 1, 0.92 * 0.88),
    ],
)
def test_power_of_a_perfect_simulator(
    name: str, tasks: int, batches: int, runs: int, simulated: float
) -> None:
    parts = part_powers(
        tier(name), CLOSED_FORMS, truth=100, tasks=tasks, batches=batches, runs=runs
    )
    # a share of .8 in 25 studies has a standard error of .08
    assert joint_power(parts) == pytest.approx(simulated, abs=0.13)


def test_no_number_of_tasks_lifts_a_simulator_above_its_own_score() -> None:
    assert tasks_for_score(INDEX, truth=85, minimum=85, batches=3, runs=3) is None
    assert tasks_for_all(tier("B"), CLOSED_FORMS, truth=85, batches=3, runs=3) is None


@given(st.integers(1, 5), st.integers(1, 20), st.sampled_from("ABC"))
def test_more_runs_never_need_more_tasks(batches: int, runs: int, name: str) -> None:
    fewer = tasks_for_all(tier(name), CLOSED_FORMS, truth=100, batches=batches, runs=runs)
    more = tasks_for_all(tier(name), CLOSED_FORMS, truth=100, batches=batches, runs=runs + 1)
    assert fewer is not None
    assert more is not None
    assert more <= fewer


def test_runs_for_given_tasks_are_the_fewest() -> None:
    found = runs_for_all(tier("B"), CLOSED_FORMS, truth=100, tasks=100, batches=3)
    assert found is not None
    for runs, enough in ((found, True), (found - 1, False)):
        parts = part_powers(tier("B"), CLOSED_FORMS, truth=100, tasks=100, batches=3, runs=runs)
        assert (joint_power(parts) >= 0.8) is enough
    assert runs_for_all(tier("A"), CLOSED_FORMS, truth=100, tasks=50, batches=1) is None


def test_plan_of_tier_a_has_room_for_its_two_sample_key() -> None:
    plan = make_plan(tier("A"), batches=3)
    for line in plan.trade:
        assert line.all_parts is not None
        assert line.all_parts * min(3, line.runs) >= 300
    assert any("300 sessions" in note for note in plan.notes)


def test_plan_refuses_what_it_cannot_plan() -> None:
    with pytest.raises(UsageError, match="--truth"):
        make_plan(tier("B"), truth=0)
    with pytest.raises(UsageError, match="--power"):
        make_plan(tier("B"), power=1.0)
    with pytest.raises(UsageError, match="--tasks"):
        make_plan(tier("B"), runs=3)


def test_family_size_needs_more_tasks() -> None:
    many = resolve({"tier": "B", "family_size": 10})
    one = tasks_for_all(tier("B"), CLOSED_FORMS, truth=100, batches=3, runs=3)
    ten = tasks_for_all(many, CLOSED_FORMS, truth=100, batches=3, runs=3)
    assert one is not None
    assert ten is not None
    assert ten > one


def test_no_margin_below_the_smallest_is_recommended() -> None:
    # 1.45 x 115 / sqrt(495) = 7.49, 165 / sqrt(495) = 7.42
    note = next(n for n in make_plan(tier("B"), tasks=165, runs=3).notes if "Regression" in n)
    assert "smallest margin about 7.5 points" in note
    assert "7.4" not in note


def test_regression_margins() -> None:
    # 165 x 7 sessions certify 5 points with 80 % power
    least, good = regression_margins(165 * 7)
    assert good == pytest.approx(4.86, abs=0.01)
    assert least == pytest.approx(1.45 * 115 / math.sqrt(1155))


def test_within_group_variance_by_hand() -> None:
    values = np.array([1.0, 3.0, 10.0, 14.0, float("nan"), 5.0])
    groups = ["a", "a", "b", "b", "b", "c"]
    # (2 + 8) / (1 + 1)
    assert within_variance(values, groups) == pytest.approx(5.0)
    # nothing is repeated: variance of 1, 3, 5 over all
    assert within_variance(np.array([1.0, 3.0, 5.0]), ["a", "b", "c"]) == pytest.approx(4.0)


RATES = {f"t{k}": rate for k, rate in enumerate([0.1] * 20 + [0.3] * 30 + [0.5] * 50)}


def test_pick_is_proportional_and_seeded() -> None:
    picked = pick_tasks(RATES, 10, seed=1)
    assert Counter(t.bin for t in picked) == {"0.00-0.20": 2, "0.20-0.40": 3, "0.40-0.60": 5}
    backwards = dict(reversed(RATES.items()))
    assert pick_tasks(backwards, 10, seed=1) == picked
    assert {t.task for t in pick_tasks(RATES, 10, seed=2)} != {t.task for t in picked}
    assert all(RATES[t.task] == t.difficulty for t in picked)


@given(st.integers(1, 100), st.integers(0, 5))
def test_pick_gives_exactly_what_was_asked(number: int, seed: int) -> None:
    picked = pick_tasks(RATES, number, seed=seed)
    assert len({t.task for t in picked}) == number


def test_pick_refuses_too_many() -> None:
    with pytest.raises(UsageError, match="100 tasks"):
        pick_tasks(RATES, 101)


def test_sessions_of_one_person_correlate_as_by_hand() -> None:
    # Deviations from the tasks' means: a 1, -1; b 2, -2; person p has 1 and 2, q the others.
    values, tasks, people = np.array([3.0, 1.0, 6.0, 2.0]), list("aabb"), list("pqpq")
    # pairs: p 1 x 2 twice, q (-1) x (-2) twice, over 4 ordered pairs: 2; variance 10 / (4 - 2) = 5
    assert same_person(values, tasks, people) == pytest.approx(2 / 5)
    assert same_person(values, tasks, list("pqrs")) == 0.0
    assert same_person(values, tasks, [None] * 4) == 0.0
    assert one_person(list("pqpq")) == pytest.approx(1 / 2)
    assert one_person([None, None]) == 0.0


def test_few_people_need_more_tasks() -> None:
    alone = Noise(bias=85.0, task=0.0, session=12.9)
    shared = Noise(bias=85.0, task=0.0, session=12.9, alike=0.1, person=1 / 20)
    # 495 sessions, a twentieth each: 1 + (24.75 - 1) x 0.1
    assert shared.x(165, 3, 3) == pytest.approx(3.375 / 3 + 1 / 3)
    few, many = (
        tasks_for_score(noise, truth=100, minimum=80, batches=3, runs=3)
        for noise in (shared, alone)
    )
    assert few is not None
    assert many is not None
    assert few > many


def a_pilot(shows: float) -> Pilot:
    """A pilot in which a share of the sessions shows every mark of the profile."""
    specs = tuple(get_specs("robust"))
    rng = np.random.default_rng(4)
    values = np.where(rng.random((400, len(specs))) < shows, rng.random((400, len(specs))), 0.0)
    return Pilot(CLOSED_FORMS, 0.183, "a test", Assessed(values, specs), tasks=40, batches=2)


def test_what_people_hardly_show_may_not_be_assessed() -> None:
    often, seldom = a_pilot(0.5), a_pilot(0.05)
    assert often.assessed is not None
    assert seldom.assessed is not None
    assert often.assessed.chances(100, 3)["index"] == 1.0
    small, large = (seldom.assessed.chances(tasks, 3)["index"] for tasks in (40, 400))
    assert small == 0.0  # about six sessions of 120 show a mark, and 30 are asked for
    assert large == 1.0
    plan = make_plan(tier("C"), tasks=40, batches=3, runs=3, pilot=seldom)
    assert plan.power is not None
    index = next(part for part in plan.power if part.part == "index")
    assert index.assessed == small
    assert index.chance == pytest.approx(index.power * small)
    assert plan.joint is not None
    assert plan.joint <= small


def test_what_to_collect_is_said_in_words() -> None:
    said = [note for note in make_plan(tier("C"), pilot=a_pilot(0.5)).notes if "pilot" in note
            or "collect" in note or "reach" in note]  # fmt: skip
    assert any("more batches of people on the same 40 tasks" in note for note in said)
    far = make_plan(tier("A"), truth=93.0, pilot=a_pilot(0.5)).notes
    assert any(note.startswith("Out of reach: 10 times") for note in far)


def test_the_noise_of_a_pilot_is_that_of_new_studies_of_its_people() -> None:
    """The truth: studies of people against people, each of sessions that nobody has seen."""
    size = (50, 3, 3)
    pilot = pilot_of_sessions(population.draw(50, 14, seed=2), tasks=50, batches=3, runs=3)
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(100, 124):
        human = population.draw(50, 3, seed=seed)
        simulator = population.draw(50, 3, seed=1000 + seed, side="simulated")
        options = RobustOptions(replicates=200)
        result = study(reference(human, population.SPECS), simulator, options)
        for name, score in result.scores.items():
            bounds = lower_upper(score, result.rule)
            assert bounds is not None
            found.setdefault(name, []).append((score.raw, bounds[0]))
    assert set(found) == {"conversation", "information", "clarification", "reaction", "outcome"}
    for name, own in found.items():
        raw, low = np.array(own).T
        noise = pilot.noises[name]
        k_b, k_s = noise.at(*size)
        assert 100 - k_b / math.sqrt(50) == pytest.approx(raw.mean(), abs=2.5), name
        assert k_s / math.sqrt(50) == pytest.approx(low.std(ddof=1), rel=0.45), name
        reach = noise.ratio * 1.645 * k_s / math.sqrt(50)
        assert reach == pytest.approx((raw - low).mean(), rel=0.2), name


def test_a_pilot_with_one_session_a_task_still_has_noise() -> None:
    """A session would else stand on both sides of a study, and nothing would differ."""
    once = pilot_of_sessions(population.draw(120, 1, seed=1), tasks=40, batches=2, runs=2)
    thrice = pilot_of_sessions(population.draw(120, 3, seed=1), tasks=40, batches=2, runs=2)
    for name, noise in thrice.noises.items():
        assert once.noises[name].bias > 0.6 * noise.bias, name


def test_a_pilot_whose_success_never_varies_gets_a_plan() -> None:
    parts = part_powers(
        tier("C"), {}, truth=100.0, tasks=30, batches=2, runs=2, variance=0.0
    )  # fmt: skip
    assert [(part.part, part.power) for part in parts] == [("success_gap", 1.0)]
