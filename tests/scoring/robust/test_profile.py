"""The scorecard of the profile robust: order, refusals, what is not assessed, and laws."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scoring.robust.population import draw, table

from usi.errors import NotScorable, UsageError
from usi.options import RobustOptions, ScoreOptions
from usi.records import SurveyAnswer
from usi.scoring.context import ScoreContext
from usi.scoring.robust import PROFILE
from usi.scoring.robust.profile import pool_of, study_tables
from usi.scoring.robust.reference import chosen
from usi.scoring.scorecard import COMPONENTS, Scorecard

ANSWERS = ("No - Task failed", "Partially - Some progress", "Yes - Task completed")


def with_survey(frame, seed=0):
    rng = np.random.default_rng(seed)
    sheets = [json.dumps({"task_success": ANSWERS[k]}) for k in rng.integers(0, 3, frame.height)]
    return frame.with_columns(survey=pl.Series(sheets))


def score(human, *simulators, surveys=None, difficulty="none", **choices):
    options = ScoreOptions(difficulty=difficulty, **{"replicates": 100, **choices})
    tables = {f"sim{k}": table(frame) for k, frame in enumerate(simulators)}
    return PROFILE.score_tables(
        table(human), tables, surveys=surveys, options=options, context=ScoreContext()
    )


HUMAN = with_survey(draw(60, 3, seed=1))
SIM = draw(60, 2, seed=2, side="simulated")
CARD = score(HUMAN, SIM)


def test_identical_bytes_whatever_the_order():
    shuffled = score(
        HUMAN.sample(fraction=1, shuffle=True, seed=4).with_columns(seq=pl.int_range(pl.len())),
        SIM.sample(fraction=1, shuffle=True, seed=5).with_columns(seq=pl.int_range(pl.len())),
    )
    assert shuffled.to_json() == CARD.to_json()
    assert score(HUMAN, SIM).to_json() == CARD.to_json()


def test_another_seed_moves_bounds_and_signature_alone():
    options = ScoreOptions(difficulty="none", seed=8, replicates=100)
    other = PROFILE.score_tables(
        table(HUMAN), {"sim0": table(SIM)}, surveys=None, options=options, context=ScoreContext()
    )
    a, b = CARD.simulators[0], other.simulators[0]
    assert "seed:8" in b.signature
    assert a.components["reaction"].value == b.components["reaction"].value
    assert a.components["reaction"].se != b.components["reaction"].se


def test_the_reference_says_whether_people_answered_a_survey():
    assert CARD.human.components["survey"].reason.code == "survey_elsewhere"
    silent = score(draw(60, 3, seed=1), SIM).human.components["survey"]
    assert (silent.status, silent.reason.code) == ("not_assessed", "no_survey")


def test_what_a_card_says():
    card = CARD.simulators[0]
    assert card.index.name == "USI-R"
    assert card.index.terms == card.index.terms_possible == 5
    five = [card.components[name].value for name in COMPONENTS[:5]]
    assert card.index.value == pytest.approx(np.mean(five))
    assert card.difficulty == "leave-one-batch-out"
    assert card.n.tasks == 60
    assert card.n.sessions == 120
    assert card.design == "paired"
    for part in (*(card.components[name] for name in COMPONENTS[:5]), card.index):
        assert 0 <= part.low <= part.value <= part.high <= 100
        assert part.low == pytest.approx(max(0, part.value - 1.6448536 * part.se), abs=1e-6)
        top = part.value + part.maxbias + 1.6448536 * part.se
        assert part.high == pytest.approx(min(100, top), abs=1e-6)
        assert part.ceiling_at_n > 70
        assert part.batch_range[0] <= part.batch_range[1]
    assert card.components["survey"].status == "not_assessed"
    rewards = HUMAN.sort("task", "batch")["reward"].to_numpy().reshape(60, 3)
    msb = 3 * rewards.mean(axis=1).var(ddof=1)
    msw = ((rewards - rewards.mean(axis=1, keepdims=True)) ** 2).sum() / 120
    icc = (msb - msw) / (msb + 2 * msw)
    assert card.components["outcome"].detail["icc"].value == pytest.approx(icc)
    assert {t.feature for t in card.tripwires} == {"dash", "role_confusion"}
    assert set(card.style) == {
        "casual", "echo", "several_sentences", "comma", "shortest_turn", "user_latency",
    }  # fmt: skip
    assert not any(part.scored for part in card.style.values())
    assert Scorecard.model_validate_json(CARD.to_json()) == CARD


def test_people_stand_near_the_simulator_that_is_a_copy_of_them():
    difference = CARD.simulators[0].versus_humans
    assert difference.low < 0 < difference.high
    assert CARD.human.components["reaction"].value > 60


def test_where_people_are_not_compared_with_each_other_the_card_says_why():
    one = score(draw(60, 1, seed=1), SIM).human
    assert one.n.batches == 1
    assert one.index.reason.code == "one_batch"
    # Seven rounds that have no task in common, as rounds of collection may be.
    apart = HUMAN.with_columns(batch=pl.col("task").rank("dense").cast(pl.Int64) % 7 + 1)
    rounds = score(apart, SIM).human
    assert (rounds.n.batches, rounds.index.value) == (7, None)
    assert rounds.index.reason.code == "batches_share_little_most"
    assert rounds.index.reason.parameters == {"most": 5, "batches": 7}


def test_people_are_compared_over_their_largest_batches():
    """Five whole rounds after two of one session each: the first two are no rounds to compare."""
    whole = draw(60, 5, seed=1).with_columns(batch=pl.col("batch") + 2)
    stray = whole.head(2).with_columns(batch=pl.Series([1, 2]), session_id=pl.Series(["x", "y"]))
    found = score(pl.concat([stray, whole]), SIM).human
    assert found.n.batches == 7
    # the stray sessions are people, too, and move the cells of the distributions a little
    assert found.index.value == pytest.approx(score(whole, SIM).human.index.value, abs=0.01)


def test_gaps_have_the_sign_of_the_named_feature():
    shy = draw(60, 2, seed=2, side="simulated", shift={"casual": -2.0, "politeness": 1.5})
    card = score(HUMAN, shy).simulators[0]
    assert card.style["casual"].gap.high < 0  # counted on its complement
    assert card.style["casual"].relative_gap.high < 0
    assert card.features["politeness"].gap.low > 0
    assert card.components["conversation"].value < CARD.simulators[0].components[
        "conversation"].value  # fmt: skip


def test_few_sessions_give_no_index():
    small = draw(20, 2, seed=2, side="simulated")
    card = score(draw(20, 3, seed=1), small).simulators[0]
    assert card.index.value is None
    assert card.index.reason.code == "few_simulator_sessions"
    assert card.index.reason.parameters["least"] == 50
    assert card.inconclusive
    assert any(w.code == "few_clusters" for w in card.warnings)


def test_single_task_has_no_bounds_and_so_no_score():
    card = score(draw(1, 60, seed=1), draw(1, 60, seed=2, side="simulated")).simulators[0]
    for name in COMPONENTS:
        assert card.components[name].status == "not_assessed", name
    assert card.index.value is None


def test_identical_sides_are_noticed():
    copy = HUMAN.with_columns(
        side=pl.lit("simulated"), run=pl.col("batch").cast(pl.String), batch=None
    ).cast({"batch": pl.Int64})
    card = score(HUMAN.with_columns(level=pl.lit("x")), copy.with_columns(level=pl.lit("x")),
                 strata="level").simulators[0]  # fmt: skip
    assert card.index.value == 100
    assert any(w.code == "identical_sides" for w in card.warnings)


def test_difficulty_by_the_scored_outcomes_is_refused():
    with pytest.raises(UsageError, match="regression to the mean"):
        pool_of("self")


def test_sides_without_sessions_are_refused():
    dead = SIM.with_columns(status=pl.lit("failed"))
    with pytest.raises(NotScorable, match="sim0"):
        score(HUMAN, dead)
    with pytest.raises(NotScorable, match="reference"):
        score(HUMAN.with_columns(keep=pl.lit(False)), SIM)


def test_left_out_sessions_are_counted():
    half = SIM.with_columns(
        status=pl.when(pl.col("run") == "2").then(pl.lit("no_user_turn")).otherwise(pl.lit("ok"))
    )
    extra = pl.concat([half, draw(1, 2, seed=9, side="simulated", first=900)])
    card = score(HUMAN, extra).simulators[0]
    found = {item.reason.text: item.count for item in card.left_out}
    assert found["session: no user turn"] == 60
    assert found["session: the other side has no session of this task"] == 2


def test_unpaired_cards_say_what_they_can_not_say():
    other = draw(60, 2, seed=3, side="simulated", domain="airline")
    card = score(HUMAN, other).simulators[0]
    assert card.design == "unpaired"
    assert card.tier_limit == "C"
    assert card.coverage.status == "not_assessed"
    assert not card.components["reaction"].decides_fail
    assert card.components["conversation"].decides_fail
    assert card.components["conversation"].df == 59
    assert card.features["turns_per_session"].score.status == "not_assessed"
    assert card.features["turns_per_session"].simulator.ok
    assert card.index.detail["behaviour"].ok
    assert card.index.reason.code == "component_missing"
    assert card.index.reason.parameters == {"component": "outcome"}
    assert {"task_mix", "script"} <= {w.code for w in card.warnings}


def test_unpaired_outcome_within_strata():
    def level(frame):
        return frame.with_columns(
            priority=pl.when(pl.int_range(pl.len()) % 2 == 0)
            .then(pl.lit("high"))
            .otherwise(pl.lit("low"))
        )

    other = draw(60, 2, seed=3, side="simulated", domain="airline")
    card = score(level(HUMAN), level(other), strata="priority").simulators[0]
    assert card.difficulty == "strata:priority"
    assert [b.label for b in card.outcome_bins] == ["high", "low"]
    assert card.index.ok


def test_people_of_another_domain_are_a_floor():
    two = [draw(40, 2, seed=1), draw(40, 2, seed=4, domain="airline", first=500)]
    third = draw(40, 2, seed=5, domain="telecom", first=900)
    sim = draw(40, 2, seed=2, side="simulated")
    card = score(pl.concat([*two, third]), sim, tasks="common").simulators[0]
    assert card.floors["people_of_another_domain"].value is not None
    assert card.floors["people_of_another_domain"].n == 3
    one_pair = score(pl.concat(two), sim, tasks="common").simulators[0]
    assert one_pair.floors["people_of_another_domain"].value is None
    assert CARD.simulators[0].floors["people_of_another_domain"].status == "not_assessed"
    assert 0 < CARD.simulators[0].floors["constant_user"].value < 60


def test_subgroups():
    both = pl.concat([draw(40, 3, seed=1), draw(40, 3, seed=4, domain="airline", first=500)])
    sim = pl.concat(
        [
            draw(40, 2, seed=2, side="simulated", success_logit=2.0),
            draw(40, 2, seed=6, side="simulated", domain="airline", first=500),
        ]
    )
    card = score(both, sim, by=("domain",)).simulators[0]
    groups = {g.value: g for g in card.subgroups}
    assert set(groups) == {"retail", "airline"}
    assert groups["retail"].tasks == 40
    assert (
        groups["retail"].components["outcome"].value < groups["airline"].components["outcome"].value
    )


def test_surveys_by_file_and_by_own_answers():
    file = {
        row["session_id"]: (
            SurveyAnswer("task_success", json.loads(row["survey"])["task_success"]),
        )
        for row in HUMAN.iter_rows(named=True)
    }
    card = score(HUMAN, SIM, surveys={"sim0": file}, survey_design="same-transcript")
    same = card.simulators[0]
    assert same.components["survey"].value == 100
    assert same.survey_kappa.value == 1
    assert same.survey_design == "same-transcript"
    # What the corpus declares holds for its files, goes after the option, and never for answers
    # that the simulator gave in its own runs.
    for said, option, design in (
        ("same-transcript", None, "same-transcript"),
        ("same-transcript", "same-task", "same-task"),
        (None, None, "same-task"),
    ):
        found = score(
            HUMAN, SIM, surveys={"sim0": file}, survey_files=said, survey_design=option
        ).simulators[0]
        assert (found.survey_design, found.survey_kappa.value) == (design, 1)
    own = score(HUMAN, with_survey(SIM, 3), survey_files="same-transcript").simulators[0]
    assert own.survey_design == "same-task"
    assert abs(own.survey_kappa.value) < 0.2
    assert own.human_kappa.ok
    half = dict.fromkeys(list(file)[::2])
    missing = score(HUMAN, SIM, surveys={"sim0": {**file, **half}}).simulators[0]
    assert missing.survey_answered.value == pytest.approx(0.5)
    assert any(w.code == "survey_unanswered" for w in missing.warnings)


def test_sums_hold_no_text_and_are_the_same_in_any_order():
    options = ScoreOptions(difficulty="none", replicates=100)
    sums = study_tables(table(HUMAN), {"s": table(SIM)}, surveys=None, options=options).sums()
    again = study_tables(
        table(HUMAN.sample(fraction=1, shuffle=True, seed=1)),
        {"s": table(SIM.sample(fraction=1, shuffle=True, seed=2))},
        surveys=None,
        options=options,
    ).sums()
    assert sums.equals(again)
    texts = [name for name, kind in sums.schema.items() if kind == pl.String]
    assert set(texts) <= {"side", "simulator", "unit", "split", "bin"}


# Laws ----------------------------------------------------------------------------------------

COUNTS = ("politeness", "short", "ack", "info", "emotion", "pivot", "identifiers")


@st.composite
def odd_frames(draw_):
    """Small frames with nulls, empty features, single sessions, missing rewards."""
    sides = []
    for side in ("human", "simulated"):
        n, per = draw_(st.integers(1, 8)), draw_(st.integers(1, 3))
        frame = draw(n, per, seed=draw_(st.integers(0, 50)), side=side)
        for name in draw_(st.lists(st.sampled_from(COUNTS), max_size=4)):
            frame = frame.with_columns(pl.lit(0, dtype=pl.Int64).alias(name))
        lost = draw_(st.sampled_from(["none", "some", "all"]))
        if lost != "none":
            gone = pl.lit(True) if lost == "all" else pl.int_range(pl.len()) % 2 == 0
            frame = frame.with_columns(reward=pl.when(gone).then(None).otherwise(pl.col("reward")))
        if draw_(st.booleans()):
            frame = frame.with_columns(task=pl.lit(None, dtype=pl.String))
        if draw_(st.booleans()):
            frame = frame.with_columns(
                status=pl.when(pl.int_range(pl.len()) % 3 == 1)
                .then(pl.lit("no_user_turn"))
                .otherwise(pl.lit("ok"))
            )
        if draw_(st.booleans()):
            frame = with_survey(frame, draw_(st.integers(0, 3)))
        if draw_(st.booleans()):
            label = pl.when(pl.int_range(pl.len()) % 2 == 0).then(
                pl.lit(draw_(st.sampled_from(["full", "failure", "correct_refusal"])))
            )
            frame = frame.with_columns(outcome_label=label.otherwise(None))
        if draw_(st.booleans()):
            frame = frame.with_columns(words=pl.lit(0), words_sq=pl.lit(0), words_first=pl.lit(0),
                                       words_first_two=pl.lit(0))  # fmt: skip
        sides.append(frame)
    return sides


def numbers(data):
    """All numbers of a card's JSON, with their estimates."""
    if isinstance(data, dict):
        if {"value", "status", "reason"} <= data.keys():
            yield data
        for part in data.values():
            yield from numbers(part)
    elif isinstance(data, list):
        for part in data:
            yield from numbers(part)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(frames=odd_frames(), design=st.sampled_from(["auto", "unpaired"]))
def test_law_what_could_not_be_assessed_has_a_reason_and_no_number(frames, design):
    human, sim = frames
    try:
        card = score(human, sim, design=design, tasks="common")
    except NotScorable:
        return
    for estimate in numbers(card.to_dict()):
        if estimate["status"] == "ok":
            assert math.isfinite(estimate["value"])
        else:
            assert estimate["value"] is estimate["low"] is estimate["high"] is None
            assert estimate["reason"]
    part = card.simulators[0]
    assert set(part.components) == set(COMPONENTS)
    if sim["reward"].null_count() == sim["outcome_label"].null_count() == sim.height:
        assert part.components["outcome"].status == "not_assessed"
        assert part.success_gap.status == "not_assessed"
    if min(part.n.clusters, sim.height) < 2:
        assert all(c.value is None for c in part.components.values())
    assert part.index.value is None  # fewer than 50 sessions


def test_the_halves_of_a_file_share_no_session_whatever_the_sides_know():
    people = HUMAN.with_columns(batch=pl.Series(range(HUMAN.height, 0, -1)))
    model = HUMAN.with_columns(run=pl.lit("1"), batch=pl.lit(None, dtype=pl.Int64))
    odd = chosen(people, RobustOptions(human_runs=("odd",)), human=True)["session_id"]
    even = chosen(model, RobustOptions(sim_runs=("even",)), human=False)["session_id"]
    assert not set(odd) & set(even)
    assert set(odd) | set(even) == set(HUMAN["session_id"])
