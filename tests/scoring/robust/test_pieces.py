"""Scorability, pools, difficulty bins, tripwires, ICC, ceilings: by hand or by scipy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from usi.errors import UsageError
from usi.extraction.spec import FeatureSpec
from usi.reasons import COUNTED_IN_POOL, FEW_FEATURES, FEW_HUMAN_HITS, PEOPLE_CONSTANT
from usi.scoring.robust.batches import icc1
from usi.scoring.robust.difficulty import CUTOFFS, Pool, assign_bins, merge_plan, pool_cutoffs
from usi.scoring.robust.scorable import (
    pool_spec,
    pooled_verdicts,
    pools_of,
    scorability,
    select,
    with_pools,
)
from usi.scoring.robust.tripwire import alarm_power, fisher_above, tripwire_list


def rate(name, dimension="conversation", **more):
    return FeatureSpec(name, dimension, "rate", name, "user_turns", **more)


# scorability ---------------------------------------------------------------------------------


def test_thirty_human_sessions_decide():
    values = np.zeros((60, 4))
    values[:30, 0], values[:29, 1], values[:, 2], values[:9, 3] = 0.5, 0.5, 0.5, 0.5
    specs = (rate("thirty"), rate("fewer"), rate("constant"), rate("nine"))
    found = scorability(values, specs)
    assert found["thirty"].reason is None
    assert found["fewer"].reason == FEW_HUMAN_HITS(hits=29, least=30)
    assert not found["fewer"].rare
    assert found["nine"].rare
    assert not found["constant"].rare
    assert found["constant"].reason == PEOPLE_CONSTANT()


def test_the_counted_pole_is_what_must_occur():
    values = np.full((60, 1), 1.0)
    values[:29] = 0.5
    assert scorability(values, (rate("x", pole="complement"),))["x"].reason
    values[:30] = 0.5
    assert scorability(values, (rate("x", pole="complement"),))["x"].reason is None


def test_a_dimension_needs_half_of_its_features_and_two():
    values = np.random.default_rng(0).random((60, 5))
    values[:, 3:] = 0
    specs = tuple(rate(f"f{k}", "clarification") for k in range(5))
    verdicts = scorability(values, specs)
    assert select(specs, verdicts, paired=True)["clarification"].scored == ("f0", "f1", "f2")
    values[:, 2] = 0
    verdicts = scorability(values, specs)
    assert select(specs, verdicts, paired=True)["clarification"].reason == FEW_FEATURES(
        scored=2, declared=5
    )


def test_paired_only_features_leave_unpaired_dimensions():
    values = np.random.default_rng(0).random((60, 3))
    specs = (rate("a"), rate("b"), rate("c", scope="paired"))
    verdicts = scorability(values, specs)
    assert select(specs, verdicts, paired=False)["conversation"].scored == ("a", "b")
    assert select(specs, verdicts, paired=True)["conversation"].scored == ("a", "b", "c")


# pools ---------------------------------------------------------------------------------------


def marks(*hits, sessions=100):
    """Marks of one dimension, each shown by so many sessions, by others as far as there are."""
    values = np.zeros((sessions, len(hits)))
    at = 0
    for k, n in enumerate(hits):
        values[(at + np.arange(n)) % sessions, k] = 0.25
        at += n
    specs = tuple(rate(f"m{k}", "reaction", lexical=True) for k in range(len(hits)))
    return values, specs


def pools(values, specs, frozen=None):
    return pools_of(values, specs, scorability(values, specs), frozen)


def test_rare_marks_of_a_dimension_are_counted_together():
    assert pools(*marks(12, 20, 50)) == {"rare_reaction": ("m0", "m1")}
    # 12 and 10 sessions are not enough: the rarest mark that is scored by itself joins
    assert pools(*marks(12, 10, 50, 40)) == {"rare_reaction": ("m0", "m1", "m3")}
    assert pools(*marks(12, 10)) == {}
    assert pools(*marks(40, 50)) == {}


def test_a_pool_is_the_sum_of_its_rates():
    values, specs = marks(12, 20)
    values[0] = 0.5, 0.25
    pool = pools(values, specs)
    column = with_pools(values, specs, pool)[:, 2]
    assert column[0] == 0.75
    assert (column > 0).sum() == 32
    full = (*specs, pool_spec("reaction"))
    verdicts = pooled_verdicts(
        with_pools(values, specs, pool), full, scorability(values, specs), pool
    )
    assert verdicts["rare_reaction"].hits == 32
    assert verdicts["m0"].reason == COUNTED_IN_POOL(pool="rare_reaction", hits=12, least=30)
    found = select(full, verdicts, paired=True, pools=pool)["reaction"]
    assert (found.scored, found.declared, found.reason) == (("rare_reaction",), 2, None)
    assert found.features(found.scored) == 2


def test_a_frozen_set_says_what_is_pooled():
    values, specs = marks(60, 12, 5)
    assert pools(values, specs, ("m1", "rare_reaction")) == {"rare_reaction": ("m0", "m2")}
    assert pools(values, specs, ("m0", "m1")) == {}


def test_lengths_and_tripwires_are_in_no_pool():
    values, specs = marks(12, 20, 5)
    short, wire = replace(specs[0], lexical=False), replace(specs[2], tripwire=True)
    assert pools(values, (short, specs[1], wire)) == {}
    assert pools(values, (specs[0], specs[1], wire)) == {"rare_reaction": ("m0", "m1")}


# tripwires -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("h", "n_h", "s", "n_s"), [(0, 150, 6, 150), (3, 90, 4, 40), (0, 9, 0, 9)])
def test_fisher_equals_scipy(h, n_h, s, n_s):
    table = [[s, n_s - s], [h, n_h - h]]
    expected = stats.fisher_exact(table, alternative="greater").pvalue
    assert fisher_above(h, n_h, s, n_s) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("n", "rate_", "power"),
    [(150, 0.05, 0.77), (165, 0.05, 0.84), (495, 0.05, 1.0), (50, 0.05, 0.04), (50, 0.12, 0.56)],
)
def test_power_of_two_tripwires(n, rate_, power):
    found = alarm_power(rate=rate_, human_hits=0, human_n=n, simulator_n=n, threshold=0.025)
    assert found == pytest.approx(power, abs=0.015)


def test_a_mark_that_these_people_make_is_no_tripwire():
    values = np.zeros((60, 2))
    values[:10, 0], values[:9, 1] = 0.5, 0.5
    specs = (rate("dash", tripwire=True), rate("role", tripwire=True))
    assert [s.name for s in tripwire_list(specs, scorability(values, specs))] == ["role"]


# difficulty ----------------------------------------------------------------------------------


def test_small_bins_join_their_smaller_neighbour():
    assert merge_plan([4, 17, 37, 66, 41]) == [[0, 1], [2], [3], [4]]
    assert merge_plan([20, 5, 11, 30]) == [[0], [1, 2], [3]]
    assert merge_plan([20, 30, 9]) == [[0], [1, 2]]
    assert merge_plan([0, 0, 0]) == [[0, 1, 2]]


def test_few_tasks_take_thirds_of_the_pool():
    pool = [k / 100 for k in range(101)]
    assert pool_cutoffs(pool, 165) == CUTOFFS
    assert pool_cutoffs(pool, 50) == pytest.approx((1 / 3, 2 / 3), abs=0.01)


def sessions(rows):
    return pl.DataFrame(
        rows, schema={"task": pl.String, "batch": pl.Int64, "level": pl.String}, orient="row"
    )


def test_leave_one_batch_out_never_looks_at_the_batch_itself():
    human = sessions([("a", 1, None), ("a", 2, None), ("a", 3, None)])
    found = assign_bins(human, human, success=np.array([1.0, 0.0, 0.0]), unit="task", paired=True)
    assert found.source == "leave-one-batch-out"
    assert not found.on_simulator
    # other batches of the first session: 0, of the others: 0.5; all bins merge into one (1 task)
    assert found.labels == ("0.00-0.20 + 0.20-0.40 + 0.40-0.60 + 0.60-0.80 + 0.80-1.00",)
    many = sessions([(f"t{k}", b, None) for k in range(40) for b in (1, 2, 3)])
    y = np.tile([1.0, 0.0, 0.0], 40)
    found = assign_bins(many, many, success=y, unit="task", paired=True)
    first, second = found.labels[found.human[0]], found.labels[found.human[1]]
    assert found.human.tolist() == [found.human[0], found.human[1], found.human[1]] * 40
    assert first.startswith("0.00")
    assert "0.40-0.60" in second


def test_order_of_the_sources():
    human = sessions([(f"t{k}", b, "low" if k < 20 else "high") for k in range(40) for b in (1, 2)])
    y = np.zeros(human.height)

    def source(**more):
        return assign_bins(human, human, success=y, unit="task", paired=True, **more).source

    pool = Pool("p", {f"t{k}": k / 40 for k in range(40)})
    assert source() == "one-bin"
    assert source(strata="level") == "strata:level"
    assert source(strata="level", pool=pool) == "pool:p"
    assert source(pool=Pool("p", {"t1": 0.5})) == "one-bin"
    few = Pool("p", pool.difficulty, dict.fromkeys(pool.difficulty, 9))
    assert source(pool=few) == "one-bin"


def test_scored_outcomes_make_no_bins():
    human = sessions([("a", 1, None)])
    with pytest.raises(UsageError, match="regression to the mean"):
        assign_bins(human, human, success=np.zeros(1), unit="task", paired=True, strata="reward")


def test_unpaired_without_strata_has_no_bins():
    human = sessions([("a", 1, None)])
    found = assign_bins(human, human, success=np.zeros(1), unit="task", paired=False)
    assert found.source == "none"
    assert found.labels == ()


# ICC and ceilings ----------------------------------------------------------------------------


def anova_icc(x):
    n, m = x.shape
    msb = m * x.mean(axis=1).var(ddof=1)
    msw = ((x - x.mean(axis=1, keepdims=True)) ** 2).sum() / (n * (m - 1))
    return (msb - msw) / (msb + (m - 1) * msw)


def test_icc_equals_the_balanced_formula_and_finds_the_truth():
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, (4000, 1)) * np.sqrt(0.4) + rng.normal(0, 1, (4000, 3)) * np.sqrt(0.6)
    found = icc1(x.sum(axis=1), (x * x).sum(axis=1), np.full(4000, 3.0)).value
    assert found == pytest.approx(anova_icc(x))
    assert found == pytest.approx(0.4, abs=0.03)


def test_icc_without_repeats_or_variance_is_not_assessed():
    one = np.ones(5)
    assert icc1(one, one, one).status == "not_assessed"
    same = np.full(5, 0.3)
    assert icc1(same * 3, same * same * 3, np.full(5, 3.0)).status == "not_assessed"
