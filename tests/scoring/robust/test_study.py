"""Designs, coverage, outcome gaps and per-task sums of a study; expected values by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import wasserstein_distance
from scoring.robust.population import RATES, SPECS, difficulty, draw

from usi.errors import NotScorable, UsageError
from usi.options import RobustOptions
from usi.scoring.robust.batches import batch_ranges
from usi.scoring.robust.card_parts import label_detail, outcome_numbers
from usi.scoring.robust.difficulty import Pool
from usi.scoring.robust.reference import only_runs, reference
from usi.scoring.robust.scorable import session_values
from usi.scoring.robust.study import study
from usi.scoring.robust.sums import from_frame, to_frame
from usi.scoring.robust.terms import all_terms, contrast

QUICK = RobustOptions(replicates=200)


def run(human, simulator, **choices):
    pool = choices.pop("pool", None)
    options = RobustOptions(**{"replicates": 200, **choices})
    return study(reference(human, SPECS), simulator, options, pool=pool)


HUMAN = draw(60, 3, seed=1)
SIM = draw(60, 2, seed=2, side="simulated")


def test_paired_means_are_means_of_task_means():
    ragged = SIM.filter((pl.col("task") != "retail_3") | (pl.col("run") == "1"))
    result = run(HUMAN, ragged)
    assert result.design.paired
    x = (ragged["politeness"] / ragged["user_turns"]).to_numpy()
    by_task = ragged.select("task").with_columns(x=pl.Series(x)).group_by("task").mean()
    assert result.data.simulator[0] == pytest.approx(by_task["x"].mean())
    # sessions of a task share its weight; people have three in every task
    weight = 1 / ragged.select(pl.len().over("task"))["len"].to_numpy()
    h = (HUMAN["politeness"] / HUMAN["user_turns"]).to_numpy()
    assert len(np.unique(h)) <= 60
    area = wasserstein_distance(x, h, u_weights=weight)
    expected = area / (by_task["x"].mean() + h.mean())
    # where the distributions cross within a cell, that cell counts less
    assert 0.9 * expected < result.terms["conversation"].point[0] <= expected


def test_a_missing_task_leaves_both_sides():
    result = run(HUMAN, SIM.filter(pl.col("task") != "retail_0"))
    assert result.design.coverage == pytest.approx(59 / 60)
    kept = HUMAN.filter(pl.col("task") != "retail_0")
    assert result.data.human[0] == pytest.approx((kept["politeness"] / kept["user_turns"]).mean())
    assert "59 of 60" in result.design.reason.text


def test_low_coverage_is_refused_with_the_ways_out():
    part = SIM.filter(pl.col("task").is_in([f"retail_{k}" for k in range(40)]))
    with pytest.raises(NotScorable, match="--tasks common") as caught:
        run(HUMAN, part)
    assert "--design unpaired" in str(caught.value)
    assert len(run(HUMAN, part, tasks="common").human.units) == 40
    assert not run(HUMAN, part, design="unpaired").design.paired


def test_other_tasks_are_unpaired_and_can_not_be_forced():
    other = draw(60, 2, seed=3, side="simulated", domain="airline")
    result = run(HUMAN, other)
    assert not result.design.paired
    assert "no task" in result.design.reason.text
    assert result.data.clusters == (60, 60)
    assert "outcome" not in result.scores
    assert "--strata" in str(result.reasons["outcome"])
    with pytest.raises(NotScorable, match="--design paired"):
        run(HUMAN, other, design="paired")


def test_unpaired_means_are_over_sessions_and_errors_add_up():
    other = draw(40, 2, seed=3, side="simulated", domain="airline")
    result = run(HUMAN, other, replicates=2000)
    s = (other["politeness"] / other["user_turns"]).to_numpy()
    h = (HUMAN["politeness"] / HUMAN["user_turns"]).to_numpy()
    assert result.data.simulator[0] == pytest.approx(s.mean())
    se = [np.std(x.reshape(n, -1).mean(axis=1), ddof=1) / np.sqrt(n) for x, n in ((s, 40), (h, 60))]
    assert result.data.se[0] == pytest.approx(np.hypot(*se))
    draws = result.data.replicates.simulator[:, 0] - result.data.replicates.human[:, 0]
    assert draws.std() == pytest.approx(np.hypot(*se), rel=0.06)
    assert result.rule.df == 39
    assert result.rule.inflate == pytest.approx(np.sqrt(40 / 39))
    assert result.rule.quantile == pytest.approx(1.6849, abs=1e-3)


def test_task_sets_pair_on_the_group():
    sets = pl.format("set_{}", pl.col("task").str.extract(r"(\d+)$").cast(pl.Int64) % 10)
    human, sim = (side.with_columns(task=sets) for side in (HUMAN, SIM))
    result = run(human, sim)
    assert result.design.paired
    assert result.design.grouped
    assert result.design.reason.text.startswith("paired on the group")
    nine = sim.filter(pl.col("task") != "set_9")
    assert run(human, nine).design.paired
    seven = sim.filter(~pl.col("task").is_in(["set_7", "set_8", "set_9"]))
    assert not run(human, seven).design.paired


def test_labels_that_span_tasks_are_joined():
    desk = pl.format("p{}", pl.col("task").str.extract(r"(\d+)$").cast(pl.Int64) // 2)
    human, sim = (side.with_columns(desk=desk) for side in (HUMAN, SIM))
    result = run(human, sim, cluster="desk")
    assert result.data.clusters == (30, 30)
    assert result.unit_name == "task joined with desk"
    with pytest.raises(UsageError, match="nobody"):
        run(human, SIM, cluster="nobody")


def test_outcome_gap_by_hand():
    level = np.where(np.arange(120) < 60, 0.3, 0.9)
    pool = Pool("p", {f"retail_{k}": level[k] for k in range(120)})
    human, sim = draw(120, 2, seed=1), draw(120, 1, seed=2, side="simulated")
    hard = pl.col("task").str.extract(r"(\d+)$").cast(pl.Int64) < 60
    human = human.with_columns(reward=pl.when(hard).then(0.0).otherwise(1.0))
    # people: 0 on hard and 1 on easy tasks; simulator: every second task
    half = (pl.col("task").str.extract(r"(\d+)$").cast(pl.Int64) % 2).cast(pl.Float64)
    result = run(human, sim.with_columns(reward=half), pool=pool)
    numbers = outcome_numbers(result)
    assert result.bins.labels[0].endswith("0.20-0.40") or "0.20-0.40" in result.bins.labels[0]
    assert result.scores["outcome"].raw == pytest.approx(50.0)
    assert numbers.gap.value == pytest.approx(0.0)
    assert numbers.offset.value == pytest.approx(0.5)
    assert [b.gap.value for b in numbers.bins if b.gap.ok] == pytest.approx([0.5, -0.5])
    assert [b.tasks for b in numbers.bins] == [60, 60]


def test_rewards_need_a_declared_threshold():
    sim = SIM.with_columns(reward=pl.lit(0.5))
    assert "--success-at" in str(run(HUMAN, sim).reasons["outcome"])
    result = run(HUMAN, sim, success_at=0.5)
    assert result.success.threshold == 0.5
    assert np.nanmean(result.success.simulator) == 1.0


def test_label_distance_by_hand():
    human = HUMAN.with_columns(
        outcome_label=pl.when(pl.col("batch") == 1)
        .then(pl.lit("full"))
        .otherwise(pl.lit("failure"))
    )
    sim = SIM.with_columns(
        outcome_label=pl.when(pl.col("run") == "1")
        .then(pl.lit("full"))
        .otherwise(pl.lit("correct_refusal"))
    )
    result = run(human, sim, strata="domain")
    found = label_detail(result)
    # people: 1/3 full, 2/3 failure; simulator: 1/2 full, 1/2 correct refusal
    expected = (abs(1 / 2 - 1 / 3) + 2 / 3 + 1 / 2) / 2
    assert found["label_total_variation"].value == pytest.approx(expected)
    assert found["correct_refusal_gap"].value == pytest.approx(0.5)
    assert found["correct_refusal_gap"].low == pytest.approx(0.5)  # the same in every task
    assert label_detail(run(HUMAN, sim)) == {}


def test_success_with_another_agent_is_not_compared():
    human, sim = HUMAN.with_columns(agent=pl.lit("a@1")), SIM.with_columns(agent=pl.lit("a@2"))
    assert "a@1" in str(run(human, sim).reasons["outcome"])
    assert "outcome" in run(human, sim, other_agent=True).scores
    assert "outcome" in run(human, SIM).scores
    assert "outcome" in run(human, sim.with_columns(agent=pl.lit("a@1"))).scores


def test_no_reward_is_no_outcome():
    sim = SIM.with_columns(reward=pl.lit(None, dtype=pl.Float64))
    result = run(HUMAN, sim)
    assert str(result.reasons["outcome"]) == "no simulated session has an outcome"
    assert outcome_numbers(result).icc.reason == result.reasons["outcome"]


def test_correct_refusals_leave_the_binary_rate():
    labels = pl.when(pl.col("run") == "1").then(pl.lit("correct_refusal")).otherwise(pl.lit("full"))
    sim = SIM.with_columns(outcome_label=labels, reward=pl.lit(0.0))
    result = run(HUMAN.with_columns(outcome_label=pl.lit("full")), sim)
    refused = (sim["run"] == "1").to_numpy()
    order = result.frame["run"].to_numpy() == "1"
    assert np.isnan(result.success.simulator[order]).all()
    assert (result.success.simulator[~order] == 0).all()
    assert refused.sum() == order.sum()


def test_labels_of_one_side_take_no_failure_out_of_the_comparison():
    sim = SIM.with_columns(outcome_label=pl.lit("correct_refusal"), reward=pl.lit(0.0))
    for human, ours in ((HUMAN, sim), (HUMAN.with_columns(outcome_label=pl.lit("full")), SIM)):
        bare = run(*(side.with_columns(outcome_label=pl.lit(None, pl.String))
                     for side in (human, ours)))  # fmt: skip
        labelled = run(human, ours)
        assert labelled.scores["outcome"].raw == bare.scores["outcome"].raw
    assert (run(HUMAN, sim).success.simulator == 0).all()
    assert run(HUMAN, sim).success.one_sided == sim.height
    assert run(HUMAN, SIM).success.one_sided == 0


def test_sums_read_back_give_the_same_terms():
    result = run(HUMAN, SIM)
    frames = [
        to_frame(side, name=name, simulator="s")
        for side, name in ((result.human, "human"), (result.simulator, "simulated"))
    ]
    human, sim = (from_frame(f, units=result.human.units, bins=result.human.bins) for f in frames)
    data = contrast(
        sim, human, paired=True, on_simulator=result.on_simulator, replicates=200, seed=7
    )
    again = all_terms(data, result.reference.specs, result.selections)
    for name, terms in result.terms.items():
        assert np.array_equal(again[name].point, terms.point)
        assert np.array_equal(again[name].folded, terms.folded, equal_nan=True)
        assert np.array_equal(again[name].held, terms.held, equal_nan=True)


def test_leaving_a_batch_out_by_hand():
    result = run(HUMAN, SIM)
    low, high = batch_ranges(result)["information"]
    raws = []
    for batch in (1, 2, 3):
        others = HUMAN.filter(pl.col("batch") != batch)
        # what is scored, and the cells, stay those of all people
        kept = replace(
            reference(others, SPECS, like=result.reference), grids=result.reference.grids
        )
        rest = study(kept, SIM, QUICK)
        raws.append(rest.scores["information"].raw)
    assert (low, high) == (pytest.approx(min(raws)), pytest.approx(max(raws)))


def test_runs_are_chosen_by_trial_where_there_is_one():
    frame = SIM.with_columns(
        trial=pl.when(pl.col("run") == "1").then(pl.lit("0")).otherwise(pl.lit("3"))
    )
    assert only_runs(frame, "run", ("3",), "--sim-runs")["run"].unique().to_list() == ["2"]
    assert only_runs(SIM, "run", ("1",), "--sim-runs").height == 60
    batches = SIM.with_columns(batch_id=pl.col("run").cast(pl.Int64), run=pl.lit("1"))
    assert only_runs(batches, "run", ("2",), "--sim-runs").height == 60
    with pytest.raises(UsageError, match="no run 7"):
        only_runs(SIM, "run", ("7",), "--sim-runs")


def test_values_are_what_the_counts_say():
    values = session_values(HUMAN, SPECS)
    names = [spec.name for spec in SPECS]
    turns = HUMAN["user_turns"].to_numpy()
    expected = HUMAN["politeness"].to_numpy() / turns
    assert values[:, names.index("politeness")] == pytest.approx(expected)
    assert values[:, names.index("turns_per_session")] == pytest.approx(turns)
    assert set(RATES) <= set(HUMAN.columns)
    assert difficulty(165).mean() == pytest.approx(0.65, abs=0.05)
